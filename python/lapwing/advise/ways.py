# SPDX-License-Identifier: MIT
"""The ways to run that a command line can turn on, and which of them are worth a try."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from lapwing.model.profile import Way
from lapwing.model.refined import Prediction
from lapwing.model.study import Study
from lapwing.options import load_options

# A gain below this part of the time is not worth a longer command line, nor a run.
GAIN_MIN = 0.01
# A change by less than this part is none.
CHANGE_MIN = 0.0005
TRIED_MAX = 3
ONE_RUN_IS_LIKE_ANOTHER = "one run is like another"

NOTHING_DEFERRED: Mapping[str, str] = {"sends": "off", "receives": "off", "collectives": "off", "waits": "off"}
# Options of `lapwing run`.
OPTIONS: Mapping[Way, Mapping[str, str]] = {
    Way.EVENTS: NOTHING_DEFERRED,
    Way.DEDICATED: {**NOTHING_DEFERRED, "progress": "dedicated"},
    Way.DEFERRED: {},
    Way.DEFERRED_DEDICATED: {"progress": "dedicated"},
}
WAY_VARIABLES = frozenset(f"LAPWING_{name.upper()}" for options in OPTIONS.values() for name in options)
# What a user may have set that makes every way another one than its name says, or no way at all.
UNFIT: Mapping[str, frozenset[str]] = {
    "LAPWING_PROFILE": frozenset(["on"]),
    "LAPWING_PROGRESS": frozenset(["dedicated", "off"]),
}
RECORDED = "LAPWING_TIMELINE"  # costs time, and shows nothing here
# Simplest first: of two ways that do the same, the first is advised.
CANDIDATES = (Way.DEFERRED, Way.EVENTS, Way.DEFERRED_DEDICATED, Way.DEDICATED)
DEDICATED = frozenset([Way.DEDICATED, Way.DEFERRED_DEDICATED])
# What a way does beyond another one, which is simpler, is only to defer blocking calls, or not to.
TWINS = {Way.EVENTS: Way.DEFERRED, Way.DEDICATED: Way.DEFERRED_DEDICATED}


@dataclass(frozen=True)
class Beside:
    """What a run takes beside the time from MPI_Init to MPI_Finalize.

    launch_s: for the launcher, and for the ranks before and after. start_s: for `lapwing run` itself, which a rewrite
    needs for its progress, too.
    """

    launch_s: float = 0.0
    start_s: float = 0.0

    def sum_s(self, way: Way) -> float:
        """Return it for one way."""
        return self.launch_s + (0.0 if way is Way.STOCK else self.start_s)


NOTHING_BESIDE = Beside()


@dataclass(frozen=True)
class Choice:
    """What will be run, and why the rest will not.

    is_check: no way is promising, and the simplest is tried to see whether the prediction is right.
    """

    tried: tuple[Way, ...]
    left_out: Mapping[Way, str]
    is_check: bool = False


def keep_fit(options: Mapping[str, str]) -> dict[str, str]:
    """Return the user's options with which the ways are what their names say.

    What is unfit is set to its default and not left out: the ranks may have the user's environment.
    """
    unfit = [name for name, value in options.items() if name == RECORDED or value in UNFIT.get(name, ())]
    defaults = {option.variable: option.default for option in load_options()}
    return {**options, **{name: defaults[name] for name in unfit}}


def make_variables(way: Way, options: Mapping[str, str]) -> dict[str, str]:
    """Return the ranks' variables for a way; the user's own options stay where the way says nothing."""
    return {**options, **{f"LAPWING_{name.upper()}": value for name, value in OPTIONS[way].items()}}


def make_flags(way: Way, options: Mapping[str, str]) -> list[str]:
    """Return the flags of `lapwing run` for a way."""
    variables = make_variables(way, options)
    kept = (option for option in load_options() if option.group != "profile")
    rows = [(option.flag, variables.get(option.variable)) for option in kept]
    return [word for flag, value in rows if value is not None for word in (flag, value)]


def find_best_ns(prediction: Prediction) -> float:
    """Return the lower end of the interval, less what any run differs from any other by."""
    lows = [effect.low_ns for effect in prediction.effects if effect.name != ONE_RUN_IS_LIKE_ANOTHER]
    return max(0.0, prediction.expected_ns - sqrt(sum(low_ns**2 for low_ns in lows)))


def explain_hopeless(prediction: Prediction, stock_ns: float, beside: Beside) -> str:
    """Say why a way is not worth a run; nothing when it is. Whole runs are compared, as where they are measured."""
    if prediction.impossible:
        return prediction.impossible
    own_ns, beside_ns = 1e9 * beside.sum_s(prediction.way), 1e9 * beside.sum_s(Way.STOCK)
    stock_ns += beside_ns
    gain = 1 - (find_best_ns(prediction) + own_ns) / stock_ns if stock_ns > 0 else 0.0
    if gain >= GAIN_MIN:
        return ""
    if prediction.expected_ns + own_ns > (1 + CHANGE_MIN) * stock_ns:
        return "it is predicted to be slower"
    return "it would change nothing" if gain <= CHANGE_MIN else f"at best {100 * gain:.1f} % of the time would be saved"


def is_twin(way: Way, study: Study) -> bool:
    """Say whether a way would do just what its simpler twin does: there are no blocking calls to defer."""
    twin = study.predictions[TWINS[way]] if way in TWINS else None
    return twin is not None and not twin.impossible and not twin.alpha


def choose_ways(study: Study, wanted: Sequence[Way] = (), beside: Beside = NOTHING_BESIDE) -> Choice:
    """Choose the ways whose predicted interval reaches below the stock time; those that are wanted in any case."""
    stock_ns = study.predictions[Way.STOCK].expected_ns
    left_out: dict[Way, str] = {}
    promising: list[Way] = []
    for way in CANDIDATES:
        prediction = study.predictions[way]
        reason = "not asked for" if wanted and way not in wanted else ""
        if not wanted:
            reason = explain_hopeless(prediction, stock_ns, beside)
        if not wanted and not reason and is_twin(way, study):
            reason = f"no blocking call would be deferred, so it is the same as: {TWINS[way].value}"
        if reason:
            left_out[way] = reason
        else:
            promising.append(way)
    if not promising:
        return Choice(CANDIDATES[:1], {way: reason for way, reason in left_out.items() if way != CANDIDATES[0]}, True)
    ranked = sorted(promising, key=lambda way: (study.predictions[way].expected_ns, CANDIDATES.index(way)))
    for way in ranked[TRIED_MAX:]:
        left_out[way] = f"{TRIED_MAX} ways promise more"
    return Choice(tuple(way for way in CANDIDATES if way in ranked[:TRIED_MAX]), left_out)
