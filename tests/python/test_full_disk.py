# SPDX-License-Identifier: MIT
"""A job whose records find the disk full, or that begins where nothing can be written, has its own result."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[2] / "python"
SOURCE = Path(__file__).parent / "touch_later.c"
FILL = 'head -c 64m /dev/zero > "filler$PMI_RANK" 2>/dev/null; exec '
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PYTHON)}


def can_mount() -> bool:
    """Tell whether this user can have a file system of its own."""
    line = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/tmp"]
    return shutil.which("unshare") is not None and subprocess.run(line, capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.skipif("LAPWING_PRELOAD" not in os.environ, reason="LAPWING_PRELOAD names no library"),
    pytest.mark.skipif(shutil.which("mpirun.mpich") is None, reason="no MPICH"),
    pytest.mark.skipif(not can_mount(), reason="no right to mount a file system"),
]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Build a program that sends and receives."""
    subprocess.run(["mpicc.mpich", "-O2", "-o", str(tmp_path / "touch_later"), str(SOURCE)], check=True)
    return tmp_path / "touch_later"


def run_on_small_disk(folder: Path, options: str, words: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run a line in a file system of 1 MiB that is mounted for it alone."""
    (folder / "disk").mkdir()
    script = f'mount -t tmpfs -o size=1m none disk && cd disk && {options} && exec "$@"'
    line = ["unshare", "--mount", "sh", "-c", script, "sh", *words]
    return subprocess.run(
        line, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize("command", ["run", "profile"])
def test_a_disk_that_is_full_in_the_end_is_named(command: str, program: Path, tmp_path: Path) -> None:
    job = ["mpirun.mpich", "-n", "2", "sh", "-c", f"{FILL} {program}"]
    stock = run_on_small_disk(tmp_path, "true", job)
    (tmp_path / "disk").rmdir()
    done = run_on_small_disk(tmp_path, "true", [sys.executable, "-m", "lapwing", command, *job])
    assert (done.returncode, done.stdout) == (stock.returncode, stock.stdout) == (0, stock.stdout)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("lapwing: ")]
    assert f"the disk of {tmp_path / 'disk'} is full" in line


def test_records_go_elsewhere_where_the_folder_is_read_only(program: Path, tmp_path: Path) -> None:
    job = ["mpirun.mpich", "-n", "2", str(program)]
    done = run_on_small_disk(tmp_path, "mount -o remount,ro none .", [sys.executable, "-m", "lapwing", "run", *job])
    assert done.returncode == 0, done.stderr
    assert "2 of 2 ranks reporting" in done.stderr
