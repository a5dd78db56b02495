# SPDX-License-Identifier: MIT
"""Results of runs as JSON lines, which several runs may append to, and the table that they make."""

import json
import os
import re
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from families import OPENMPI_ROOT

HEAD = """# Tested programs

Programs that were not written for Lapwing, unchanged, stock and under `lapwing run`. Printed by
`tests/packages/run.py --table FILE` from what `tests/packages/run.py --results FILE` wrote; do not edit.

What is compared is each program's exit code and the lines of its output that do not depend on speed (residuals,
energies, verdicts of tests). "Same" is: equal to an outcome that the same program gave without Lapwing. A program with
more than one outcome without Lapwing is listed as unsteady. One that hangs without Lapwing is skipped, and says so.

- **stock**: runs of each program without Lapwing, and how they ended.
- **under Lapwing**: variant, programs with the same outcome, and calls that went on after they had returned.
  With 0 calls Lapwing passed all of them to MPI (small, on a stack, beside other data): such a row shows that
  passing changes nothing, and nothing about holds.
- `default`: as installed. `userfaultfd`, `userfaultfd-user`, `signal`: this way of holding memory, from 1 KiB on,
  learning off. `userfaultfd-1`, `signal-1`: the same from 1 byte on.
"""
COLUMNS = ("program", "version", "MPI", "stock", "under Lapwing", "differences", "date")


@dataclass(frozen=True)
class Result:
    """How one program did in one variant; `skip` says why it did not run at all."""

    program: str
    part: str
    mpi: str
    variant: str
    mpi_version: str = ""
    version: str = ""
    date: str = field(default_factory=lambda: time.strftime("%Y-%m-%d"))
    # How often each outcome was seen, in the words of Outcome.describe().
    outcomes: Mapping[str, int] = field(default_factory=dict)
    verdict: str = ""
    reason: str = ""
    ops: int = 0
    passes: Mapping[str, int] = field(default_factory=dict)
    elapsed_s: float = 0.0
    load: float = field(default_factory=lambda: round(os.getloadavg()[0], 1))
    skip: str = ""


def debian_version(package: str) -> str:
    """The version of an installed Debian package; empty where there is none."""
    command = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


@cache
def find_mpi_version(launcher: Path) -> str:
    """What the launcher says that it is."""
    try:
        command, variables = [str(launcher), "--version"], {**os.environ, **OPENMPI_ROOT}
        text = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    found = re.search(r"(?:(?:Open MPI|OpenRTE)\) |Version: +)(\S+)", text)
    return found.group(1) if found else ""


def append_result(path: Path | None, result: Result) -> None:
    """Write one line at once: a run that is cut short leaves what it found."""
    if path is None:
        return
    with path.open("a") as output:
        output.write(json.dumps(asdict(result)) + "\n")


def read_results(paths: Iterable[Path]) -> list[Result]:
    """The latest line of each program and variant, in the order in which they were first seen."""
    latest: dict[tuple[str, str, str], Result] = {}
    for path in paths:
        for line in path.read_text().splitlines():
            result = Result(**json.loads(line))
            latest[result.part, result.mpi, result.variant] = result
    return list(latest.values())


def group_results(results: Sequence[Result]) -> Mapping[tuple[str, str], list[Result]]:
    """By program and MPI: one row of the table each."""
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        groups[result.program, result.mpi].append(result)
    return groups


def describe_stock(rows: Sequence[Result]) -> str:
    """How many programs, how often, and how they ended."""
    repeats = sorted({sum(row.outcomes.values()) for row in rows})
    ends = Counter(outcome.split(",")[0] for row in rows for outcome in list(row.outcomes)[:1])
    unsteady = sum(len(row.outcomes) > 1 for row in rows)
    words = [f"{count} {end}" for end, count in ends.most_common()]
    words += [f"{unsteady} unsteady"] if unsteady else []
    runs = f"{repeats[0]} to {repeats[-1]}" if len(repeats) > 1 else f"{repeats[0]}"
    return f"{len(rows)} x {runs} runs: {', '.join(words)}"


def describe_variant(variant: str, rows: Sequence[Result]) -> str:
    """How many did as stock, and how much Lapwing did in them."""
    same = sum(row.verdict != "differs" for row in rows)
    return f"{variant}: {same} of {len(rows)} same, {sum(row.ops for row in rows)} calls"


def describe_differences(rows: Sequence[Result]) -> str:
    """Each program that did otherwise than stock."""
    # A cell of the table is one line, and must not end early.
    words = [f"{row.part} ({row.variant}): {row.reason}".replace("|", "/") for row in rows if row.verdict == "differs"]
    return "; ".join(words) or "none"


def format_group(program: str, mpi: str, rows: Sequence[Result]) -> str:
    """One row of the table."""
    stock = [row for row in rows if row.variant == "stock"]
    others: dict[str, list[Result]] = defaultdict(list)
    for row in rows:
        if row.variant != "stock":
            others[row.variant].append(row)
    variants = "<br>".join(describe_variant(variant, found) for variant, found in others.items()) or "not run"
    differences = describe_differences(rows)
    where = f"{mpi} {rows[0].mpi_version}".strip()
    cells = (
        program,
        rows[0].version,
        where,
        describe_stock(stock),
        variants,
        differences,
        max(row.date for row in rows),
    )
    return f"| {' | '.join(cells)} |"


def format_skips(skips: Sequence[Result]) -> list[str]:
    """What was not run, by reason."""
    reasons: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in skips:
        reasons[row.program, row.mpi, row.skip].append(row.part.removeprefix(f"{row.program}-"))
    lines = []
    for (program, mpi, reason), parts in reasons.items():
        names = "" if parts == [program] else f": {', '.join(sorted(parts))}"
        lines.append(f"- {program}{f' on {mpi}' if mpi else ''}, {reason}{names}")
    return lines


def format_unsteady(results: Sequence[Result]) -> list[str]:
    """Programs whose outcome changes from run to run without Lapwing."""
    rows = [row for row in results if row.variant == "stock" and len(row.outcomes) > 1]
    rows += [row for row in results if row.verdict == "unsteady"]
    lines = {f"- {row.part} on {row.mpi}": [*row.outcomes] for row in rows if row.variant == "stock"}
    lines |= {f"- {row.part} on {row.mpi}": [row.reason] for row in rows if row.variant != "stock"}
    return [f"{name}: {'; '.join(words)}" for name, words in lines.items()]


def format_table(results: Sequence[Result]) -> str:
    """The whole document."""
    ran = [result for result in results if not result.skip]
    stocked = {(row.part, row.mpi) for row in ran if row.variant == "stock"}
    # A skip is an old story once the program has run.
    skips = [row for row in results if row.skip and (row.part, row.mpi) not in stocked]
    lines = [HEAD, f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    groups = group_results([row for row in ran if (row.part, row.mpi) in stocked])
    lines += [format_group(program, mpi, rows) for (program, mpi), rows in groups.items()]
    lines += ["", "## Unsteady without Lapwing", "", *(format_unsteady(ran) or ["None."])]
    lines += ["", "## Skipped", "", *(format_skips(skips) or ["None."])]
    return "\n".join(lines) + "\n"
