# SPDX-License-Identifier: MIT
"""What the refined model assumes beyond the profile: each number with its range and its source."""

from dataclasses import dataclass, replace
from math import nan
from statistics import median, quantiles
from typing import Any

from lapwing.model.distribution import Coupling
from lapwing.model.profile import Calibration, JobProfile


@dataclass(frozen=True)
class Range:
    """A number that is known only roughly."""

    low: float
    expected: float
    high: float


# docs/measurements.md, "Holds": 11 to 57 us from arming to release; sends on small pages grow further.
HOLD_NS = Range(10_000, 20_000, 60_000)
# docs/measurements.md, "Overlap": what an overlapped byte took from the computing core over TCP, per end:
# 0.5 ns at 5 Gb/s, about 1 ns at 1 Gb/s (the kernel's TCP, the copies, the wake-ups).
CPU_NS_PER_BYTE = Range(0.5, 0.8, 1.2)
# docs/measurements.md: "times vary by a few percent from run to run"; a profile is one run.
RUN_SPREAD = 0.02
# Of the messages that calls in a row could let cross. Which of two an MPI library lets go first, and whether a site
# finds that early returns pay where they hide nothing by themselves (docs/decisions.md), no profile tells: none or
# all, and the middle is expected.
ROWS_CROSS = Range(0.0, 0.5, 1.0)
# A wait or test that takes longer than this at best never found its request complete. The paper's own
# minima (Tables I and II) are 5 to 75 us.
CALL_FLOOR_MAX_NS = 100_000
# 64 GB/s: more than a link of 400 Gb/s carries, or one core copies. What came sooner had come before the call.
BYTES_PER_NS_MAX = 64.0
# a + b is b + a (IEEE 754): with so many ranks Lapwing defers sums of floating-point numbers, too.
EXACT_SUM_RANKS_MAX = 2
# The defaults of --threshold and --progress-threshold (src/base/options.toml).
THRESHOLD_BYTES = 65536
PROGRESS_THRESHOLD_BYTES = 65536


@dataclass(frozen=True)
class Setup:
    """The choices of one calculation. The defaults are the expected case; varying one shows what it weighs.

    coupling: which slack meets which transfer.
    transfer_weight: 0 takes the fastest call of a size as its transfer time (the rest was waiting for a late
    peer), 1 the mean; None the fastest if it moved data at all.
    slack_error: in standard errors of the mean slack of a site.
    extends_censored: slack whose watch ended before a touch was as long as any transfer, not as long as watched.
    unknown_slack: share of the data time that is hidden where no slack was measured.
    defers_unknown_sizes: messages of which no size is known reach the threshold, and their time is for data.
    absorbs_imbalance: slack left over hides waiting for late peers that are late in turn.
    meetings_undo: that waiting comes back where a call that waits for others follows.
    overlaps_transfers: a transfer also goes on beside the other MPI calls that lie within its slack.
    shares_windows: calls that stand one after the other have the same computation behind them, not each its own.
    uses_pieces: the data of deferred collectives that travel in pieces are used in order, behind the first touch.
    crosses_at_once: messages that cross take turns in the profile, as in the measured system, and not under Lapwing.
    rows_cross: what part of the messages does that calls in a row could let cross if they returned early.
    collectives_cross: so do those of collectives between two ranks, as much as messages of their size.
    defers_reductions: reductions are of a kind that Lapwing defers, where the profile does not tell (mpiP).
    computation_ratio: computation time on the cores left, to that on all; nan when no core can be given up.
    wait_contention: extra time in waits, as a share, while another thread polls too (MiniMD in the paper:
    8.69 s / 4.19 s - 1 = 1.07); Lapwing's engine keeps out of MPI while the program is inside.
    carries_nonblocking: the program's own nonblocking calls go on in the background (`--nonblocking on`, the default).
    progress_threshold_bytes: of their messages, those from this size on (`--progress-threshold`).
    """

    coupling: Coupling = Coupling.INDEPENDENT
    transfer_weight: float | None = None
    slack_error: float = 0.0
    extends_censored: bool = False
    unknown_slack: float = 0.0
    defers_unknown_sizes: bool = False
    absorbs_imbalance: bool = True
    meetings_undo: bool = True
    overlaps_transfers: bool = False
    shares_windows: bool = False
    uses_pieces: bool = False
    crosses_at_once: bool = True
    rows_cross: float = ROWS_CROSS.expected
    collectives_cross: bool = False
    defers_reductions: bool = True
    cpu_ns_per_byte: float = CPU_NS_PER_BYTE.expected
    hold_ns: float = HOLD_NS.expected
    computation_ratio: float = nan
    wait_contention: float = 0.0
    threshold_bytes: int = THRESHOLD_BYTES
    carries_nonblocking: bool = True
    progress_threshold_bytes: int = PROGRESS_THRESHOLD_BYTES


@dataclass(frozen=True)
class Variation:
    """One thing that is not known for sure, and the setups at its two ends (one of them may be missing)."""

    name: str
    ends: tuple[Setup, ...]


def measure_ratio(calibration: Calibration | None) -> Range | None:
    """Return how much longer the computation takes on N - 1 cores, from interleaved runs: quartiles around it."""
    if calibration is None or not calibration.reduced_ns or min(calibration.full_ns, default=0) <= 0:
        return None
    full_ns = median(calibration.full_ns)
    ratios = [reduced_ns / full_ns for reduced_ns in calibration.reduced_ns]
    if len(ratios) < 2:
        return Range(ratios[0], ratios[0], ratios[0])
    low, middle, high = quantiles(ratios, n=4, method="inclusive")
    return Range(low, middle, high)


def estimate_ratio(profile: JobProfile) -> Range | None:
    """Return the computation's scaling when a core is given up; None when there is none to give.

    A spare core costs nothing; a calibration run measures the ratio; else it lies between 1 (a program whose
    threads do not scale loses nothing, III-B1) and the paper's N / (N - 1), which is taken as expected.
    """
    if profile.spare_cores > 0:
        return Range(1.0, 1.0, 1.0)
    measured = measure_ratio(profile.calibration)
    if measured is not None:
        return measured
    if profile.cores_per_rank is None or profile.cores_per_rank < 2:
        return None
    linear = profile.cores_per_rank / (profile.cores_per_rank - 1)
    return Range(1.0, linear, linear)


def measure_costs(profile: JobProfile) -> tuple[Range, Range]:
    """Return what a byte costs the engine and what a hold costs: as measured in the run, or the defaults."""
    engines = [rank.engine for rank in profile.ranks if rank.engine is not None]
    moved, ops = sum(engine.bytes_total for engine in engines), sum(engine.ops for engine in engines)
    byte_ns = sum(engine.cpu_ns for engine in engines) / moved if moved else 0.0
    if profile.link is not None and profile.link.cpu_ns_per_byte is not None:
        byte_ns = profile.link.cpu_ns_per_byte
    hold_ns = sum(engine.hold_ns for engine in engines) / ops if ops else 0.0
    # The engine's own time leaves out what the kernel does for it in interrupts: up to twice as much.
    bytes_range = Range(byte_ns, byte_ns, 2 * byte_ns) if byte_ns else CPU_NS_PER_BYTE
    return bytes_range, Range(hold_ns, hold_ns, hold_ns) if hold_ns else HOLD_NS


def make_setup(
    profile: JobProfile,
    threshold_bytes: int = THRESHOLD_BYTES,
    wait_contention: float = 0.0,
    progress_threshold_bytes: int = PROGRESS_THRESHOLD_BYTES,
    carries_nonblocking: bool = True,
) -> Setup:
    """Return the expected case for a profile."""
    ratio, (byte_ns, hold_ns) = estimate_ratio(profile), measure_costs(profile)
    return Setup(
        cpu_ns_per_byte=byte_ns.expected,
        hold_ns=hold_ns.expected,
        computation_ratio=ratio.expected if ratio else nan,
        wait_contention=wait_contention,
        threshold_bytes=threshold_bytes,
        progress_threshold_bytes=progress_threshold_bytes,
        carries_nonblocking=carries_nonblocking,
    )


def describe_unmeasured(profile: JobProfile) -> tuple[str, dict[str, Any]]:
    """Return the doubt about what was not measured.

    Sizes that are not known go with the slack: alone neither would hide such a message.
    """
    lacks_sizes = any(site.lacks_sizes for rank in profile.ranks for site in rank.sites)
    name = "sizes and slack not measured" if lacks_sizes else "slack not measured"
    return name, {"unknown_slack": 1.0, "defers_unknown_sizes": True}


def make_variations(profile: JobProfile, setup: Setup) -> list[Variation]:
    """Return everything that is varied, one at a time, to make the interval."""
    ratio, (byte_ns, hold_ns) = estimate_ratio(profile), measure_costs(profile)

    def vary(name: str, *changes: dict[str, Any]) -> Variation:
        return Variation(name, tuple(replace(setup, **change) for change in changes))

    variations = [
        vary("which slack meets which transfer", {"coupling": Coupling.SORTED}, {"coupling": Coupling.OPPOSED}),
        vary("waiting for data or for a late peer", {"transfer_weight": 0.0}, {"transfer_weight": 1.0}),
        vary("slack known from samples", {"slack_error": -1.0}, {"slack_error": 1.0}),
        vary("slack watched too briefly", {"extends_censored": True}),
        vary(*describe_unmeasured(profile)),
        vary("imbalance that moves between ranks", {"absorbs_imbalance": False}, {"meetings_undo": False}),
        vary("transfers beside other transfers", {"overlaps_transfers": True}),
        vary("computation shared by calls in a row", {"shares_windows": True}),
        vary("collectives used piece by piece", {"uses_pieces": True}),
        vary("messages that cross take turns", {"crosses_at_once": False}),
        vary("messages of calls in a row cross", {"rows_cross": ROWS_CROSS.low}, {"rows_cross": ROWS_CROSS.high}),
        vary("messages of collectives take turns", {"collectives_cross": True}),
        vary("processor time per byte", {"cpu_ns_per_byte": byte_ns.low}, {"cpu_ns_per_byte": byte_ns.high}),
        vary("cost of a hold", {"hold_ns": hold_ns.low}, {"hold_ns": hold_ns.high}),
    ]
    if profile.rank_count > EXACT_SUM_RANKS_MAX:
        variations.append(vary("reductions whose order matters", {"defers_reductions": False}))
    if ratio is not None:
        ends = ({"computation_ratio": ratio.low}, {"computation_ratio": ratio.high})
        variations.append(vary("computation on one core less", *ends))
    return variations
