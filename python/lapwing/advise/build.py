# SPDX-License-Identifier: MIT
"""Puts an Advice together from a study of the profile, the choice of ways, and the rounds that were run."""

import shlex
from collections.abc import Mapping, Sequence

from lapwing.advise.advice import Advice, Measured, Point, WayAdvice
from lapwing.advise.judge import (
    Outcome,
    Predicted,
    choose_best,
    divide_rounds,
    is_inside,
    is_undecided,
    judge_speedups,
    measure_scatter,
)
from lapwing.advise.rounds import Rounds
from lapwing.advise.sites import advise_sites
from lapwing.advise.ways import CANDIDATES, NOTHING_BESIDE, Beside, Choice, make_flags
from lapwing.advise.words import describe_rewrite, describe_threshold, describe_verdict, find_predicted
from lapwing.bench.interval import bound_median
from lapwing.bench.measures import summarise
from lapwing.model.profile import Way
from lapwing.model.refined import Prediction
from lapwing.model.study import Study
from lapwing.report.findings import BELOW_THRESHOLD, find_in_profile
from lapwing.report.totals import JobTotals
from lapwing.report.waits import SEVERAL_THREADS

FINDINGS_MAX = 4
SHOWN_WAYS = (Way.STOCK, *CANDIDATES, Way.REWRITTEN)


def predict(prediction: Prediction, beside_s: float) -> Predicted | None:
    """Take a prediction over, as a time of the launcher."""
    if prediction.impossible:
        return None
    times_ns = (prediction.expected_ns, prediction.low_ns, prediction.high_ns)
    expected_s, low_s, high_s = (ns / 1e9 + beside_s for ns in times_ns)
    return Predicted(expected_s, low_s, high_s, prediction.alpha)


def predict_lowered(study: Study, beside: Beside) -> Predicted | None:
    """Take over what is predicted with a lower progress threshold."""
    lowered = study.lowered.prediction if study.lowered else None
    return predict(lowered, beside.sum_s(lowered.way)) if lowered else None


def measure(rounds: Rounds, way: Way, predicted: Predicted | None, stock_s: float) -> Measured | None:
    """Judge the runs of a way; None when there are none, or it failed. stock_s: as predicted."""
    runs, stock = rounds.runs.get(way, []), rounds.runs.get(Way.STOCK, [])
    if not runs or not rounds.failed.keys().isdisjoint((way, Way.STOCK)):
        return None
    times = [run.time_s for run in runs]
    speedups = divide_rounds([run.time_s for run in stock], times)
    speedup, interval = summarise(speedups), bound_median(speedups, rounds.looks)
    is_idle = way is not Way.STOCK and all(run.is_idle for run in runs)
    return Measured(
        times_s=tuple(times),
        time=summarise(times),
        speedup=speedup,
        outcome=judge_speedups(interval, is_idle),
        is_inside=predicted is not None and is_inside(speedup.median, predicted, stock_s),
        is_idle=is_idle,
        interval=interval,
    )


def needs_more(rounds: Rounds, is_check: bool) -> bool:
    """Say whether more rounds may change the advice."""
    found = {way: measure(rounds, way, None, 0.0) for way in rounds.runs if way is not Way.STOCK}
    measured: dict[Way, Measured] = {way: entry for way, entry in found.items() if entry is not None}
    speedups = {way: entry.speedup.median for way, entry in measured.items()}
    return is_undecided(speedups, {way: entry.outcome for way, entry in measured.items()}, is_check)


def make_command(way: Way, options: Mapping[str, str], program: str) -> str:
    """Return the command line of a way."""
    if way is Way.STOCK:
        return program
    flags = make_flags(way, options)
    return " ".join(["lapwing run", *([shlex.join(flags)] if flags else []), program])


def make_way(
    way: Way, study: Study, choice: Choice, rounds: Rounds, options: Mapping[str, str], program: str, beside: Beside
) -> WayAdvice:
    """Put together what is known of a way."""
    predicted = predict(study.predictions[way], beside.sum_s(way))
    if way is Way.REWRITTEN:
        return WayAdvice(way, "", predicted, None, "needs changes of the source")
    reason = rounds.failed.get(way, choice.left_out.get(way, ""))
    measured = measure(rounds, way, predicted, study.profile.elapsed_ns / 1e9 + beside.sum_s(Way.STOCK))
    return WayAdvice(way, make_command(way, options, program), predicted, measured, reason)


def find_best(ways: Sequence[WayAdvice]) -> Way | None:
    """Return the way to use."""
    measured: dict[Way, Measured] = {way.way: way.measured for way in ways if way.measured and way.way is not Way.STOCK}
    proven = {
        way: entry.interval for way, entry in measured.items() if entry.interval and entry.outcome is Outcome.FASTER
    }
    return choose_best({way: entry.speedup.median for way, entry in measured.items()}, proven)


def absorbs_imbalance(study: Study) -> bool:
    """Say whether deferring is predicted to take up half of the waiting for late peers, or more."""
    stock, deferred = study.predictions[Way.STOCK], study.predictions[Way.DEFERRED]
    return deferred.terms.imbalance < stock.terms.imbalance / 2


def list_findings(study: Study) -> tuple[str, ...]:
    """Return what else the profile shows, first what somebody can change; blocking calls have their own list.

    The verdict names the progress threshold.
    """
    left_out = {"blocking call with slack", BELOW_THRESHOLD, *(["imbalance"] if absorbs_imbalance(study) else [])}
    findings = [f for f in find_in_profile(study) if f.kind not in left_out]
    findings.sort(key=lambda finding: finding.kind == "imbalance")
    return tuple(f"{finding.text}." for finding in findings[:FINDINGS_MAX])


def build_advice(
    study: Study,
    totals: JobTotals,
    choice: Choice,
    rounds: Rounds,
    options: Mapping[str, str],
    program: str,
    cause: str = "",
    remarks: Sequence[str] = (),
    beside: Beside = NOTHING_BESIDE,
) -> Advice:
    """Put everything together. cause: why nothing was measured."""
    ways = tuple(make_way(way, study, choice, rounds, options, program, beside) for way in SHOWN_WAYS)
    best, scatter = find_best(ways), measure_scatter([run.time_s for run in rounds.runs.get(Way.STOCK, [])])
    verdict = describe_verdict(study, ways, best, cause, choice.is_check, scatter)
    command = make_command(best or Way.STOCK, options, program)
    threshold = describe_threshold(study, predict_lowered(study, beside), find_predicted(ways).get(Way.STOCK), program)
    return Advice(
        verdict=(*verdict, *threshold, *describe_rewrite(ways, best)),
        command=command,
        program=program,
        rank_count=len(study.profile.ranks),
        profile_s=study.profile.elapsed_ns / 1e9,
        best=best,
        is_measured=rounds.count > 0,
        is_interrupted=rounds.is_interrupted,
        round_count=rounds.count,
        scatter=scatter,
        launch_s=beside.launch_s,
        start_s=beside.start_s,
        ways=ways,
        sites=advise_sites(study, totals),
        findings=list_findings(study),
        remarks=(*([SEVERAL_THREADS] if study.profile.has_threaded_calls else []), *remarks),
        curve=tuple(Point(*point) for point in study.paper.curve) if study.paper else (),
        break_even_alpha=study.paper.break_even_alpha if study.paper else None,
    )
