# SPDX-License-Identifier: MIT
"""Finds an MPI installation to build and run with."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lapwing.errors import LapwingError
from lapwing.files import find_source
from lapwing.launch.launchers import Direct, Launcher, find_launcher

FAMILIES = {"openmpi": ("openmpi", "prrte"), "mpich": ("hydra",)}


@dataclass(frozen=True)
class Mpi:
    """A compiler wrapper and a launcher that belong together."""

    name: str
    compiler: str
    launcher: Launcher


def find_tool(folder: Path | None, name: str) -> str | None:
    """Return a tool in a folder, or on PATH."""
    return shutil.which(name, path=str(folder)) if folder else shutil.which(name)


def iterate_installations(folder: Path | None, suffixes: tuple[str, ...]) -> Iterator[tuple[str, Launcher]]:
    """Yield compilers and launchers that stand side by side under the usual names."""
    for suffix in suffixes:
        compiler, launcher = find_tool(folder, "mpicc" + suffix), find_tool(folder, "mpirun" + suffix)
        if compiler and launcher:
            yield compiler, find_launcher(launcher)


def find_mpi(wanted: str | None) -> Mpi:
    """Return the MPI of that family or under that prefix; by default the first that is there."""
    beside = Path(sys.executable).parent
    if wanted in FAMILIES or wanted is None:
        families = FAMILIES[wanted] if wanted else ("openmpi", "prrte", "hydra")
        candidates = [
            *iterate_installations(None, ("", ".openmpi", ".mpich")),
            *iterate_installations(beside, ("",)),
        ]
    else:
        families = ("openmpi", "prrte", "hydra")
        candidates = list(iterate_installations(Path(wanted) / "bin", ("", ".openmpi", ".mpich")))
    for compiler, launcher in candidates:
        if launcher.name in families and not isinstance(launcher, Direct):
            return Mpi(describe_mpi(launcher), compiler, launcher)
    remedy = "install one (apt-get install openmpi-bin libopenmpi-dev), or give --mpi the prefix of an installation"
    raise LapwingError(f"no {wanted or 'MPI'} with mpicc and mpirun was found", remedy)


def describe_mpi(launcher: Launcher) -> str:
    """Return the family's name."""
    return "mpich" if launcher.name == "hydra" else "openmpi"


def build_program(mpi: Mpi, source: str, folder: Path) -> Path:
    """Compile a bundled program."""
    program = folder / Path(source).stem
    command = [mpi.compiler, "-O2", "-o", str(program), str(find_source(source)), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise LapwingError(f"{mpi.compiler} cannot build {source}: {cause}", "check the MPI's compiler")
    return program
