# SPDX-License-Identifier: MIT
"""How a case is run: compiled, started by its MPI's launcher, with or without Lapwing."""

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cases import STRATEGIES, VARIANTS, Case, Program, is_first_run
from families import Family
from launching import run_group

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "python"))

from lapwing.errors import RecordError as RecordError  # noqa: E402
from lapwing.profile.record import RankRecord as RankRecord  # noqa: E402
from lapwing.profile.record import read_folder  # noqa: E402

CHECK_LOCK = threading.Lock()


@dataclass(frozen=True)
class Run:
    """How one run ended."""

    exit_code: int | None  # None: killed because it took too long
    lines: Sequence[str]
    errors: str


def compile_part(family: Family, output: Path, words: Sequence[str]) -> None:
    """Compile a program, or a part of it, for one MPI."""
    # MPICH's MPI_STATUSES_IGNORE is the address 1: gcc 12 takes it for an array too small.
    flags = ["-std=gnu17", "-O1", "-g", "-Wall", "-Wextra", "-Wno-stringop-overflow", f"-I{HERE}"]
    command = [str(family.compiler), *flags, *words, "-o", str(output)]
    subprocess.run(command, check=True, env={**os.environ, **family.environment})


def is_current(output: Path, *sources: Path) -> bool:
    """Has this been made since its sources changed?"""
    newest = max(path.stat().st_mtime for path in [*sources, *HERE.glob("*.h")])
    return output.exists() and output.stat().st_mtime > newest


def compile_check(family: Family, output: Path) -> Path:
    """Compile what all programs share, once for each MPI."""
    source = HERE / "check.c"
    with CHECK_LOCK:
        if not is_current(output, source):
            compile_part(family, output, ["-c", str(source)])
    return output


def compile_library(program: Program, family: Family, output: Path) -> list[str]:
    """Compile the library that a program is linked with; returns the words that link it.

    Its name is one that an MPI library of this ABI may have.
    """
    name = f"libmpi_abi.so.{program.name}" if family.name == "mpi5abi" else f"libmpi_{program.name}.so.12"
    words = ["-DLIBRARY", "-shared", "-fPIC", "-Wl,--no-as-needed", f"-Wl,-soname,{name}", str(program.source)]
    compile_part(family, output.parent / name, [*words, *program.words("flags")])
    return [str(output.parent / name), "-Wl,-rpath,$ORIGIN"]


def compile_program(program: Program, family: Family, folder: Path) -> Path:
    """Compile for one MPI; kept while sources do not change."""
    output = folder / family.name / program.name
    if is_current(output, program.source, HERE / "check.c"):
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    links = compile_library(program, family, output) if program.words("library") == ["yes"] else []
    if program.words("plugin") == ["yes"]:
        words = ["-DPLUGIN", "-shared", "-fPIC", str(program.source), *program.words("flags")]
        compile_part(family, output.with_name(f"{program.name}_plugin.so"), words)
    check = compile_check(family, output.with_name("check.o"))
    compile_part(family, output, [str(program.source), str(check), *program.words("flags"), *links])
    return output


def run_command(command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> Run:
    """Run to the end, or to the time limit."""
    exit_code, output, errors = run_group(command, environment, timeout_s)
    # Ranks write at the same time: their lines have no order between them.
    return Run(exit_code, sorted(output.splitlines()), errors)


def read_records(folder: Path) -> list[RankRecord]:
    """What the ranks remembered; a record that is damaged is an error."""
    job = read_folder(folder, {})
    if job.damaged:
        raise RecordError("; ".join(job.damaged), "find out who wrote it so")
    return list(job.ranks)


class Bench:
    """Where programs are built and run."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder: Path = arguments.build.resolve()
        self.preload: Path | None = arguments.preload and arguments.preload.resolve()
        self.words: Sequence[str] = arguments.words
        self.timeout_s: float | None = arguments.timeout
        self._trusts_ok: bool = arguments.trust_ok
        self._is_quick: bool = arguments.quick
        self._stock: dict[str, Run] = {}

    def trusts_ok(self, case: Case) -> bool:
        """Is "ok" enough, with no look at what the program says stock?"""
        return self._trusts_ok or (self._is_quick and not is_first_run(case))

    def compile(self, program: Program, family: Family) -> Path:
        """Compile if need be."""
        return compile_program(program, family, self.folder)

    def _start(self, case: Case, variables: Mapping[str, str]) -> Run:
        """Compile if need be and run with these variables in the ranks."""
        program = self.compile(case.program, case.family)
        words = [str(program), *(self.words or ([case.argument] if case.argument else []))]
        environment = {**os.environ, **case.family.environment}
        timeout_s = self.timeout_s or case.program.timeout_s
        survives = case.program.words("survives") == ["yes"]
        return run_command(case.family.command(case.ranks, variables, words, survives), environment, timeout_s)

    def run_stock(self, case: Case) -> Run:
        """Run without Lapwing, once for all variants."""
        if case.program_name not in self._stock:
            self._stock[case.program_name] = self._start(case, {})
        return self._stock[case.program_name]

    def run_stock_again(self, case: Case) -> Run:
        """Run without Lapwing once more; the first run stays what others are compared with."""
        return self._start(case, {})

    def forget_stock(self, case: Case) -> None:
        """Let the next look at a case's stock run start a new one."""
        del self._stock[case.program_name]

    def run(self, case: Case, records: Path) -> Run:
        """Run in the case's variant."""
        if case.variant == "stock":
            return self.run_stock(case)
        variables = {
            **{**VARIANTS, **STRATEGIES}[case.variant],
            **dict(word.split("=", 1) for word in case.program.words("environment")),
            "LAPWING_RECORD_DIR": str(records),
            "LD_PRELOAD": str(self.preload),
        }
        return self._start(case, variables)
