# SPDX-License-Identifier: MIT
"""Which assumptions of the two models hold for a profile: said with the numbers that decide it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lapwing.model.calibration import ClassSummary, summarise_classes
from lapwing.model.classes import CallClass
from lapwing.model.outcomes import SiteOutcome
from lapwing.model.profile import JobProfile, Source, Way
from lapwing.model.refined import Prediction, RankOutcome
from lapwing.model.setup import CALL_FLOOR_MAX_NS, measure_ratio


@dataclass(frozen=True)
class Assumption:
    """One assumption. holds: None when the profile cannot tell. models: which of the two make it."""

    claim: str
    holds: bool | None
    evidence: str
    models: tuple[str, ...] = ("paper",)


def share(part: float, whole: float) -> float:
    """Return a part of a whole; 0 of nothing."""
    return part / whole if whole > 0 else 0.0


def list_outcomes(ranks: Iterable[RankOutcome], *classes: CallClass) -> list[SiteOutcome]:
    """Return the sites of some classes on all ranks."""
    return [site for rank in ranks for site in rank.sites if site.times.site.call_class in classes]


def sum_data_ns(outcomes: Iterable[SiteOutcome]) -> float:
    """Return the time in which data moved."""
    return sum(outcome.times.data_ns for outcome in outcomes)


def judge_overlap(ideal: Sequence[RankOutcome]) -> Assumption:
    """Is there computation beside every transfer? (III-C2a; wrong for NAS BT-MZ)

    ideal: the ranks with progress that leaves nothing out, and takes nothing.
    """
    claim = "enough computation between start and wait to hide every transfer"
    waits = list_outcomes(ideal, CallClass.WAIT)
    total_ns = sum_data_ns(waits)
    if total_ns <= 0:
        return Assumption(claim, True, "no wait moves data")
    known = [outcome for outcome in waits if outcome.times.site.slack is not None]
    if share(sum_data_ns(known), total_ns) < 0.9:
        return Assumption(claim, None, "the slack of the waits was not measured")
    hidden = share(sum(outcome.hidden_ns for outcome in waits), total_ns)
    return Assumption(claim, hidden >= 0.9, f"{100 * hidden:.0f} % of the time for data in waits can be hidden")


def judge_floor(name: str, summary: ClassSummary) -> Assumption:
    """Did a call of this class ever find nothing to do? Else its minimum is not its cost (Section IV)."""
    claim = f"the fastest {name} did no work for a transfer"
    if summary.count == 0:
        return Assumption(claim, True, f"there is no {name}")
    holds = summary.minimum_s * 1e9 <= CALL_FLOOR_MAX_NS
    took = f"{summary.minimum_s * 1e6:.3g} us" if holds else f"{summary.minimum_s * 1e3:.3g} ms"
    return Assumption(claim, holds, f"it took {took}", ("paper", "refined"))


def judge_scaling(profile: JobProfile) -> Assumption:
    """Does the computation scale with the cores? (III-B1)"""
    claim = "the computation takes N / (N - 1) of its time on one core less"
    measured, cores = measure_ratio(profile.calibration), profile.cores_per_rank
    if measured is None or cores is None or cores < 2:
        return Assumption(claim, None, explain_uncalibrated(profile))
    ratio, linear = measured.expected, cores / (cores - 1)
    is_linear = abs(ratio - linear) < 0.02
    if profile.scaling is None:
        return Assumption(claim, is_linear, f"measured {ratio:.3f}, linear {linear:.3f}")
    least, most = min(profile.scaling.threads), max(profile.scaling.threads)
    evidence = f"by the fit of {least} to {most} threads {ratio:.3f}, linear {linear:.3f}"
    return Assumption(claim, is_linear if least < cores <= most else None, evidence)


def explain_uncalibrated(profile: JobProfile) -> str:
    """Say why the scaling is not known."""
    calibration = profile.calibration
    if calibration is None or calibration.core_count == profile.cores_per_rank:
        return "no calibration run on one core less"
    return f"the calibration is of {calibration.core_count} cores"


def judge_balance(stock: Prediction, is_measured: bool) -> Assumption:
    """Is the time in MPI spent on data? (not mentioned in the paper; MPI time is overlappable there)"""
    claim = "time in MPI is for data, not for late peers"
    sites = list_outcomes(stock.ranks, CallClass.BLOCKING, CallClass.WAIT)
    idle_ns = sum(outcome.times.idle_ns for outcome in sites)
    part = share(idle_ns, idle_ns + sum_data_ns(sites))
    known = all(outcome.times.site.late_peer_ns is not None for outcome in sites)
    guessed = "by the measured system" if is_measured else "estimated from the fastest call of each size"
    how = "measured" if known else guessed
    return Assumption(claim, part <= 0.1, f"{100 * part:.0f} % of it is for late peers ({how})")


def judge_blocking_progress(classes: dict[CallClass, ClassSummary]) -> Assumption:
    """Do blocking calls move only their own data? (Section IV)"""
    claim = "blocking calls move no data of nonblocking operations"
    if classes[CallClass.START].count == 0:
        return Assumption(claim, True, "there are no nonblocking operations")
    if classes[CallClass.BLOCKING].count == 0:
        return Assumption(claim, True, "there are no blocking calls")
    return Assumption(claim, None, "both kinds of calls occur; their times cannot be told apart", ("paper", "refined"))


def judge_hybrid(profile: JobProfile) -> Assumption:
    """Is there one process per host? (Section I)"""
    claim = "one rank per host computes on all its cores"
    hosts = [rank.host for rank in profile.ranks]
    if profile.missing_count:
        return Assumption(claim, None, "ranks are missing from the record")
    if not all(hosts):
        return Assumption(claim, None, "the hosts are not known")
    most = max(hosts.count(host) for host in set(hosts))
    return Assumption(claim, most == 1, f"up to {most} rank{'s' if most > 1 else ''} on a host")


def judge_stock(profile: JobProfile) -> Assumption:
    """Is this the run without progress that both models start from?"""
    claim = "the profiled run had no progress in the background"
    if profile.source is Source.MPIP:
        return Assumption(claim, None, "mpiP does not say how it ran", ("paper", "refined"))
    return Assumption(claim, profile.way is Way.STOCK, f"it ran as: {profile.way.value}", ("paper", "refined"))


def judge_contention(setting: float) -> Assumption:
    """Does the progress thread keep out of the way of waits? (wrong for MiniMD)"""
    claim = "no thread competes with the program inside a wait"
    evidence = "Lapwing's engine stays out; a progress thread of the MPI library may not (see --wait-contention)"
    if setting > 0:
        return Assumption(claim, False, f"waits are taken {100 * setting:.0f} % longer, as asked for", ("paper",))
    return Assumption(claim, None, evidence, ("paper", "refined"))


def judge_threads(profile: JobProfile) -> Assumption:
    """Does one thread at a time call MPI? Else times inside MPI overlap each other."""
    claim = "one thread of a rank calls MPI"
    if profile.source is Source.MPIP:
        return Assumption(claim, None, "mpiP does not say", ("paper", "refined"))
    evidence = "several threads were in MPI" if profile.has_threaded_calls else "no other thread was seen in MPI"
    return Assumption(claim, not profile.has_threaded_calls, evidence, ("paper", "refined"))


def judge_slack(stock: Prediction) -> Assumption:
    """Is the slack known where the time goes?"""
    sites = list_outcomes(stock.ranks, CallClass.BLOCKING, CallClass.WAIT)
    known = [outcome for outcome in sites if outcome.times.site.slack is not None]
    part = share(sum_data_ns(known), sum_data_ns(sites)) if sum_data_ns(sites) > 0 else 1.0
    evidence = f"it is known for {100 * part:.0f} % of the time for data"
    return Assumption("the slack of blocking calls and waits was measured", part >= 0.9, evidence, ("refined",))


def judge_assumptions(
    profile: JobProfile,
    stock: Prediction,
    ideal: Sequence[RankOutcome],
    contention: float,
    is_measured: bool = False,
) -> list[Assumption]:
    """Judge all assumptions. ideal: as for judge_overlap(). is_measured: transfer times are of a measured system."""
    classes = summarise_classes(profile)
    return [
        judge_stock(profile),
        judge_threads(profile),
        judge_hybrid(profile),
        judge_scaling(profile),
        judge_overlap(ideal),
        judge_balance(stock, is_measured),
        judge_blocking_progress(classes),
        judge_floor("nonblocking start", classes[CallClass.START]),
        judge_floor("test", classes[CallClass.TEST]),
        judge_floor("wait", classes[CallClass.WAIT]),
        judge_contention(contention),
        judge_slack(stock),
    ]
