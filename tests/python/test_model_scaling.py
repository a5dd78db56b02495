# SPDX-License-Identifier: MIT
"""The computation over threads: fits of simulated programs, damaged sweeps, and one sweep with a real MPI.

Few cores show no curve, so that programs of known character are simulated here.
"""

import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from profile_files import make_receive, write_host_file
from rich.console import Console
from test_calibrate import needs_cores, profile

from lapwing.cli import main
from lapwing.commands.profile import parse_runs
from lapwing.errors import RecordError
from lapwing.model.profile import Calibration, Sweep
from lapwing.model.recorded import read_recorded
from lapwing.model.scaling import derive_calibration, fit_sweep, read_sweep
from lapwing.model.setup import estimate_ratio
from lapwing.profile.job_file import open_profile_job, write_profile_job
from lapwing.report.scaling import print_sweep

THREADS = (1, 2, 4, 8, 16)


def simulate(serial_s: float, shared_s: float, growing_s: float, noise: float = 0.0) -> Sweep:
    """Make the times of a program that has these parts."""
    chance = random.Random(7)

    def take(threads: int) -> int:
        time_s = serial_s + shared_s / threads + growing_s * threads
        return round(1e9 * time_s * chance.uniform(1 - noise, 1 + noise))

    return Sweep(THREADS, tuple(tuple(take(threads) for _ in range(3)) for threads in THREADS))


@pytest.mark.parametrize("parts", [(0.0, 80.0, 0.0), (2.0, 64.0, 0.0), (0.5, 10.0, 0.2), (3.0, 0.0, 0.0)])
def test_parts_of_a_program_are_found(parts: tuple[float, float, float]) -> None:
    fit = fit_sweep(simulate(*parts))
    assert (fit.serial_s, fit.shared_s, fit.growing_s) == pytest.approx(parts, abs=1e-5)
    assert fit.error < 1e-6


def test_noise_moves_the_fit_by_no_more_than_itself() -> None:
    fit = fit_sweep(simulate(2.0, 64.0, 0.0, noise=0.02))
    for threads in (3, 7, 15):
        assert fit.time_s(threads) == pytest.approx(2.0 + 64.0 / threads, rel=0.04)


def test_two_points_give_a_line_and_no_more() -> None:
    fit = fit_sweep(Sweep((1, 2), ((10**9,), (6 * 10**8,))))
    assert (fit.serial_s, fit.shared_s, fit.growing_s) == pytest.approx((0.2, 0.8, 0.0))


def test_small_problems_lose_nothing_by_a_core_less() -> None:
    """Figure 1g: with many threads the program slows down, so that a core less makes it faster."""
    found = derive_calibration(simulate(0.5, 10.0, 0.2), 16)
    assert found is not None
    assert found.reduced_ns[0] < found.full_ns[0]
    linear = derive_calibration(simulate(0.0, 80.0, 0.0), 16)
    assert linear is not None
    assert linear.reduced_ns[0] / linear.full_ns[0] == pytest.approx(16 / 15)
    assert derive_calibration(simulate(0.0, 80.0, 0.0), 1) is None


@pytest.mark.parametrize(
    "found",
    [
        3,
        {"threads": [1]},
        {"threads": [1], "times_ns": [[5]]},
        {"threads": [1, 2], "times_ns": [[5]]},
        {"threads": [1, 2], "times_ns": [[5], []]},
        {"threads": [1, 1], "times_ns": [[5], [6]]},
        {"threads": [1, 2], "times_ns": [[5], [-6]]},
        {"threads": [1, 2], "times_ns": [[5], ["6"]]},
    ],
)
def test_damaged_sweeps_are_refused(found: Any) -> None:
    with pytest.raises(RecordError, match="damaged"):
        read_sweep({"scaling": found}, "job.record")


def predict_computation(folder: Path, found: dict[str, Any], cores: int, capsys: pytest.CaptureFixture[str]) -> float:
    """Return the predicted computation with a dedicated core, to that of stock, of a record on two cores."""
    write_host_file(folder / "records", [make_receive()])
    write_profile_job(folder / "job.record", found, folder / "records")
    assert main(["predict", "--json", "--cores", str(cores), str(folder / "job.record")]) == 0
    ways = {way["way"]: way for way in json.loads(capsys.readouterr().out)["ways"]}
    stock, dedicated = (ways[way]["terms_s"]["computation"] for way in ("stock", "dedicated core"))
    return float(dedicated / stock)


@pytest.mark.parametrize(("cores", "ratio"), [(2, 2.0), (16, 16 / 15)])
def test_cores_that_the_user_names_are_those_of_the_fit(
    cores: int, ratio: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"scaling": asdict(simulate(0.0, 80.0, 0.0))}
    assert predict_computation(tmp_path, found, cores, capsys) == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize(("cores", "ratio"), [(2, 1.5), (16, 16 / 15)])
def test_runs_on_one_core_less_say_nothing_of_other_cores(
    cores: int, ratio: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"calibration": asdict(Calibration(2, (100,), (150,)))}
    assert predict_computation(tmp_path, found, cores, capsys) == pytest.approx(ratio, rel=1e-3)


def test_table_shows_fit_and_ratio() -> None:
    console = Console(width=80, record=True)
    print_sweep(console, simulate(0.0, 80.0, 0.0), 16)
    text = console.export_text()
    for words in ("16.00", "computation = 80 s / threads", "On 15 of 16 cores it takes 1.067"):
        assert words in text.replace("80.00 s", "80 s")
    print_sweep(console, simulate(3.0, 0.0, 0.0), None)
    assert "OMP_NUM_THREADS" in console.export_text()


def test_one_number_is_runs_and_several_are_threads() -> None:
    assert (parse_runs("0"), parse_runs("3"), parse_runs("1,2,4")) == ((), (3,), (1, 2, 4))
    for text in ("1,0", "2,2", "x", "1,", "-1"):
        with pytest.raises(Exception, match="number"):
            parse_runs(text)


@needs_cores
def test_a_sweep_is_kept_in_the_record(tmp_path: Path) -> None:
    done = profile(tmp_path, "--calibrate", "1,2", "mpirun.mpich", "-n", "1", "./threads")
    assert done.returncode == 0, done.stderr
    sweep = read_sweep(open_profile_job(tmp_path / "job.record").about, "")
    assert sweep is not None
    assert sweep.threads == (1, 2)
    assert [len(times) for times in sweep.times_ns] == [3, 3]
    job = read_recorded(tmp_path / "job.record")
    assert job.calibration is not None
    assert estimate_ratio(job) is not None
