# SPDX-License-Identifier: MIT
"""What is printed of a profile: for people, for programs, as a page, and as trace events."""

import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from profile_files import FileSpec, make_receive, write_host_file
from rich.console import Console

from lapwing.cli import main
from lapwing.commands.profile import print_summary
from lapwing.errors import LapwingError
from lapwing.outfiles import write_text
from lapwing.profile.job_file import CHECK, PICTURE, open_profile_job, write_profile_job
from lapwing.profile.resolve import (
    Place,
    Resolver,
    ask_addr2line,
    ask_llvm,
    choose_frame,
    make_place,
    read_debug_information,
    resolve_file,
)
from lapwing.report.html import make_page
from lapwing.report.profile import encode_profile_totals, print_profile
from lapwing.report.totals import JobTotals, describe_place, sum_profile
from lapwing.report.trace import write_trace
from lapwing.screen import Screen


def merge(folder: Path, specs: list[FileSpec]) -> Path:
    """Write a job."""
    records = folder / "records"
    write_host_file(records, specs)
    write_profile_job(folder / "job", {"command": ["mpirun", "<solver>"]}, records)
    return folder / "job"


@pytest.fixture
def totals(tmp_path: Path) -> JobTotals:
    """Two ranks, the second of which computes longer."""
    longer = replace(make_receive(1, 2), elapsed_ns=2_000_000)
    return sum_profile(open_profile_job(merge(tmp_path, [make_receive(0, 2), longer])))


def render(totals: JobTotals) -> str:
    """Print as on a terminal."""
    console = Console(width=120, record=True, file=StringIO())
    print_profile(totals, console)
    return console.export_text()


def test_sites_where_lapwing_waits_are_named(totals: JobTotals) -> None:
    """None where nobody asked, or where most calls could return early."""
    assert "Lapwing waits" not in render(totals)
    site = next(site for site in totals.sites.values() if site.function == "MPI_Recv")
    site.held_count, site.unheld = 3, Counter(memory_neighbours=5)
    text = "its buffer shares pages with other data (5 of 8 samples), so Lapwing waits inside the call"
    assert text in " ".join(render(totals).split())
    site.held_count = 5
    assert "Lapwing waits" not in render(totals)


def test_summary_names_the_first_touch(totals: JobTotals) -> None:
    text = " ".join(render(totals).split())
    assert "the receive at solver+0x2000 is first touched at solver+0x2101, 4 us later (6 of 8 samples;" in text


def test_a_mean_of_all_samples_is_called_one(totals: JobTotals) -> None:
    """The touch's own time is of its own samples: beside it, more computation than time would look like an error."""
    site = next(site for site in totals.sites.values() if site.function == "MPI_Recv")
    assert "of computation on average over all samples)" in " ".join(render(totals).split())
    site.sampled_count = 6
    assert "(6 of 6 samples; 4 us of computation on average)" in " ".join(render(totals).split())


def test_summary_fits_a_screen(totals: JobTotals) -> None:
    assert len(render(totals).splitlines()) <= 40


def test_shares_add_up(totals: JobTotals) -> None:
    parts = totals.computation_ns + sum(rank_ns for rank in totals.ranks for rank_ns in rank.class_ns.values())
    assert parts == totals.rank_time_ns == 3_000_000


def merge_unchecked(folder: Path, spec: FileSpec) -> Path:
    """Write a job of one rank as earlier versions did: without a check."""
    job = merge(folder, [spec])
    job.write_bytes(job.read_bytes()[: -CHECK.size])
    return job


def test_report_refuses_what_the_model_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = merge_unchecked(tmp_path, replace(make_receive(), elapsed_ns=2_000))
    assert main(["report", str(job)]) == 2
    assert "is damaged: rank 0 spends more time in MPI than it runs" in capsys.readouterr().err


def test_a_summary_that_fails_does_not_cost_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(merge_unchecked(tmp_path, replace(make_receive(), elapsed_ns=2_000)))
    assert "is damaged: rank 0 spends more time in MPI than it runs" in capsys.readouterr().err


def make_torn() -> FileSpec:
    """Return a rank with a mean above its longest call: a thread may count a call while its rank ends."""
    return replace(
        make_receive(), sites=[replace(make_receive().sites[0], time=(10, 300_000, 5_000, 20_000), cells=[])]
    )


@pytest.mark.parametrize("command", ["report", "predict"])
def test_a_mean_above_the_longest_call_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(merge_unchecked(tmp_path, make_torn()))]) == 2
    assert "contradict each other" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "predict"])
def test_a_torn_sample_is_no_damage_where_a_check_is_right(command: str, tmp_path: Path) -> None:
    assert main([command, str(merge(tmp_path, [make_torn()]))]) == 0


def test_imbalance_names_the_slowest_rank(totals: JobTotals) -> None:
    assert "on rank 1" in render(totals)


def test_unfinished_ranks_are_noticed(tmp_path: Path) -> None:
    job = merge(tmp_path, [replace(make_receive(), state=0)])
    assert "1 rank ended without MPI_Finalize" in render(sum_profile(open_profile_job(job)))


def test_requests_that_were_not_followed_are_noticed(tmp_path: Path) -> None:
    specs = [replace(make_receive(), rank=rank, size=2, lost_requests=3) for rank in range(2)]
    totals = sum_profile(open_profile_job(merge(tmp_path, specs)))
    assert "6 requests could not be followed" in render(totals)
    assert encode_profile_totals(totals)["lost_requests"] == 6


def test_json_has_a_schema_and_survives_a_round_trip(totals: JobTotals) -> None:
    document = json.loads(json.dumps(encode_profile_totals(totals)))
    assert document["schema"] == "lapwing-profile-summary-1"
    assert document["functions"]["MPI_Recv"]["count"] == 20
    assert document["sites"][0]["slack"]["sampled_count"] == 8


class Page(HTMLParser):
    """Notes what a page refers to, and whether its tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass


def test_page_is_whole_and_needs_nothing_else(totals: JobTotals) -> None:
    text = make_page(totals)
    page = Page()
    page.feed(text)
    assert not page.open
    assert not page.references
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_page_does_not_trust_names(totals: JobTotals) -> None:
    text = make_page(totals)
    assert "&lt;solver&gt;" in text
    assert "<solver>" not in text


def test_page_sorts_by_numbers(totals: JobTotals) -> None:
    assert 'data-value="200000"' in make_page(totals)


# Sorts by calls, downwards and upwards, then shows only the rows that contain a word.
CLICKS = """<script>{
const column = (number) => [...document.querySelectorAll("#sites tbody tr")].filter((row) => !row.hidden)
  .map((row) => row.cells[number].textContent).join(" ");
const head = document.querySelectorAll("#sites th")[3], field = document.getElementById("filter");
const seen = [];
head.click(); seen.push(column(3)); head.click(); seen.push(column(3));
field.value = "allred"; field.dispatchEvent(new Event("input")); seen.push(column(1));
document.title = seen.join(" | ");
}</script></body>"""


def test_page_works_in_a_browser(totals: JobTotals, tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    page = tmp_path / "page.html"
    page.write_text(make_page(totals).replace("</body>", CLICKS))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]
    answer = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=False)
    if answer.returncode != 0:
        pytest.skip("chromium does not start here")
    assert "<title>20 4 | 4 20 | MPI_Allreduce</title>" in answer.stdout


def test_page_of_many_ranks_stays_small(tmp_path: Path) -> None:
    job = merge(tmp_path, [make_receive(rank, 300) for rank in range(300)])
    text = make_page(sum_profile(open_profile_job(job)))
    assert "ranks 0 to 1" in text
    assert text.count("<rect") < 200 * 7


def test_trace_events_lie_on_one_clock(tmp_path: Path) -> None:
    site = 5  # whatever: an unknown site still has a place on the clock
    events = [(6_000, 500, site, 1, 8192), (7_000, 900, site, 2, 400)]
    spec = replace(make_receive(), events=events, event_capacity=8)
    write_trace(open_profile_job(merge(tmp_path, [spec])), tmp_path / "trace")
    rows = json.loads((tmp_path / "trace").read_text())["traceEvents"]
    begins = [row for row in rows if row["ph"] in "Xb"]
    assert [(row["ts"], row.get("dur"), row["tid"]) for row in begins] == [(1.0, 0.5, 1), (2.0, None, 2)]


def test_slack_of_two_calls_in_a_row_does_not_share_a_slice(tmp_path: Path) -> None:
    slack = [(6_000, 500, 5, 2, 400), (6_200, 900, 5, 2, 400)]  # the second begins within the first, and ends later
    spec = replace(make_receive(), events=slack, event_capacity=8)
    write_trace(open_profile_job(merge(tmp_path, [spec])), tmp_path / "trace")
    rows = [row for row in json.loads((tmp_path / "trace").read_text())["traceEvents"] if row["ph"] != "M"]
    assert [(row["ph"], row["id"], row["ts"]) for row in rows] == [
        ("b", "0-0", 1.0),
        ("e", "0-0", 1.5),
        ("b", "0-1", 1.2),
        ("e", "0-1", pytest.approx(2.1)),
    ]


def test_record_without_timeline_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(LapwingError, match="--timeline"):
        write_trace(open_profile_job(merge(tmp_path, [make_receive()])), tmp_path / "trace")


def test_picture_of_a_run_without_events_is_not_asked_for_again(tmp_path: Path) -> None:
    job = open_profile_job(merge(tmp_path, [make_receive()]))
    with pytest.raises(LapwingError, match="nothing went on in the background"):
        write_trace(replace(job, about={**job.about, PICTURE: True}), tmp_path / "trace")


def test_trace_that_has_no_events_leaves_the_old_file(tmp_path: Path) -> None:
    job = merge(tmp_path, [make_receive()])
    (tmp_path / "victim").write_text("old")
    assert main(["report", "--chrome-trace", str(tmp_path / "victim"), str(job)]) == 2
    assert (tmp_path / "victim").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job", "records", "victim"]


@pytest.mark.parametrize("flag", ["--html", "--chrome-trace"])
def test_report_never_takes_the_place_of_its_record(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = merge(tmp_path, [replace(make_receive(), events=[(6_000, 500, 5, 1, 8192)], event_capacity=8)])
    data = job.read_bytes()
    assert main(["report", str(job), flag, str(tmp_path / "records/../job")]) == 2
    assert "is the file that is read" in capsys.readouterr().err
    assert job.read_bytes() == data


def test_answers_of_tools_are_read() -> None:
    assert make_place("main", "/a/b.c:12 (discriminator 3)") == Place("/a/b.c", 12, "main")
    assert make_place("main", "/a/b.c:12:5") == Place("/a/b.c", 12, "main")
    assert make_place("??", "??:0") == Place()
    assert make_place("start", "??:?") == Place(function="start")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A shared library with debug information."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "code.c", tmp_path / "code.so"
    functions = ("int first(int n)\n{\n    return n + 1;\n}\n", "int second(int n)\n{\n    return first(n) * 2;\n}\n")
    source.write_text("\n".join(functions))
    subprocess.run([compiler, "-g", "-O0", "-shared", "-fPIC", source, "-o", library], check=True)
    return library


@pytest.mark.parametrize(
    ("tool", "resolver"),
    [("addr2line", ask_addr2line), ("llvm-symbolizer", ask_llvm), ("", read_debug_information)],
)
def test_lines_are_found(program: Path, tool: str, resolver: Resolver) -> None:
    if tool and not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    symbols = subprocess.run(["nm", str(program)], check=True, capture_output=True, text=True).stdout
    addresses = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}
    places = resolver(str(program), [addresses["first"] + 1, addresses["second"] + 1])
    assert [(Path(place.file).name, place.line, place.function) for place in places] == [
        ("code.c", 2, "first"),
        ("code.c", 7, "second"),
    ]


def test_frame_in_the_users_source_is_preferred_to_a_template_of_a_library() -> None:
    inlined = ["std::accumulate", "/usr/include/c++/12/bits/stl_numeric.h:141", "Field::sum", "/home/u/field.cc:15"]
    assert choose_frame([*inlined, "main", "/home/u/main.cc:22"]) == Place("/home/u/field.cc", 15, "Field::sum")
    assert choose_frame(inlined[:2]) == Place("/usr/include/c++/12/bits/stl_numeric.h", 141, "std::accumulate")
    assert choose_frame([]) == Place()


@pytest.mark.parametrize(("tool", "resolver"), [("addr2line", ask_addr2line), ("llvm-symbolizer", ask_llvm)])
def test_inlined_templates_are_told_by_the_line_that_uses_them(tmp_path: Path, tool: str, resolver: Resolver) -> None:
    compiler = shutil.which("c++")
    if compiler is None or not shutil.which(tool):
        pytest.skip(f"no C++ compiler, or no {tool}")
    source, library = tmp_path / "sum.cc", tmp_path / "sum.so"
    body = "    return *std::max_element(cells, cells + 8);\n"
    source.write_text(f'#include <algorithm>\nextern "C" double top(const double *cells)\n{{\n{body}}}\n')
    subprocess.run([compiler, "-g", "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
    lines = subprocess.run(["nm", "-S", str(library)], check=True, capture_output=True, text=True).stdout.splitlines()
    start, size = next((int(w[0], 16), int(w[1], 16)) for w in map(str.split, lines) if w[-1] == "top")
    places = resolver(str(library), range(start + 1, start + size + 1))
    assert len(places) == size
    assert {Path(place.file).name for place in places} == {"sum.cc"}


def test_broken_resolver_makes_way_for_the_next(program: Path) -> None:
    def fail(path: str, offsets: object) -> list[Place]:
        raise OSError("no such tool")

    assert resolve_file(str(program), [0x10], [fail, lambda path, offsets: [Place("x.c", 1)]]) == [Place("x.c", 1)]


def test_line_beyond_the_end_of_its_file_is_not_believed(program: Path) -> None:
    source = str(program.with_suffix(".c"))
    wrong, right = [Place(source, 450, "first")], [Place(source, 2, "first")]
    assert resolve_file(str(program), [0x10], [lambda path, offsets: wrong]) == [Place(function="first")]
    assert resolve_file(str(program), [0x10], [lambda path, offsets: wrong, lambda path, offsets: right]) == right


def test_absent_file_has_no_places() -> None:
    assert resolve_file("/nowhere/solver", [1, 2], [read_debug_information]) == [Place(), Place()]


@pytest.mark.parametrize(
    ("caller", "words"),
    [
        ("exchange", "exchange() in libsolver.so+0x2b0"),
        ("Comm::exchange(int)", "Comm::exchange(int) in libsolver.so+0x2b0"),
        ("", "libsolver.so+0x2b0"),
    ],
)
def test_place_without_debug_information_is_function_and_address(caller: str, words: str) -> None:
    assert describe_place("", 0, caller, "/usr/lib/libsolver.so", 0x2B0) == words


@pytest.mark.parametrize("argument", ["[/x]", "in[out].dat", ":x:", "\udcff"])
def test_arguments_are_printed_as_they_are(argument: str, totals: JobTotals) -> None:
    stream = TextIOWrapper(BytesIO(), "utf-8", errors="backslashreplace")
    print_profile(replace(totals, about={"command": ["solver", argument]}), Screen(file=stream))
    stream.seek(0)
    assert f"solver {argument.replace(chr(0xDCFF), chr(92) + 'udcff')}: 2 of 2 ranks" in stream.read()


def test_several_jobs_of_one_command_are_named(tmp_path: Path) -> None:
    specs = [make_receive(rank, 2) for rank in (0, 1, 0, 1)]
    text = " ".join(render(sum_profile(open_profile_job(merge(tmp_path, specs)))).split())
    assert "4 ranks in 2 jobs" in text
    assert "notice: the record holds 2 jobs: the command," in text


def test_times_of_several_threads_are_no_shares(totals: JobTotals) -> None:
    ranks = [replace(rank, has_threaded_calls=True, computation_ns=0) for rank in totals.ranks]
    text = " ".join(render(replace(totals, ranks=ranks)).split())
    assert "computation not known" in text
    assert "shares add up over threads" in text


def test_page_does_not_show_unknown_computation(totals: JobTotals) -> None:
    ranks = [replace(rank, has_threaded_calls=True, computation_ns=0) for rank in totals.ranks]
    assert "computation 0" not in make_page(replace(totals, ranks=ranks))


def test_computation_beside_several_threads_is_the_least(totals: JobTotals) -> None:
    ranks = [replace(rank, has_threaded_calls=True) for rank in totals.ranks]
    assert "computation at least" in " ".join(render(replace(totals, ranks=ranks)).split())


def test_names_of_functions_keep_their_brackets(tmp_path: Path) -> None:
    totals = sum_profile(open_profile_job(merge(tmp_path, [make_receive()])))
    named = [replace(site, caller="run[abi:cxx11]", file="", line=0) for site in totals.sites.values()]
    stream = StringIO()
    print_profile(replace(totals, sites={(s.function, s.module, s.offset): s for s in named}), Screen(file=stream))
    assert "run[abi:cxx11]" in stream.getvalue()


def test_page_holds_names_that_are_no_text(tmp_path: Path) -> None:
    write_text(tmp_path / "page.html", "solver \udcff")
    assert (tmp_path / "page.html").read_text("utf-8") == r"solver \udcff"
