# SPDX-License-Identifier: MIT
"""Where a site has switched Lapwing on by default, jobs leave their records in the folder of [reports]."""

import json
import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lapwing.commands.config import format_records
from lapwing.configuration.document import parse_document
from lapwing.configuration.settings import draw_number, find_owner
from lapwing.errors import LapwingError
from lapwing.profile.record import HEADER, ORIGIN, RankRecord, decode_record, encode_frame, encode_record, write_job
from lapwing.report.jobs import NS_PER_S, encode_jobs, group_ranks, make_table, name_programs, read_jobs

PYTHON = Path(__file__).parents[2] / "python"
SOURCE = Path(__file__).parent / "touch_later.c"
SECONDS = 100 * NS_PER_S


def make_rank(record: RankRecord, rank: int, started_s: int, **fields: str) -> RankRecord:
    """Make the record of a rank of two that ran for 100 seconds."""
    counters = {**record.counters, "run_ns": SECONDS}
    about = {"program": "app", **fields}
    return replace(record, rank=rank, started_unix_ns=started_s * NS_PER_S, counters=counters, **about)  # type: ignore[arg-type]


def test_ranks_of_one_launch_are_one_job(rank_record: RankRecord) -> None:
    records = [make_rank(rank_record, rank, 1, launch=name) for name in ("a", "b") for rank in (0, 1)]
    jobs = group_ranks(records)
    assert [[(record.rank, record.launch) for record in job] for job in jobs] == [
        [(0, "a"), (1, "a")],
        [(0, "b"), (1, "b")],
    ]


def test_programs_of_one_launch_are_one_job(rank_record: RankRecord) -> None:
    records = [make_rank(rank_record, rank, 1, launch="a", program=f"part{rank}") for rank in (0, 1)]
    (job,) = group_ranks(records)
    assert [record.program for record in job] == ["part0", "part1"]


def test_without_a_name_jobs_are_told_apart_by_their_times_and_ranks(rank_record: RankRecord) -> None:
    for order in ((0, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1)):
        at_once = [make_rank(rank_record, rank, 1) for rank in order]
        assert [len(job) for job in group_ranks(at_once)] == [2, 2]
    later = [make_rank(rank_record, 0, 1), make_rank(rank_record, 1, 1000)]
    assert [len(job) for job in group_ranks(later)] == [1, 1]
    skewed = [make_rank(rank_record, 0, 1), make_rank(rank_record, 1, 105)]
    assert [len(job) for job in group_ranks(skewed)] == [2]


def test_records_without_an_origin_are_read(rank_record: RankRecord) -> None:
    data = bytearray(encode_record(replace(rank_record, program="app", launch="a", started_unix_ns=7)))
    assert decode_record(bytes(data), "file")[0].program == "app"
    del data[HEADER.size : HEADER.size + ORIGIN.size]
    data[12:16] = HEADER.size.to_bytes(4, "little")
    assert decode_record(bytes(data), "file") == (rank_record, len(data))


def test_a_folder_has_the_jobs_of_hosts_and_those_that_run_kept(tmp_path: Path, rank_record: RankRecord) -> None:
    ranks = [make_rank(rank_record, rank, 200, launch="a") for rank in (0, 1)]
    for record in ranks:
        (tmp_path / f"h{record.rank}.ranks").write_bytes(encode_frame(encode_record(record)))
    write_job(tmp_path / "app.record", {"exit_code": 0}, [make_rank(rank_record, 0, 1), make_rank(rank_record, 1, 1)])
    (tmp_path / "broken.record").write_bytes(b"nothing of ours")
    found = read_jobs([tmp_path])
    assert [(name_programs(job), len(job.ranks)) for job in found.jobs] == [("app", 2), ("app", 2)]
    assert [job.about for job in found.jobs] == [{"exit_code": 0}, {}]
    assert len(found.damaged) == 1
    assert make_table(found.jobs).row_count == 2
    assert [job["started_unix_s"] for job in json.loads(encode_jobs(found))["jobs"]] == [1, 200]


def test_a_run_that_started_several_jobs_has_a_row_for_each(tmp_path: Path, rank_record: RankRecord) -> None:
    ranks = [make_rank(rank_record, rank, 1, launch=name) for name in ("a", "b") for rank in (0, 1)]
    write_job(tmp_path / "sh.record", {}, ranks)
    rows = json.loads(encode_jobs(read_jobs([tmp_path])))["jobs"]
    assert [(row["launch"], row["ranks_reporting"], row["ranks_expected"]) for row in rows] == [
        ("a", 2, 2),
        ("b", 2, 2),
    ]


def test_equal_complaints_stand_there_once(tmp_path: Path, rank_record: RankRecord) -> None:
    data = bytearray(encode_record(rank_record))
    data[8:12] = (99).to_bytes(4, "little")
    (tmp_path / "h.ranks").write_bytes(encode_frame(bytes(data)) * 3)
    (line,) = read_jobs([tmp_path]).damaged
    assert str(tmp_path) in line
    assert line.endswith("(3 times)")


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LapwingError, match="has no records"):
        read_jobs([tmp_path])


def test_within_a_batch_job_all_draw_alike() -> None:
    numbers = [draw_number({"SLURM_JOB_ID": str(job)}) for job in range(1000)]
    assert numbers == [draw_number({"SLURM_JOB_ID": str(job)}) for job in range(1000)]
    assert 50 < sum(number < 0.1 for number in numbers) < 150
    assert draw_number({}) != draw_number({})


def test_folders_are_those_of_who_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "somebody else")
    assert find_owner() == pwd.getpwuid(os.geteuid()).pw_name


def read_site(folder: Path, sampling: float = 1) -> list[object]:
    """Return the documents of a site that keeps records."""
    text = f'[reports]\nfolder = "{folder}/{{user}}"\nsampling = {sampling}'
    return [parse_document(Path("site.toml"), text)]


def test_the_folder_of_today_is_made_and_exported(tmp_path: Path) -> None:
    documents = read_site(tmp_path, 0.5)
    folder = tmp_path / find_owner()
    assert format_records(documents, {}, 0.4) == f"export LAPWING_RECORD_DIR={folder}\n"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_an_earlier_session_said_does_not_hold_where_nothing_is_drawn(tmp_path: Path) -> None:
    documents = read_site(tmp_path, 0.5)
    assert format_records(documents, {}, 0.6) == ""
    assert format_records(documents, {"LAPWING_RECORD_DIR": "/old"}, 0.6) == "unset LAPWING_RECORD_DIR\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [".lapwing-ab_12345", ".lapwing-ab_12345/records"])
def test_a_run_keeps_its_own_folder(folder: str, tmp_path: Path) -> None:
    assert format_records(read_site(tmp_path), {"LAPWING_RECORD_DIR": f"/here/{folder}"}, 0) == ""


def test_a_folder_that_cannot_be_made_is_named_and_nothing_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / find_owner()).write_text("a file")
    assert format_records(read_site(tmp_path), {}, 0) == ""
    assert f"{tmp_path / find_owner()} was not made" in capsys.readouterr().err


def run_lapwing(folder: Path, *words: str) -> str:
    """Run the command with the site's file; return what it prints."""
    mine = {"LAPWING_CONFIG": str(folder / "site.toml"), "XDG_CONFIG_HOME": str(folder), "PYTHONPATH": str(PYTHON)}
    line = [sys.executable, "-m", "lapwing", *words]
    return subprocess.run(
        line, env={**os.environ, **mine}, cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.skipif("LAPWING_PRELOAD" not in os.environ, reason="LAPWING_PRELOAD names no library")
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_jobs_of_a_site_that_has_switched_lapwing_on_are_listed(mpi: str, tmp_path: Path) -> None:
    if shutil.which(f"mpirun.{mpi}") is None:
        pytest.skip(f"no {mpi}")
    subprocess.run([f"mpicc.{mpi}", "-O2", "-o", str(tmp_path / "touch_later"), str(SOURCE)], check=True)
    (tmp_path / "site.toml").write_text(f'[reports]\nfolder = "{tmp_path}/reports"')
    flags = "--oversubscribe --bind-to none" if mpi == "openmpi" else ""
    job = f"mpirun.{mpi} {flags} -n 2 ./touch_later 3"
    script = (
        f"{run_lapwing(tmp_path, 'config', '--environment')}{job} & first=$!; {job} & wait $! && wait $first && {job}"
    )
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run(["bash", "-c", script], cwd=tmp_path, env={**os.environ, **allowed}, check=True, timeout=120)
    document = json.loads(run_lapwing(tmp_path, "report", "--json", str(tmp_path / "reports")))
    found = [(row["program"], row["ranks_reporting"], row["ranks_expected"]) for row in document["jobs"]]
    assert found == [("touch_later", 2, 2)] * 3
    assert len({row["launch"] for row in document["jobs"]}) == 3
    assert "3 jobs: " in run_lapwing(tmp_path, "report", str(tmp_path / "reports"))
