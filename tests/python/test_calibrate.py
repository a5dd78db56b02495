# SPDX-License-Identifier: MIT
"""Calibration: what giving up a core costs is measured, and refused where no core is given up."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lapwing.errors import RecordError
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
