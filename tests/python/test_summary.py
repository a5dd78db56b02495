# SPDX-License-Identifier: MIT
"""What `lapwing run` says at the end."""

from dataclasses import replace

import pytest

from lapwing.profile.record import JobRecord, Pass, RankRecord
from lapwing.report.summary import format_bytes, format_summary, format_time, make_json, sum_job


def test_summary_adds_ranks_up(rank_record: RankRecord) -> None:
    counters = {"ops_send": 1, "bytes_send": 1 << 20, "ops_receive": 2, "bytes_receive": 3 << 20, "touches": 1}
    record = replace(rank_record, counters=counters)
    lines = format_summary(JobRecord({}, [record, replace(record, rank=0)]))
    assert lines[0] == "overlapped 2 sends (2 MiB) and 4 receives (6 MiB); 2 of 2 ranks reporting"


def test_time_of_transfers_that_go_on_at_once_counts_once(rank_record: RankRecord) -> None:
    counters = {"ops_send": 16, "overlapped_ns": 16_000_000_000, "beside_ns": 1_000_000_000}
    lines = format_summary(JobRecord({}, [replace(rank_record, counters=counters)]))
    assert lines[1].startswith("ran on for 1.00 s beside")


def test_early_receives_are_shown(rank_record: RankRecord) -> None:
    record = replace(rank_record, counters={"taken": 2, "taken_bytes": 3 << 20})
    assert "received 2 messages early (3 MiB)" in format_summary(JobRecord({}, [record]))


def test_assisted_operations_are_shown(rank_record: RankRecord) -> None:
    record = replace(rank_record, counters={"assisted": 2, "assisted_ns": 6_000_000})
    lines = format_summary(JobRecord({}, [record]))
    assert "kept 2 nonblocking operations going; 3 ms on average from the start to the first wait or test" in lines


def test_passes_are_sorted_and_explained(rank_record: RankRecord) -> None:
    passes = {"none": Pass(5, 0), "small": Pass(3, 30), "status": Pass(10, 100), "datatype": Pass(0, 0)}
    text = "\n".join(format_summary(JobRecord({}, [replace(rank_record, passes=passes)])))
    assert "passed 13 calls" in text
    assert text.index("known at once") < text.index("below the threshold")
    assert "datatype" not in text


def test_missing_ranks_are_counted(rank_record: RankRecord) -> None:
    assert "1 of 2 ranks" in format_summary(JobRecord({}, [rank_record]))[0]


def test_unfinished_ranks_are_noticed(rank_record: RankRecord) -> None:
    lines = format_summary(JobRecord({}, [replace(rank_record, is_complete=False)]))
    assert "notice: 1 rank ended without MPI_Finalize" in lines


def test_notice_of_a_rank_is_shown(rank_record: RankRecord) -> None:
    lines = format_summary(JobRecord({}, [replace(rank_record, notice="unknown MPI")]))
    assert "notice: unknown MPI (1 process)" in lines


def test_no_record_is_explained() -> None:
    text = format_summary(JobRecord({}, []))[0]
    assert "no process left a record" in text
    assert "it opened MPI, or a library that calls MPI, by dlmopen or with RTLD_DEEPBIND" in text
    assert "sessions alone" in text
    assert "as another user" in text


def test_crash_is_the_first_cause_of_no_record() -> None:
    """MPICH's exit code is the signal's number, or what MPI_Abort was given."""
    text = format_summary(JobRecord({"exit_code": 11}, []))[0]
    assert "no process left a record: its ranks crashed, were killed or called MPI_Abort (the exit code is 11)" in text
    assert "sessions alone" in text


def test_interruption_is_the_only_cause_of_no_record() -> None:
    text = format_summary(JobRecord({"exit_code": 1, "interrupted_by": "SIGINT"}, []))
    assert text == ["the run was interrupted (SIGINT) before a rank left a record"]


def test_container_is_a_cause_of_no_record() -> None:
    command = ["mpirun", "-n", "2", "/usr/bin/ch-run", "image", "--", "./app"]
    assert "the container (ch-run) does not show" in format_summary(JobRecord({"command": command}, []))[0]
    assert "container" not in format_summary(JobRecord({"command": ["mpirun", "./app"]}, []))[0]


def test_what_keeps_ranks_out_is_a_cause_of_no_record() -> None:
    text = format_summary(JobRecord({"kept_out": "LAPWING_EXCLUDE_RANKS=0 keeps Lapwing out of ranks"}, []))[0]
    assert "no process left a record: LAPWING_EXCLUDE_RANKS=0 keeps Lapwing out of ranks" in text


def test_signal_is_the_only_cause_of_no_record() -> None:
    text = format_summary(JobRecord({"exit_code": 139}, []))[0]
    assert "its ranks crashed" in text and "SIGSEGV" in text
    assert "sessions alone" not in text


@pytest.mark.parametrize("code", [255, 128, 10**9, -1, "139", None])
def test_other_exit_codes_name_no_signal(code: object) -> None:
    assert "sessions alone" in format_summary(JobRecord({"exit_code": code}, []))[0]


def test_success_is_no_crash() -> None:
    assert "crashed" not in format_summary(JobRecord({"exit_code": 0}, []))[0]


def test_crash_is_among_the_causes_of_a_missing_rank(rank_record: RankRecord) -> None:
    assert "1 rank left no record: crashed, killed" in format_summary(JobRecord({}, [rank_record]))[-1]


def test_json_has_a_schema(rank_record: RankRecord) -> None:
    document = make_json(JobRecord({"exit_code": 0}, [rank_record]))
    assert document["schema"] == "lapwing-run-1"
    assert document["ranks_expected"] == 2
    assert document["counters"] == dict(rank_record.counters)


def test_processes_without_mpi_do_not_count(rank_record: RankRecord) -> None:
    shell = replace(rank_record, rank=-1, size=-1)
    assert sum_job(JobRecord({}, [shell, rank_record])).reporting == 1


def test_units() -> None:
    assert [format_bytes(number) for number in (12, 1536, 5 << 30)] == ["12 B", "1.5 KiB", "5 GiB"]
    assert [format_time(number) for number in (5, 2500, 1.5e6, 2.5e9)] == ["5 ns", "2.5 us", "1.5 ms", "2.50 s"]


def test_just_below_the_next_unit_all_digits_are_shown() -> None:
    assert [format_bytes(number) for number in (1020 << 10, (1 << 20) - 1)] == ["1020 KiB", "1024 KiB"]
    assert [format_time(number) for number in (999.6, 999_600)] == ["1000 ns", "1000 us"]
