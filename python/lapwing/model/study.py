# SPDX-License-Identifier: MIT
"""Both models on one profile."""

from collections.abc import Mapping
from dataclasses import dataclass

from lapwing.model.assumptions import Assumption, judge_assumptions
from lapwing.model.calibration import derive_parameters
from lapwing.model.paper import (
    PaperParameters,
    PaperTerms,
    calculate_break_even_alpha,
    calculate_speedup,
    calculate_speedup_slope,
    calculate_terms,
)
from lapwing.model.profile import JobProfile, Way
from lapwing.model.refined import Prediction, predict_ways
from lapwing.model.setup import Setup, make_setup
from lapwing.model.sites import make_baseline
from lapwing.model.system import System
from lapwing.model.waits import Waits, explain_waits

CURVE_POINTS = 11


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
class Study:
    """Everything that is said about one profile.

    paper: None when the number of cores is not known or 1. waits: what waiting was for, by rank and call site. system:
    where transfer times are from; None: from the profile itself.
    """

    profile: JobProfile
    setup: Setup
    predictions: Mapping[Way, Prediction]
    paper: PaperResult | None
    assumptions: tuple[Assumption, ...]
    waits: Waits
    system: System | None = None


def apply_paper(profile: JobProfile) -> PaperResult | None:
    """Apply the paper's model."""
    if profile.cores_per_rank is None or profile.cores_per_rank < 2:
        return None
    parameters, time_s = derive_parameters(profile, profile.cores_per_rank), profile.elapsed_ns / 1e9
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


def study_profile(
    profile: JobProfile, threshold_bytes: int = 65536, wait_contention: float = 0.0, system: System | None = None
) -> Study:
    """Apply both models, and judge what they assume."""
    setup, baseline = make_setup(profile, threshold_bytes, wait_contention), make_baseline(profile, system)
    predictions = {prediction.way: prediction for prediction in predict_ways(profile, setup, baseline=baseline)}
    stock, dedicated = predictions[Way.STOCK], predictions[Way.DEDICATED]
    assumptions = judge_assumptions(profile, stock, dedicated, wait_contention, system is not None)
    waits = explain_waits(profile, baseline, setup)
    return Study(profile, setup, predictions, apply_paper(profile), tuple(assumptions), waits, system)
