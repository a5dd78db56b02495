# SPDX-License-Identifier: MIT
"""What the times and counters of a transfer prove, and what they do not."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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
    """One experiment with one size."""

    hidden: float  # 1: as if the transfer took no time; 0: as if it had waited for the ranks
    scatter: float
    wait_us: float  # what the slower rank then spent in MPI_Wait
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return {**asdict(self), "verdict": self.verdict.value}


@dataclass(frozen=True)
class SizeFindings:
    """All experiments with one size."""

    size_bytes: int
    comm_us: float
    away_us: float
    findings: Mapping[str, Finding]
    carriers: Sequence[Carrier]

    def as_json(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        findings = {name: finding.as_json() for name, finding in self.findings.items()}
        carriers = [carrier.name.lower() for carrier in self.carriers]
        return {**asdict(self), "findings": findings, "carriers": carriers}


def slowest(experiment: Mapping[str, Any], key: str) -> list[float]:
    """Return of each repetition the slower rank's time."""
    pairs = zip(experiment["sender"][key], experiment["receiver"][key], strict=True)
    return [max(pair) for pair in pairs]


def choose_verdict(hidden: float, scatter: float, wait_share: float) -> Verdict:
    """Say no more than the scatter allows; wait_share is what MPI_Wait still took, as a part of the transfer."""
    if scatter > SCATTER_MAX or hidden > HIDDEN_MAX:
        return Verdict.UNKNOWN
    if hidden >= HIDDEN_MOST:
        return Verdict.ALL
    if hidden > HIDDEN_LEAST:
        return Verdict.PART
    return Verdict.PAID if wait_share <= HIDDEN_LEAST else Verdict.NONE


def judge(comm_us: Sequence[float], absence_us: Sequence[float], experiment: Mapping[str, Any]) -> Finding:
    """Compare an experiment with the transfer alone and the absence alone."""
    total = summarise(slowest(experiment, "total_us"))
    comm, absence = summarise(comm_us), median(absence_us)
    shorter = min(comm.median, absence)
    spread = max(total.third_quartile - total.first_quartile, comm.third_quartile - comm.first_quartile)
    hidden, scatter = calculate_overlap(comm.median, absence, total.median), spread / shorter
    wait_us = median(slowest(experiment, "wait_us"))
    return Finding(hidden, scatter, wait_us, choose_verdict(hidden, scatter, wait_us / comm.median))


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
    comm_us = slowest(row["alone"], "total_us")
    findings = {name: judge(comm_us, row[f"{name_absence(name)}_alone_us"], row[name]) for name in EXPERIMENTS}
    carriers = find_carriers(row["size_bytes"], median(comm_us), findings["sleep"].verdict, row["sleep"])
    return SizeFindings(row["size_bytes"], median(comm_us), row["away_us"], findings, carriers)
