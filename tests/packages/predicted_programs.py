# SPDX-License-Identifier: MIT
"""Programs that were not written for Lapwing, long enough to be timed: what predictions.py runs.

Each takes 2 to 6 s with two ranks in every setting (at 1 Gb/s, at 5 Gb/s, over shared memory).
"""

import gzip
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packages.jobs import HERE, ROOT
from packages.python_packages import DEVITO_MODES, installed_version
from packages.results import debian_version

from lapwing.bench.installed_inputs import (
    GROMACS_STEPS,
    GROMACS_TOPOLOGY,
    SILICON_POTENTIAL,
    make_gromacs_parameters,
    make_hpcc_input,
    make_lammps_input,
    make_quantum_espresso_input,
)

DEBIAN_PYTHON = "/usr/bin/python3"
SCALAPACK = Path("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdlu")


@dataclass(frozen=True)
class Size:
    """How long a program is made. ranks: of the setting. is_fast: its links are not 1 Gb/s. part: of its steps."""

    ranks: int
    is_fast: bool
    part: float = 1.0

    def choose(self, slow: int, fast: int) -> int:
        """Return a number of steps for two ranks, and less of them where more ranks share the same cores."""
        return max(1, round(self.part * (fast if self.is_fast else slow) * 2 / self.ranks))


def have_no_files(size: Size) -> Mapping[str, str]:
    """Most programs read nothing."""
    return {}


@dataclass(frozen=True)
class Program:
    """One program on Debian's Open MPI.

    version: empty where it is not installed; then `remedy` says how to have it. unpacked: file, and what it is unpacked
    from. steps: commands that make its input.
    """

    name: str
    words: Callable[[Size], Sequence[str]]
    version: Callable[[], str]
    remedy: str
    files: Callable[[Size], Mapping[str, str]] = have_no_files
    unpacked: Mapping[str, str] = field(default_factory=dict)
    steps: Sequence[Sequence[str]] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def run_script(python: str, name: str, *words: str, slow: int, fast: int) -> Callable[[Size], Sequence[str]]:
    """Return the words of a script of ours whose last argument is how often it goes round."""
    return lambda size: [python, str(HERE / "programs" / name), *words, str(size.choose(slow, fast))]


def ask_debian(package: str, *needed: str) -> Callable[[], str]:
    """Return what asks for the version of an installed package; files that it needs must be there."""
    return lambda: debian_version(package) if all(Path(path).exists() for path in needed) else ""


def ask_python(python: Path, module: str) -> Callable[[], str]:
    """Return what asks for the version of a package in an environment of fetch.sh."""
    return lambda: installed_version(python, module) if python.exists() else ""


def make_scalapack_input(size: Size) -> Mapping[str, str]:
    """ScaLAPACK's tester of LU: one system, on one row of processes."""
    order = size.choose(2600, 3200)
    return {
        "LU.dat": f"""'LU'
'MPI'
'LU.out'  file
6         standard output
1         sizes
{order}
{order}
1         blocks
64
1         right-hand sides
1
1         their blocks
1
1         grids
1
{size.ranks}
1.0       threshold
F         estimate and refine
"""
    }


def make_hpcc_files(size: Size) -> Mapping[str, str]:
    """HPC Challenge: its parts take memory and time by the size of the linear system."""
    text = make_hpcc_input("Lapwing's predictions", size=200 if not size.is_fast else 600)
    return {"hpccinf.txt": text.replace("2        Q", f"{size.ranks}        Q")}


def list_petsc() -> list[Program]:
    """PETSc by petsc4py: products, and two solvers, one of them with hypre's multigrid."""
    version, remedy = ask_debian("python3-petsc4py-real3.18"), "apt-get install python3-petsc4py"
    solve = "solve_petsc.py"
    return [
        Program(
            "PETSc MatMult",
            run_script(DEBIAN_PYTHON, "matmult_petsc.py", slow=60, fast=100),
            version,
            remedy,
        ),
        Program("PETSc KSP, CG", run_script(DEBIAN_PYTHON, solve, "jacobi", slow=40, fast=60), version, remedy),
        Program("PETSc KSP, hypre", run_script(DEBIAN_PYTHON, solve, "hypre", slow=8, fast=14), version, remedy),
    ]


def list_devito(packages: Path) -> list[Program]:
    """Devito exchanges halos in four ways."""
    python = packages / "python/bin/python"
    base = {"DEVITO_LOGGING": "ERROR", "DEVITO_LANGUAGE": "C"}
    return [
        Program(
            f"Devito, {mode}",
            run_script(str(python), "halo_devito.py", "160", slow=60, fast=120),
            ask_python(python, "devito"),
            "tests/packages/fetch.sh build/packages",
            environment={**base, "DEVITO_MPI": mode},
        )
        for mode in DEVITO_MODES
    ]


def list_compiled() -> list[Program]:
    """Programs in C, C++ and Fortran of Debian's packages."""
    return [
        Program(
            "LAMMPS",
            lambda size: ["lmp", "-in", "melt.txt", "-log", "none"],
            ask_debian("lammps"),
            "apt-get install lammps",
            lambda size: {"melt.txt": make_lammps_input(20, 50, size.choose(250, 350))},
        ),
        Program(
            "GROMACS",
            lambda size: ["gmx_mpi", "mdrun", "-ntomp", "1", "-pin", "off", "-s", "topol.tpr", "-g", "md.log"],
            ask_debian("gromacs"),
            "apt-get install gromacs",
            lambda size: {
                "topol.top": GROMACS_TOPOLOGY,
                "grompp.mdp": make_gromacs_parameters(step_count=size.choose(300, 500)),
            },
            steps=[["gmx", *words] for words in GROMACS_STEPS],
        ),
        Program(
            "Quantum ESPRESSO",
            lambda size: ["pw.x", "-in", "silicon.txt"],
            ask_debian("quantum-espresso", SILICON_POTENTIAL),
            "apt-get install quantum-espresso quantum-espresso-data",
            lambda size: {"silicon.txt": make_quantum_espresso_input(cutoff=24.0, mesh="6 6 6 1 1 1")},
            {"Si.pz-vbc.UPF": SILICON_POTENTIAL},
        ),
        Program("HPCC", lambda size: ["hpcc"], ask_debian("hpcc"), "apt-get install hpcc", make_hpcc_files),
        Program(
            "ScaLAPACK, LU",
            lambda size: [str(SCALAPACK)],
            ask_debian("scalapack-mpi-test", str(SCALAPACK)),
            "apt-get install scalapack-mpi-test",
            make_scalapack_input,
        ),
    ]


def list_python(packages: Path) -> list[Program]:
    """Programs on mpi4py, of Debian and of PyPI."""
    python, fft, mpi4py = packages / "python/bin/python", "python3-mpi4py-fft", "python3-mpi4py"
    solver = str(ROOT / "bench/harm/solver.py")

    def solve(size: Size, *words: str) -> list[str]:
        return [DEBIAN_PYTHON, solver, str(1 << 20), str(size.choose(80, 150)), *words]

    return [
        Program(
            "mpi4py-fft",
            run_script(DEBIAN_PYTHON, "transform_fft.py", "96", slow=16, fast=24),
            ask_debian(fft),
            f"apt-get install {fft}",
        ),
        Program(
            "mpi4jax",
            run_script(str(python), "ring_mpi4jax.py", slow=60, fast=150),
            ask_python(python, "mpi4jax"),
            "tests/packages/fetch.sh build/packages",
        ),
        Program("mpi4py solver", solve, ask_debian(mpi4py), f"apt-get install {mpi4py}"),
        Program(
            "mpi4py solver, nonblocking",
            lambda size: solve(size, "nonblocking"),
            ask_debian(mpi4py),
            f"apt-get install {mpi4py}",
        ),
        Program(
            "training, Allreduce",
            run_script(str(python), "train_numpy.py", slow=15, fast=30),  # Debian's NumPy may have no fast BLAS
            ask_python(python, "mpi4py"),
            "tests/packages/fetch.sh build/packages",
        ),
    ]


def list_programs(packages: Path) -> list[Program]:
    """All programs. packages: what fetch.sh made."""
    return [*list_petsc(), *list_devito(packages), *list_compiled(), *list_python(packages)]


def find_missing(program: Program) -> str:
    """Say why a program cannot run here; nothing when it can."""
    return "" if program.version() else f"not installed: {program.remedy}"


def prepare(program: Program, size: Size, folder: Path) -> None:
    """Write and make a program's input."""
    for name, text in program.files(size).items():
        (folder / name).write_text(text)
    for name, packed in program.unpacked.items():
        (folder / name).write_bytes(gzip.decompress(Path(packed).read_bytes()))
    for step in program.steps:
        subprocess.run([shutil.which(step[0]) or step[0], *step[1:]], cwd=folder, check=True, capture_output=True)
