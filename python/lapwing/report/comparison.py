# SPDX-License-Identifier: MIT
"""What `lapwing compare` prints: predicted against achieved, and what the difference means (paper, VI-B)."""

import re
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from lapwing.model.classes import CallClass
from lapwing.model.comparison import COMPUTATION, NAMES, Comparison, Row, share_matched
from lapwing.model.profile import Way
from lapwing.model.refined import DEDICATED_WAYS
from lapwing.model.study import Study
from lapwing.report.findings import Finding, find_waits_without_work
from lapwing.report.prediction import make_table
from lapwing.report.summary import format_time
from lapwing.report.waits import SEVERAL_THREADS

SCHEMA = "lapwing-comparison-1"
# A difference below this part of the run is not worth a sentence.
SHARE_MIN = 0.02
SITE_COUNT_MAX = 10
LINE = re.compile(r":\d+$")
# Runs that share less of their time in MPI by call site are hardly those of one program.
MATCHED_MIN = 0.25
FOLLOWS_PAPER = "as the paper saw with MiniMD (4.19 s, then 8.69 s)"


def format_difference(row_ns: float) -> str:
    """Write a signed time."""
    return f"{'+' if row_ns >= 0 else '-'}{format_time(abs(row_ns))}"


def get_row(comparison: Comparison, name: str) -> Row:
    """Return a line by name; zeros when there is none."""
    return next((row for row in comparison.rows if row.name == name), Row(name, 0.0, 0.0, 0.0))


def is_large(comparison: Comparison, time_ns: float) -> bool:
    """Say whether a difference is worth a sentence."""
    return abs(time_ns) >= SHARE_MIN * comparison.achieved_ns


def judge_total(comparison: Comparison) -> Finding:
    """Say whether the run took what was predicted."""
    predicted, achieved = comparison.prediction, comparison.achieved_ns
    error = predicted.expected_ns / achieved - 1
    inside = "within" if comparison.is_inside else "outside"
    speedups = [comparison.before_ns / time_ns for time_ns in (achieved, predicted.expected_ns)]
    text = (
        f"{comparison.way.value}: {format_time(achieved)} measured, {format_time(predicted.expected_ns)} predicted "
        f"({100 * error:+.1f} %), {inside} {format_time(predicted.low_ns)} to {format_time(predicted.high_ns)}; "
        f"speedup {speedups[0]:.2f} where {speedups[1]:.2f} was predicted"
    )
    if comparison.paper_ns is not None:
        paper_error = 100 * (comparison.paper_ns / achieved - 1)
        text += f"; the paper's model predicts {format_time(comparison.paper_ns)} ({paper_error:+.1f} %)"
    return Finding("total", text, achieved)


def judge_match(comparison: Comparison) -> list[Finding]:
    """Say that the runs hardly share a call site: they may be of different programs."""
    share = share_matched(comparison.sites)
    if share >= MATCHED_MIN:
        return []
    text = (
        f"only {100 * share:.0f} % of both runs' time in MPI is at call sites that both have: are these runs of the "
        "same program? Without debug information a program that was built again has other places, too"
    )
    return [Finding("different programs", text, comparison.achieved_ns)]


def explain_computation(way: Way, is_longer: bool) -> str:
    """Say why the computation may have taken another time than predicted: only some ways take from its cores."""
    word = "more" if is_longer else "less"
    if way in DEDICATED_WAYS:
        return f"giving up a core costs {word} than assumed (a calibration run on one core less measures it)"
    if way is not Way.STOCK:
        return f"sharing a core with Lapwing costs {word} than assumed, or the work, or the machine, was another"
    return "the way to run does not explain that: the work, or the machine, was another"


def judge_computation(comparison: Comparison) -> list[Finding]:
    """Say whether the computation scaled as assumed."""
    row = get_row(comparison, COMPUTATION)
    difference_ns = row.achieved_ns - row.predicted_ns
    if not is_large(comparison, difference_ns) or row.before_ns <= 0:
        return []
    cause = explain_computation(comparison.way, difference_ns > 0)
    text = (
        f"the computation took {row.achieved_ns / row.before_ns:.3f} of its time before, "
        f"{row.predicted_ns / row.before_ns:.3f} was predicted: {cause}"
    )
    return [Finding("computation", text, abs(difference_ns))]


def judge_contention(comparison: Comparison) -> list[Finding]:
    """Say that waits grew where they should have shrunk."""
    row = get_row(comparison, NAMES[CallClass.WAIT])
    grown_ns = row.achieved_ns - row.before_ns
    if comparison.way is Way.STOCK or grown_ns <= 0 or not is_large(comparison, grown_ns) or row.before_ns <= 0:
        return []
    text = (
        f"the waits take {format_time(row.achieved_ns)} instead of {format_time(row.before_ns)}, "
        f"{row.achieved_ns / row.before_ns:.2f} times as long, although progress in the background should shorten "
        f"them: the progress thread and the waits contend, {FOLLOWS_PAPER}"
    )
    return [Finding("contention in waits", text, grown_ns)]


def judge_missing_overlap(comparison: Comparison) -> list[Finding]:
    """Say that waits shrank less than predicted."""
    row = get_row(comparison, NAMES[CallClass.WAIT])
    missing_ns = row.achieved_ns - row.predicted_ns
    grew = row.achieved_ns > row.before_ns
    if grew or missing_ns <= 0 or not is_large(comparison, missing_ns):
        return []
    text = (
        f"the waits take {format_time(row.achieved_ns)}, {format_time(row.predicted_ns)} was predicted: not all of the "
        "computation between start and wait was used, or the data came late"
    )
    return [Finding("overlap below the prediction", text, missing_ns)]


def judge_deferral(comparison: Comparison) -> list[Finding]:
    """Say that blocking calls did not get as short as predicted."""
    row = get_row(comparison, NAMES[CallClass.BLOCKING])
    missing_ns = row.achieved_ns - row.predicted_ns
    if missing_ns <= 0 or not is_large(comparison, missing_ns):
        return []
    text = (
        f"blocking calls take {format_time(row.achieved_ns)}, {format_time(row.predicted_ns)} was predicted: they were "
        "passed to MPI, touched sooner than in the profile, or waited for late peers"
    )
    return [Finding("blocking calls", text, missing_ns)]


def judge_tests(comparison: Comparison) -> list[Finding]:
    """Say that tests became needless (VI-B: N_test of Kripke drops)."""
    before, after = comparison.counts[CallClass.TEST]
    row = get_row(comparison, NAMES[CallClass.TEST])
    if before <= 0 or not is_large(comparison, max(row.before_ns, row.achieved_ns)):
        return []
    if after < 0.9 * before:
        text = (
            f"tests drop from {before:,.0f} to {after:,.0f} per rank, since communication ends earlier; the "
            f"{format_time(row.achieved_ns)} that they still take could go, too, were they not in the source"
        )
    else:
        text = (
            f"the program still tests {after:,.0f} times per rank ({format_time(row.achieved_ns)}): with progress in "
            "the background those that are there for progress could go"
        )
    return [Finding("tests could go", text, row.achieved_ns)]


def find_in_comparison(comparison: Comparison, study: Study) -> list[Finding]:
    """Return all sentences about one run: the total first, then the weightiest.

    Of times that add up over threads there is nothing to say but that.
    """
    if comparison.adds_up_threads:
        return [judge_total(comparison), Finding("several threads", SEVERAL_THREADS, comparison.achieved_ns)]
    findings = [
        *judge_computation(comparison),
        *judge_contention(comparison),
        *judge_missing_overlap(comparison),
        *judge_deferral(comparison),
        *judge_tests(comparison),
    ]
    if comparison.way in (Way.EVENTS, Way.DEDICATED):
        findings += find_waits_without_work(study.predictions[comparison.way])
    return [
        judge_total(comparison),
        *judge_match(comparison),
        *sorted(findings, key=lambda finding: -finding.weight_ns),
    ]


def make_class_table(comparison: Comparison) -> Table:
    """Make the table of terms."""
    table = make_table("term (mean rank)", "before", "predicted", "achieved", "difference")
    for row in comparison.rows:
        times = (format_time(time_ns) for time_ns in (row.before_ns, row.predicted_ns, row.achieved_ns))
        table.add_row(row.name, *times, format_difference(row.achieved_ns - row.predicted_ns))
    return table


def shorten_file(place: str) -> str:
    """Leave the folders of a file and its line out; a function's name may have slashes, too."""
    return place.rsplit("/", 1)[-1] if LINE.search(place) else place


def make_site_table(comparison: Comparison) -> Table:
    """Make the table of call sites with the largest differences."""
    table = make_table("call site (mean rank)", "calls", "before", "predicted", "achieved", "difference")
    for row in comparison.sites[:SITE_COUNT_MAX]:
        calls = f"{row.before_count:,.0f}"
        if row.achieved_count != row.before_count:
            calls += f" -> {row.achieved_count:,.0f}"
        times = (format_time(time_ns) for time_ns in (row.before_ns, row.predicted_ns, row.achieved_ns))
        difference = format_difference(row.achieved_ns - row.predicted_ns)
        table.add_row(f"{row.function} {shorten_file(row.place)}", calls, *times, difference)
    return table


def print_comparison(comparison: Comparison, study: Study, console: Console) -> None:
    """Print one run beside its prediction."""
    console.print(f"{comparison.profile.name}, {comparison.way.value}", style="bold", highlight=False)
    if not comparison.adds_up_threads:
        console.print(make_class_table(comparison))
        console.print(make_site_table(comparison))
    for finding in find_in_comparison(comparison, study):
        console.print(f"- {finding.text}.", highlight=False)


def encode_row(row: Row) -> Mapping[str, Any]:
    """Write a line for programs."""
    return {
        "before_s": row.before_ns / 1e9,
        "predicted_s": row.predicted_ns / 1e9,
        "achieved_s": row.achieved_ns / 1e9,
    }


def encode_comparison(comparison: Comparison, study: Study) -> dict[str, Any]:
    """Write one run beside its prediction for programs."""
    return {
        "name": comparison.profile.name,
        "way": comparison.way.value,
        "before_s": comparison.before_ns / 1e9,
        "achieved_s": comparison.achieved_ns / 1e9,
        "predicted_s": comparison.prediction.expected_ns / 1e9,
        "low_s": comparison.prediction.low_ns / 1e9,
        "high_s": comparison.prediction.high_ns / 1e9,
        "is_inside": comparison.is_inside,
        "paper_s": None if comparison.paper_ns is None else comparison.paper_ns / 1e9,
        "terms": {row.name: encode_row(row) for row in comparison.rows},
        "sites": [
            {
                "function": row.function,
                "place": row.place,
                "calls_before": row.before_count,
                "calls_achieved": row.achieved_count,
                "before_s": row.before_ns / 1e9,
                "predicted_s": row.predicted_ns / 1e9,
                "achieved_s": row.achieved_ns / 1e9,
            }
            for row in comparison.sites
        ],
        "findings": [{"kind": f.kind, "text": f.text} for f in find_in_comparison(comparison, study)],
    }
