# SPDX-License-Identifier: MIT
"""Run the MPI programs of this folder stock and under Lapwing, on every MPI that is installed.

A case is a program, its arguments, a number of ranks, an MPI and a variant of Lapwing's options. It passes
when the program's own checks pass and its exit code and output are as with stock MPI. `defers: send receive`
(or `any`) in the program's head demands that Lapwing's record shows such ops: without it a test of deferred
calls could pass because none was deferred. `assists: any` demands the same of nonblocking operations,
`passes: REASON` that calls were passed for it, `defers: nothing` that no op began at all. `quick:` names the
variants of --quick that a slow program runs in.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from families import Family, list_families
from launching import run_group

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "python"))

from lapwing.profile.record import RankRecord, decode_record, iterate_record_files  # noqa: E402

SKIP = 77
TIMEOUT_S = 20.0
ATTEMPTS_TO_DEFER = 4
ALWAYS = {"LAPWING_LEARN": "off"}
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "userfaultfd": {**ALWAYS, "LAPWING_HOLD": "userfaultfd", "LAPWING_THRESHOLD": "4096"},
    "userfaultfd-user": {**ALWAYS, "LAPWING_HOLD": "userfaultfd-user", "LAPWING_THRESHOLD": "4096"},
    "signal": {**ALWAYS, "LAPWING_HOLD": "signal", "LAPWING_THRESHOLD": "4096"},
    "userfaultfd-1": {**ALWAYS, "LAPWING_HOLD": "userfaultfd", "LAPWING_THRESHOLD": "1"},
    "signal-1": {**ALWAYS, "LAPWING_HOLD": "signal", "LAPWING_THRESHOLD": "1"},
    "poll": {**ALWAYS, "LAPWING_PROGRESS": "poll"},
    "profile": {"LAPWING_PROFILE": "on", "LAPWING_PROFILE_COST": "1000", "LAPWING_TIMELINE": "1000"},
}
# Only for programs that are about them: the ways to progress nonblocking operations.
STRATEGIES: Mapping[str, Mapping[str, str]] = {
    name: {**ALWAYS, "LAPWING_PROGRESS": name} for name in ("timer", "dedicated", "manual")
}
QUICK_VARIANTS = ("default", "userfaultfd", "userfaultfd-user", "signal-1")


@dataclass(frozen=True)
class Program:
    """One program of programs/, with what the comment at its head says about running it."""

    source: Path
    directives: Mapping[str, str]

    @property
    def name(self) -> str:
        """The claim's short name."""
        return self.source.stem

    def words(self, directive: str) -> list[str]:
        """The words of a directive."""
        return self.directives.get(directive, "").split()

    @property
    def timeout_s(self) -> float:
        """Longest run before it counts as a hang."""
        return float(self.directives.get("timeout", TIMEOUT_S))


@dataclass(frozen=True)
class Case:
    """One run under Lapwing."""

    program: Program
    argument: str
    ranks: int
    family: Family
    variant: str

    @property
    def program_name(self) -> str:
        """Name in reports, of all variants."""
        argument = f":{self.argument}" if self.argument else ""
        return f"{self.family.name}/{self.program.name}{argument}/{self.ranks}"

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.program_name.replace("/", f"/{self.variant}/", 1)


@dataclass(frozen=True)
class Run:
    """How one run ended."""

    exit_code: int | None  # None: killed because it took too long
    lines: Sequence[str]
    errors: str
    elapsed_s: float


def read_program(source: Path) -> Program:
    """Read a program's directives: lines ` * word: value` of its first comment."""
    head = source.read_text().split("*/")[1]
    return Program(source, dict(re.findall(r"^ \* (\w+): (.*?)\s*$", head, re.MULTILINE)))


def compile_program(program: Program, family: Family, folder: Path) -> Path:
    """Compile for one MPI; kept while sources do not change."""
    output = folder / family.name / program.name
    sources = [program.source, HERE / "check.c"]
    newest = max(path.stat().st_mtime for path in [*sources, HERE / "check.h"])
    if output.exists() and output.stat().st_mtime > newest:
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    # MPICH's MPI_STATUSES_IGNORE is the address 1: gcc 12 takes it for an array too small.
    warnings = ["-Wall", "-Wextra", "-Wno-stringop-overflow"]
    flags = ["-std=gnu17", "-O1", "-g", *warnings, f"-I{HERE}", *program.words("flags")]
    command = [str(family.compiler), *flags, *map(str, sources), "-o", str(output)]
    subprocess.run(command, check=True, env={**os.environ, **family.environment})
    return output


def run_command(command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> Run:
    """Run to the end, or to the time limit."""
    begin_s = time.monotonic()
    exit_code, output, errors = run_group(command, environment, timeout_s)
    # Ranks write at the same time: their lines have no order between them.
    return Run(exit_code, sorted(output.splitlines()), errors, time.monotonic() - begin_s)


def read_records(folder: Path) -> list[RankRecord]:
    """What the ranks remembered."""
    return [decode_record(path.read_bytes(), path.name)[0] for path in iterate_record_files(folder)]


class Bench:
    """Where programs are built and run."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder: Path = arguments.build.resolve()
        self.preload: Path | None = arguments.preload and arguments.preload.resolve()
        self.words: Sequence[str] = arguments.words
        self.timeout_s: float | None = arguments.timeout
        self._stock: dict[str, Run] = {}

    def compile(self, program: Program, family: Family) -> Path:
        """Compile if need be."""
        return compile_program(program, family, self.folder)

    def _start(self, case: Case, variables: Mapping[str, str]) -> Run:
        """Compile if need be and run with these variables in the ranks."""
        program = self.compile(case.program, case.family)
        words = [str(program), *(self.words or ([case.argument] if case.argument else []))]
        environment = {**os.environ, **case.family.environment}
        timeout_s = self.timeout_s or case.program.timeout_s
        return run_command(case.family.command(case.ranks, variables, words), environment, timeout_s)

    def run_stock(self, case: Case) -> Run:
        """Run without Lapwing, once for all variants."""
        if case.program_name not in self._stock:
            self._stock[case.program_name] = self._start(case, {})
        return self._stock[case.program_name]

    def forget_stock(self, case: Case) -> None:
        """Let the next look at a case's stock run start a new one."""
        del self._stock[case.program_name]

    def run(self, case: Case, records: Path) -> Run:
        """Run in the case's variant."""
        if case.variant == "stock":
            return self.run_stock(case)
        variables = {
            **{**VARIANTS, **STRATEGIES}[case.variant],
            "LAPWING_RECORD_DIR": str(records),
            "LD_PRELOAD": str(self.preload),
        }
        return self._start(case, variables)


def is_expected_exit(program: Program, exit_code: int | None) -> bool:
    """Compare an exit code with the program's directive."""
    expected = program.directives.get("exit", "0")
    return exit_code not in (None, 0, SKIP) if expected == "nonzero" else exit_code == int(expected)


def judge_stock(case: Case, stock: Run) -> str:
    """What is wrong with the stock run; empty when nothing is."""
    if stock.exit_code is None:
        return "stock MPI hangs"
    if not is_expected_exit(case.program, stock.exit_code):
        return f"stock MPI gives exit code {stock.exit_code}"
    return ""


def count_ops(records: Sequence[RankRecord], direction: str) -> int:
    """How many ops of a direction ("send", "receive", "any") all ranks deferred."""
    directions = ("send", "receive") if direction == "any" else (direction,)
    return sum(record.counters[f"ops_{one}"] for record in records for one in directions)


def judge_records(case: Case, records: Sequence[RankRecord]) -> str:
    """What the record lacks that no timing explains."""
    is_recorded = case.program.directives.get("records") != "none"
    if is_recorded and is_expected_exit(case.program, 0) and len(records) < case.ranks:
        return f"{len(records)} of {case.ranks} ranks left a record"
    if case.variant in ("default", "profile"):
        return ""
    passes = list_passes(records)
    for reason in case.program.words("passes"):
        if reason not in passes:
            return f"no call was passed for the reason {reason} (passed: {passes})"
    ops = count_ops(records, "any")
    if case.program.words("defers") == ["nothing"] and ops:
        return f"{ops} ops were deferred"
    if case.program.words("assists") and not any(record.counters.get("assisted", 0) for record in records):
        return "no nonblocking operation was assisted"
    return ""


def list_passes(records: Sequence[RankRecord]) -> Mapping[str, int]:
    """How many calls were passed, for which reason."""
    return {name: p.calls for record in records for name, p in record.passes.items() if p.calls}


def find_undeferred(case: Case, records: Sequence[RankRecord]) -> str:
    """Say which of the ops that the case is about were none."""
    wanted = [word for word in case.program.words("defers") if word != "nothing"]
    if case.variant in ("default", "profile"):
        return ""
    missing = [word for word in wanted if count_ops(records, word) == 0]
    return f"no {missing[0]} was deferred (passed: {list_passes(records)})" if missing else ""


def is_same_output(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Compare without the order of ranks."""
    return sorted(lines) == sorted(others)


def is_mixed_output(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Hydra passes on what has come so far, so a line may hold parts of two: the same letters, in other lines."""
    return not is_same_output(lines, others) and sorted("".join(lines)) == sorted("".join(others))


def judge_lapwing(case: Case, stock: Run, run: Run) -> str:
    """What differs from the stock run."""
    if run.exit_code is None:
        return "hangs"
    if not is_expected_exit(case.program, run.exit_code):
        return f"exit code {run.exit_code}"
    if case.program.directives.get("exit") != "nonzero" and not is_same_output(run.lines, stock.lines):
        return f"output {run.lines} instead of {stock.lines}"
    return ""


@dataclass(frozen=True)
class Verdict:
    """How a case ended."""

    result: str  # "pass", "skip" or "FAIL"
    reason: str = ""
    is_repeatable: bool = False  # nothing is wrong for certain: messages came before there was anything to defer


def describe(wrong: str, run: Run, is_repeatable: bool = False) -> Verdict:
    """A case's result, and why it failed."""
    return Verdict("FAIL", f"{wrong} {run.errors[-600:]}", is_repeatable) if wrong else Verdict("pass")


def judge_once(bench: Bench, case: Case) -> Verdict:
    """Run one case."""
    with tempfile.TemporaryDirectory(prefix="lapwing-test-") as folder:
        run = bench.run(case, Path(folder))
        records = read_records(Path(folder))
    stock = bench.run_stock(case)
    if stock.exit_code == SKIP:
        return Verdict("skip", " ".join(dict.fromkeys(stock.lines)))
    wrong = judge_stock(case, stock)
    if wrong or case.variant == "stock":
        return describe(wrong, stock)
    wrong = judge_lapwing(case, stock, run)
    if wrong and is_expected_exit(case.program, run.exit_code) and is_mixed_output(run.lines, stock.lines):
        bench.forget_stock(case)
        return describe(wrong, run, is_repeatable=True)
    wrong = wrong or judge_records(case, records)
    undeferred = find_undeferred(case, records)
    is_repeatable = not wrong and "finished_at_once" in list_passes(records)
    return describe(wrong or undeferred, run, is_repeatable)


def run_case(bench: Bench, case: Case) -> Verdict:
    """Run one case; again where the messages came too early to be deferred."""
    for _ in range(ATTEMPTS_TO_DEFER):
        verdict = judge_once(bench, case)
        if verdict.result != "FAIL" or not verdict.is_repeatable:
            break
    return verdict


def is_wanted(program: Program, variant: str, is_quick: bool) -> bool:
    """Is a program about this variant, and not too slow for it?"""
    if variant in STRATEGIES and not program.words("assists") + program.words("strategies"):
        return False
    return not is_quick or variant in (program.words("quick") or QUICK_VARIANTS)


def list_cases(
    programs: Sequence[Program], families: Sequence[Family], variants: Sequence[str], is_quick: bool
) -> Iterator[Case]:
    """All combinations, one MPI after the other."""
    for family in families:
        for program in programs:
            for argument in program.words("arguments") or [""]:
                for ranks in program.words("ranks") or ["2"]:
                    for variant in variants:
                        if is_wanted(program, variant, is_quick):
                            yield Case(program, argument, int(ranks), family, variant)


def select_families(wheels: Path, wanted: Sequence[str]) -> tuple[list[Family], list[str]]:
    """The families to run, and the reasons why others are not."""
    families = [family for family in list_families(wheels) if not wanted or family.name in wanted]
    skips = [f"skip {family.name}: {family.missing}" for family in families if family.missing]
    return [family for family in families if not family.missing], skips


def select_variants(arguments: argparse.Namespace) -> Sequence[str]:
    """The variants to run."""
    if not arguments.preload:
        return ("stock",)
    if arguments.variant:
        return list(arguments.variant)
    return QUICK_VARIANTS if arguments.quick else [*VARIANTS, *STRATEGIES]


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", type=Path, help="liblapwing.so; without it the programs run stock only")
    parser.add_argument("--build", type=Path, default=ROOT / "build/mpi-tests", help="where programs are compiled")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".venv/mpi", help="environments with MPI wheels")
    parser.add_argument("--mpi", action="append", default=[], help="only this MPI (repeatable)")
    parser.add_argument(
        "--variant", action="append", choices=[*VARIANTS, *STRATEGIES], help="only this variant (repeatable)"
    )
    parser.add_argument("--program", action="append", default=[], help="only this program (repeatable)")
    parser.add_argument("--quick", action="store_true", help=f"only the variants {', '.join(QUICK_VARIANTS)}")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run the cases of N programs at a time")
    parser.add_argument("--verbose", action="store_true", help="name the cases that pass, with their time")
    parser.add_argument("--timeout", type=float, help="longest run in seconds, instead of the programs' own limits")
    parser.add_argument("words", nargs="*", help="arguments for the programs instead of their own, after --")
    return parser.parse_args()


@dataclass(frozen=True)
class Result:
    """A case that has been run."""

    case: Case
    verdict: Verdict
    elapsed_s: float


def run_program(bench: Bench, cases: Sequence[Case]) -> list[Result]:
    """Run one program's cases one after the other: they share what is compiled, and stock's runs."""
    results = []
    for case in cases:
        begin_s = time.monotonic()
        verdict = run_case(bench, case)
        results.append(Result(case, verdict, time.monotonic() - begin_s))
    return results


def run_programs(bench: Bench, cases: Iterable[Case], jobs: int) -> Iterator[Result]:
    """Run all cases, those of `jobs` programs at a time; results come in the order of the cases."""
    programs = [list(group) for _, group in groupby(cases, lambda case: (case.family.name, case.program.name))]
    with ThreadPoolExecutor(jobs) as pool:
        for results in pool.map(lambda group: run_program(bench, group), programs):
            yield from results


def report(result: Result, is_verbose: bool) -> None:
    """Say how a case ended, where that is of interest."""
    verdict = result.verdict
    if verdict.result == "FAIL" or is_verbose:
        line = f"{verdict.result} {result.case.name} {result.elapsed_s:.2f} s {verdict.reason}"
        print(line.rstrip(), flush=True)


def run_cases(bench: Bench, cases: Iterable[Case], skips: list[str], arguments: argparse.Namespace) -> int:
    """Run all cases; list skips at the end, a line for all variants; 1 when one failed, 77 when none ran."""
    counts = {"pass": 0, "FAIL": 0, "skip": 0}
    for result in run_programs(bench, cases, arguments.jobs):
        verdict = result.verdict
        counts[verdict.result] += 1
        report(result, arguments.verbose)
        skips += [f"skip {result.case.program_name}: {verdict.reason}"] if verdict.result == "skip" else []
    for line in dict.fromkeys(skips):
        print(line)
    print(f"{counts['pass']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0 if counts["pass"] else SKIP


def main() -> int:
    """Run the C programs."""
    arguments = parse_arguments()
    programs = [read_program(path) for path in sorted((HERE / "programs").glob("*.c"))]
    programs = [program for program in programs if not arguments.program or program.name in arguments.program]
    families, skips = select_families(arguments.wheels, arguments.mpi)
    cases = list_cases(programs, families, select_variants(arguments), arguments.quick)
    return run_cases(Bench(arguments), cases, skips, arguments)


if __name__ == "__main__":
    sys.exit(main())
