# SPDX-License-Identifier: MIT
"""The table of `lapwing bench converted`."""

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

COLUMNS = ("alpha", "found", "took s", "quartiles", "model", "interval", "%", "paper", "%")
CAPTION = """\
alpha: share of converted calls, predicted, and found in profiles;
progress by events; all predicted from the blocking version's profile;
%: predicted / measured - 1, * outside the interval;
paper: its formula at that alpha, without the price of a core"""


def make_converted_row(row: Mapping[str, Any]) -> list[str]:
    """Write one version."""
    measured = row["measured_s"]
    return [
        f"{row['alpha_predicted']:.2f}",
        f"{row['alpha_measured']:.2f}",
        f"{measured['median']:.2f}",
        f"{measured['first_quartile']:.2f}-{measured['third_quartile']:.2f}",
        f"{row['predicted_s']:.2f}",
        f"{row['low_s']:.2f}-{row['high_s']:.2f}",
        f"{100 * row['error']:+.1f}{'' if row['is_within'] else '*'}",
        f"{row['paper_s']:.2f}",
        f"{100 * row['paper_error']:+.1f}",
    ]


def make_converted_table(result: Mapping[str, Any], title: str) -> Table:
    """Make the table."""
    table = Table(title=title, caption=CAPTION, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for row in result["versions"]:
        table.add_row(*make_converted_row(row))
    return table


def describe_slopes(result: Mapping[str, Any]) -> str:
    """Say what alpha is worth."""
    slopes = result["slopes"]
    stock = result["stock_s"]["median"]
    return (
        f"from alpha 0 to 1 the speedup grows by {slopes['measured']:+.2f}; predicted {slopes['predicted']:+.2f}, by "
        f"the paper's formula {slopes['paper']:+.2f}; the blocking version without Lapwing took {stock:.3f} s"
    )
