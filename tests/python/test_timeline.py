# SPDX-License-Identifier: MIT
"""The timeline on the page: the last stretch that all rows know, cut at its begin."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from profile_files import make_receive
from test_profile_report import merge

from lapwing.model.classes import CallClass
from lapwing.profile.job_file import open_profile_job
from lapwing.report.timeline import Bar, Row, draw_timeline, find_window


def make_row(rank: int, starts: Sequence[int]) -> Row:
    """Make a row of calls that take 10 ns each."""
    return Row(rank, [Bar(start, 10, "a call", CallClass.BLOCKING) for start in starts])


def test_window_begins_where_every_row_is_known() -> None:
    assert find_window([make_row(0, [0, 100, 200]), make_row(1, [50, 150])]) == (50, 210)


def test_window_holds_no_more_bars_than_fit() -> None:
    assert find_window([make_row(0, [0, 100, 200])], 2) == (100, 210)


def test_calls_and_slack_are_drawn(tmp_path: Path) -> None:
    events = [(6_000, 500, 5, 1, 8192), (7_000, 900, 5, 2, 400)]
    spec = replace(make_receive(), events=events, event_capacity=8)
    drawing = draw_timeline(open_profile_job(merge(tmp_path, [spec])))
    assert drawing.count("<rect") == 2
    assert "slack of a call" in drawing
    assert "1.9 us" in drawing  # from the first start to the last end


def test_record_without_events_has_no_drawing(tmp_path: Path) -> None:
    assert draw_timeline(open_profile_job(merge(tmp_path, [make_receive()]))) == ""
