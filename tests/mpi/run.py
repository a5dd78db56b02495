# SPDX-License-Identifier: MIT
"""Run the MPI programs of this folder stock and under Lapwing, on every MPI that is installed.

A case is a program, its arguments, a number of ranks, an MPI and a variant of Lapwing's options. It passes
when the program's own checks pass and its exit code and output are as with stock MPI. `defers: send receive`
(or `any`) in the program's head demands that Lapwing's record shows such ops: without it a test of deferred
calls could pass because none was deferred. `assists: any` demands the same of nonblocking operations,
`passes: REASON` that calls were passed for it (`passes: nothing`: none but those that had finished at once),
`defers: nothing` that no op began at all; `moves: BYTES` that ops and passed calls have moved so much, summed over the
ranks. `variants:` names all that a program is about, `quick:` the MPIs and
variants that are enough of those of --quick (cases.py): `openmpi4` where the claim does not depend on the MPI,
`openmpi4 mpich4` where what MPI does to memory, signals and threads matters.
`environment: NAME=VALUE` sets options beside the variant's.
`library: yes`: its source, compiled with -DLIBRARY, is a library that it is linked with, before MPI's; `plugin: yes`:
with -DPLUGIN, one that it loads, PROGRAM_plugin.so.
`takes: any` demands messages that were received early (again, where none came early enough), `refused: TEXT` that
Lapwing ends the job with an error that says this; `copies: touched` sends that the program did not wait for, where
holds are by userfaultfd, and `copies: touched only` that no other send goes from a copy.
`records: complete` demands that all say that MPI was finalized, `records: none` no record.
`agrees: ARGUMENT...`: with these arguments the ranks must find that all have the same Lapwing, where their MPI lets
them see it, and with others that not all have.

With --trust-ok a program that ends well under Lapwing and prints nothing but "ok" is not run stock as well: for MPIs
beside one that shows that the programs are right. With --quick that is shown with each program's first argument.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from cases import STRATEGIES, VARIANTS, Case, has_keys, list_cases, read_program
from families import Family, list_families
from judging import SKIP, Verdict, run_case
from trial import Bench

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def select_families(wheels: Path, wanted: Sequence[str]) -> tuple[list[Family], list[str]]:
    """The families to run, and the reasons why others are not."""
    families = [family for family in list_families(wheels) if not wanted or family.name in wanted]
    skips = [f"skip {family.name}: {family.missing}" for family in families if family.missing]
    return [family for family in families if not family.missing], skips


def select_variants(arguments: argparse.Namespace) -> Sequence[str]:
    """The variants to run; unasked those by protection keys only where there are any, and none by UCX's events."""
    if not arguments.preload:
        return ("stock",)
    if arguments.variant:
        return list(arguments.variant)
    left_out = ("event",) if has_keys() else ("event", "keys")
    return [name for name in (*VARIANTS, *STRATEGIES) if not name.startswith(left_out)]


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
    parser.add_argument("--quick", action="store_true", help="what is enough for each MPI and program")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run the cases of N programs at a time")
    parser.add_argument("--verbose", action="store_true", help="name the cases that pass, with their time")
    parser.add_argument("--timeout", type=float, help="longest run in seconds, instead of the programs' own limits")
    parser.add_argument("--trust-ok", action="store_true", help="run stock only where the output is not just ok")
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
