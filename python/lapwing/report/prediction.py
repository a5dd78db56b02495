# SPDX-License-Identifier: MIT
"""What `lapwing predict` prints: the ways to run, both models' terms, their assumptions, findings; and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.model.assumptions import Assumption
from lapwing.model.profile import Way
from lapwing.model.refined import Prediction
from lapwing.model.study import PaperResult, Study
from lapwing.model.waits import sum_all_causes
from lapwing.report.findings import Finding, find_in_profile, sum_sites
from lapwing.report.summary import format_count, format_seconds, format_time
from lapwing.report.waits import SEVERAL_THREADS, describe_causes, encode_causes

SCHEMA = "lapwing-prediction-1"
TERM_SHARE_MIN = 0.01
VERDICTS = {True: "holds", False: "does not hold", None: "not known"}


def make_table(*columns: str) -> Table:
    """Make a table: words left, numbers right."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    return table


def format_interval(prediction: Prediction) -> str:
    """Write the ends of the interval."""
    return f"{format_time(prediction.low_ns)} to {format_time(prediction.high_ns)}"


def describe_change(name: str, change_ns: float) -> str:
    """Write a change of a term."""
    return f"{name} {'+' if change_ns > 0 else '-'}{format_time(abs(change_ns))}"


def list_changes(prediction: Prediction, stock: Prediction) -> list[tuple[str, float]]:
    """Return the terms that the way changes by more than a hundredth of the time, the largest first."""
    before, after = stock.terms.as_dict(), prediction.terms.as_dict()
    changes = [(name, after[name] - before[name]) for name in after]
    least_ns = TERM_SHARE_MIN * stock.expected_ns
    return sorted(((n, c) for n, c in changes if abs(c) >= least_ns), key=lambda pair: -abs(pair[1]))


def describe_doubt(prediction: Prediction) -> str:
    """Name what makes the interval wide."""
    effect = max(prediction.effects, key=lambda entry: entry.high_ns - entry.low_ns, default=None)
    return effect.name if effect else ""


def make_ways_table(study: Study) -> Table:
    """Make the table of the ways to run."""
    table = make_table("way to run", "time", "interval", "speedup", "what changes", "widest doubt")
    stock = study.predictions[Way.STOCK]
    for prediction in study.predictions.values():
        if prediction.impossible:
            table.add_row(prediction.way.value, "-", "-", "-", prediction.impossible, "")
            continue
        name = prediction.way.value
        if prediction.alpha is not None:
            name += f" (alpha {prediction.alpha:.2f})"
        changes = ", ".join(describe_change(*pair) for pair in list_changes(prediction, stock))
        speedup = f"{stock.expected_ns / prediction.expected_ns:.2f}"
        table.add_row(
            name,
            format_time(prediction.expected_ns),
            format_interval(prediction),
            speedup,
            changes or "nothing",
            describe_doubt(prediction),
        )
    return table


def make_paper_table(paper: PaperResult, study: Study) -> Table:
    """Set the paper's terms beside the refined model's, for a dedicated core."""
    table = make_table("term", "measured", "paper's model", "refined model")
    stock, dedicated = study.predictions[Way.STOCK].terms, study.predictions[Way.DEDICATED].terms
    rows = [
        ("computation", stock.computation, paper.terms.computation_s, dedicated.computation),
        ("nonblocking starts", stock.starts, paper.terms.nonblocking_s, dedicated.starts),
        ("tests", stock.tests, paper.terms.test_s, dedicated.tests),
        ("waits for data", stock.waits, paper.terms.wait_s, dedicated.waits),
        ("blocking, for data", stock.blocking, paper.terms.blocking_s, dedicated.blocking),
        ("other MPI", stock.other, paper.terms.other_s, dedicated.other),
    ]
    for name, measured_ns, paper_s, refined_ns in rows:
        table.add_row(name, format_time(measured_ns), format_seconds(paper_s), format_time(refined_ns))
    table.add_row("beyond the busiest rank", format_time(stock.imbalance), "-", format_time(dedicated.imbalance))
    total = (format_time(stock.total), format_seconds(paper.terms.total_s), format_time(dedicated.total))
    table.add_row("total", *total, style="bold")
    return table


def make_assumption_table(assumptions: Sequence[Assumption]) -> Table:
    """Make the table of the assumptions that are in doubt."""
    table = make_table("assumption in doubt", "model", "", "")
    for column in table.columns[1:]:
        column.justify = "left"
    for assumption in assumptions:
        if assumption.holds is not True:
            models = ", ".join(assumption.models)
            table.add_row(assumption.claim, models, VERDICTS[assumption.holds], assumption.evidence)
    return table


def describe_held(assumptions: Sequence[Assumption]) -> str:
    """Name the assumptions that hold."""
    return "Holds: " + "; ".join(a.claim for a in assumptions if a.holds is True)


def print_findings(console: Console, findings: Sequence[Finding]) -> None:
    """Print sentences."""
    for finding in findings:
        console.print(f"- {finding.text}.", highlight=False)


def describe_waited(study: Study) -> str:
    """Say what the ranks waited for; where threads' times add up, only that this is no part of the time."""
    if study.profile.adds_up_threads:
        return f"notice: {SEVERAL_THREADS}"
    whole_ns = sum(rank.elapsed_ns for rank in study.profile.ranks) or 1
    told = describe_causes(sum_all_causes(study.waits), whole_ns).replace(" %", " % of their time", 1)
    return f"Ranks waited: {told}." if told else "No rank waited."


def print_study(study: Study, console: Console) -> None:
    """Print everything about one profile."""
    profile = study.profile
    present = f"{len(profile.ranks)} of " if profile.missing_count else ""
    ranks = present + format_count(profile.rank_count, "rank")
    console.print(f"{profile.name}: {ranks}, {format_time(profile.elapsed_ns)}", highlight=False)
    console.print(make_ways_table(study))
    if study.paper is not None and not study.predictions[Way.DEDICATED].impossible:
        console.print(make_paper_table(study.paper, study))
    console.print(make_assumption_table(study.assumptions))
    console.print(describe_held(study.assumptions), highlight=False)
    console.print(describe_waited(study), highlight=False)
    print_findings(console, find_in_profile(study))
    for text in profile.unknown:
        console.print(f"- This source cannot tell {text}.", highlight=False)


def encode_prediction(prediction: Prediction) -> dict[str, Any]:
    """Write a prediction for programs."""
    if prediction.impossible:
        return {"way": prediction.way.value, "impossible": prediction.impossible}
    return {
        "way": prediction.way.value,
        "expected_s": prediction.expected_ns / 1e9,
        "low_s": prediction.low_ns / 1e9,
        "high_s": prediction.high_ns / 1e9,
        "alpha": prediction.alpha,
        "terms_s": {name: time_ns / 1e9 for name, time_ns in prediction.terms.as_dict().items()},
        "doubts_s": {e.name: [e.low_ns / 1e9, e.high_ns / 1e9] for e in prediction.effects},
        "sites": [
            {
                "function": site.function,
                "place": site.place,
                "calls_per_rank": site.count,
                "data_s": site.data_ns / 1e9,
                "late_peer_s": site.idle_ns / 1e9,
                "hidden_s": site.hidden_ns / 1e9,
                "gain_s": site.gain_ns / 1e9,
                "slack_mean_s": None if site.slack_mean_ns is None else site.slack_mean_ns / 1e9,
                "touched_at": site.touched_at,
            }
            for site in sum_sites(prediction)
        ],
    }


def encode_paper(paper: PaperResult | None) -> dict[str, Any] | None:
    """Write the paper's model for programs."""
    if paper is None:
        return None
    return {
        "parameters": asdict(paper.parameters),
        "terms_s": asdict(paper.terms),
        "dedicated_s": paper.terms.total_s,
        "speedup": paper.speedup,
        "speedup_over_alpha": [list(point) for point in paper.curve],
        "slope": paper.slope,
        "break_even_alpha": paper.break_even_alpha,
    }


def encode_study(study: Study) -> dict[str, Any]:
    """Write everything about one profile for programs."""
    return {
        "schema": SCHEMA,
        "source": study.profile.source.value,
        "name": study.profile.name,
        "ranks": len(study.profile.ranks),
        "missing_ranks": study.profile.missing_count,
        "elapsed_s": study.profile.elapsed_ns / 1e9,
        "cores_per_rank": study.profile.cores_per_rank,
        "ways": [encode_prediction(prediction) for prediction in study.predictions.values()],
        "paper": encode_paper(study.paper),
        "assumptions": [asdict(assumption) for assumption in study.assumptions],
        "findings": [{"kind": f.kind, "text": f.text} for f in find_in_profile(study)],
        "waits_s": encode_causes(sum_all_causes(study.waits)),
        "has_system": study.system is not None,
        "unknown": list(study.profile.unknown),
    }
