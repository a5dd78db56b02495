# SPDX-License-Identifier: MIT
"""What was found, in sentences. Each says no more than was measured."""

from collections.abc import Sequence

from lapwing.probe.evidence import SIDES, Carrier, Finding, SizeFindings, Verdict
from lapwing.report.summary import format_bytes, format_time

WHO_CARRIES = {
    Carrier.CALL: "the call that starts it (it copies the message)",
    Carrier.THREAD: "a thread of the process",
    Carrier.KERNEL: "the kernel (TCP)",
    Carrier.CARD: "the network card",
    Carrier.NOBODY: "nobody, it did not move",
    Carrier.UNSEEN: "nobody that could be seen from here, neither threads of the ranks nor their network devices",
}
ABSENCES = {
    "sleep": "while both ranks sleep",
    "sleep_test": "while they sleep, with {tests}",
    "work": "while both ranks compute",
    "work_test": "while they compute, with {tests}",
}


def name_tests(tests: int) -> str:
    """Say how often MPI is called in an absence."""
    return "one call of MPI_Test halfway" if tests == 1 else f"{tests} calls of MPI_Test"


def name_absences(tests: int) -> dict[str, str]:
    """Return what the ranks do meanwhile, by experiment."""
    return {name: text.format(tests=name_tests(tests)) for name, text in ABSENCES.items()}


def format_us(time_us: float) -> str:
    """Write microseconds for people."""
    return format_time(time_us * 1000)


def describe_carriers(carriers: Sequence[Carrier]) -> str:
    """Say who was seen at work while the ranks slept."""
    if not carriers:
        return "who carried it while they slept cannot be told"
    return f"at work while they slept: {' and '.join(WHO_CARRIES[carrier] for carrier in carriers)}"


def describe_eager(eager_bytes: int, largest_bytes: int) -> str:
    """Say up to which size a send needs nobody."""
    if eager_bytes == 0:
        return "No send completes before the receiver is in MPI."
    if eager_bytes >= largest_bytes:
        return f"Sends complete without the receiver up to {format_bytes(eager_bytes)} at least, the largest one tried."
    return (
        f"Up to about {format_bytes(eager_bytes)} a send completes by itself (eager); a larger one needs the receiver "
        "to have been inside MPI (as in a rendezvous)."
    )


def describe_finding(finding: Finding, when: str) -> str:
    """Say what happened during one kind of absence, to each rank by itself where that differs."""
    verdicts = {side.verdict for side in finding.sides.values()}
    if len(verdicts) > 1:
        sides = [describe_one(side, name) for name, side in finding.sides.items()]
        return f"{when}: {'; '.join(sides)}"
    return describe_one(finding, when) + describe_waits(finding)


def describe_waits(finding: Finding) -> str:
    """Say how long each rank waited, where they waited for differently long."""
    waits_us = {name: side.wait_us for name, side in finding.sides.items()}
    if finding.verdict in (Verdict.UNKNOWN, Verdict.ALL, Verdict.PAID) or len(waits_us) < len(SIDES):
        return ""
    return f" (sender {format_us(waits_us['sender'])}, receiver {format_us(waits_us['receiver'])})"


def describe_one(finding: Finding, when: str) -> str:
    """Say what one or both ranks saw."""
    if finding.verdict is Verdict.UNKNOWN:
        return f"{when}: cannot be told, the times scatter too much"
    wait = f"MPI_Wait then still took {format_us(finding.wait_us)}"
    if finding.verdict is Verdict.ALL:
        return f"{when}: it goes on meanwhile ({100 * finding.hidden:.0f} % hidden)"
    if finding.verdict is Verdict.PART:
        return f"{when}: {100 * finding.hidden:.0f} % of it is hidden; {wait}"
    if finding.verdict is Verdict.PAID:
        return f"{when}: it moves, but the ranks come back that much later; nothing is gained"
    return f"{when}: nothing of it is hidden; {wait}"


def describe_size(size: SizeFindings) -> list[str]:
    """Say what happens to a message of one size."""
    lines = [
        f"{format_bytes(size.size_bytes)}: takes {format_us(size.comm_us)} by itself; "
        f"ranks sleep for {format_us(size.sleep_us)}, or compute for {format_us(size.work_us)}"
    ]
    if all(size.findings[name].verdict is Verdict.UNKNOWN for name in ABSENCES):
        return [*lines, "  what happens then cannot be told, the times scatter too much"]
    lines += [f"  {describe_finding(size.findings[name], when)}" for name, when in name_absences(size.tests).items()]
    lines.append(f"  {describe_carriers(size.carriers)}")
    return [*lines, *describe_one_side(size), *describe_price(size)]


def describe_price(size: SizeFindings) -> list[str]:
    """Say what MPI_Test costs: where it finds nothing to do, and where it moved data."""
    if size.tests == 0:
        return []
    moved_us = size.findings["sleep_test"].test_us / size.tests
    return [
        f"  one MPI_Test takes {format_us(size.test_price_us)} where there is nothing to do, "
        f"{format_us(moved_us)} while this transfer was under way"
    ]


def describe_one_side(size: SizeFindings) -> list[str]:
    """Say whose absence holds the transfer up, where that can be told."""
    verdicts = {side: size.findings[f"{side}_work"].verdict for side in ("sender", "receiver")}
    if Verdict.UNKNOWN in verdicts.values() or len(set(verdicts.values())) == 1:
        return []
    texts = [f"{side} alone computes: {verdict.value}" for side, verdict in verdicts.items()]
    return [f"  {'; '.join(texts)}"]


def conclude(sizes: Sequence[SizeFindings]) -> str:
    """Say in one sentence what to expect of computation beside nonblocking transfers."""
    known = {size.size_bytes: size.findings["work"].verdict for size in sizes}
    told = [f"{format_bytes(number)} {verdict.value}" for number, verdict in known.items()]
    kinds = set(known.values())
    if kinds == {Verdict.ALL}:
        return "Transfers go on in the background of a computation, at every size tried."
    if kinds == {Verdict.NONE}:
        return "Transfers wait while the program computes: they progress only inside MPI calls, at every size tried."
    if kinds == {Verdict.PAID}:
        return "Transfers move while the program computes, but take that time from it, at every size tried."
    if kinds == {Verdict.UNKNOWN}:
        return "Nothing can be told: the times scatter too much. Is the machine busy with something else?"
    return f"While the program computes: {'; '.join(told)}."
