# SPDX-License-Identifier: MIT
"""A prediction beside a run that was made that way: per class of calls, and per call site.

What a run achieved is measured; what was predicted is put together so that it adds up to the predicted time
of the job: a rank that is less busy than the busiest waits for the difference, where it waited before.
All numbers are of a mean rank, in ns.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lapwing.model.classes import CallClass
from lapwing.model.profile import UNKNOWN_PLACE, JobProfile, SiteStatistics, Way
from lapwing.model.refined import Prediction, RankOutcome
from lapwing.model.sites import list_sites
from lapwing.model.study import Study

SiteKey = tuple[str, str, int]
COMPUTATION = "computation"
COST = "holds, or starts and waits instead"
UNEXPLAINED = "beyond all ranks"
NAMES = {
    CallClass.START: "nonblocking starts",
    CallClass.TEST: "tests",
    CallClass.WAIT: "waits",
    CallClass.BLOCKING: "blocking calls",
    CallClass.OTHER: "other MPI",
}
IDLE_CLASSES = (CallClass.WAIT, CallClass.BLOCKING)


@dataclass(frozen=True)
class Row:
    """One line: what the first run took, what was predicted, what the other run took."""

    name: str
    before_ns: float
    predicted_ns: float
    achieved_ns: float


@dataclass(frozen=True)
class SiteRow:
    """One call site. A site that one of the runs does not have is 0 there (code was changed)."""

    function: str
    place: str
    before_count: float
    before_ns: float
    predicted_ns: float
    achieved_count: float
    achieved_ns: float


@dataclass(frozen=True)
class Comparison:
    """One run beside what was predicted for its way. paper_s: what the paper's model says, where it says something.

    adds_up_threads: in one of the runs times in MPI are no parts of the ranks' time, so that there is no line of them.
    """

    profile: JobProfile
    way: Way
    prediction: Prediction
    before_ns: float
    rows: tuple[Row, ...]
    sites: tuple[SiteRow, ...]
    counts: Mapping[CallClass, tuple[float, float]]
    paper_ns: float | None
    adds_up_threads: bool = False

    @property
    def achieved_ns(self) -> float:
        """Return the time of the run."""
        return float(self.profile.elapsed_ns)

    @property
    def is_inside(self) -> bool:
        """Say whether the run lies within the predicted interval."""
        return self.prediction.low_ns <= self.achieved_ns <= self.prediction.high_ns


def measure_classes(profile: JobProfile) -> dict[CallClass, tuple[float, float]]:
    """Return count and time of each class."""
    sums = {call_class: [0.0, 0.0] for call_class in CallClass}
    for rank in profile.ranks:
        for function in rank.functions:
            sums[function.call_class][0] += function.time.count / len(profile.ranks)
            sums[function.call_class][1] += function.time.total / len(profile.ranks)
    return {call_class: (count, time_ns) for call_class, (count, time_ns) in sums.items()}


def measure_computation_ns(profile: JobProfile) -> float:
    """Return the time outside MPI."""
    return sum(rank.computation_ns for rank in profile.ranks) / len(profile.ranks)


def spread_idle(outcome: RankOutcome, idle_ns: float) -> dict[SiteKey, float]:
    """Spread a rank's predicted waiting for peers over its sites, as it was spread before."""
    sites = [site for site in outcome.sites if site.times.site.call_class in IDLE_CLASSES]
    weights = {site.times.site.key: 0.0 for site in sites}
    for site in sites:
        weights[site.times.site.key] += site.times.idle_ns or 1e-9 * site.times.data_ns
    total = sum(weights.values())
    return {key: idle_ns * weight / total for key, weight in weights.items()} if total > 0 else {}


def predict_sites(prediction: Prediction) -> tuple[dict[SiteKey, float], float]:
    """Return the predicted time of each site, and what no site takes up."""
    times: defaultdict[SiteKey, float] = defaultdict(float)
    unexplained = 0.0
    for outcome in prediction.ranks:
        idle_ns = max(0.0, prediction.expected_ns - outcome.busy_ns)
        spread = spread_idle(outcome, idle_ns)
        unexplained += 0.0 if spread else idle_ns
        for key, time_ns in spread.items():
            times[key] += time_ns
        for site in outcome.sites:
            times[site.times.site.key] += site.left_ns - site.stolen_ns
    ranks = max(1, len(prediction.ranks))
    return {key: time_ns / ranks for key, time_ns in times.items()}, unexplained / ranks


def find_classes(prediction: Prediction) -> dict[SiteKey, CallClass]:
    """Return the class of each site."""
    return {o.times.site.key: o.times.site.call_class for rank in prediction.ranks for o in rank.sites}


def predict_classes(prediction: Prediction) -> tuple[dict[CallClass, float], float]:
    """Return the predicted time of each class, and what none takes up."""
    times, unexplained = predict_sites(prediction)
    classes = find_classes(prediction)
    sums = dict.fromkeys(CallClass, 0.0)
    for key, time_ns in times.items():
        sums[classes[key]] += time_ns
    return sums, unexplained


def predict_computation_ns(prediction: Prediction) -> float:
    """Return the computation of a mean rank, with what hidden transfers take from its core."""
    stolen_ns = sum(site.stolen_ns for outcome in prediction.ranks for site in outcome.sites)
    own_ns = sum(outcome.terms.computation for outcome in prediction.ranks)
    return (own_ns + stolen_ns) / max(1, len(prediction.ranks))


def predict_cost_ns(prediction: Prediction) -> float:
    """Return the holds, or the starts and waits, of a mean rank."""
    return sum(outcome.terms.cost for outcome in prediction.ranks) / max(1, len(prediction.ranks))


def compare_classes(before: JobProfile, prediction: Prediction, after: JobProfile) -> tuple[Row, ...]:
    """Return the lines for computation, each class of calls, and what is left."""
    old, new = measure_classes(before), measure_classes(after)
    predicted, unexplained = predict_classes(prediction)
    computation = (measure_computation_ns(before), predict_computation_ns(prediction), measure_computation_ns(after))
    rows = [Row(COMPUTATION, *computation)]
    rows += [Row(NAMES[kind], old[kind][1], predicted[kind], new[kind][1]) for kind in CallClass]
    rows.append(Row(COST, 0.0, predict_cost_ns(prediction), 0.0))
    rows.append(Row(UNEXPLAINED, measure_rest_ns(before), unexplained, measure_rest_ns(after)))
    return tuple(row for row in rows if max(row.before_ns, row.predicted_ns, row.achieved_ns) > 0)


def measure_rest_ns(profile: JobProfile) -> float:
    """Return how much sooner than the slowest rank a mean rank ends."""
    return profile.elapsed_ns - sum(rank.elapsed_ns for rank in profile.ranks) / len(profile.ranks)


def group_sites(profile: JobProfile) -> dict[SiteKey, list[SiteStatistics]]:
    """Return the sites of all ranks by place."""
    groups: defaultdict[SiteKey, list[SiteStatistics]] = defaultdict(list)
    for rank in profile.ranks:
        for site in list_sites(rank):
            groups[site.key].append(site)
    return groups


def sum_sites(sites: Iterable[SiteStatistics], rank_count: int) -> tuple[float, float]:
    """Return count and time."""
    rows = list(sites)
    return sum(s.time.count for s in rows) / rank_count, sum(s.time.total for s in rows) / rank_count


def compare_sites(before: JobProfile, prediction: Prediction, after: JobProfile) -> tuple[SiteRow, ...]:
    """Return a line for each call site, the largest surprise first."""
    old, new = group_sites(before), group_sites(after)
    predicted, _ = predict_sites(prediction)
    rows = []
    for key in {**old, **new}:
        example = (old.get(key) or new[key])[0]
        old_sum, new_sum = sum_sites(old.get(key, []), len(before.ranks)), sum_sites(new.get(key, []), len(after.ranks))
        rows.append(SiteRow(example.function, example.place, *old_sum, predicted.get(key, 0.0), *new_sum))
    return tuple(sorted(rows, key=lambda row: -abs(row.achieved_ns - row.predicted_ns)))


def share_matched(sites: Sequence[SiteRow]) -> float:
    """Return the part of both runs' time in MPI that lies at call sites with a known place which both have."""
    known = [site for site in sites if site.place != UNKNOWN_PLACE]
    whole_ns = sum(site.before_ns + site.achieved_ns for site in known)
    both = [site for site in known if site.before_count and site.achieved_count]
    return sum(site.before_ns + site.achieved_ns for site in both) / whole_ns if whole_ns else 1.0


def compare_counts(before: JobProfile, after: JobProfile) -> dict[CallClass, tuple[float, float]]:
    """Return how many calls of each class a mean rank made, before and after."""
    old, new = measure_classes(before), measure_classes(after)
    return {kind: (old[kind][0], new[kind][0]) for kind in CallClass}


def find_paper_ns(study: Study, way: Way) -> float | None:
    """Return what the paper's model says about a way: it knows a dedicated core only."""
    is_known = study.paper is not None and way is Way.DEDICATED
    return study.paper.terms.total_s * 1e9 if study.paper is not None and is_known else None


def compare_run(study: Study, after: JobProfile, way: Way) -> Comparison:
    """Set a run beside the prediction for its way."""
    prediction = study.predictions[way]
    adds_up = study.profile.adds_up_threads or after.adds_up_threads
    return Comparison(
        profile=after,
        way=way,
        prediction=prediction,
        before_ns=float(study.profile.elapsed_ns),
        rows=() if adds_up else compare_classes(study.profile, prediction, after),
        sites=() if adds_up else compare_sites(study.profile, prediction, after),
        counts=compare_counts(study.profile, after),
        paper_ns=find_paper_ns(study, way),
        adds_up_threads=adds_up,
    )


def compare_runs(study: Study, runs: Sequence[tuple[JobProfile, Way]]) -> list[Comparison]:
    """Compare several runs with their predictions."""
    return [compare_run(study, profile, way) for profile, way in runs]
