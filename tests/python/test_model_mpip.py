# SPDX-License-Identifier: MIT
"""Reports of mpiP: read as far as they go, and refused where they are broken."""

import os
import random
from pathlib import Path

import pytest

from lapwing.errors import RecordError
from lapwing.model.calibration import derive_parameters
from lapwing.model.check import check_profile
from lapwing.model.classes import CallClass
from lapwing.model.mpip import is_mpip, parse_report
from lapwing.model.profile import Way
from lapwing.model.reader import read_profile
from lapwing.model.study import study_profile

# More by hand: LAPWING_MUTATIONS=10000 pytest tests/python/test_model_mpip.py
MUTATIONS = int(os.environ.get("LAPWING_MUTATIONS", "120"))
RULE = "-" * 75

# Written for this test in the format of mpiP 3.5: two ranks that exchange halos and reduce.
REPORT = f"""@ mpiP
@ Command : ./heat -n 400 input file.dat
@ Version                  : 3.5.0
@ MPIP Build date          : Mar  3 2021, 11:20:01
@ Start time               : 2026 11 21 10:00:00
@ Stop time                : 2026 11 21 10:00:10
@ Timer Used               : PMPI_Wtime
@ MPIP env var             : [null]
@ Collector Rank           : 0
@ Collector PID            : 4711
@ Final Output Dir         : .
@ Report generation        : Single collector task
@ MPI Task Assignment      : 0 node0
@ MPI Task Assignment      : 1 node1

{RULE}
@--- MPI Time (seconds) ---------------------------------------------------
{RULE}
Task    AppTime    MPITime     MPI%
   0         10          3    30.00
   1       9.98       2.51    25.15
   *         20       5.51    27.58
{RULE}
@--- Callsites: 5 ---------------------------------------------------------
{RULE}
 ID Lev File/Address        Line Parent_Funct             MPI_Call
  1   0 halo.c               120 exchange                 Isend
  1   1 heat.c                40 main
  2   0 halo.c               121 exchange                 Irecv
  3   0 halo.c               130 exchange                 Waitall
  4   0 solver.cpp            77 void step<double>(int, double*) Allreduce
  5   0 0x401a2f                 [unknown]                Testany
{RULE}
@--- Aggregate Time (top twenty, descending, milliseconds) ----------------
{RULE}
Call                 Site       Time    App%    MPI%      Count    COV
Waitall                 3   4.00e+03   20.00   72.60        800   0.10
{RULE}
@--- Aggregate Sent Message Size (top twenty, descending, bytes) ----------
{RULE}
Call                 Site      Count      Total       Avrg  Sent%
Isend                   1        800   8.39e+08   1.05e+06 100.00
{RULE}
@--- Callsite Time statistics (all, milliseconds): 10 ---------------------
{RULE}
Name              Site Rank  Count      Max     Mean      Min   App%   MPI%
Allreduce            4    0    400        2        1      0.5   4.00  13.33
Allreduce            4    1    400        1     0.25      0.2   1.00   3.98
Allreduce            4    *    800        2    0.625      0.2   2.50   9.07

Irecv                2    0    400     0.01    0.002    0.001   0.01   0.03
Irecv                2    1    400     0.01    0.002    0.001   0.01   0.03
Irecv                2    *    800     0.01    0.002    0.001   0.01   0.03

Isend                1    0    400     0.02    0.005    0.003   0.02   0.07
Isend                1    1    400     0.02    0.005    0.003   0.02   0.07
Isend                1    *    800     0.02    0.005    0.003   0.02   0.07

Testany              5    0   1200      0.9      0.5      0.1   6.00  20.00
Testany              5    1    800      0.9      0.5      0.1   4.01  15.94
Testany              5    *   2000      0.9      0.5      0.1   5.00  18.15

Waitall              3    0    400       11        5     0.05  20.00  66.67
Waitall              3    1    400       11     4.64     0.05  18.60  73.94
Waitall              3    *    800       11     4.82     0.05  19.30  70.00
{RULE}
@--- Callsite Message Sent statistics (all, sent bytes) -------------------
{RULE}
Name              Site Rank   Count       Max      Mean       Min       Sum
Allreduce            4    0     400         8         8         8      3200
Allreduce            4    1     400         8         8         8      3200
Allreduce            4    *     800         8         8         8      6400

Isend                1    0     400 1.049e+06 1.049e+06 1.049e+06 4.194e+08
Isend                1    1     400 1.049e+06 1.049e+06 1.049e+06 4.194e+08
Isend                1    *     800 1.049e+06 1.049e+06 1.049e+06 8.389e+08
{RULE}
@--- End of Report --------------------------------------------------------
{RULE}
"""


RECEIVES = REPORT.replace("Waitall", "Recv   ")


def test_receives_of_unknown_size_may_all_be_hidden() -> None:
    profile = parse_report(RECEIVES, "report")
    deferred = study_profile(profile).predictions[Way.DEFERRED]
    least = min(site.time.total for rank in profile.ranks for site in rank.sites if site.function == "MPI_Recv")
    assert deferred.low_ns <= profile.elapsed_ns - 0.9 * least


def test_receives_of_unknown_size_are_not_expected_to_hide() -> None:
    profile = parse_report(RECEIVES, "report")
    assert study_profile(profile).predictions[Way.DEFERRED].alpha == 0.0


def test_unknown_sizes_are_a_doubt_of_their_own_name() -> None:
    deferred = study_profile(parse_report(RECEIVES, "report")).predictions[Way.DEFERRED]
    assert min(deferred.effects, key=lambda effect: effect.low_ns).name == "sizes and slack not measured"


def test_report_is_recognised() -> None:
    assert is_mpip(REPORT)
    assert not is_mpip("@ other profiler")


def test_ranks_have_their_times_and_hosts() -> None:
    profile = parse_report(REPORT, "report")
    assert [(rank.rank, rank.elapsed_ns, rank.host) for rank in profile.ranks] == [
        (0, 10_000_000_000, "node0"),
        (1, 9_980_000_000, "node1"),
    ]
    assert profile.command == "./heat -n 400 input file.dat"


def test_sites_have_place_count_and_extremes() -> None:
    rank = parse_report(REPORT, "report").ranks[0]
    site = next(site for site in rank.sites if site.function == "MPI_Waitall")
    assert (site.place, site.caller, site.call_class) == ("halo.c:130", "exchange", CallClass.WAIT)
    assert (site.time.count, site.time.total, site.time.minimum, site.time.maximum) == (400, 2e9, 50_000, 11_000_000)
    isend = next(site for site in rank.sites if site.function == "MPI_Isend")
    assert isend.bytes.minimum == 1_049_000


def test_names_with_spaces_and_sites_without_line_are_read() -> None:
    sites = {site.function: site for site in parse_report(REPORT, "report").ranks[0].sites}
    assert sites["MPI_Allreduce"].caller == "void step<double>(int, double*)"
    assert sites["MPI_Allreduce"].place == "solver.cpp:77"
    assert (sites["MPI_Testany"].file, sites["MPI_Testany"].module) == ("", "0x401a2f")


def test_paper_parameters_follow_from_a_report() -> None:
    """The paper filled its tables from mpiP: means of the two ranks here."""
    parameters = derive_parameters(check_profile(parse_report(REPORT, "report"), "report"), 16)
    assert parameters.wait_count == 400
    assert parameters.nonblocking_count == 800
    assert parameters.nonblocking_min_s == pytest.approx(1e-6)
    assert parameters.test_count == 1000
    assert parameters.blocking_s == pytest.approx(0.25)
    assert parameters.blocking_count == 400
    assert parameters.wait_min_s == pytest.approx(5e-5)


def test_what_a_report_cannot_tell_widens_the_interval() -> None:
    study = study_profile(parse_report(REPORT, "report"))
    events = study.predictions[Way.EVENTS]
    assert any("slack" in text for text in study.profile.unknown)
    assert events.low_ns < 0.9 * events.expected_ns
    assert "--cores" in study.predictions[Way.DEDICATED].impossible


def drop_lines(beginning: str) -> str:
    """Return the report without some lines."""
    lines = [line for line in REPORT.splitlines() if not line.startswith(beginning)]
    assert len(lines) < len(REPORT.splitlines())
    return "\n".join(lines)


def test_report_that_leaves_calls_out_says_so() -> None:
    profile = parse_report(drop_lines("Waitall              3    "), "report")
    assert any("its call sites add up to" in text for text in profile.unknown)


def test_site_that_stands_there_for_all_ranks_together_is_spread() -> None:
    """mpiP leaves out single ranks below its threshold (-t) and keeps the line of all ranks."""
    text = drop_lines("Waitall              3    0").replace("Waitall              3    1", "#skip")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#skip"))
    profile = parse_report(text, "report")
    sites = [next(s for s in rank.sites if s.function == "MPI_Waitall") for rank in profile.ranks]
    assert [site.time.count for site in sites] == [400, 400]
    assert sum(site.time.total for site in sites) == pytest.approx(800 * 4.82e6)
    assert not any("add up" in line for line in profile.unknown)


def test_one_rank_below_the_threshold_gets_what_is_left() -> None:
    profile = parse_report(drop_lines("Waitall              3    1"), "report")
    site = next(s for s in profile.ranks[1].sites if s.function == "MPI_Waitall")
    assert site.time.count == 400
    assert site.time.total == pytest.approx(400 * 4.64e6, rel=0.01)


def test_site_without_parent_function_keeps_its_line() -> None:
    text = REPORT.replace(
        "  3   0 halo.c               130 exchange                 Waitall", "  3   0 halo.c  130  Waitall"
    )
    site = next(s for s in parse_report(text, "report").ranks[0].sites if s.function == "MPI_Waitall")
    assert (site.place, site.caller) == ("halo.c:130", "")


def test_report_of_few_seconds_with_unknown_section_is_read() -> None:
    extra = f"@--- Callsite Something New (all) ---\n{RULE}\nName Site\nx y\n{RULE}\n@--- End of Report"
    assert len(parse_report(REPORT.replace("@--- End of Report", extra), "report").ranks) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@--- End of Report", "", "cut short"),
        ("@--- MPI Time (seconds)", "@--- Other", "times of the tasks are missing"),
        ("@--- Callsite Time statistics", "@--- Other", "concise"),
        ("   1       9.98       2.51", "   0       9.98       2.51", "twice"),
        ("   1       9.98       2.51", "   1       nan        2.51", "no possible number"),
        ("   1       9.98       2.51    25.15", "   1", "cut short"),
        (
            "Waitall              3    0    400       11        5",
            "Waitall              3    7    400       11        5",
            "rank 7",
        ),
        ("400       11        5     0.05", "400       11       50     0.05", "contradict"),
        ("400       11        5     0.05", "4x0       11        5     0.05", "whole number"),
        ("  2   0 halo.c ", "  1   0 halo.c ", "twice"),
    ],
)
def test_broken_report_is_refused_by_name(old: str, new: str, message: str) -> None:
    assert old in REPORT
    with pytest.raises(RecordError, match=message):
        parse_report(REPORT.replace(old, new), "report")


def test_time_in_mpi_beyond_the_run_is_refused() -> None:
    with pytest.raises(RecordError, match="more time in MPI"):
        check_profile(parse_report(REPORT.replace("   0         10 ", "   0          1 "), "report"), "report")


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_any_mutation_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    """Cut, doubled, overwritten: the one error that may come is a RecordError, and a study never fails."""
    generator = random.Random(seed)
    text = REPORT
    for _ in range(generator.randint(1, 4)):
        begin = generator.randrange(7, len(text))
        end = min(len(text), begin + generator.choice([0, 1, 3, 80, 700]))
        text = (
            text[:begin]
            + generator.choice(["", "0", "-1", "9e99", "*", "\n", " ", "\x00", "é", text[begin:end] * 2])
            + text[end:]
        )
    path = tmp_path / "report.mpiP"
    path.write_text(text, "utf-8")
    try:
        study_profile(read_profile(path))
    except RecordError as error:
        assert str(path) in str(error)
