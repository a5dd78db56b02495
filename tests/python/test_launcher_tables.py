# SPDX-License-Identifier: MIT
"""What the tables say of launchers' options is what the launchers that are installed say."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from lapwing.launch.launchers import OpenMpi, Prrte, Srun

WHEELS = Path(__file__).parents[2] / ".venv/mpi"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ENDING = {"-h", "-help", "-V", "-version", "-usage"}  # it says something, and starts nothing


def ask(command: str, *words: str, variables: Mapping[str, str] = AS_ROOT) -> str:
    """Return what a launcher says; skip where it is not installed."""
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not installed")
    asked = subprocess.run(
        [command, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=30,
        env={**os.environ, **variables},
    )
    return asked.stdout


def compare(told: Mapping[str, int], table: Mapping[str, int]) -> list[str]:
    """Name the options of which the table says something else."""
    return [f"{name}: {told[name]}, not {table.get(name)}" for name in told if told[name] != table.get(name)]


def test_openmpi_4() -> None:
    text = ask("mpirun.openmpi", "--help", "all")
    if not re.search(OpenMpi.version_pattern, text):
        pytest.skip("another Open MPI")
    found = re.findall(r"^ {0,3}(-\S+)((?: <arg\d>)*)", text, re.MULTILINE)
    told = {f"-{name.lstrip('-')}": values.count("<arg") for names, values in found for name in names.split("|")}
    assert len(told) > 90
    assert compare({name: count for name, count in told.items() if name not in ENDING}, OpenMpi.option_values) == []


@pytest.mark.parametrize("name", ["display-topo", "dvm", "cpu-set", "with-ft", "pset", "fwd-environment", "soft"])
def test_prrte(name: str) -> None:
    takes_value = "requires\nan argument" in ask(str(WHEELS / "openmpi5/bin/mpirun"), f"--{name}")
    assert Prrte.option_values[f"-{name}"] == takes_value


def test_srun(tmp_path: Path) -> None:
    """It says in its help what takes a value, but of two: --bcast has one behind = alone, --container has one."""
    settings = tmp_path / "slurm.conf"
    settings.write_text("ClusterName=none\nSlurmctldHost=localhost\n")
    text = ask("srun", "--help", variables={"SLURM_CONF": str(settings)})
    found = re.findall(r"^(?:  (-\w),? {1,2}| {6})(--[\w-]+)(=?)", text, re.MULTILINE)
    told = {name: int(equals == "=") for short, long, equals in found for name in (short, long[1:]) if name}
    told = {name: count for name, count in told.items() if name not in ENDING} | {"-bcast": 0, "-container": 1}
    assert len(told) > 90
    assert compare(told, Srun.option_values) == []
