# SPDX-License-Identifier: MIT
"""The verdict in words: what to do, what proves it, and why there is nothing to gain where there is not."""

from collections.abc import Mapping, Sequence

from lapwing.advise.advice import Measured, WayAdvice
from lapwing.advise.judge import ROUNDS_MIN, Outcome, Predicted, estimate_rounds, predict_speedup
from lapwing.advise.ways import GAIN_MIN
from lapwing.model.profile import Way
from lapwing.model.study import Study
from lapwing.model.waits import WaitCauses, is_even, sum_all_causes
from lapwing.report.findings import describe_lowered
from lapwing.report.summary import format_count, format_seconds
from lapwing.report.waits import EVENNESS_UNKNOWN, describe_causes

SHARE_MIN = 0.01
NO_GAIN = f"no gain of {100 * GAIN_MIN:.0f} % or more"


def explain_nothing(study: Study, speedup: float = 1.0) -> str:
    """Say why overlap brings nothing, with the numbers that decide it.

    speedup: the median of what was measured. A gain that stands beside it is not said to be impossible.
    """
    ranks, causes = study.predictions[Way.STOCK].ranks, sum_all_causes(study.waits)
    whole_ns = sum(rank.rank.elapsed_ns for rank in ranks) or 1
    mpi = sum(rank.rank.mpi_ns for rank in ranks) / whole_ns
    data_ns = causes.transfer_ns + causes.missed_ns
    if mpi < SHARE_MIN:
        return f"MPI takes {100 * mpi:.1f} % of the time: there is nothing to hide"
    if study.profile.adds_up_threads:
        return "what part of the ranks' time passes in MPI is not known, since several threads of a rank called it"
    told = describe_causes(causes, whole_ns)
    text = f"of the ranks' time {100 * mpi:.1f} % passes in MPI{': ' if told else ''}{told}"
    if speedup >= 1 + GAIN_MIN:
        return text
    if study.lowered is not None:
        return f"{text}. Progress in the background would shorten that, but leaves out messages that are so small"
    if causes.late_ns > data_ns and causes.late_ns >= 0.05 * whole_ns:
        return f"{text}. {explain_lateness(causes, is_even(study.profile))}"
    if data_ns < SHARE_MIN * whole_ns:
        return f"{text}. There is hardly a transfer to hide"
    if causes.missed_ns > causes.transfer_ns:
        return f"{text}. Progress in the background would shorten that, and the ways that were tried did not"
    return f"{text}. The data is used right away, or its messages are too small to gain by overlap"


def explain_lateness(causes: WaitCauses, has_even_work: bool | None) -> str:
    """Say why ranks wait for others. has_even_work: None where ranks are missing."""
    if has_even_work is None:
        return f"{EVENNESS_UNKNOWN[0].upper()}{EVENNESS_UNKNOWN[1:]}"
    if causes.is_uneven:
        return "The work is uneven, and overlap does not mend that"
    if causes.is_partly_uneven:
        return f"Uneven work explains {100 * causes.uneven_share:.0f} % of that; otherwise ranks are late in turn"
    if not has_even_work:
        return "Uneven work explains little of that: ranks are late in turn"
    return "All ranks have about as much to do, and are late in turn: little of that is for data"


def describe_gain(measured: Measured) -> str:
    """Write a speedup with its bounds."""
    spread, bounds = measured.speedup, measured.interval
    sample = f"median of {format_count(spread.count, 'round')}"
    certain = f"; at least {bounds.low:.3f} and at most {bounds.high:.3f}, each 95 % certain" if bounds else ""
    return f"{spread.median:.3f} times as fast as stock ({sample}{certain})"


def describe_best(best: WayAdvice, stock: WayAdvice) -> list[str]:
    """Say what to use, and what proves it."""
    assert best.measured is not None and stock.measured is not None
    was, now = format_seconds(stock.measured.time.median), format_seconds(best.measured.time.median)
    lead = f"Use: {best.command}"
    lines = [f"{best.way.value}: {describe_gain(best.measured)}, {was} become {now}"]
    if best.predicted and stock.predicted:
        factor, low, high = predict_speedup(best.predicted, stock.predicted.time_s)
        inside = "inside" if best.measured.is_inside else "outside"
        lines[0] += f"; predicted were {factor:.2f} times, and it lies {inside} the interval {low:.2f} to {high:.2f}"
        if best.measured.interval is not None and best.measured.interval.low > high:
            lead = f"Perhaps: {best.command}"
            lines.append(
                "That is more than overlap explains: the gain is measured, not explained. Repeat it on a quiet machine"
            )
    return [lead, *lines]


def describe_idle(ways: Sequence[WayAdvice]) -> list[str]:
    """Name the ways that changed nothing: whatever their times say, they cannot be why."""
    names = [way.way.value for way in ways if way.measured is not None and way.measured.is_idle]
    if not names:
        return []
    text = (
        "no call returned early and no operation was kept going, so that a gain would be noise, a loss Lapwing's cost"
    )
    return [f"{', '.join(names)} deferred nothing: {text}"]


def explain_missed(best: WayAdvice, stock: WayAdvice) -> str:
    """Say that a predicted gain did not come; empty when none was predicted for sure."""
    if best.predicted is None or stock.predicted is None:
        return ""
    factor, low, high = predict_speedup(best.predicted, stock.predicted.time_s)
    if low <= 1 or (best.measured is not None and best.measured.is_inside):
        return ""
    return (
        f"Predicted were {factor:.2f} times ({low:.2f} to {high:.2f}): this program meets something that the model "
        "does not know, for example messages both ways that queue behind each other on one TCP connection "
        "(docs/limits.md). What is predicted for a rewrite by hand is as doubtful"
    )


def tell_what_would(measured: Measured, scatter: float) -> str:
    """Say what would give an answer where there is none."""
    noise = f"stock's time differs by {100 * scatter:.1f} % from one round to the next"
    if measured.interval is None:
        return f"At least {ROUNDS_MIN} rounds are needed (--rounds, --budget)"
    rounds = estimate_rounds(measured.speedup, measured.interval)
    if rounds is None:
        return f"{noise[0].upper()}{noise[1:]}, too much for this gain: it takes a quiet machine, or a longer input"
    return f"About {rounds} rounds would tell (--rounds {rounds} --budget ...), fewer on a quiet machine: here {noise}"


def describe_open(way: WayAdvice, scatter: float) -> list[str]:
    """Say that a way may be faster or not, and what would tell."""
    assert way.measured is not None
    least = f"whether the gain is {100 * GAIN_MIN:.0f} % or more"
    text = f"{way.way.value}: {describe_gain(way.measured)}"
    return [f"Cannot tell {least}", text, tell_what_would(way.measured, scatter)]


def name_refusal(best: Measured, are_slower: bool) -> str:
    """Say what a refusal claims."""
    if are_slower:
        return "every way that was tried is slower"
    if best.is_idle:
        return "Lapwing finds nothing to defer"
    return "no gain was shown" if best.outcome is Outcome.OPEN else NO_GAIN


def describe_leave(best: WayAdvice, stock: WayAdvice, study: Study, is_check: bool, are_slower: bool) -> list[str]:
    """Say that the best way gains nothing, and why. are_slower: all ways are, for certain."""
    assert best.measured is not None
    as_predicted = ", as predicted" if is_check and not are_slower else ""
    text = f"{'tried was' if is_check else 'the best is'} {best.way.value}, {describe_gain(best.measured)}"
    missed = "" if best.measured.is_idle else explain_missed(best, stock)
    claim = name_refusal(best.measured, are_slower)
    cause = missed or explain_nothing(study, best.measured.speedup.median)
    return [f"Leave it as it is: {claim}{as_predicted}", text, cause]


def is_doubt_worth_it(measured: Measured, is_check: bool) -> bool:
    """Say whether an open answer is to be told as such: where nothing was promising, only beside a gain."""
    return measured.outcome is Outcome.OPEN and not (is_check and measured.speedup.median < 1 + GAIN_MIN)


def find_fastest(ways: Sequence[WayAdvice]) -> WayAdvice | None:
    """Return the way with the highest median."""
    return max(ways, key=lambda way: way.measured.speedup.median if way.measured else 0.0, default=None)


def describe_refusal(ways: Sequence[WayAdvice], study: Study, is_check: bool, scatter: float) -> list[str]:
    """Say that nothing that was tried is known to be faster, and why."""
    stock = next(way for way in ways if way.way is Way.STOCK)
    tried = [way for way in ways if way.measured is not None and way is not stock]
    open_way = find_fastest([way for way in tried if way.measured and is_doubt_worth_it(way.measured, is_check)])
    best = find_fastest(tried)
    if best is None:
        return ["Cannot tell: no other way could be measured"]
    if open_way is not None:
        return describe_open(open_way, scatter)
    are_slower = all(way.measured is not None and way.measured.outcome is Outcome.SLOWER for way in tried)
    return describe_leave(best, stock, study, is_check, are_slower)


def describe_rivals(best: WayAdvice, ways: Sequence[WayAdvice]) -> list[str]:
    """Name the ways that may be faster still, which nobody knows."""
    assert best.measured is not None
    median = best.measured.speedup.median
    rivals = [way for way in ways if way.measured and way.measured.outcome is Outcome.OPEN]
    return [
        f"{way.way.value} may be faster still: {describe_gain(way.measured)}"
        for way in rivals
        if way.measured and way.measured.speedup.median > median
    ]


def describe_unmeasured(study: Study, ways: Sequence[WayAdvice], cause: str, is_check: bool) -> list[str]:
    """Give the prediction alone, and say why."""
    if is_check:
        lead = f"Leave it as it is (predicted): {NO_GAIN}"
        return [lead, explain_nothing(study), f"Not measured: {cause}"]
    open_ways = [way for way in ways if way.predicted and not way.reason and way.way is not Way.STOCK]
    if not open_ways:
        return [f"Not measured: {cause}"]
    best = min(open_ways, key=lambda way: way.predicted.time_s if way.predicted else 0.0)
    stock = next(way.predicted for way in ways if way.way is Way.STOCK)
    assert best.predicted is not None
    assert stock is not None
    factor, low, high = predict_speedup(best.predicted, stock.time_s)
    promise = f"{best.way.value}, {factor:.3f} times as fast as stock ({low:.3f} to {high:.3f})"
    if factor < 1 + GAIN_MIN:
        lead = f"Leave it as it is (predicted): {NO_GAIN}"
        return [lead, f"the best is {promise}", f"Not measured: {cause}"]
    return [f"Not measured: {cause}", f"Predicted best: {promise}: {best.command}"]


def describe_verdict(
    study: Study, ways: Sequence[WayAdvice], best: Way | None, cause: str, is_check: bool, scatter: float = 0.0
) -> tuple[str, ...]:
    """Return the sentences of the verdict, the first one says what to do.

    cause: why nothing was measured. is_check: no way was promising, and one was tried all the same. scatter: by what
    part of itself stock's time differs from one round to the next.
    """
    rows = {way.way: way for way in ways}
    if best is not None:
        lines = describe_best(rows[best], rows[Way.STOCK])
        return (*lines, *describe_rivals(rows[best], ways), *describe_idle(ways))
    if rows[Way.STOCK].measured is None:
        return tuple(describe_unmeasured(study, ways, cause, is_check))
    return (*describe_refusal(ways, study, is_check, scatter), *describe_idle(ways))


def describe_threshold(study: Study, lowered: Predicted | None, stock: Predicted | None, program: str) -> list[str]:
    """Name a lower progress threshold, where the present one is what prevents a gain. lowered: a run with it."""
    if study.lowered is None or lowered is None or stock is None:
        return []
    factor = predict_speedup(lowered, stock.time_s)[0]
    if factor < 1 + GAIN_MIN:
        return []
    text = describe_lowered(study, study.lowered, factor)
    option = f"--progress-threshold {study.lowered.threshold_bytes >> 10}KiB"
    return [f"{text[0].upper()}{text[1:]}. Try it: lapwing advise {option} {program}"]


def find_predicted(ways: Sequence[WayAdvice]) -> dict[Way, Predicted]:
    """Return what is predicted of whole runs, as the table shows it."""
    return {way.way: way.predicted for way in ways if way.predicted is not None}


def choose_base(predicted: Mapping[Way, Predicted], best: Way | None) -> Way:
    """Return what a rewrite is held against: the best way, else what would be fastest without one, as predicted."""
    if best is not None:
        return best
    ways = (Way.STOCK, Way.EVENTS, Way.DEFERRED)
    return min((way for way in ways if way in predicted), key=lambda way: predicted[way].time_s)


def describe_rewrite(ways: Sequence[WayAdvice], best: Way | None) -> list[str]:
    """Say what rewriting by hand promises beyond all else, where that is worth a sentence."""
    predicted = find_predicted(ways)
    base = choose_base(predicted, best)
    if base not in predicted or Way.REWRITTEN not in predicted:
        return []
    base_s, rewritten_s = predicted[base].time_s, predicted[Way.REWRITTEN].time_s
    saved = 1 - rewritten_s / base_s if base_s > 0 else 0.0
    if saved < SHARE_MIN:
        return []
    return [
        f"A rewrite by hand of all blocking calls with slack is predicted to take {format_seconds(rewritten_s)}"
        f", {100 * saved:.0f} % less than {base.value} as predicted"
    ]
