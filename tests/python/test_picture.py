# SPDX-License-Identifier: MIT
"""The picture of one run: why call sites were overlapped or not, its drawing, and one run with a real MPI."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from needs import needs_mpi

from lapwing.bench.mpi import build_program, find_mpi
from lapwing.errors import LapwingError
from lapwing.files import find_preload
from lapwing.profile.rank_file import Event
from lapwing.report.picture import LANES, Row, SiteStory, draw_row, explain, find_window, format_picture
from lapwing.report.trace import KIND_CALL, KIND_ENGINE, KIND_OP, KIND_TOUCH, split_event

PYTHON = Path(__file__).parents[2] / "python"
MS = 1_000_000


def has_preload() -> bool:
    try:
        find_preload()
    except LapwingError:
        return False
    return True


def make_story(**changes: object) -> SiteStory:
    story = SiteStory("send", "a.c:7", ops=10, bytes=10 << 20, overlapped_ns=95 * MS, lasted_ns=100 * MS)
    story.least_bytes = story.most_bytes = 1 << 20
    story.__dict__.update(changes)
    return story


def test_untouched_ops_are_overlapped_and_say_so() -> None:
    assert explain(make_story()) == ["95% of 10 ms overlapped: no touch came before the data"]


def test_an_early_touch_is_the_cause() -> None:
    story = make_story(overlapped_ns=5 * MS, touches=10, until_touch_ns=5 * MS, touch_wait_ns=95 * MS)
    (text,) = explain(story)
    assert text.startswith("5% of 10 ms overlapped: 10 of 10 touched after 500 us, and waited 9.5 ms")
    assert "too short" in text


def test_waits_elsewhere_are_told_from_touches() -> None:
    assert "waited elsewhere" in explain(make_story(overlapped_ns=20 * MS))[0]


def test_reasons_of_passed_calls_are_in_words() -> None:
    story = make_story(ops=0, passes=Counter(learned=2, datatype=9))
    first, second = explain(story)
    assert first.startswith("9 passed: ")
    assert second.startswith("2 passed: ")
    assert "learned" not in second


def test_what_never_was_large_is_told() -> None:
    assert format_picture([]) == ["no message was large enough for the background"]
    assert "10 in the background, 1 MiB each" in format_picture([make_story()])[0].replace("1.0 MiB", "1 MiB")


def test_sizes_that_differ_are_not_told_as_each() -> None:
    uneven = format_picture([make_story(least_bytes=70_000, most_bytes=8 << 20)])[0]
    assert uneven.endswith(", 68.4 KiB to 8 MiB, 1 MiB on average")


def make_rows() -> list[Row]:
    events = [Event(0, 10, 1, KIND_CALL, 0), Event(10, 80, 1, KIND_OP, 0), Event(50, 40, 1, KIND_TOUCH, 0)]
    later = [Event(20, 5, 0, KIND_ENGINE, 0), Event(60, 70, 1, KIND_OP, 0)]
    return [Row(0, events, {1: "send a.c:7"}, 0), Row(1, later, {1: "receive a.c:9"}, 100)]


def test_window_is_what_all_ranks_know() -> None:
    assert find_window(make_rows()) == (120, 230)


def test_stages_stand_in_lanes_with_titles() -> None:
    shapes = "".join(draw_row(make_rows()[0], 0, 0, 1.0))
    for kind in (KIND_CALL, KIND_OP, KIND_TOUCH):
        assert LANES[kind][2] in shapes
    assert "touch of send a.c:7" in shapes
    assert "send a.c:7 under way" in shapes


def test_ops_side_by_side_are_begun_and_ended_apart() -> None:
    made = {"name": "send under way", "cat": "in the background", "ph": "X", "ts": 5.0, "dur": 2.0, "pid": 1, "tid": 3}
    begin, end = split_event({**made, "args": {"bytes": 8}}, 4)
    assert (begin["ph"], end["ph"], begin["id"], end["id"]) == ("b", "e", "1-4", "1-4")
    assert end["ts"] - begin["ts"] == 2.0


needs_runs = pytest.mark.skipif(shutil.which("mpirun") is None or not has_preload(), reason="no mpirun, or no preload")


def run(line: str, folder: Path) -> str:
    """Run a line of the command; what it prints."""
    allowed = {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}
    environment = {**os.environ, **allowed, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(find_preload())}
    command = [sys.executable, "-m", "lapwing", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def read_sites(folder: Path) -> list[dict[str, Any]]:
    """What the kept picture says of each call site."""
    sites: list[dict[str, Any]] = json.loads(run("report lapwing-timeline.record --json", folder))["sites"]
    return sites


@needs_mpi
@needs_runs
def test_one_run(tmp_path: Path) -> None:
    """Blocking messages of 1 MiB beside work, all let return early: their stages and their sites are told."""
    program = build_program(find_mpi(None), "overlap.c", tmp_path)
    said = run(f"run --learn off --timeline 400 mpirun -n 2 {program} 2000 1048576 5", tmp_path)
    assert "lapwing-timeline.record" in said
    run("report lapwing-timeline.record --html page.html --chrome-trace trace.json", tmp_path)
    sites = read_sites(tmp_path)
    assert {site["kind"] for site in sites} >= {"send", "receive"}
    assert all(site["why"] for site in sites)
    names = {event["name"].split(" ")[0] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert names >= {"send", "receive", "release", "engine"}
    page = (tmp_path / "page.html").read_text()
    assert "<svg" in page
    assert 'class="sortable"' in page
    assert "aria-sort" in page[page.index("<script>") :]


@needs_mpi
@needs_runs
def test_collectives_have_their_places(tmp_path: Path) -> None:
    """Broadcasts of 1 MiB, by three call sites: each has a place of its own, and says why."""
    program = build_program(find_mpi(None), "collective.c", tmp_path)
    points = "bcast 2000 1048576 5"
    run(f"run --learn off --timeline 400 mpirun -n 2 {program} blocking int 1 1 {points}", tmp_path)
    sites = [site for site in read_sites(tmp_path) if site["kind"] == "collective"]
    assert len({site["place"] for site in sites}) == 3
    assert all(program.name in site["place"] and site["why"] for site in sites)
