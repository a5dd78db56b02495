# SPDX-License-Identifier: MIT
"""What a user has switched off returns early in no prediction: of `advise`, or of `predict`, which reads the record."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_simulation import profile_programs
from profile_files import HELD, UNSET, make_file, make_host_file, make_receive, write_host_file
from test_model_refined import blocking_with_slack, make_programs

from lapwing.cli import main
from lapwing.errors import RecordError
from lapwing.model.profile import JobProfile, Way
from lapwing.model.recorded import read_recorded
from lapwing.model.study import study_profile
from lapwing.model.switched import is_switched_off, switch_off
from lapwing.profile.job_file import open_profile_job, write_profile_job
from lapwing.report.totals import sum_profile

PYTHON = Path(__file__).resolve().parents[2] / "python"
NO_RECEIVES = {"LAPWING_RECEIVES": "off"}


def write_job(folder: Path, about: Mapping[str, Any]) -> Path:
    """Write a job with a receive that could be held."""
    spec = make_receive()
    receive, reduce = spec.sites
    judged = replace(receive, cells=[*receive.cells, (HELD, 0, 6, 0, 0, UNSET)])
    write_host_file(folder / "records", [replace(spec, sites=[judged, reduce])])
    write_profile_job(folder / "job", about, folder / "records")
    return folder / "job"


def find_gain_ns(profile: JobProfile, way: Way) -> float:
    """Return what a way is predicted to spare."""
    predictions = study_profile(replace(profile, cores_per_rank=1)).predictions
    return predictions[Way.STOCK].expected_ns - predictions[way].expected_ns


@pytest.mark.parametrize(
    ("off", "functions"),
    [
        ("SENDS", ["MPI_Send", "MPI_Rsend_c", "MPI_Sendrecv", "MPI_Sendrecv_replace"]),
        ("RECEIVES", ["MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace"]),
        ("COLLECTIVES", ["MPI_Bcast", "MPI_Allreduce"]),
        ("WAITS", []),  # no prediction promises anything of waits that return early
    ],
)
def test_an_option_switches_its_own_calls_off(off: str, functions: list[str]) -> None:
    every = ["MPI_Send", "MPI_Rsend_c", "MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Bcast"]
    every += ["MPI_Allreduce", "MPI_Barrier", "MPI_Wait", "MPI_Isend"]
    assert [name for name in every if is_switched_off(name, {f"LAPWING_{off}": "off"})] == functions
    assert not [name for name in every if is_switched_off(name, {f"LAPWING_{off}": "on"})]


def test_without_an_engine_nothing_goes_on(tmp_path: Path) -> None:
    profile = read_recorded(write_job(tmp_path, {"options": {"LAPWING_PROGRESS": "off"}}))
    assert (profile.ranks[0].sites[0].deferrable_count, profile.carries_nonblocking) == (0, False)
    assert is_switched_off("MPI_Bcast", {"LAPWING_PROGRESS": "off"})
    assert not is_switched_off("MPI_Bcast", {"LAPWING_PROGRESS": "dedicated"})


def test_nothing_is_promised_of_what_is_switched_off() -> None:
    profile = profile_programs(make_programs(blocking_with_slack, 1 << 20))
    options = {"LAPWING_SENDS": "off", **NO_RECEIVES}
    off = replace(profile, ranks=tuple(switch_off(rank, options) for rank in profile.ranks))
    assert find_gain_ns(profile, Way.DEFERRED) > 0
    assert find_gain_ns(off, Way.DEFERRED) == 0
    assert find_gain_ns(off, Way.REWRITTEN) == find_gain_ns(profile, Way.REWRITTEN)


def test_record_says_what_was_switched_off(tmp_path: Path) -> None:
    receive = read_recorded(write_job(tmp_path, {"options": NO_RECEIVES})).ranks[0].sites[0]
    assert (receive.deferrable_count, receive.held_count, receive.unheld) == (0, 0, {"switched_off": 6})
    assert receive.passes == {"memory_stack": 1}  # of watching, which goes on
    sums = sum_profile(open_profile_job(tmp_path / "job")).list_sites()
    assert [site.unheld for site in sums if site.function == "MPI_Recv"] == [{"switched_off": 6}]


def test_record_that_says_nothing_has_everything_on(tmp_path: Path) -> None:
    profile = read_recorded(write_job(tmp_path, {}))
    assert (profile.ranks[0].sites[0].deferrable_count, profile.carries_nonblocking) == (10, True)


@pytest.mark.parametrize("options", [3, ["LAPWING_SENDS"], {"LAPWING_SENDS": False}])
def test_options_that_are_none_are_refused(options: object, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="is damaged"):
        read_recorded(write_job(tmp_path, {"options": options}))


def test_nonblocking_operations_are_predicted_as_recorded_unless_said_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    record = str(write_job(tmp_path, {"options": {"LAPWING_NONBLOCKING": "off"}}))
    original = study_profile

    def study(*words: Any) -> Any:
        found = original(*words)
        asked.append(found.setup.carries_nonblocking)
        return found

    monkeypatch.setattr("lapwing.commands.predict.study_profile", study)
    for flags in ([], ["--nonblocking", "on"], ["--nonblocking", "off"]):
        assert main(["predict", "--json", *flags, record]) == 0
    assert asked == [False, True, False]


@pytest.mark.parametrize(
    ("command", "flag"), [("profile", "--output"), ("advise --budget 0 --way deferred", "--profile-record")]
)
def test_options_are_kept_in_the_record(command: str, flag: str, tmp_path: Path, stand_in_preload: Path) -> None:
    (tmp_path / "rank").write_bytes(make_host_file([make_file(make_receive())]))
    script = '[ -z "$LAPWING_PROFILE" ] || cp rank "$LAPWING_RECORD_DIR/host.profiles"'
    line = [sys.executable, "-m", "lapwing", *command.split(), flag, "job", "sh", "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload), **NO_RECEIVES}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert open_profile_job(tmp_path / "job").about["options"] == NO_RECEIVES
