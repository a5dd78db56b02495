# SPDX-License-Identifier: MIT
"""The table of a sweep over threads, with its fit."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.model.profile import Sweep
from lapwing.model.scaling import ScalingFit, fit_sweep, list_medians_s
from lapwing.report.summary import format_seconds

NOTHING_SHARED = 0.02  # a share of the time with the fewest threads


def describe_fit(fit: ScalingFit) -> str:
    """Write the formula, and how far it is off."""
    parts = [format_seconds(fit.serial_s)] if fit.serial_s else []
    parts += [f"{format_seconds(fit.shared_s)} / threads"] if fit.shared_s else []
    parts += [f"{format_seconds(fit.growing_s)} x threads"] if fit.growing_s else []
    return f"computation = {' + '.join(parts)}, at most {fit.error:.1%} off"


def print_sweep(console: Console, sweep: Sweep, core_count: int | None) -> None:
    """Print measured and fitted times, speedups, and what giving up a core costs."""
    fit, medians_s = fit_sweep(sweep), list_medians_s(sweep)
    table = Table(title="computation over threads", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("threads", "measured", "fit", "speedup", "linear"):
        table.add_column(name, justify="right")
    for threads, time_s in zip(sweep.threads, medians_s, strict=True):
        speedup, linear = medians_s[0] / time_s, threads / sweep.threads[0]
        table.add_row(
            str(threads),
            format_seconds(time_s),
            format_seconds(fit.time_s(threads)),
            f"{speedup:.2f}",
            f"{linear:.2f}",
        )
    console.print(table)
    console.print(describe_fit(fit), highlight=False)
    if fit.shared_s < NOTHING_SHARED * medians_s[0]:
        console.print("The threads share hardly any work: does the program follow OMP_NUM_THREADS?", highlight=False)
    if core_count is not None and core_count >= 2:
        ratio = fit.time_s(core_count - 1) / fit.time_s(core_count)
        linear = core_count / (core_count - 1)
        where = f"On {core_count - 1} of {core_count} cores it takes {ratio:.3f} times as long"
        console.print(f"{where}; linear scaling: {linear:.3f}", highlight=False)
