# SPDX-License-Identifier: MIT
"""What the times and counters of a transfer prove, and what they do not."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from statistics import median
from typing import Any

from lapwing.bench.measures import calculate_overlap, summarise

EXPERIMENTS = (
    "sleep",
    "sleep_test",
    "work",
    "work_test",
    "sender_sleep",
    "sender_work",
    "receiver_sleep",
    "receiver_work",
)
HIDDEN_MOST, HIDDEN_LEAST = 0.8, 0.2
SCATTER_MAX = 0.35  # quartiles that lie further apart, as a part of the transfer's time, prove nothing
HIDDEN_MAX = 1.2  # more cannot be: the transfer alone was disturbed
CARRIED_LEAST = 0.5  # the part of a message that must show somewhere to be called carried there
SIDES = ("sender", "receiver")
HELPED_LEAST = 0.02  # processor time of other threads, as a part of the transfer's time


class Verdict(Enum):
    """What happens to a transfer while its ranks are away."""

    ALL = "in the background"
    PART = "partly in the background"
    PAID = "meanwhile, but at the cost of the computation"
    NONE = "only inside MPI calls"
    UNKNOWN = "cannot be told"


class Carrier(Enum):
    """Who moved the data."""

    CALL = "the call that starts it, which copies the message"
    THREAD = "a thread of the process"
    KERNEL = "the kernel's network stack"
    CARD = "the network card (RDMA)"
    NOBODY = "nobody"
    UNSEEN = "not seen: no thread of these processes and none of their network devices moved it"


@dataclass(frozen=True)
class Finding:
    """One experiment with one size.

    hidden: 1: as if the transfer took no time; 0: as if it had waited for the ranks. wait_us, test_us: what the slower
    rank then spent in MPI_Wait, and before in all its calls of MPI_Test. sides: the same for each rank by itself.
    """

    hidden: float
    scatter: float
    wait_us: float
    verdict: Verdict
    test_us: float = 0.0
    sides: Mapping[str, "Finding"] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        sides = {name: side.as_json() for name, side in self.sides.items()}
        return {**asdict(self), "verdict": self.verdict.value, "sides": sides}


@dataclass(frozen=True)
class SizeFindings:
    """All experiments with one size."""

    size_bytes: int
    comm_us: float
    sleep_us: float
    work_us: float
    tests: int  # calls of MPI_Test in an absence that has any
    test_price_us: float  # of one that finds nothing to do
    findings: Mapping[str, Finding]
    carriers: Sequence[Carrier]

    def as_json(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        findings = {name: finding.as_json() for name, finding in self.findings.items()}
        carriers = [carrier.name.lower() for carrier in self.carriers]
        return {**asdict(self), "findings": findings, "carriers": carriers}


def slowest(experiment: Mapping[str, Any], key: str, sides: Sequence[str] = SIDES) -> list[float]:
    """Return of each repetition the slower rank's time."""
    return [max(times) for times in zip(*(experiment[side][key] for side in sides), strict=True)]


def total_us(experiment: Mapping[str, Any], sleep_us: float, sides: Sequence[str]) -> list[float]:
    """Return of each repetition the slower rank's time, as if each had slept for so long: sleeps end late."""
    totals = []
    for side in sides:
        pairs = zip(experiment[side]["total_us"], experiment[side]["slept_us"], strict=True)
        totals.append([total - slept + sleep_us if slept > 0 else total for total, slept in pairs])
    return [max(times) for times in zip(*totals, strict=True)]


def choose_verdict(hidden: float, scatter: float, wait_share: float) -> Verdict:
    """Say no more than the scatter allows; wait_share is what MPI_Wait still took, as a part of the transfer."""
    if scatter > SCATTER_MAX or hidden > HIDDEN_MAX:
        return Verdict.UNKNOWN
    if hidden >= HIDDEN_MOST:
        return Verdict.ALL
    if hidden > HIDDEN_LEAST:
        return Verdict.PART
    return Verdict.PAID if wait_share <= HIDDEN_LEAST else Verdict.NONE


def judge_sides(row: Mapping[str, Any], name: str, sides: Sequence[str]) -> Finding:
    """Compare what some ranks saw in an experiment with the transfer alone and the absence alone."""
    experiment, sleep_us = row[name], row["sleep_us"]
    total = summarise(total_us(experiment, sleep_us, sides))
    comm = summarise(slowest(row["alone"], "total_us", sides))
    work_us = row.get(f"{name_absence(name)}_alone_us")
    absence = median(work_us) if work_us else sleep_us
    shorter = min(comm.median, absence)
    spread = max(total.third_quartile - total.first_quartile, comm.third_quartile - comm.first_quartile)
    hidden, scatter = calculate_overlap(comm.median, absence, total.median), spread / shorter
    wait_us, test_us = (median(slowest(experiment, key, sides)) for key in ("wait_us", "test_us"))
    return Finding(hidden, scatter, wait_us, choose_verdict(hidden, scatter, wait_us / comm.median), test_us)


def judge(row: Mapping[str, Any], name: str) -> Finding:
    """Judge both ranks together, and each by itself."""
    sides = {side: judge_sides(row, name, (side,)) for side in SIDES}
    return replace(judge_sides(row, name, SIDES), sides=sides)


def find_carriers(size_bytes: int, comm_us: float, verdict: Verdict, sleep: Mapping[str, Any]) -> list[Carrier]:
    """Say who moved the data while both ranks slept; several may have had a part in it."""
    if verdict is Verdict.UNKNOWN:
        return []
    if verdict is Verdict.NONE:
        return [Carrier.NOBODY]
    helpers_us = median(sleep["sender"]["helpers_us"]) + median(sleep["receiver"]["helpers_us"])
    signs = {
        Carrier.CALL: median(sleep["sender"]["start_us"]) >= CARRIED_LEAST * comm_us,
        Carrier.THREAD: helpers_us >= HELPED_LEAST * comm_us,
        Carrier.KERNEL: median(sleep["sender"]["net_bytes"]) >= CARRIED_LEAST * size_bytes,
        Carrier.CARD: median(sleep["sender"]["rdma_bytes"]) >= CARRIED_LEAST * size_bytes,
    }
    return [carrier for carrier, is_seen in signs.items() if is_seen] or [Carrier.UNSEEN]


def name_absence(experiment: str) -> str:
    """Return what the ranks do that are away: sleep, sleep_test, work, work_test."""
    return experiment.removeprefix("sender_").removeprefix("receiver_")


def judge_size(row: Mapping[str, Any]) -> SizeFindings:
    """Judge what the program printed for one size."""
    comm_us = median(slowest(row["alone"], "total_us"))
    findings = {name: judge(row, name) for name in EXPERIMENTS}
    return SizeFindings(
        size_bytes=row["size_bytes"],
        comm_us=comm_us,
        sleep_us=row["sleep_us"],
        work_us=row["work_us"],
        tests=row["tests"],
        test_price_us=median(row["test_alone_us"]),
        findings=findings,
        carriers=find_carriers(row["size_bytes"], comm_us, findings["sleep"].verdict, row["sleep"]),
    )
