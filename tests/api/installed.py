# SPDX-License-Identifier: MIT
"""Building for and running with the MPI installations that tests/mpi lists, without a launcher."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests" / "mpi"))
sys.path.insert(0, str(ROOT / "mpi"))
sys.dont_write_bytecode = True

from abis import read_abis  # noqa: E402
from families import Family as Family  # noqa: E402
from families import list_families  # noqa: E402

SKIP = 77
ABI_OF_FAMILY = {family: abi.name for abi in read_abis() for family in abi.tested_with}


def wheels_folder() -> Path:
    """Where the wheels' environments lie: LAPWING_TEST_WHEELS, or as tests/mpi has it."""
    return Path(os.environ.get("LAPWING_TEST_WHEELS", ROOT / ".venv" / "mpi"))


def installed_families() -> Iterator[Family]:
    """The families whose tools exist; says why the others are left out."""
    for family in list_families(wheels_folder()):
        if family.missing:
            print(f"{family.name}: left out: {family.missing}")
        else:
            yield family


def environment(family: Family, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for that MPI; a wheel's libraries lie beside its tools."""
    beside = {"LD_LIBRARY_PATH": str(family.compiler.parent.parent / "lib")}
    is_wheel = wheels_folder() in family.compiler.parents
    return {**os.environ, **(beside if is_wheel else {}), **family.environment, **(variables or {})}


def compile_with(compiler: Path | str, arguments: Sequence[str | Path], variables: Mapping[str, str]) -> None:
    """Compile and link, with warnings as errors of the test's own code."""
    subprocess.run([compiler, "-std=gnu17", "-Wall", "-D_GNU_SOURCE", *arguments], check=True, env=dict(variables))


def output_of(program: Path, variables: Mapping[str, str]) -> str:
    """What a program prints; it must succeed."""
    result = subprocess.run([program], check=True, capture_output=True, text=True, env=dict(variables), timeout=60)
    return result.stdout
