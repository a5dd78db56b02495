# SPDX-License-Identifier: MIT
"""Calibration: what giving up a core costs is measured, and refused where no core is given up."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from profile_files import make_file, make_host_file, make_receive, write_host_file

from lapwing.advise.calibrate import calibrate
from lapwing.advise.trial import Trial
from lapwing.errors import LapwingError, RecordError
from lapwing.model.recorded import read_calibration, read_recorded
from lapwing.model.setup import estimate_ratio

ROOT = Path(__file__).resolve().parents[2]
PRELOAD = os.environ.get("LAPWING_PRELOAD", str(ROOT / "build/release/liblapwing.so"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "LAPWING_PRELOAD": PRELOAD}
THREADS = """
#include <mpi.h>
#include <pthread.h>
static void *work(void *unused)
{
    volatile double x = 1;
    for (long i = 0; i < 150000000; i++)
        x = x * 0.999 + 1;
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    MPI_Init(&argc, &argv);
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return MPI_Finalize();
}
"""
is_able = Path(PRELOAD).exists() and shutil.which("mpicc.mpich") and len(os.sched_getaffinity(0)) >= 2
needs_cores = pytest.mark.skipif(not is_able, reason="needs liblapwing.so, MPICH and two cores")


def profile(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Build the program, and run `lapwing profile` there."""
    (folder / "threads.c").write_text(THREADS)
    subprocess.run(["mpicc.mpich", "-O1", "-pthread", "threads.c", "-o", "threads"], cwd=folder, check=True)
    line = [sys.executable, "-m", "lapwing", "profile", "--quiet", "--output", "job.record", *words]
    return subprocess.run(line, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)


@needs_cores
def test_runs_on_one_core_less_are_kept_in_the_record(tmp_path: Path) -> None:
    done = profile(tmp_path, "--calibrate", "2", "mpirun.mpich", "-n", "1", "./threads")
    assert done.returncode == 0, done.stderr
    job = read_recorded(tmp_path / "job.record")
    assert job.calibration is not None
    assert job.calibration.core_count == len(os.sched_getaffinity(0))
    # How much longer is the machine's affair, and its load's: 2 here when nothing else runs.
    assert len(job.calibration.full_ns) == len(job.calibration.reduced_ns) == 2
    assert estimate_ratio(job) != estimate_ratio(replace(job, calibration=None))


@needs_cores
def test_ranks_that_share_their_cores_give_none_up(tmp_path: Path) -> None:
    ranks = str(len(os.sched_getaffinity(0)))
    done = profile(tmp_path, "--calibrate", "1", "mpirun.mpich", "-n", ranks, "./threads")
    assert done.returncode == 1
    assert "gave up no core" in done.stderr
    assert read_recorded(tmp_path / "job.record").calibration is None


def test_ranks_that_are_missing_are_not_said_to_give_none_up(tmp_path: Path) -> None:
    write_host_file(tmp_path, [make_receive(0, 2)])
    trial = cast("Trial", SimpleNamespace(run_profiled=lambda *_: (None, tmp_path)))
    with pytest.raises(LapwingError, match="how many cores a rank has is not known"):
        calibrate(trial, 1)


def test_a_failed_calibration_costs_no_profile(tmp_path: Path, stand_in_preload: Path) -> None:
    """Nor does one that is interrupted: the first run may have taken hours."""
    (tmp_path / "rank").write_bytes(make_host_file([make_file(make_receive())]))
    once = 'cp rank "$LAPWING_RECORD_DIR/host.profiles"; [ -e once ] || { touch once; exit 0; }; '
    for end, code, words in (
        ("exit 7", 1, "the record has no calibration: the program ended with 7"),
        ("kill -TERM $PPID; exec sleep 60", 143, "the calibration was interrupted"),
        ('rm "$LAPWING_RECORD_DIR/host.profiles"', 1, "the record has no calibration: no rank left a profile"),
    ):
        line = [sys.executable, "-m", "lapwing", "profile", "--output", "job.record", "--calibrate", "1"]
        done = subprocess.run(
            [*line, "sh", "-c", once + end],
            cwd=tmp_path,
            env={**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr
        assert "now the calibration: 2 more runs" in done.stderr
        assert read_recorded(tmp_path / "job.record").calibration is None
        (tmp_path / "job.record").unlink()
        (tmp_path / "once").unlink()


def test_calibration_has_the_input_that_the_first_run_has_read(tmp_path: Path, stand_in_preload: Path) -> None:
    (tmp_path / "rank").write_bytes(make_host_file([make_file(make_receive())]))
    (tmp_path / "data").write_text("123\n")
    line = [sys.executable, "-m", "lapwing", "profile", "--calibrate", "1,2", "sh", "-c"]
    with (tmp_path / "data").open() as stream:
        subprocess.run(
            [*line, 'cp rank "$LAPWING_RECORD_DIR/host.profiles"; cat >>read'],
            cwd=tmp_path,
            env={**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)},
            stdin=stream,
            timeout=60,
        )
    assert (tmp_path / "read").read_text() == 7 * "123\n"


@pytest.mark.parametrize(
    "found",
    [3, [], {"core_count": 2}, {"core_count": 2, "full_ns": [1], "reduced_ns": ["1"]}, {"full_ns": 1, "x": 2}],
)
def test_damaged_calibrations_are_refused(found: Any) -> None:
    with pytest.raises(RecordError, match="damaged"):
        read_calibration({"calibration": found}, "job.record")


def test_calibration_is_read() -> None:
    about = json.loads('{"calibration": {"core_count": 2, "full_ns": [10, 10], "reduced_ns": [15, 17]}}')
    calibration = read_calibration(about, "job.record")
    assert calibration is not None
    assert replace(calibration, core_count=4).reduced_ns == (15, 17)
    assert read_calibration({}, "job.record") is None


@pytest.mark.parametrize("command", ["profile", "advise"])
def test_a_negative_number_of_runs_is_refused(command: str, tmp_path: Path) -> None:
    """Not taken for none."""
    words = [sys.executable, "-m", "lapwing", command, "--calibrate", "-1", "true"]
    done = subprocess.run(words, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "not a number of runs" in done.stderr
