# SPDX-License-Identifier: MIT
"""The refined model: what each way to run the program would take, with an interval.

It mends what the paper names as its model's limits (Sections V and VII):
- the overlap of a call site is bounded by its measured slack and by its transfer time (BT-MZ);
- waiting for a late peer is told apart from waiting for data: the first cannot be hidden from the job;
- the computation's scaling from N to N - 1 cores is measured where a calibration is at hand;
- waits may be slowed by a second thread that polls (MiniMD), and an engine on a shared core is charged.

A rank is busy with its computation, with data, and with the calls themselves. The job takes as long as the
busiest rank, and what the measured run took beyond that (imbalance that moves from rank to rank).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isnan, sqrt

from lapwing.model.classes import (
    CallClass,
    classify_function,
    comes_in,
    count_directions,
    is_convertible,
    is_deferrable,
    is_reduction,
    share_first_piece,
)
from lapwing.model.lateness import limit_absorbed, measure_distinct_ns, measure_late_work_ns
from lapwing.model.moved import EVERYTHING, Moved, measure_moved, select_moved
from lapwing.model.outcomes import SiteOutcome, limit_hidden, limit_shared
from lapwing.model.profile import JobProfile, RankProfile, SiteStatistics, Way
from lapwing.model.setup import RUN_SPREAD, Setup, Variation, make_variations
from lapwing.model.sites import (
    Baseline,
    CallGroup,
    SiteTimes,
    cross_at_once,
    estimate_stolen_ns,
    hide,
    make_baseline,
    measure_free_ns,
    select_deferrable,
    take_rank_apart,
)

DEDICATED_WAYS = (Way.DEDICATED, Way.DEFERRED_DEDICATED, Way.REWRITTEN_DEDICATED)
DEFERRED_WAYS = (Way.DEFERRED, Way.DEFERRED_DEDICATED)
REWRITTEN_WAYS = (Way.REWRITTEN, Way.REWRITTEN_DEDICATED)
# The interval needs a dozen calculations: only for the ranks that may become the slowest.
CANDIDATE_COUNT = 32
PAIR_SIZE = 2


@dataclass(frozen=True)
class Terms:
    """Where a job's time goes, in ns: the busiest rank's summands, and what comes on top for the job.

    cost: holds, or the starts and waits that replace blocking calls. imbalance: waiting for late peers.
    """

    computation: float = 0.0
    starts: float = 0.0
    tests: float = 0.0
    waits: float = 0.0
    blocking: float = 0.0
    other: float = 0.0
    cost: float = 0.0
    imbalance: float = 0.0

    @property
    def total(self) -> float:
        """Return the time of the job."""
        return sum(self.as_dict().values())

    def as_dict(self) -> dict[str, float]:
        """Return the summands by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class RankOutcome:
    """One rank under one way. busy_ns: everything but waiting for late peers."""

    rank: RankProfile
    terms: Terms
    sites: tuple[SiteOutcome, ...]
    absorbed_ns: float

    @property
    def busy_ns(self) -> float:
        """Return the rank's own part of the job's time."""
        return self.terms.total


@dataclass(frozen=True)
class Effect:
    """What one thing that is not known for sure adds to the interval."""

    name: str
    low_ns: float
    high_ns: float


@dataclass(frozen=True)
class Prediction:
    """One way to run the program. alpha: the share of blocking calls that are rewritten or deferred.

    impossible: why there is no prediction; then all times are 0.
    """

    way: Way
    expected_ns: float = 0.0
    low_ns: float = 0.0
    high_ns: float = 0.0
    terms: Terms = Terms()
    effects: tuple[Effect, ...] = ()
    ranks: tuple[RankOutcome, ...] = ()
    alpha: float | None = None
    impossible: str = ""


@dataclass(frozen=True)
class Case:
    """What a calculation is made for. moved: what of a rank's nonblocking messages the threshold lets go on."""

    profile: JobProfile
    baseline: Baseline
    way: Way
    setup: Setup
    moved: Moved = EVERYTHING

    @property
    def ratio(self) -> float:
        """Return how much longer the computation takes."""
        return self.setup.computation_ratio if self.way in DEDICATED_WAYS else 1.0

    def charge_ns_per_byte(self, times: SiteTimes) -> float:
        """Return what a byte of a site takes from the computation in the background: nothing on a core of its own."""
        directions = measure_directions(times.site)
        return 0.0 if self.way in DEDICATED_WAYS else self.setup.cpu_ns_per_byte * directions


def measure_directions(site: SiteStatistics) -> float:
    """Return how many times its size a call of a site moves: an exchange with no process moves it once."""
    share = site.both_ways_share
    return count_directions(site.function) if share is None else 1 + share


def has_progress(case: Case) -> bool:
    """Say whether the program's own nonblocking operations go on beside its computation."""
    return case.way is not Way.STOCK and case.setup.carries_nonblocking


def put_behind(case: Case, times: SiteTimes, groups: tuple[CallGroup, ...]) -> SiteOutcome:
    """Let some calls of a site, or all, go on beside the computation that their slack holds."""
    charge = case.charge_ns_per_byte(times)
    hidden, with_idle = hide(groups, times.site.slack, case.setup, charge, case.ratio)
    stolen = estimate_stolen_ns(groups, hidden, charge)
    return SiteOutcome(times, hidden, with_idle, stolen_ns=stolen, free_ns=measure_free_ns(groups, charge))


def use_pieces(outcome: SiteOutcome, groups: tuple[CallGroup, ...], charge: float) -> SiteOutcome:
    """Let the first touch wait for the first piece alone: of what the slack does not hide the rest hides, too."""
    function = outcome.times.site.function
    free_ns = [measure_free_ns((group,), charge) for group in groups]
    if not sum(free_ns):
        return outcome
    first_ns = sum(
        ns * share_first_piece(function, group.size_bytes) for ns, group in zip(free_ns, groups, strict=True)
    )
    more_ns = (sum(free_ns) - outcome.hidden_ns) * (1 - first_ns / sum(free_ns))
    hidden_ns = outcome.hidden_ns + more_ns
    return replace(
        outcome,
        hidden_ns=hidden_ns,
        hidden_with_idle_ns=outcome.hidden_with_idle_ns + more_ns,
        stolen_ns=estimate_stolen_ns(groups, hidden_ns, charge),
    )


def cross_in_rows(case: Case, outcome: SiteOutcome, groups: tuple[CallGroup, ...]) -> SiteOutcome:
    """Let messages go on beside those of the calls behind; the computation hides its part of the rest.

    A core that serves both gains nothing in the time that it works for them.
    """
    row_ns = case.setup.rows_cross * sum(group.count * group.row_ns for group in groups)
    row_ns = min(row_ns, outcome.free_ns)
    if row_ns <= 0:
        return outcome
    left = 1 - row_ns / sum(group.count * group.data_ns for group in groups)
    hidden_ns = row_ns + left * outcome.hidden_ns
    return replace(
        outcome,
        hidden_ns=hidden_ns,
        hidden_with_idle_ns=hidden_ns + outcome.hidden_with_idle_ns - outcome.hidden_ns,
        stolen_ns=left * outcome.stolen_ns,
        beside_ns=row_ns,
    )


def change_calls(outcome: SiteOutcome, count: int, cost_ns: float) -> SiteOutcome:
    """Charge calls that are deferred or rewritten with their cost: all stay as they are where that does not pay."""
    changed = replace(outcome, cost_ns=cost_ns, changed_count=count)
    return changed if changed.gain_ns > 0 else SiteOutcome(outcome.times)


def judge_wait(case: Case, times: SiteTimes) -> SiteOutcome:
    """Let a wait's transfers begin at the start of their requests."""
    if not has_progress(case):
        return SiteOutcome(times)
    return put_behind(case, times, select_moved(times, case.moved, case.setup))


def judge_test(case: Case, times: SiteTimes) -> SiteOutcome:
    """A core of its own does the tests' work; on a shared core it is the same work in another thread."""
    is_helped = case.way in DEDICATED_WAYS and has_progress(case)
    groups = select_moved(times, case.moved, case.setup) if is_helped else ()
    hidden = sum(group.count * group.data_ns for group in groups)
    return SiteOutcome(times, hidden, hidden)


def is_matched_first(case: Case, times: SiteTimes) -> bool:
    """Say whether Lapwing lets a site's calls return only when their senders have come to theirs (`--match`)."""
    known = case.profile.matches_first
    matches_first = case.profile.rank_count > PAIR_SIZE if known is None else known
    return matches_first and comes_in(times.site.function)


def is_ordered(case: Case, site: SiteStatistics) -> bool:
    """Say whether Lapwing passes a site's reductions, since their result may change with the order."""
    if not is_reduction(site.function):
        return False
    known = site.ordered_count
    return not case.setup.defers_reductions if known is None else 2 * known > site.time.count


def judge_deferred(case: Case, times: SiteTimes) -> SiteOutcome:
    """Let Lapwing return early from a blocking call: where that does not pay, the site learns to pass."""
    function = times.site.function
    if not is_deferrable(function) or is_ordered(case, times.site):
        return SiteOutcome(times)
    groups = select_deferrable(times, case.setup)
    count = sum(group.count for group in groups)
    outcome = put_behind(case, times, groups)
    if case.setup.uses_pieces:
        outcome = use_pieces(outcome, groups, case.charge_ns_per_byte(times))
    if is_matched_first(case, times):
        outcome = replace(outcome, hidden_with_idle_ns=outcome.hidden_ns)
    outcome = cross_in_rows(case, outcome, groups)
    return change_calls(outcome, count, count * case.setup.hold_ns)


def find_rewrite_cost_ns(floors_ns: Mapping[str, float]) -> float:
    """Return what a start and a wait cost: t_minMPInonblock + t_minMPIwait (paper, III-C2b), if the run had any."""
    starts = [time_ns for name, time_ns in floors_ns.items() if classify_function(name) is CallClass.START]
    waits = [time_ns for name, time_ns in floors_ns.items() if classify_function(name) is CallClass.WAIT]
    return min(starts, default=0.0) + min(waits, default=0.0)


def judge_rewritten(case: Case, times: SiteTimes) -> SiteOutcome:
    """Turn a blocking call into a start, and a wait before the first touch: only where that pays."""
    if not is_convertible(times.site.function):
        return SiteOutcome(times)
    count = times.site.time.count
    cost_ns = count * find_rewrite_cost_ns(case.baseline.floors_ns)
    outcome = cross_in_rows(case, put_behind(case, times, times.groups), times.groups)
    return change_calls(outcome, count, cost_ns)


def judge_blocking(case: Case, times: SiteTimes) -> SiteOutcome:
    """Treat a blocking call as the way does."""
    if case.way in DEFERRED_WAYS:
        return judge_deferred(case, times)
    return judge_rewritten(case, times) if case.way in REWRITTEN_WAYS else SiteOutcome(times)


JUDGES: dict[CallClass, Callable[[Case, SiteTimes], SiteOutcome]] = {
    CallClass.WAIT: judge_wait,
    CallClass.TEST: judge_test,
    CallClass.BLOCKING: judge_blocking,
}


def judge_site(case: Case, times: SiteTimes) -> SiteOutcome:
    """Calculate what the way does to a site."""
    judge = JUDGES.get(times.site.call_class)
    return judge(case, times) if judge else SiteOutcome(times)


def limit_sites(case: Case, rank: RankProfile, outcomes: Sequence[SiteOutcome]) -> list[SiteOutcome]:
    """Hold waits against the computation that lay between starts and waits, blocking calls against that after them.

    Then all against all computation.
    """
    tests = [o for o in outcomes if o.times.site.call_class is CallClass.TEST]
    waits = [o for o in outcomes if o.times.site.call_class is CallClass.WAIT]
    rest = [o for o in outcomes if o.times.site.call_class not in (CallClass.TEST, CallClass.WAIT)]
    rest = limit_shared(rest, case.setup, case.ratio)
    if rank.covered_ns is not None:
        waits = limit_hidden(waits, rank.covered_ns * case.ratio)
    beside_ns = sum(o.beside_ns for o in rest)
    if case.setup.overlaps_transfers:
        beside_ns = max(beside_ns, sum(o.times.data_ns for o in waits + rest) / 2)
    return tests + limit_hidden(waits + rest, rank.computation_ns * case.ratio + beside_ns)


def sum_class(outcomes: Iterable[SiteOutcome], call_class: CallClass) -> float:
    """Return the time of a class that is left, without waiting for late peers and without costs."""
    return sum(o.left_ns for o in outcomes if o.times.site.call_class is call_class)


def contend(case: Case, outcome: SiteOutcome) -> SiteOutcome:
    """Lengthen what is left of a wait while another thread polls, too."""
    if case.way not in DEDICATED_WAYS or outcome.times.site.call_class is not CallClass.WAIT:
        return outcome
    left_ns = outcome.times.data_ns + outcome.times.idle_ns - outcome.hidden_ns
    return replace(outcome, contended_ns=case.setup.wait_contention * left_ns)


def calculate_rank(case: Case, rank: RankProfile) -> RankOutcome:
    """Calculate one rank: everything in it but waiting for late peers."""
    times = take_rank_apart(case.baseline, rank, case.setup)
    if case.way is not Way.STOCK and case.setup.crosses_at_once:
        times = [cross_at_once(entry, case.setup.collectives_cross) for entry in times]
    case = replace(case, moved=measure_moved(rank, case.setup))
    limited = limit_sites(case, rank, [judge_site(case, entry) for entry in times])
    outcomes = [contend(case, outcome) for outcome in limited]
    if case.setup.meetings_undo:
        outcomes = limit_absorbed(outcomes)
    share = rank.counted_share
    terms = Terms(
        computation=rank.computation_ns * case.ratio,
        starts=share * sum_functions(rank, CallClass.START),
        tests=share * sum_class(outcomes, CallClass.TEST),
        waits=share * sum_class(outcomes, CallClass.WAIT),
        blocking=share * sum_class(outcomes, CallClass.BLOCKING),
        other=share * sum_functions(rank, CallClass.OTHER),
        cost=sum(o.cost_ns for o in outcomes),
    )
    absorbed_ns = share * sum(o.hidden_with_idle_ns - o.hidden_ns for o in outcomes)
    return RankOutcome(rank, terms, tuple(outcomes), absorbed_ns)


def sum_functions(rank: RankProfile, call_class: CallClass) -> float:
    """Return the time of a class that no way changes."""
    return float(sum(f.time.total for f in rank.functions if f.call_class is call_class))


def calculate_ranks(case: Case, ranks: Iterable[RankProfile]) -> list[RankOutcome]:
    """Calculate ranks, the busiest first."""
    return sorted((calculate_rank(case, rank) for rank in ranks), key=lambda outcome: -outcome.busy_ns)


def calculate_earlier_ns(
    case: Case, imbalance_ns: float, busiest: RankProfile, outcomes: Sequence[RankOutcome]
) -> float:
    """Return by how much the peers are less late because their own transfers hide.

    Not by more than their other transfers than those of the rank that waits, and not by what their work explains.
    """
    hidden_ns = [sum(site.hidden_ns for site in outcome.sites) for outcome in outcomes]
    others_ns = measure_distinct_ns([(outcome.rank, outcome.sites) for outcome in outcomes]) - hidden_ns[0]
    unexplained_ns = imbalance_ns - measure_late_work_ns(busiest, case.profile.ranks) * case.ratio
    return max(0.0, min(sum(hidden_ns) / len(hidden_ns), others_ns, unexplained_ns))


def calculate_imbalance_ns(case: Case, stock: RankOutcome, outcomes: Sequence[RankOutcome]) -> float:
    """Return what the job takes beyond its busiest rank, from what the measured run did.

    What moves from rank to rank becomes less in two ways: slack that is left over covers a late peer, and a peer
    whose own transfers are hidden is less late by as much. stock: the busiest rank as it was.
    """
    imbalance_ns = max(0.0, case.profile.elapsed_ns - stock.busy_ns) * case.ratio
    if not case.setup.absorbs_imbalance:
        return imbalance_ns
    earlier_ns = calculate_earlier_ns(case, imbalance_ns, stock.rank, outcomes)
    return max(0.0, imbalance_ns - outcomes[0].absorbed_ns - earlier_ns)


@dataclass(frozen=True)
class JobOutcome:
    """A job under one way, and its ranks as they are and under it, the busiest first."""

    terms: Terms
    stock: list[RankOutcome]
    ranks: list[RankOutcome]


def calculate_job(case: Case, ranks: Sequence[RankProfile]) -> JobOutcome:
    """Calculate the job's terms from its ranks."""
    stock = calculate_ranks(replace(case, way=Way.STOCK), ranks)
    outcomes = stock if case.way is Way.STOCK else calculate_ranks(case, ranks)
    imbalance_ns = calculate_imbalance_ns(case, stock[0], outcomes)
    return JobOutcome(replace(outcomes[0].terms, imbalance=imbalance_ns), stock, outcomes)


def choose_candidates(job: JobOutcome) -> list[RankProfile]:
    """Return the ranks that matter to the job's time."""
    half = CANDIDATE_COUNT // 2
    chosen = {outcome.rank.rank: outcome.rank for outcome in [*job.ranks[:half], *job.stock[:half]]}
    return list(chosen.values())


def measure_effect(case: Case, ranks: Sequence[RankProfile], expected_ns: float, variation: Variation) -> Effect:
    """Return what one variation does to the prediction."""
    changes = [calculate_job(replace(case, setup=end), ranks).terms.total - expected_ns for end in variation.ends]
    return Effect(variation.name, min([0.0, *changes]), max([0.0, *changes]))


def combine_effects(effects: Sequence[Effect]) -> tuple[float, float]:
    """Return how far below and above the expected time the interval goes: independent errors add in square."""
    return sqrt(sum(effect.low_ns**2 for effect in effects)), sqrt(sum(effect.high_ns**2 for effect in effects))


def calculate_alpha(outcomes: Iterable[RankOutcome]) -> float | None:
    """Return the share of blocking calls that were changed; None when there are none."""
    sites = [site for outcome in outcomes for site in outcome.sites]
    blocking = [site for site in sites if site.times.site.call_class is CallClass.BLOCKING]
    count = sum(site.times.site.time.count for site in blocking)
    return sum(site.changed_count for site in blocking) / count if count else None


def explain_impossible(case: Case) -> str:
    """Say why a way cannot be predicted; nothing when it can."""
    if case.way not in DEDICATED_WAYS or not isnan(case.setup.computation_ratio):
        return ""
    if case.profile.cores_per_rank is None:
        return "the number of cores of a rank is not known (give --cores)"
    return "a rank computes on a single core: there is none to give up"


def predict_way(profile: JobProfile, baseline: Baseline, way: Way, setup: Setup) -> Prediction:
    """Predict one way."""
    case = Case(profile, baseline, way, setup)
    reason = explain_impossible(case)
    if reason:
        return Prediction(way, impossible=reason)
    job = calculate_job(case, profile.ranks)
    terms, candidates = job.terms, choose_candidates(job)
    variations = [] if way is Way.STOCK else make_variations(profile, setup)
    spread_ns = RUN_SPREAD * terms.total
    effects = (
        Effect("one run is like another", -spread_ns, spread_ns),
        *(measure_effect(case, candidates, terms.total, variation) for variation in variations),
    )
    below_ns, above_ns = combine_effects(effects)
    alpha = calculate_alpha(job.ranks) if way in (*DEFERRED_WAYS, *REWRITTEN_WAYS) else None
    low_ns = max(0.0, terms.total - below_ns)
    return Prediction(way, terms.total, low_ns, terms.total + above_ns, terms, effects, tuple(job.ranks), alpha)


def predict_ways(
    profile: JobProfile, setup: Setup, ways: Iterable[Way] = tuple(Way), baseline: Baseline | None = None
) -> list[Prediction]:
    """Predict all ways."""
    baseline = baseline or make_baseline(profile)
    return [predict_way(profile, baseline, way, setup) for way in ways]
