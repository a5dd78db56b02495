# SPDX-License-Identifier: MIT
"""Experiments by a launcher's line: what ranks say of their hosts, reports without names, and one short run."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from needs import needs_mpi
from rich.console import Console

from lapwing.bench.line import LinePlace, RankView, find_compiler, hide_hosts, look_around, measure_rate, parse_view
from lapwing.bench.mpi import Mpi
from lapwing.commands.experiment import label_mpis
from lapwing.errors import LapwingError
from lapwing.launch.launchers import Hydra, OpenMpi
from lapwing.report.sendable import hide_all, hide_names, list_names, make_sendable

PYTHON = Path(__file__).parents[2] / "python"
NAMES = [("node1.site.org", "host1"), ("node1", "host1"), ("ann", "user")]


def make_place(folder: Path, *views: RankView) -> LinePlace:
    return LinePlace(Mpi("mpich", "mpicc", Hydra("mpirun")), None, folder, views=views)


def test_a_rank_says_host_cores_and_what_is_missing() -> None:
    assert parse_view("lapwing-host n1 0-2,8 ") == RankView("n1", frozenset({0, 1, 2, 8}))
    assert parse_view("lapwing-host n1 3 /shared/bench").missing == "/shared/bench"


@pytest.mark.parametrize("line", ["[1,0]<stdout>:lapwing-host n1 0 ", "lapwing-host n1", "hello"])
def test_what_is_no_answer_is_refused(line: str) -> None:
    with pytest.raises(LapwingError, match="printed"):
        parse_view(line)


def test_ranks_share_the_cores_that_they_may_use(tmp_path: Path) -> None:
    bound = [RankView("a", frozenset({core})) for core in (0, 1)]
    assert make_place(tmp_path, *bound).ranks_per_core == 1
    assert make_place(tmp_path, *bound, RankView("a", frozenset({0, 1}))).ranks_per_core == 2
    assert make_place(tmp_path, bound[0], RankView("b", frozenset({0}))).hosts == ["a", "b"]


@pytest.mark.parametrize(("missing", "remedy"), [("/x/bench", "all hosts share"), ("/x/liblapwing.so", "install")])
def test_a_host_without_the_program_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, remedy: str
) -> None:
    said = ["lapwing-host a 0 ", f"lapwing-host b 0 {missing}"]
    monkeypatch.setattr(LinePlace, "run_alone", lambda *_: said)
    with pytest.raises(LapwingError, match=f"host b has no {missing}") as error:
        look_around(make_place(tmp_path), [Path("/x/bench"), Path("/x/liblapwing.so")])
    assert remedy in str(error.value)


def test_rate_is_that_of_the_median_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LinePlace, "run_as", lambda *_: [json.dumps({"round_trip_us": [1e4, 16777.216, 1e9]})])
    assert measure_rate(make_place(tmp_path), Path("pingpong")) == "1000.000mbit"


def test_compiler_stands_beside_the_launcher(tmp_path: Path) -> None:
    for name in ("mpicc.mpich", "mpicc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert find_compiler(str(tmp_path / "mpiexec.hydra")) == str(tmp_path / "mpicc.mpich")
    assert find_compiler(str(tmp_path / "mpiexec")) == str(tmp_path / "mpicc")


def test_hosts_of_the_line_are_hidden() -> None:
    line = ["-n", "2", "--host", "node1,node2", "--mca", "btl", "tcp"]
    assert hide_hosts(OpenMpi("mpirun"), line) == ["-n", "2", "--host", "...", "--mca", "btl", "tcp"]
    assert hide_hosts(Hydra("mpiexec"), ["-hosts", "a,b", "-n", "2"]) == ["-hosts", "...", "-n", "2"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("node1.site.org, node1-ib0 and node10", "host1, host1-ib0 and node10"),
        ("`/home/ann/mpi/bin/mpirun -n 2` of ann", "`mpirun -n 2` of user"),
        ("/home/ann", "user"),
        ("10.0.3.7:4000 and fe80:0:0:1::2", "address:4000 and address"),
        ("1 Gb/s, 3/4 of 2.1.0, (a + b)/both", "1 Gb/s, 3/4 of 2.1.0, (a + b)/both"),
        ("100%/50%, -s/--size, --a-b/cc/dd", "100%/50%, -s/--size, --a-b/cc/dd"),
    ],
)
def test_names_are_taken_out_and_figures_stay(text: str, shown: str) -> None:
    assert hide_names(text, NAMES) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("LD_LIBRARY_PATH=/sw/projA/lib:/home/jane/secret/lib64", "LD_LIBRARY_PATH=lib:lib64"),
        (
            "cc -I/home/jane/include -isystem/sw/x/include -Wl,-rpath,/sw/lib",
            "cc -Iinclude -isysteminclude -Wl,-rpath,lib",
        ),
        ("file:///home/jane/x and tcp://node7.site.org:4000/x", "x and address"),
        ("~/secret/app, ~jane/secret/app, ../secret/app and $HOME/secret/app", "app, app, app and app"),
        ("//server/share/app, /home//jane/a=1/b#2/app", "app, app"),
        ("'/home/jane doe/app' and /home/jane\\ doe/app", "'app' and app"),
        ("'~/my dir/secret/app', \"$HOME/my dir/x\" and ~alice/x", "'app', \"x\" and x"),
        ("/work/my project/secret/app -n 2", "app -n 2"),
    ],
)
def test_of_paths_the_last_part_stays(text: str, shown: str) -> None:
    assert hide_names(text, [*NAMES, ("/work/my project", "/folder")]) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fe80::5054:ff:fe12:3456%eth0", "address"),
        ("from 2001:db8::17, to tcp:fe80::1.", "from address, to tcp:address."),
        ("[2001:db8::17]:4000 and ::ffff:10.0.0.1", "[address]:4000 and address"),
        ("10.0.3.7:4000: refused", "address:4000: refused"),
        ("52:54:00:12:34:56 and 0002:c903:00a1:b2c3", "address and address"),
        (
            "1:2:3:4, 12:30:45, 300.1.1.1, std::add, 0000:3b:00.0",
            "1:2:3:4, 12:30:45, 300.1.1.1, std::add, 0000:3b:00.0",
        ),
    ],
)
def test_addresses_are_left_out_and_nothing_else(text: str, shown: str) -> None:
    assert hide_names(text, NAMES) == shown


def test_names_are_taken_out_everywhere() -> None:
    assert hide_all({"at": [("/a/b.so", 1.5)], "why": "node1"}, NAMES) == {"at": [["b.so", 1.5]], "why": "host1"}
    assert hide_all({"hosts": {"node1": 2}, "skipped": {"/a/mpi": "ann"}}, NAMES) == {
        "hosts": {"host1": 2},
        "skipped": {"mpi": "user"},
    }


def test_what_is_fixed_keeps_its_names() -> None:
    document = {"schema": "compute-1", "experiment": "compute", "results": [{"compute_us": 1, "compute": "on compute"}]}
    kept = {**document, "results": [{"compute_us": 1, "compute": "on host1"}]}
    assert hide_all(document, [("compute", "host1")]) == kept


def test_names_that_every_page_has_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lapwing.report.sendable.find_user", lambda: "mpi")
    shown = {name for name, _ in list_names(["lapwing", "node1.site.org"])}
    assert {"node1", "node1.site.org"} <= shown
    assert not {"lapwing", "mpi"} & shown


def test_folders_with_spaces_are_known_where_we_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my project" / "runs"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    names = list_names([])
    assert hide_names(f"{folder}/app and {folder.parent}/secret/lib", names) == "app and lib"


@pytest.mark.parametrize("with_names", [False, True])
def test_report_has_names_only_when_asked_for(with_names: bool) -> None:
    run = {"job": {"command": ["/home/ann/app"]}, "mpi_libraries": ["/opt/mpi/libmpi.so"], "counters": {"ops_send": 3}}
    document = {
        "lapwing": "1",
        "experiment": "overlap",
        "kernel": "6",
        "launcher": "/opt/mpi/mpirun",
        "hosts": ["node1"],
        "lapwing_runs": [run],
    }

    def show(console: Console) -> None:
        console.print("on node1")

    page = unescape(make_sendable(document, show, None, [] if with_names else NAMES, with_names))
    assert ("node1" in page) == ("/opt/mpi" in page) == ("/home/ann" in page) == with_names
    assert "libmpi.so" in page
    assert '"ops_send": 3' in page


def test_report_hides_names_in_the_plot() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.set_title("/home/ann/mpi on node1")
    axes.set_xticks([0.0], ["/home/ann/a"])
    document = {"lapwing": "1", "experiment": "overlap", "kernel": "6"}
    page = make_sendable(document, lambda _: None, figure, NAMES)
    assert axes.get_title() == "mpi on host1"  # drawn, too
    assert "mpi on host1" in page
    assert "/home/ann" not in page
    assert page.count("</svg>") == 1


def test_labels_of_prefixes_have_no_folders() -> None:
    assert label_mpis(["openmpi", "/home/ann/mpich"]) == ["openmpi", "mpich"]
    assert label_mpis(["ann/a/mpi", "/home/ann/b/mpi"]) == ["mpi-1", "mpi-2"]
    assert label_mpis(["a/mpi", "b/mpi", "mpi-1"]) == ["mpi-1", "mpi-2", "mpi-1-3"]


@needs_mpi
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
def test_short_run(tmp_path: Path, stand_in_preload: Path) -> None:
    """Four ranks by the launcher that PATH has; it is told what root and a small machine need by variables."""
    line = "bench pingpong --sizes 4KiB --repetitions 3 --rounds 1 --output out.json --report out.html -- mpirun -n 4"
    allowed = {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}
    crowded = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    environment = {**os.environ, **allowed, **crowded, "PYTHONPATH": str(PYTHON)}
    environment["LAPWING_PRELOAD"] = str(stand_in_preload)
    command = [sys.executable, "-m", "lapwing", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert (document["ranks"], len(document["hosts"])) == (4, 1)
    assert document["results"][0]["stock_us"]["median"] > 0
    page = (tmp_path / "out.html").read_text()
    assert re.search(r"4 ranks on 1 host", page)
    assert str(tmp_path) not in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "out.json"]
