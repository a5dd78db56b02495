# SPDX-License-Identifier: MIT
"""Tables of `lapwing bench collective`."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.report.progress import DISTURBED_LEAST
from lapwing.report.summary import format_bytes
from lapwing.report.tables import format_ms, format_ratio

Row = Mapping[str, Any]
STOCK, LAPWING, STOCK_NONBLOCKING = "stock", "lapwing", "stock nonblocking"
TIMES = ("size", "comm", "comp", "stock", "Lapw.")
RATIOS = ("gain", "over-\nlap\nstock", "over-\nlap\nLapw.", "its\nown")
APART_COLUMNS = (*TIMES, "limit*", *RATIOS, "of\nlim.*", "alone")
IN_ORDER_COLUMNS = (*TIMES, "limit", *RATIOS, "of\nlimit", "page\nstock", "page\nLapw.")
NONBLOCKING_COLUMN = "over-\nlap\nnonb."
CAPTION = """\
times in milliseconds; comm and comp: stock's, alone; best = max(comm, comp);
gain: stock / Lapw.; overlap = 1 - (time - best) / min(comm, comp), its own: by
Lapwing's comm and comp
apart: the work needs none of the data; alone: the collective without work,
stock's is 1; * best when the transfer's processor time is charged to the core
in order: the work reads the data block by block; limit = best + min(comm, comp)
/ k: the data in k pieces, the first of which must come first, k = 16 from 1 MiB
on; of limit: the overlap as a part of 1 - 1/k; page: when the first page had
been read, as a part of stock's comm"""
NONBLOCKING_CAPTION = "nonb.: stock's nonblocking twin, waited for after the work"
SHARED_CAPTION = """\
{} ranks share each core: comp is the work while all do theirs; ranks that wait
spin, so that stock's comm is longer than with a core per rank: see "its own\""""

DISTURBED_CAPTION = """\
notice: stock's work alone took up to {:.2f} times as long as calibrated:
something else runs here, and the figures above are worth little"""


def print_collective(console: Console, document: Row, title: str) -> None:
    """Print two tables for each collective, one for each kind of work."""
    console.rule(title)
    results: Sequence[Row] = document["results"]
    with_nonblocking = any(STOCK_NONBLOCKING in row["contenders"] for row in results)
    for function in dict.fromkeys(row["function"] for row in results):
        rows = [row for row in results if row["function"] == function]
        console.print(make_apart_table([row for row in rows if row["shape"] == "apart"], with_nonblocking))
        console.print(make_in_order_table([row for row in rows if row["shape"] == "in_order"]))
    for text in list_captions(document, with_nonblocking):
        console.print(text, highlight=False)


def list_captions(document: Row, with_nonblocking: bool) -> list[str]:
    """Return what explains the tables."""
    texts = [CAPTION]
    if with_nonblocking:
        texts.append(NONBLOCKING_CAPTION)
    if document["ranks_per_core"] > 1:
        texts.append(SHARED_CAPTION.format(document["ranks_per_core"]))
    if document["disturbed"] > DISTURBED_LEAST:
        texts.append(DISTURBED_CAPTION.format(document["disturbed"]))
    return texts


def make_table(title: str, columns: Sequence[str]) -> Table:
    """Make an empty table."""
    table = Table(title=title, box=SIMPLE_HEAD, padding=0, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def make_apart_table(rows: Sequence[Row], with_nonblocking: bool) -> Table:
    """Make the table of one collective beside work that does not need its data."""
    columns = [*APART_COLUMNS, NONBLOCKING_COLUMN] if with_nonblocking else APART_COLUMNS
    table = make_table(f"{rows[0]['function']}, apart", columns)
    for row in rows:
        contenders = row["contenders"]
        share = contenders[LAPWING].get("share_of_shared_core_limit")
        cells = [format_ratio(share), f"{contenders[LAPWING]['comm_ratio']:.2f}"]
        if with_nonblocking:
            cells.append(f"{contenders[STOCK_NONBLOCKING]['overlap']:.2f}")
        table.add_row(*make_common(row, row.get("limit_shared_core_us")), *cells)
    return table


def make_in_order_table(rows: Sequence[Row]) -> Table:
    """Make the table of one collective beside work that reads its data in order."""
    table = make_table(f"{rows[0]['function']}, in order", IN_ORDER_COLUMNS)
    for row in rows:
        stock, lapwing = (row["contenders"][name] for name in (STOCK, LAPWING))
        pages = [f"{one['first_page_share']:.2f}" for one in (stock, lapwing)]
        table.add_row(*make_common(row, row["limit_us"]), format_ratio(lapwing["share_of_limit"]), *pages)
    return table


def make_common(row: Row, limit_us: float | None) -> list[str]:
    """Write what both tables show, up to Lapwing's overlap."""
    stock, lapwing = (row["contenders"][name] for name in (STOCK, LAPWING))
    return [
        format_bytes(row["size_bytes"]),
        format_ms(stock["comm_us"]["median"]),
        format_ms(stock["comp_us"]["median"]),
        format_ms(stock["both_us"]["median"]),
        format_ms(lapwing["both_us"]["median"]),
        "-" if limit_us is None else format_ms(limit_us),
        f"{lapwing['speedup']:.2f}",
        f"{stock['overlap']:.2f}",
        f"{lapwing['overlap']:.2f}",
        f"{lapwing['overlap_with_own_times']:.2f}",
    ]
