# SPDX-License-Identifier: MIT
"""Predicted beside measured for programs that were not written for Lapwing: `lapwing advise` on each, in each setting.

    predictions.py --results FILE            run what FILE has no row of, the most important setting first
    predictions.py --table FILE > docs/predictions.md

Each program is run plain, profiled, and then stock and under Lapwing in turn. Each result is appended to FILE as a line
of JSON when it is there: interrupt it, or give it --seconds, and go on later with the same line. Where messages travel,
`lapwing probe --system` first measures what they take, once per setting.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests"), str(ROOT / "tests/mpi")]

from packages.jobs import ONE_THREAD, find_family, launcher_missing, run_limited  # noqa: E402
from packages.predicted_programs import Program, Size, find_missing, list_programs, prepare  # noqa: E402
from packages.predicted_results import (  # noqa: E402
    SETTINGS,
    Row,
    Setting,
    append_row,
    format_page,
    format_percent,
    make_row,
    read_load,
    read_rows,
)

from lapwing.advise.advice import Advice  # noqa: E402
from lapwing.advise.document import read_advice  # noqa: E402
from lapwing.bench.place import CROWDED, LOCAL  # noqa: E402

SKIP = 77
LIMIT_S = 900.0  # longest advice
PROBE = ("--jobs", "3", "--largest", "16MiB")
LAPWING = (sys.executable, "-m", "lapwing")


@dataclass(frozen=True)
class Bench:
    """What all runs need. systems: the folder with what messages take in each setting."""

    arguments: argparse.Namespace
    launcher: Path
    environment: Mapping[str, str]

    @property
    def systems(self) -> Path:
        """Return where systems are kept."""
        folder: Path = self.arguments.packages / "systems"
        return folder


def find_system(bench: Bench, setting: Setting) -> Path:
    """Return the file of what messages take in a setting: two ranks tell it for more of them."""
    return bench.systems / f"{setting.rate or 'memory'}.json"


def probe_system(bench: Bench, setting: Setting) -> None:
    """Measure what messages take, where that is not known."""
    path = find_system(bench, setting)
    if path.exists() or not bench.arguments.system:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    where = ["--route", "between", "--rate", setting.rate] if setting.rate else ["--route", "within"]
    line = [*LAPWING, "probe", "--mpi", "openmpi", "--system", str(path), *where, *PROBE]
    subprocess.run(line, check=True, env={**os.environ, **bench.environment}, stdout=subprocess.DEVNULL)


def make_line(bench: Bench, setting: Setting, words: Sequence[str], rounds: int, advice: Path) -> list[str]:
    """Return the command line: advise, in the lab where there are links."""
    system = ["--system", str(find_system(bench, setting))] if bench.arguments.system else []
    looks = ["--rounds", str(rounds)] if rounds else []
    flags = ["--way", "deferred", *looks, "--budget", str(LIMIT_S), "--json", str(advice), *system]
    bound = LOCAL if setting.ranks <= len(os.sched_getaffinity(0)) else CROWDED
    place = [] if setting.rate else bound["openmpi"]
    launch = [str(bench.launcher), *place, "-n", str(setting.ranks), *words]
    if not setting.rate:
        return [*LAPWING, "advise", *flags, *launch]
    lab = [*LAPWING, "lab", "--hosts", str(setting.ranks), "--rate", setting.rate, "--"]
    return [*lab, "lapwing", "advise", *flags, *launch]


def make_size(bench: Bench, setting: Setting) -> Size:
    """Say how long programs are made in a setting."""
    return Size(setting.ranks, setting.rate != "1gbit", bench.arguments.part)


def advise(bench: Bench, program: Program, setting: Setting, rounds: int, folder: Path) -> Advice | str:
    """Let advise run the program; return what it found, or why there is nothing."""
    path = folder / "advice.json"
    path.unlink(missing_ok=True)
    words = program.words(make_size(bench, setting))
    line = make_line(bench, setting, words, rounds, path)
    variables = {**bench.environment, **program.environment}
    exit_code, text = run_limited(line, folder, variables, LIMIT_S + 60.0)
    if exit_code == 0 and path.exists():
        return read_advice(path)
    said = [words for words in text.splitlines() if any(map(str.isalnum, words))]
    return f"advise ended with {exit_code}: {' '.join(said[-2:])[-300:]}"


def measure(bench: Bench, program: Program, setting: Setting) -> Row:
    """Measure one program in one setting."""
    about = Row(
        program.name,
        setting.name,
        program.version(),
        load=read_load(),
        with_system=bench.arguments.system,
    )
    with tempfile.TemporaryDirectory(prefix="lapwing-predictions-") as name:
        folder = Path(name)
        try:
            prepare(program, make_size(bench, setting), folder)
        except (OSError, subprocess.SubprocessError) as error:
            return replace(about, failure=f"its input was not made ({type(error).__name__})")
        found = advise(bench, program, setting, bench.arguments.rounds, folder)
        if isinstance(found, str):
            return replace(about, failure=found)
        keep_output(bench, program, setting, folder)
        checked = advise(bench, program, setting, bench.arguments.check, folder) if bench.arguments.check else None
        if isinstance(checked, str):
            return replace(about, failure=f"check: {checked}")
    return make_row(about, found, checked)


def keep_output(bench: Bench, program: Program, setting: Setting, folder: Path) -> None:
    """Keep the advice for whoever wants to know more."""
    if bench.arguments.keep:
        bench.arguments.keep.mkdir(parents=True, exist_ok=True)
        word = program.name.replace(", ", "-").replace(" ", "-")
        shutil.copy(folder / "advice.json", bench.arguments.keep / f"{word}-{setting.name}.json")


def is_named(name: str, wanted: str) -> bool:
    """Say whether a name is among those wanted: each is the beginning of a name, or all of it."""
    return not wanted or any(name.lower().startswith(word.strip().lower()) for word in wanted.split(";"))


def select_settings(arguments: argparse.Namespace) -> list[Setting]:
    """Return the settings that are wanted, in their order."""
    hosts, rates = arguments.hosts.split(","), arguments.rates.split(",")
    return [one for one in SETTINGS if str(one.ranks) in hosts and (one.rate or "memory") in rates]


def list_tasks(
    programs: Sequence[Program], settings: Sequence[Setting], rows: Sequence[Row], again: bool
) -> Iterator[tuple[Setting, Program]]:
    """Return what there is no row of, setting by setting."""
    done = set() if again else {(row.program, row.setting) for row in rows if not row.failure}
    for setting in settings:
        for program in programs:
            if (program.name, setting.name) not in done:
                yield setting, program


def say_row(row: Row) -> None:
    """Print a row in short."""
    if row.failure:
        print(f"skip {row.setting} {row.program}: {row.failure}", flush=True)
        return
    times = f"stock {row.stock_s:.2f} s, predicted {row.predicted_s:.2f}, measured {row.measured_s:.2f}"
    misses = f"miss {format_percent(row.miss)}"
    if row.inner_miss is not None:
        misses = f"{misses}, of MPI {format_percent(row.inner_miss)}"
    text = f"{times}, {misses}, profile {format_percent(row.profile_cost)}, {row.verdict}"
    print(f"{row.setting} {row.program}: {text}{row.contradiction and f' ({row.contradiction})'}", flush=True)


def run_tasks(bench: Bench, tasks: Sequence[tuple[Setting, Program]]) -> int:
    """Run until all is done, or the time is up; return how many are left."""
    begin_s, longest_s = time.monotonic(), 0.0
    for number, (setting, program) in enumerate(tasks):
        start_s = time.monotonic()
        if start_s - begin_s + longest_s > bench.arguments.seconds:
            return len(tasks) - number
        missing = find_missing(program)
        if missing:
            row = Row(program.name, setting.name, failure=missing)
        else:
            probe_system(bench, setting)
            row = measure(bench, program, setting)
        say_row(row)
        append_row(bench.arguments.results, row)
        longest_s = max(longest_s, time.monotonic() - start_s)
    return 0


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=HERE / "predictions.jsonl", help="lines of JSON (ours)")
    parser.add_argument("--table", type=Path, action="append", help="run nothing: print the page of these files")
    parser.add_argument("--programs", default="", help="beginnings of names, with ; between them (default: all)")
    parser.add_argument("--hosts", default="2,3,4", help="of these numbers (default: 2,3,4)")
    text = "of these: 1gbit, 5gbit, memory (default: all)"
    parser.add_argument("--rates", default="1gbit,5gbit,memory", help=text)
    text = "runs of stock and of Lapwing, in turn (default: 5; 0: as many as advise needs)"
    parser.add_argument("--rounds", type=int, default=5, help=text)
    parser.add_argument("--check", type=int, default=0, help="so many rounds more, that the verdict is held against")
    parser.add_argument("--part", type=float, default=1.0, help="of the steps, to try programs (default: 1)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing that would end later")
    parser.add_argument("--again", action="store_true", help="also what has a row already")
    parser.add_argument("--no-system", dest="system", action="store_false", help="do not measure what messages take")
    parser.add_argument("--keep", type=Path, help="folder for the advices")
    parser.add_argument("--preload", type=Path, default=ROOT / "build/release/liblapwing.so", help="liblapwing.so")
    parser.add_argument("--packages", type=Path, default=ROOT / "build/packages", help="what fetch.sh made")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".venv/mpi", help="environments with MPI wheels")
    return parser.parse_args()


def main() -> int:
    """Run, or print what earlier runs found; 77 where there is no MPI."""
    arguments = parse_arguments()
    arguments.packages = arguments.packages.absolute()
    programs = list_programs(arguments.packages)
    if arguments.table:
        print(format_page(read_rows(arguments.table), len(programs)), end="")
        return 0
    family = find_family("openmpi4", arguments.wheels)
    if launcher_missing(family):
        print(f"skip: {launcher_missing(family)}")
        return SKIP
    own = {"PYTHONPATH": str(ROOT / "python"), "LAPWING_PRELOAD": str(arguments.preload.resolve())}
    bench = Bench(arguments, family.launcher, {**family.environment, **ONE_THREAD, **own})
    programs = [program for program in programs if is_named(program.name, arguments.programs)]
    tasks = list(list_tasks(programs, select_settings(arguments), read_rows([arguments.results]), arguments.again))
    left = run_tasks(bench, tasks)
    print(f"{left} of {len(tasks)} left: run the same line again" if left else "nothing is left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
