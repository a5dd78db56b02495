# SPDX-License-Identifier: MIT
"""Both models on one profile."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan

from lapwing.model.assumptions import Assumption, judge_assumptions
from lapwing.model.calibration import derive_parameters
from lapwing.model.moved import choose_threshold
from lapwing.model.paper import (
    PaperParameters,
    PaperTerms,
    calculate_break_even_alpha,
    calculate_speedup,
    calculate_speedup_slope,
    calculate_terms,
    leaves_time,
)
from lapwing.model.profile import JobProfile, Way
from lapwing.model.refined import Case, Prediction, RankOutcome, calculate_ranks, predict_ways
from lapwing.model.setup import PROGRESS_THRESHOLD_BYTES, THRESHOLD_BYTES, Setup, make_setup
from lapwing.model.sites import Baseline, make_baseline
from lapwing.model.system import System
from lapwing.model.waits import Waits, explain_waits

CURVE_POINTS = 11
# A lower threshold is named for so much less time.
LOWERED_GAIN_MIN = 0.01


@dataclass(frozen=True)
class PaperResult:
    """The paper's model. curve: (alpha, speedup), as in figure 5."""

    parameters: PaperParameters
    terms: PaperTerms
    no_progress_s: float
    speedup: float
    curve: tuple[tuple[float, float], ...]
    slope: float
    break_even_alpha: float | None


@dataclass(frozen=True)
class Lowered:
    """A way to run with a lower progress threshold (`--progress-threshold`)."""

    threshold_bytes: int
    prediction: Prediction


@dataclass(frozen=True)
class Study:
    """Everything that is said about one profile.

    paper: None when the number of cores is not known or 1, or nothing is left of the time. waits: what waiting was for,
    by rank and call site. system: where transfer times are from; None: from the profile itself. lowered: a lower
    progress threshold, where the present one is what prevents a gain.
    """

    profile: JobProfile
    setup: Setup
    predictions: Mapping[Way, Prediction]
    paper: PaperResult | None
    assumptions: tuple[Assumption, ...]
    waits: Waits
    system: System | None = None
    lowered: Lowered | None = None


def apply_paper(profile: JobProfile) -> PaperResult | None:
    """Apply the paper's model."""
    if profile.cores_per_rank is None or profile.cores_per_rank < 2:
        return None
    parameters, time_s = derive_parameters(profile, profile.cores_per_rank), profile.elapsed_ns / 1e9
    if not leaves_time(parameters):
        return None
    alphas = [number / (CURVE_POINTS - 1) for number in range(CURVE_POINTS)]
    return PaperResult(
        parameters=parameters,
        terms=calculate_terms(parameters),
        no_progress_s=time_s,
        speedup=calculate_speedup(parameters, time_s),
        curve=tuple((alpha, calculate_speedup(parameters, time_s, alpha)) for alpha in alphas),
        slope=calculate_speedup_slope(parameters, time_s),
        break_even_alpha=calculate_break_even_alpha(parameters, time_s),
    )


def calculate_ideal(profile: JobProfile, baseline: Baseline, setup: Setup) -> list[RankOutcome]:
    """Return the ranks with the progress that the paper takes for granted: of all messages, and for nothing.

    On a core of its own, or by events where a rank has none to give up.
    """
    way = Way.EVENTS if isnan(setup.computation_ratio) else Way.DEDICATED
    ideal = replace(setup, progress_threshold_bytes=1, carries_nonblocking=True, cpu_ns_per_byte=0.0)
    return calculate_ranks(Case(profile, baseline, way, ideal), profile.ranks)


def lower_threshold(
    profile: JobProfile, baseline: Baseline, setup: Setup, predictions: Mapping[Way, Prediction]
) -> Lowered | None:
    """Return the better way with a lower progress threshold, where that beats both ways with the present one."""
    threshold_bytes = choose_threshold(profile, setup)
    if threshold_bytes is None:
        return None
    ways = (Way.DEFERRED, Way.EVENTS)
    lower = replace(setup, progress_threshold_bytes=threshold_bytes)
    best = min(predict_ways(profile, lower, ways, baseline), key=lambda prediction: prediction.expected_ns)
    present_ns = min(predictions[way].expected_ns for way in (Way.STOCK, *ways))
    is_worth_it = best.expected_ns <= (1 - LOWERED_GAIN_MIN) * present_ns
    return Lowered(threshold_bytes, best) if is_worth_it else None


def study_profile(
    profile: JobProfile,
    threshold_bytes: int = THRESHOLD_BYTES,
    wait_contention: float = 0.0,
    system: System | None = None,
    progress_threshold_bytes: int = PROGRESS_THRESHOLD_BYTES,
    carries_nonblocking: bool | None = None,
) -> Study:
    """Apply both models, and judge what they assume. carries_nonblocking: None as in the profiled run."""
    if carries_nonblocking is None:
        carries_nonblocking = profile.carries_nonblocking
    setup = make_setup(profile, threshold_bytes, wait_contention, progress_threshold_bytes, carries_nonblocking)
    baseline = make_baseline(profile, system)
    predictions = {prediction.way: prediction for prediction in predict_ways(profile, setup, baseline=baseline)}
    ideal = calculate_ideal(profile, baseline, setup)
    assumptions = judge_assumptions(profile, predictions[Way.STOCK], ideal, wait_contention, system is not None)
    waits = explain_waits(profile, baseline, setup)
    lowered = lower_threshold(profile, baseline, setup, predictions)
    return Study(profile, setup, predictions, apply_paper(profile), tuple(assumptions), waits, system, lowered)
