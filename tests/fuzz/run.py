# SPDX-License-Identifier: MIT
"""Runs random MPI programs stock and under Lapwing, and compares all that a program can see.

    tests/fuzz/run.py --preload build/release/liblapwing.so --mpi openmpi4 --seconds 60
    tests/fuzz/run.py --preload ... --mpi mpich4 --variant signal-1 --operations 1000000 --resume build/fuzz/long.json
    tests/fuzz/run.py --preload ... --mpi mpich4 --variant signal-1 --seed 1234 --programs 1
    tests/fuzz/run.py --preload ... --mpi mpich4 --variant signal-1 --replay failure.txt

Programs that differ are shortened and written to --failures.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from generate import Features, generate
from language import Program, format_programs, parse_programs
from machine import EARLY, ELSEWHERE, ROOT, VARIANTS, Machine, Outcome, build_interpreter
from minimise import minimise
from progress import Progress, Totals, format_table

from families import Family, list_families  # isort: skip  (machine.py says where it is)

SKIP = 77
STOCK_REPEATS = 40  # what stock shows in one of so many more runs is its own
BATCH = 20  # programs of one job; all of the same features
LINES = 400  # of one program
PLAIN = Features(requests=False)
FEATURES: Sequence[Features] = (
    PLAIN,
    Features(threads=True),
    PLAIN,
    Features(buffered=True),
    PLAIN,
    Features(threads=True, multiple=True),
    PLAIN,
    Features(collectives=False, forks=False),
    Features(),
    Features(ranks=3),
)


def features_of(seed: int, is_early: bool = False, may_fork: bool = True) -> Features:
    """What the program of a seed may use."""
    features = FEATURES[seed // BATCH % len(FEATURES)]
    return replace(
        features, early=is_early, multiple=features.multiple and not is_early, forks=features.forks and may_fork
    )


def level_of(features: Features) -> str:
    """The thread level that its job asks for."""
    if features.multiple:
        return "multiple"
    return "funneled" if features.threads else "single"


def list_batches(first: int, count: int | None) -> Iterator[list[int]]:
    """Seeds, by batch; without a count, for ever."""
    seed = first
    while count is None or seed < first + count:
        end = (seed // BATCH + 1) * BATCH
        end = end if count is None else min(end, first + count)
        yield list(range(seed, end))
        seed = end


def find_difference(stock: Outcome, lapwing: Outcome) -> str:
    """What the first difference is; empty when there is none."""
    for rank, (expected, seen) in enumerate(zip(stock.results, lapwing.results, strict=True)):
        for one, other in zip(expected, seen, strict=False):
            if one != other:
                return f"rank {rank}: {other!r} instead of {one!r}"
        if len(seen) < len(expected):
            return f"rank {rank} ends after {seen[-1] if seen else 'nothing'!r} ({lapwing.ending})"
    return lapwing.ending


def find_seed(stock: Outcome, lapwing: Outcome) -> int | None:
    """The seed of the first program that differs: a job runs one after the other."""
    seeds: list[int] = []
    for expected, seen in zip(stock.results, lapwing.results, strict=True):
        same = 0
        while same < len(expected) and same < len(seen) and expected[same] == seen[same]:
            same += 1
        if same < len(expected):
            seeds.append(int(expected[same].split()[1]) if expected[same] != "done" else -1)
    return min(seeds, default=None)


class Session:
    """Compares on one MPI."""

    def __init__(self, machine: Machine, arguments: argparse.Namespace) -> None:
        self.machine = machine
        self.arguments = arguments
        self.totals = {variant: Totals() for variant in arguments.variant}

    def is_done(self, begin_s: float) -> bool:
        """Enough time or operations spent?"""
        seconds, operations = self.arguments.seconds, self.arguments.operations
        if seconds and time.monotonic() - begin_s > seconds:
            return True
        return bool(operations) and all(totals.operations >= operations for totals in self.totals.values())

    def run_stock(self, programs: Sequence[Program], level: str) -> Outcome:
        """Run without Lapwing; what hangs then, as MPICH 4.0 does now and then, once more."""
        stock = self.machine.run(programs, None, level)
        if stock.exit_code is not None:
            return stock
        print(f"stock {self.machine.family.name} hangs in seeds from {programs[0].seed}: run once more", flush=True)
        return self.machine.run(programs, None, level)

    def run_batch(self, programs: Sequence[Program]) -> None:
        """Compare all variants with stock."""
        level = level_of(features_of(programs[0].seed))
        stock = self.run_stock(programs, level)
        if stock.ending:
            where = f"{self.machine.family.name}: stock {stock.ending} in seeds from {programs[0].seed}"
            print(f"FAIL  {where}: {stock.errors[-600:]}")
            for totals in self.totals.values():
                totals.failures.append(f"stock {programs[0].seed}")
            return
        for variant, totals in self.totals.items():
            self.compare(programs, variant, level, stock, totals)

    def is_stocks_own(self, programs: Sequence[Program], level: str, lapwing: Outcome) -> bool:
        """Is that what stock shows as well, now and then?"""
        runs = 0 if lapwing.ending else STOCK_REPEATS
        return any(not find_difference(self.machine.run(programs, None, level), lapwing) for _ in range(runs))

    def compare(self, programs: Sequence[Program], variant: str, level: str, stock: Outcome, totals: Totals) -> None:
        """Run under Lapwing and judge."""
        begin_s = time.monotonic()
        lapwing = self.machine.run(programs, variant, level)
        difference = find_difference(stock, lapwing)
        totals.programs += len(programs)
        totals.operations += sum(program.operations for program in programs)
        totals.held += lapwing.held
        totals.taken += lapwing.taken
        totals.waits += lapwing.waits
        totals.parted += lapwing.parted
        if self.arguments.verbose:
            took_s = time.monotonic() - begin_s
            seeds = f"{programs[0].seed} to {programs[-1].seed}"
            print(f"      {variant} seeds {seeds}: {lapwing.held} held, {took_s:.1f} s", flush=True)
        if difference and self.is_stocks_own(programs, level, lapwing):
            print(f"stock {self.machine.family.name} differs from itself: {difference}", flush=True)
        elif difference:
            totals.mismatches += 1
            self.report(programs, variant, level, stock, lapwing, difference, totals)

    def report(
        self, programs: Sequence[Program], variant: str, level: str,
        stock: Outcome, lapwing: Outcome, difference: str, totals: Totals,
    ) -> None:  # fmt: skip
        """Say what differs, shorten it, and write it down."""
        name = f"{self.machine.family.name}-{variant}"
        seed = find_seed(stock, lapwing)
        again = find_difference(stock, self.machine.run(programs, None, level))
        if again:
            difference += f" (stock against itself: {again})"
        print(f"FAIL  {name} seed {seed}: {difference}\n{lapwing.errors[-1500:]}", flush=True)
        self.arguments.failures.mkdir(parents=True, exist_ok=True)
        path = self.arguments.failures / f"{name}-{seed}.txt"
        path.write_text(f"# {name}, level {level}: {difference}\n" + format_programs(programs))
        totals.failures.append(str(path))
        if self.arguments.minimise:
            short = minimise(programs, seed, lambda some: self.is_failing(some, variant, level), print)
            path.write_text(f"# {name}, level {level}: {difference}\n" + format_programs(short))
        print(f"      written to {path}", flush=True)

    def is_failing(self, programs: Sequence[Program], variant: str, level: str) -> bool:
        """Does it differ from stock, again and again tried, and is stock steady?"""
        stock = self.machine.run(programs, None, level)
        if stock.ending:
            return False
        for _ in range(self.arguments.tries):
            if find_difference(stock, self.machine.run(programs, variant, level)):
                return not find_difference(stock, self.machine.run(programs, None, level))
        return False


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", type=Path, required=True, help="liblapwing.so")
    parser.add_argument("--mpi", action="append", default=[], help="only these (default: all that are installed)")
    parser.add_argument(
        "--variant",
        action="append",
        choices=[*VARIANTS, *EARLY, *ELSEWHERE],
        default=[],
        help="(default: all but early*, event*)",
    )
    parser.add_argument("--seed", type=int, default=0, help="the first program's (default: 0)")
    parser.add_argument("--programs", type=int, help="how many")
    parser.add_argument("--operations", type=int, help="stop after so many per MPI and variant")
    parser.add_argument("--seconds", type=float, help="stop after so long per MPI")
    parser.add_argument("--resume", type=Path, help="file of what was done: what it tells of this preload counts")
    parser.add_argument("--lines", type=int, default=LINES, help="length of a program (default: %(default)s)")
    parser.add_argument("--no-forks", action="store_true", help="no program forks (RDMA: stock crashes in the child)")
    parser.add_argument("--replay", type=Path, help="run the programs of this file instead")
    parser.add_argument("--level", help="thread level of --replay (default: that of the programs' seed)")
    parser.add_argument("--failures", type=Path, default=ROOT / "build/fuzz/failures", help="folder for what differs")
    parser.add_argument("--no-minimise", dest="minimise", action="store_false", help="do not shorten what differs")
    parser.add_argument("--tries", type=int, default=3, help="runs before a shortened program counts as good")
    parser.add_argument("--timeout", type=float, default=120, help="seconds before a job hangs (default: %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/fuzz", help="folder for the interpreters")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".venv/mpi", help="folder of MPI wheels' environments")
    parser.add_argument("--verbose", action="store_true", help="one line per job")
    arguments = parser.parse_args()
    if not (arguments.programs or arguments.operations or arguments.seconds or arguments.replay):
        parser.error("say how much: --programs, --operations, --seconds or --replay")
    arguments.variant = arguments.variant or list(VARIANTS)
    return arguments


def run_replay(session: Session, arguments: argparse.Namespace) -> None:
    """Compare the programs of a file."""
    programs = list(parse_programs(arguments.replay.read_text()))
    level = arguments.level or level_of(features_of(programs[0].seed))
    stock = session.machine.run(programs, None, level, is_traced=True)
    for variant in arguments.variant:
        lapwing = session.machine.run(programs, variant, level, is_traced=True)
        difference = find_difference(stock, lapwing)
        session.totals[variant].programs += len(programs)
        session.totals[variant].mismatches += bool(difference)
        print(f"{variant}: {difference or 'the same'} ({lapwing.held} held)")
        if difference:
            print(lapwing.errors[-1500:])


def run_family(family: Family, arguments: argparse.Namespace, folder: Path, progress: Progress) -> Session:
    """Everything for one MPI."""
    interpreter = build_interpreter(family, arguments.build.resolve())
    session = Session(Machine(family, interpreter, arguments.preload.resolve(), folder, arguments.timeout), arguments)
    if arguments.replay:
        run_replay(session, arguments)
        return session
    begin_s = time.monotonic()
    is_early = any(variant in EARLY for variant in arguments.variant)
    first, session.totals = progress.find(family.name, arguments.variant, arguments.seed)
    for seeds in list_batches(first, arguments.programs):
        if session.is_done(begin_s):
            break
        features = [features_of(seed, is_early, not arguments.no_forks) for seed in seeds]
        session.run_batch([generate(seed, what, arguments.lines) for seed, what in zip(seeds, features, strict=True)])
        progress.note(family.name, arguments.seed, seeds[-1] + 1, session.totals)
    return session


def main() -> int:
    """Run; print what was done; 1 when something differed, 77 when nothing ran."""
    arguments = parse_arguments()
    families = list_families(arguments.wheels)
    families = [family for family in families if not arguments.mpi or family.name in arguments.mpi]
    progress = Progress(arguments.resume, arguments.preload)
    failed, ran = False, False
    rows: list[tuple[str, str, Totals]] = []
    for family in families:
        if family.missing:
            print(f"skip {family.name}: {family.missing}")
            continue
        with tempfile.TemporaryDirectory(prefix="lapwing-fuzz-") as folder:
            session = run_family(family, arguments, Path(folder), progress)
        for variant, totals in session.totals.items():
            rows.append((family.name, variant, totals))
            print(
                f"{family.name} {variant}: {totals.programs} programs, {totals.operations} operations, "
                f"{totals.held} held, {totals.waits} after their wait (beside {totals.parted} given back before), "
                f"{totals.taken} received early, {totals.mismatches} mismatches",
                flush=True,
            )
            failed = failed or bool(totals.failures or totals.mismatches)
            ran = ran or totals.programs > 0
    if len(families) > 1:
        print(format_table(rows))
    return 1 if failed else 0 if ran else SKIP


if __name__ == "__main__":
    sys.exit(main())
