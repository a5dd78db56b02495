# SPDX-License-Identifier: MIT
"""Let each system call of Lapwing's own fail once, and see that MPI programs do not notice.

Each program runs stock, and once with liblapwing_faults.so (points.c), which notes the calls that Lapwing's own code
makes in each rank. Then it runs again for each point: the call of one kind and place in the code that one rank makes
first, and last; with --every each single one; with --once one at random for each kind and place in each MPI and
variant. There that call fails. A point passes when exit code and output are stock's, the job ends in time, and every
rank has left a record, or a line says that one is missing. KIND:N+ lets all calls of a kind fail from the N-th on: then
the job may also end, with a line of Lapwing's that says why.

A job that takes too long is a hang: where its threads wait is shown (gdb, or what /proc says).
"""

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "mpi"), str(ROOT / "python")]

from cases import VARIANTS, Program, has_keys, read_program  # noqa: E402
from families import Family, list_families  # noqa: E402
from launching import end_group  # noqa: E402
from trial import compile_program  # noqa: E402

from lapwing.profile.record import read_folder  # noqa: E402
from lapwing.report.summary import format_summary, sum_job  # noqa: E402

SKIP = 77
# As in points.c.
KINDS = [
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "ioctl",
    "userfaultfd",
    "open",
    "read",
    "pread",
    "write",
    "pwrite",
    "writev",
    "process_vm_readv",
    "fcntl",
    "futex_wait",
    "epoll_create",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait2",
    "ppoll",
    "getsockopt",
    "stat",
    "getdents",
    "fallocate",
    "ftruncate",
    "prlimit",
    "nanosleep",
    "close",
    "link",
    "unlink",
    "eventfd",
    "clone",
    "affinity",
    "priority",
    "malloc",
    "opendir",
    "readlink",
    "sigaction",
    "pkey_alloc",
    "pkey_mprotect",
]
CALLS_MAX, KIND_SHIFT = 1 << 18, 24
HANG_S = 60.0  # programs take a second
GIVING_BACK = ("mremap", "mprotect", "pkey_mprotect", "ioctl")  # also from the first call of each place on
PASSING = ("read", "write", "futex_wait", "epoll_wait", "ppoll", "nanosleep")  # EINTR: none lasts
FAMILIES = ("openmpi4", "mpich4")
HOLDS = ("userfaultfd", "userfaultfd-user", "signal", *(["keys-1"] if has_keys() else []))
ONLY = {"event-1": "mpich4"}  # UCX has events, and carries the messages of this MPI
# Programs of tests/mpi/programs, and the variants that they run in.
PROGRAMS: Mapping[str, Sequence[str]] = {
    "unaligned": HOLDS,
    "send_touched": HOLDS,
    "nonblocking_waits": (*HOLDS, "event-1"),
    "waits_of_sends": HOLDS,
    "collectives_early": HOLDS,
    "thread_multiple_mixed": HOLDS,
    "ring": ("profile",),
}


@dataclass(frozen=True)
class Setting:
    """A program on an MPI in a variant of Lapwing's options."""

    family: Family
    program: Program
    argument: str
    variant: str

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.family.name}/{self.variant}/{self.program.name}"


@dataclass(frozen=True)
class Point:
    """A call that is to fail: in a rank, the n-th of its kind; with lasts, all that follow as well."""

    rank: int
    kind: str
    number: int
    lasts: bool = False
    place: int = field(default=0, compare=False)  # in the code

    @property
    def name(self) -> str:
        """As points.c reads it."""
        return f"{self.kind}:{self.number}{'+' if self.lasts else ''}"


@dataclass(frozen=True)
class Run:
    """How a job ended. exit_code: None where it had to be killed, and then waits says where its threads were."""

    exit_code: int | None
    lines: Sequence[str]
    errors: str
    waits: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came of a point."""

    setting: str
    rank: int
    point: str
    place: str
    result: str  # "equal", "not reached", or what is wrong
    detail: str = ""


def find_ranks(program: Path) -> list[int]:
    """The processes of a program."""
    found = []
    for link in Path("/proc").glob("[0-9]*/exe"):
        try:
            if link.readlink() == program:
                found.append(int(link.parent.name))
        except OSError:
            continue
    return found


def show_waits(process: int) -> str:
    """Where the threads of a process are."""
    command = ["gdb", "-p", str(process), "-batch", "-nx", "-ex", "thread apply all backtrace 12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout[-6000:]
    except (OSError, subprocess.TimeoutExpired):
        tasks = Path(f"/proc/{process}/task").glob("*")
        calls = ((task.name, (task / "wchan").read_text(), (task / "syscall").read_text()) for task in tasks)
        return "\n".join(": ".join(words) for words in calls)


def run_job(command: Sequence[str], environment: Mapping[str, str], program: Path) -> Run:
    """Run a job to its end, or until it hangs."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        waits = ""
        try:
            exit_code: int | None = process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            exit_code = None
            waits = "\n".join(show_waits(rank) for rank in find_ranks(program)) or "no rank is left"
        finally:
            end_group(process)  # also where this script is told to end
        output.seek(0)
        errors.seek(0)
        return Run(exit_code, sorted(output.read().splitlines()), errors.read(), waits)


def read_trace(path: Path) -> tuple[list[int], int]:
    """The calls of a rank, and the one that failed (0: none)."""
    words = memoryview(path.read_bytes()).cast("I")
    return list(words[2 : 2 + min(words[0], CALLS_MAX)]), words[1]


def locate(preload: Path, word: int) -> str:
    """The function that made a call, and what it was inlined from."""
    place = word & ((1 << KIND_SHIFT) - 1)
    command = ["addr2line", "-f", "-i", "-e", str(preload), hex(place - 1)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return " in ".join(dict.fromkeys((lines[0], lines[-2]))) if len(lines) > 1 else hex(place)


Trial = tuple[Setting, Run, int, Point]  # and the stock run, and its number of ranks


class Bench:
    """Runs settings with and without faults."""

    def __init__(self, preload: Path, folder: Path) -> None:
        self.preload = preload
        self.folder = folder

    def run(self, setting: Setting, ranks: int, variables: Mapping[str, str]) -> Run:
        """Run a setting's program."""
        program = compile_program(setting.program, setting.family, self.folder)
        words = [str(program), *([setting.argument] if setting.argument else [])]
        environment = {**os.environ, **setting.family.environment}
        return run_job(setting.family.command(ranks, variables, words), environment, program)

    def run_with(self, setting: Setting, ranks: int, folder: Path, more: Mapping[str, str]) -> Run:
        """Run it under Lapwing; records and traces are left in the folder."""
        words = setting.program.words("environment")
        variables = {
            **VARIANTS[setting.variant],
            **dict(word.split("=", 1) for word in words),
            "LAPWING_RECORD_DIR": str(folder),
            "LD_PRELOAD": str(self.preload),
            "FAULT_TRACE": str(folder),
            **more,
        }
        return self.run(setting, ranks, variables)


def choose_points(rank: int, calls: Sequence[int], is_every: bool) -> Iterator[Point]:
    """The points of a rank: of each kind and place the first and the last call; and each kind failing for ever.

    Of what gives memory back, too, each place from its first call on: it is held by then.
    """
    seen: Counter[int] = Counter()
    places: dict[int, list[int]] = {}
    for word in calls:
        kind = word >> KIND_SHIFT
        seen[kind] += 1
        places.setdefault(word, []).append(seen[kind])
    for word, numbers in places.items():
        kind_name = KINDS[word >> KIND_SHIFT]
        for number in numbers if is_every else sorted({numbers[0], numbers[-1]}):
            yield Point(rank, kind_name, number, place=word)
        if kind_name in GIVING_BACK and numbers[0] > 1:
            yield Point(rank, kind_name, numbers[0], True, place=word)
    for kind in seen:
        if KINDS[kind] not in PASSING:
            yield Point(rank, KINDS[kind], 1, True)


def judge(stock: Run, run: Run, folder: Path, ranks: int, point: Point) -> tuple[str, str]:
    """What is wrong with a run; "equal" when nothing is."""
    if run.exit_code is None:
        return "hang", run.waits
    if run.exit_code != stock.exit_code:
        is_told = point.lasts and "\nlapwing: " in f"\n{run.errors}"
        return "ended, and said why" if is_told else f"exit code {run.exit_code}", run.errors[-1500:]
    if run.lines != stock.lines:
        return "output differs", "\n".join(run.lines)[-1500:]
    job = read_folder(folder, {})
    reporting = sum_job(job).reporting
    said = [line for line in format_summary(job) if "left a record" in line or "left no record" in line]
    if reporting < ranks and not said:
        return "record lost without a word", "\n".join(format_summary(job))
    return "equal" if reporting == ranks else "equal, a record missing and said", ""


def try_point(bench: Bench, setting: Setting, stock: Run, ranks: int, point: Point) -> Outcome:
    """Run with a fault."""
    with tempfile.TemporaryDirectory(prefix="lapwing-fault-") as name:
        folder = Path(name)
        more = {"FAULT_RANK": str(point.rank), "FAULT_AT": point.name}
        run = bench.run_with(setting, ranks, folder, more)
        trace = folder / f"{point.rank}.trace"
        failed = read_trace(trace)[1] if trace.exists() else 0
        result, detail = judge(stock, run, folder, ranks, point)
    where = locate(bench.preload, failed) if failed else ""
    if not failed and result == "equal":
        result = "not reached"
    return Outcome(setting.name, point.rank, point.name, where, result, detail)


def list_points(bench: Bench, setting: Setting, ranks: int, is_every: bool) -> list[Point]:
    """Run once without a fault; the points that it shows."""
    points = []
    with tempfile.TemporaryDirectory(prefix="lapwing-fault-") as name:
        bench.run_with(setting, ranks, Path(name), {})
        for rank in range(ranks):
            trace = Path(name) / f"{rank}.trace"
            points += list(choose_points(rank, read_trace(trace)[0] if trace.exists() else [], is_every))
    return points


def list_settings(arguments: argparse.Namespace) -> tuple[list[Setting], list[str]]:
    """What to run, and the reasons why the rest is not."""
    settings, skips = [], []
    for family in list_families(ROOT / ".venv/mpi"):
        if family.name not in (arguments.mpi or FAMILIES):
            continue
        if family.missing:
            skips.append(f"skip {family.name}: {family.missing}")
            continue
        for name in arguments.program or PROGRAMS:
            program = read_program(ROOT / f"tests/mpi/programs/{name}.c")
            argument = (program.words("arguments") or [""])[0]
            variants = arguments.variant or PROGRAMS.get(name, HOLDS)
            variants = [variant for variant in variants if ONLY.get(variant, family.name) == family.name]
            settings += [Setting(family, program, argument, variant) for variant in variants]
    return settings, skips


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", type=Path, default=ROOT / "build/release/liblapwing_faults.so")
    parser.add_argument("--build", type=Path, default=ROOT / "build/mpi-tests", help="where programs are compiled")
    parser.add_argument("--mpi", action="append", default=[], help="only this MPI (repeatable)")
    parser.add_argument("--variant", action="append", choices=list(VARIANTS), help="only this variant (repeatable)")
    parser.add_argument("--program", action="append", default=[], help="only this program (repeatable)")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS, help="only this kind (repeatable)")
    parser.add_argument("--at", help="only this point: KIND:N or KIND:N+; with --rank")
    parser.add_argument("--rank", type=int, help="only in this rank")
    parser.add_argument("--every", action="store_true", help="every call, not only the first and last of a place")
    parser.add_argument("--once", action="store_true", help="each kind and place once, in each MPI and variant")
    parser.add_argument("--seconds", type=float, help="points at random, for so long")
    parser.add_argument("--seed", type=int, default=1, help="of those")
    parser.add_argument("--results", type=Path, help="append what came of each point to this file, a line of JSON each")
    parser.add_argument("--verbose", action="store_true", help="name the points that pass")
    return parser.parse_args()


def is_chosen(arguments: argparse.Namespace, point: Point) -> bool:
    """Is a point asked for?"""
    is_kind = not arguments.kind or point.kind in arguments.kind
    return is_kind and (arguments.rank is None or point.rank == arguments.rank)


def choose(bench: Bench, setting: Setting, ranks: int, arguments: argparse.Namespace) -> list[Point]:
    """The one point that was named, or all that there are."""
    if arguments.at:
        kind, _, number = arguments.at.partition(":")
        return [Point(arguments.rank or 0, kind, int(number.rstrip("+")), number.endswith("+"))]
    return list_points(bench, setting, ranks, arguments.every)


def keep_once(pairs: Sequence[Trial]) -> list[Trial]:
    """The first for each kind and place of those in an MPI and variant."""
    first: dict[tuple[str, str, str, int, bool], Trial] = {}
    for pair in pairs:
        setting, point = pair[0], pair[3]
        first.setdefault((setting.family.name, setting.variant, point.kind, point.place, point.lasts), pair)
    return list(first.values())


def list_work(bench: Bench, arguments: argparse.Namespace, settings: Sequence[Setting]) -> Iterator[Outcome]:
    """Try the points of all settings: one setting after the other, or at random, for a while or each place once."""
    is_random = arguments.once or arguments.seconds
    pairs: list[Trial] = []
    for setting in settings:
        ranks = int((setting.program.words("ranks") or ["2"])[0])
        stock = bench.run(setting, ranks, {})
        if stock.exit_code != 0:
            print(f"skip {setting.name}: stock ends with {stock.exit_code}")
            continue
        points = choose(bench, setting, ranks, arguments)
        if not points:
            yield Outcome(setting.name, 0, "", "", "no call of Lapwing's own is seen")
        points = [point for point in points if is_chosen(arguments, point)]
        if not is_random:
            for point in points:
                yield try_point(bench, setting, stock, ranks, point)
        pairs += [(setting, stock, ranks, point) for point in points]
    if is_random:
        end_s = time.monotonic() + (arguments.seconds or math.inf)
        random.Random(arguments.seed).shuffle(pairs)
        pairs = keep_once(pairs) if arguments.once else pairs
        print(f"{len(pairs)} points", flush=True)
        while pairs and time.monotonic() < end_s:
            yield try_point(bench, *pairs.pop())


def print_table(outcomes: Sequence[Outcome]) -> None:
    """Print how many points came to which end, by kind: a table in Markdown."""
    counts = Counter((outcome.point.split(":")[0], outcome.result) for outcome in outcomes)
    if not counts:
        return
    results = sorted({result for _, result in counts}, key=lambda result: (not result.startswith("equal"), result))
    print(f"| kind | points | places | {' | '.join(results)} |")
    print("|---" * (len(results) + 3) + "|")
    for kind in sorted({kind for kind, _ in counts}):
        places = {outcome.place for outcome in outcomes if outcome.place and outcome.point.split(":")[0] == kind}
        cells = [counts[kind, result] for result in results]
        print(f"| `{kind}` | {sum(cells)} | {len(places)} | {' | '.join(map(str, cells))} |")


def is_good(outcome: Outcome) -> bool:
    """Has nobody noticed?"""
    return outcome.result.startswith(("equal", "not reached", "ended, and said why"))


def main() -> int:
    """Try the points, and say what came of them."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    arguments = parse_arguments()
    settings, skips = list_settings(arguments)
    bench = Bench(arguments.preload.resolve(), arguments.build.resolve())
    outcomes = []
    for outcome in list_work(bench, arguments, settings):
        outcomes.append(outcome)
        if arguments.results:
            with arguments.results.open("a") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
        if not is_good(outcome) or arguments.verbose:
            mark = "pass" if is_good(outcome) else "FAIL"
            place = f" in {outcome.place}" if outcome.place else ""
            name = f"{outcome.setting} rank {outcome.rank} {outcome.point}{place}"
            print(f"{mark} {name}: {outcome.result} {outcome.detail}", flush=True)
    for line in skips:
        print(line)
    failed = sum(not is_good(outcome) for outcome in outcomes)
    print(f"{len(outcomes)} points, {failed} failed")
    print_table(outcomes)
    if outcomes and not any(outcome.place for outcome in outcomes):
        print("FAIL: no call has failed")
        return 1
    return 1 if failed else 0 if outcomes else SKIP


if __name__ == "__main__":
    sys.exit(main())
