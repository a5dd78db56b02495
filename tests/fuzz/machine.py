# SPDX-License-Identifier: MIT
"""Builds the interpreter for an MPI, and runs programs with it, stock or under Lapwing."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from language import Program, format_programs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests/mpi"), str(ROOT / "python")]

from families import Family  # noqa: E402
from launching import run_group  # noqa: E402

from lapwing.errors import RecordError  # noqa: E402
from lapwing.profile.record import RankRecord, read_folder  # noqa: E402

LINES_PER_SECOND = 300  # a slow machine's; slower is a hang
ONE = {"LAPWING_LEARN": "off", "LAPWING_THRESHOLD": "1", "LAPWING_PROGRESS_THRESHOLD": "1"}
LARGE = {"LAPWING_LEARN": "off"}
WAITS = {"LAPWING_RECEIVE_WAITS": "on"}
TOUCHED = {"LAPWING_SEND_BUFFERS": "copy-touched"}
BACKENDS = ("userfaultfd", "userfaultfd-user", "signal")
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    **{hold: {**LARGE, "LAPWING_HOLD": hold} for hold in BACKENDS},
    **{f"{hold}-1": {**ONE, "LAPWING_HOLD": hold} for hold in BACKENDS},
    "poll-1": {**ONE, "LAPWING_PROGRESS": "poll"},
    "waits": {**LARGE, **WAITS},
    "waits-1": {**ONE, **WAITS},
    "waits-signal-1": {**ONE, **WAITS, "LAPWING_HOLD": "signal"},
    "waits-user-1": {**ONE, **WAITS, "LAPWING_HOLD": "userfaultfd-user"},
    "touched": {**LARGE, **TOUCHED},
    "touched-1": {**ONE, **TOUCHED},
    "touched-user-1": {**ONE, **TOUCHED, "LAPWING_HOLD": "userfaultfd-user"},
}
# Of programs without what these refuse: not among those that are run unless asked for.
EARLY: Mapping[str, Mapping[str, str]] = {
    "early": {**LARGE, "LAPWING_EARLY_RECEIVE": "on"},
    "early-1": {**ONE, "LAPWING_EARLY_RECEIVE": "on"},
    "early-signal-1": {**ONE, "LAPWING_EARLY_RECEIVE": "on", "LAPWING_HOLD": "signal"},
}
# Where UCX carries the messages, and where the processor has protection keys: the same.
ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "event-1": {**ONE, "LAPWING_PROGRESS": "event"},
    "keys-1": {**ONE, "LAPWING_HOLD": "keys"},
}


@dataclass(frozen=True)
class Outcome:
    """What a run showed. `results`: each rank's lines."""

    exit_code: int | None  # None: it took too long
    results: tuple[tuple[str, ...], ...]
    errors: str
    held: int  # ops that Lapwing deferred
    taken: int  # messages that it received early
    waits: int  # for the program's own receives, that it let return early
    parted: int  # receives whose buffers it gave back before

    @property
    def ending(self) -> str:
        """How the job ended, in words; empty when well."""
        if self.exit_code is None:
            return "hangs"
        return f"exit code {self.exit_code}" if self.exit_code else ""


def build_interpreter(family: Family, folder: Path) -> Path:
    """Compile; kept while sources do not change."""
    sources = sorted((HERE / "interpreter").glob("*.[ch]"))
    output = folder / family.name / "machine"
    if output.exists() and output.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    # MPICH's MPI_STATUS_IGNORE is the address 1: gcc 12 takes it for an object too small.
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-g", "-pthread", "-Wall", "-Wextra", "-Wno-stringop-overflow"]
    files = [str(path) for path in sources if path.suffix == ".c"]
    command = [str(family.compiler), *flags, *files, "-o", str(output)]
    subprocess.run(command, check=True, env={**os.environ, **family.environment})
    return output


def read_records(folder: Path, exit_code: int | None) -> list[RankRecord]:
    """What the ranks remembered; a job that died may have left none, or damaged ones."""
    job = read_folder(folder, {})
    if exit_code == 0 and job.damaged:
        raise RecordError("; ".join(job.damaged), "find out who wrote it so")
    return list(job.ranks)


def read_results(folder: Path, ranks: int) -> tuple[tuple[str, ...], ...]:
    """Each rank's lines; a rank that died early may have left none."""
    paths = [folder / f"results.{rank}" for rank in range(ranks)]
    return tuple(tuple(path.read_text().splitlines()) if path.exists() else () for path in paths)


def clear(folder: Path) -> None:
    """Remove what an earlier run left."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()


@dataclass(frozen=True)
class Machine:
    """Runs programs for one MPI. `preload`: Lapwing."""

    family: Family
    interpreter: Path
    preload: Path
    folder: Path
    timeout_s: float  # beside what the programs' length allows

    def run(self, programs: Sequence[Program], variant: str | None, level: str, is_traced: bool = False) -> Outcome:
        """Run programs in one job; without a variant, stock."""
        clear(self.folder)
        ranks = programs[0].ranks
        source = self.folder / "programs"
        source.write_text(format_programs(programs))
        trace = "trace" if is_traced else "no-trace"
        words = [str(self.interpreter), str(source), str(self.folder / "results"), trace, level]
        variables = dict({**VARIANTS, **EARLY, **ELSEWHERE}[variant]) if variant else {}
        if variant:
            variables |= {"LAPWING_RECORD_DIR": str(self.folder), "LD_PRELOAD": str(self.preload)}
        timeout_s = self.timeout_s + sum(len(program.lines) for program in programs) / LINES_PER_SECOND
        environment = {**os.environ, **self.family.environment}
        command = self.family.command(ranks, variables, words)
        exit_code, output, errors = run_group(command, environment, timeout_s)
        records = read_records(self.folder, exit_code)
        held = sum(record.counters[f"ops_{kind}"] for record in records for kind in ("send", "receive", "collective"))
        taken = sum(record.counters.get("taken", 0) for record in records)
        waits, parted = (sum(each.counters.get(name, 0) for each in records) for name in ("waits_receive", "parted"))
        return Outcome(exit_code, read_results(self.folder, ranks), output + errors, held, taken, waits, parted)
