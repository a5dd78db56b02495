# SPDX-License-Identifier: MIT
"""What the probe prints."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.bench.contenders import STOCK
from lapwing.probe.evidence import Carrier, Finding, SizeFindings, Verdict
from lapwing.probe.run import LARGEST_EAGER_BYTES, Findings
from lapwing.probe.words import conclude, describe_eager, describe_size
from lapwing.report.summary import format_bytes

TABLE_CAPTION = """\
Part of the transfer that is hidden, in percent, while both ranks compute /
while both sleep; below 0: slower than one after the other; ?: cannot be told,
the times scatter too much. Seen at work while they slept: c the starting call,
which copied; t a thread of the process; k the kernel's network; n the card."""
MARKS = {Carrier.CALL: "c", Carrier.THREAD: "t", Carrier.KERNEL: "k", Carrier.CARD: "n"}


def format_hidden(finding: Finding) -> str:
    """Write one figure."""
    return "?" if finding.verdict is Verdict.UNKNOWN else f"{100 * finding.hidden:.0f}"


def format_cell(size: SizeFindings) -> str:
    """Write what one contender does with one size."""
    marks = "".join(MARKS.get(carrier, "") for carrier in size.carriers)
    return f"{format_hidden(size.findings['work'])} / {format_hidden(size.findings['sleep'])} {marks:<2}"


def make_table(findings: Findings) -> Table:
    """Make the table of all contenders."""
    table = Table(title="hidden, %", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True)
    for size in next(iter(findings.sizes.values())):
        table.add_column(format_bytes(size.size_bytes), justify="right", no_wrap=True)
    for name, sizes in findings.sizes.items():
        table.add_row(name, *map(format_cell, sizes))
    return table


def list_lines(findings: Findings, place: str) -> list[str]:
    """Say what stock does on one side of the wall between hosts."""
    title = {"within": "Within a host", "between": "Between hosts"}[findings.where]
    if findings.missing:
        return [f"{title}: not measured, {findings.missing}"]
    lines = [f"{title} ({' and '.join(dict.fromkeys(findings.hosts))}{place})"]
    lines.append(describe_eager(findings.eager_bytes, LARGEST_EAGER_BYTES))
    stock = findings.sizes.get(STOCK, [])
    lines += [f"stock, {text}" if not text.startswith(" ") else text for size in stock for text in describe_size(size)]
    return lines


def print_findings(console: Console, findings: Findings, place: str) -> None:
    """Print stock in words, then all in a table, then what to expect of each."""
    for line in list_lines(findings, place):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if findings.sizes:
        console.print(make_table(findings))
        console.print(TABLE_CAPTION, highlight=False)
    for name, sizes in findings.sizes.items():
        console.print(f"{name}: {conclude(sizes)}", highlight=False, markup=False, soft_wrap=True)
    for name, cause in findings.failures.items():
        console.print(f"{name}: not measured, {cause}", highlight=False, markup=False, soft_wrap=True)
    console.print()


def print_probe(console: Console, found: Sequence[Findings], places: Sequence[str]) -> None:
    """Print everything."""
    libraries = dict.fromkeys(findings.library for findings in found if findings.library)
    for library in libraries:
        console.print(library, highlight=False, markup=False, soft_wrap=True)
    console.print()
    for findings, place in zip(found, places, strict=True):
        print_findings(console, findings, place)
