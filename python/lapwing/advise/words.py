# SPDX-License-Identifier: MIT
"""The verdict in words: what to do, what proves it, and why there is nothing to gain where there is not."""

from collections.abc import Sequence

from lapwing.advise.advice import Measured, WayAdvice
from lapwing.advise.judge import ROUNDS_MIN, Outcome, predict_speedup
from lapwing.model.classes import CallClass
from lapwing.model.profile import Way
from lapwing.model.study import Study
from lapwing.report.summary import format_count, format_seconds, format_time

SHARE_MIN = 0.01


def sum_shares(study: Study) -> tuple[float, float, float]:
    """Return the shares of all ranks' time: inside MPI, for data in blocking calls and waits, for late peers there."""
    ranks = study.predictions[Way.STOCK].ranks
    whole_ns = sum(rank.rank.elapsed_ns for rank in ranks) or 1
    classes = (CallClass.BLOCKING, CallClass.WAIT)
    sites = [site.times for rank in ranks for site in rank.sites if site.times.site.call_class in classes]
    mpi_ns = sum(rank.rank.mpi_ns for rank in ranks)
    return mpi_ns / whole_ns, sum(s.data_ns for s in sites) / whole_ns, sum(s.idle_ns for s in sites) / whole_ns


def explain_nothing(study: Study) -> str:
    """Say why overlap brings nothing, with the numbers that decide it."""
    mpi, data, idle = sum_shares(study)
    if mpi < SHARE_MIN:
        return f"MPI takes {100 * mpi:.1f} % of the time: there is nothing to hide"
    text = (
        f"of the ranks' time {100 * mpi:.1f} % passes in MPI, {100 * data:.1f} % for data in blocking calls and "
        f"waits, {100 * idle:.1f} % for late peers there"
    )
    if idle > data and idle >= 0.05:
        return text + ": the work is uneven, and overlap does not mend that"
    if data < SHARE_MIN:
        return text + ": there is hardly a transfer to hide"
    return text + ": the data is used right away, or its messages are too small to gain by overlap"


def describe_gain(measured: Measured) -> str:
    """Write a speedup with its spread."""
    spread = measured.speedup
    return (
        f"{spread.median:.3f} times as fast as stock (median of {format_count(spread.count, 'round')}, quartiles "
        f"{spread.first_quartile:.3f} to {spread.third_quartile:.3f})"
    )


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
        if best.measured.speedup.first_quartile > high:
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
    if low <= 1:
        return ""
    if best.measured is not None and best.measured.is_inside:
        return (
            f"The median lies inside the predicted interval ({low:.2f} to {high:.2f}), but not every round is faster: "
            "repeat it on a quiet machine, or with more rounds (--rounds)"
        )
    return (
        f"Predicted were {factor:.2f} times ({low:.2f} to {high:.2f}): this program meets something that the model "
        "does not know, for example messages both ways that queue behind each other on one TCP connection "
        "(docs/limits.md). What is predicted for a rewrite by hand is as doubtful"
    )


def describe_refusal(ways: Sequence[WayAdvice], study: Study, is_check: bool) -> list[str]:
    """Say that nothing that was tried is faster, and why."""
    tried = [way for way in ways if way.measured is not None and way.way is not Way.STOCK]
    best = max(tried, key=lambda way: way.measured.speedup.median if way.measured else 0.0, default=None)
    if best is None or best.measured is None:
        return ["Leave it as it is: no other way could be measured"]
    if best.measured.outcome is Outcome.TOO_FEW:
        text = f"so far {best.way.value} is {describe_gain(best.measured)}"
        return [f"No verdict: at least {ROUNDS_MIN} rounds are needed", text]
    same = "no gain was shown, as predicted" if is_check else "no gain was shown"
    claim = "every way that was tried is slower" if best.measured.outcome is Outcome.SLOWER else same
    text = f"{'tried was' if is_check else 'the best is'} {best.way.value}, {describe_gain(best.measured)}"
    missed = explain_missed(best, next(way for way in ways if way.way is Way.STOCK))
    return [f"Leave it as it is: {claim}", text, missed or explain_nothing(study)]


def describe_unmeasured(study: Study, ways: Sequence[WayAdvice], cause: str, is_check: bool) -> list[str]:
    """Give the prediction alone, and say why."""
    if is_check:
        lead = "Leave it as it is: nothing to gain here, as predicted"
        return [lead, explain_nothing(study), f"Not measured: {cause}"]
    open_ways = [way for way in ways if way.predicted and not way.reason and way.way is not Way.STOCK]
    if not open_ways:
        return [f"Not measured: {cause}"]
    best = min(open_ways, key=lambda way: way.predicted.time_s if way.predicted else 0.0)
    assert best.predicted is not None
    stock = next(way.predicted for way in ways if way.way is Way.STOCK)
    factor = stock.time_s / best.predicted.time_s if stock else 1.0
    return [
        f"Not measured: {cause}",
        f"Predicted best: {best.way.value}, {factor:.3f} times as fast as stock ({best.command})",
    ]


def describe_verdict(
    study: Study, ways: Sequence[WayAdvice], best: Way | None, cause: str, is_check: bool
) -> tuple[str, ...]:
    """Return the sentences of the verdict, the first one says what to do.

    cause: why nothing was measured. is_check: no way was promising, and one was tried all the same.
    """
    rows = {way.way: way for way in ways}
    if best is not None:
        return (*describe_best(rows[best], rows[Way.STOCK]), *describe_idle(ways))
    if rows[Way.STOCK].measured is None:
        return tuple(describe_unmeasured(study, ways, cause, is_check))
    return (*describe_refusal(ways, study, is_check), *describe_idle(ways))


def describe_rewrite(study: Study, best: Way | None) -> list[str]:
    """Say what rewriting by hand promises beyond the best way, where that is worth a sentence."""
    base_ns = study.predictions[best or Way.STOCK].expected_ns
    rewritten = study.predictions[Way.REWRITTEN]
    saved = 1 - rewritten.expected_ns / base_ns if base_ns > 0 else 0.0
    if saved < SHARE_MIN:
        return []
    return [
        f"A rewrite by hand of all blocking calls with slack is predicted to take {format_time(rewritten.expected_ns)}"
        f", {100 * saved:.0f} % less than {(best or Way.STOCK).value} as predicted"
    ]
