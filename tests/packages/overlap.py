# SPDX-License-Identifier: MIT
"""Overlap as other people's programs show it: on emulated hosts, stock and under Lapwing in turn.

    overlap.py imb      IMB-NBC, with its own times and its own overlap column
    overlap.py devito   a Devito program: halos overlapped by Lapwing, and by tests placed by hand (DEVITO_MPI=full)

Prints the median of each figure over the rounds, stock's and Lapwing's side by side; --output writes all of them.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/mpi")]

from packages.jobs import ONE_THREAD, find_family, launcher_missing, run_limited  # noqa: E402

SKIP = 77
TIMEOUT_S = 300.0
BENCHMARKS = ("Ialltoall_pure", "Ialltoall", "Iallreduce", "Ibcast")
# Halos without overlap, overlapped as MPI pleases, and with tests between the loops; the last is Devito's best.
DEVITO_MODES = ("basic", "overlap", "full")
DEVITO_UNDER_LAPWING = ("basic", "overlap")

Figures = dict[tuple[str, ...], dict[str, float]]  # of a row: its name, then its columns


@dataclass(frozen=True)
class Way:
    """One way of running the program: what the table calls it, its variables, and whether Lapwing is there."""

    name: str
    with_lapwing: bool
    read: Callable[[str], Figures]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A program, and the ways to run it."""

    launcher: Path
    program: Sequence[str]
    environment: Mapping[str, str]
    ways: Sequence[Way]


class MeasureError(Exception):
    """A run that gave no figures."""


def read_imb(text: str) -> Figures:
    """Read IMB-NBC's tables: a heading of columns, then a line per size."""
    figures: Figures = {}
    name, columns = "", []
    for line in text.splitlines():
        if line.startswith("# Benchmarking"):
            name = line.split()[2]
        words = line.split()
        if words[:1] == ["#bytes"]:
            columns = words
        elif columns and name and len(words) == len(columns) and words[0].isdigit():
            figures[name, words[0]] = dict(zip(columns[2:], map(float, words[2:]), strict=True))
    return figures


def read_devito(text: str) -> Figures:
    """Read what the program printed; its norm is a part of the row's name, so that other results stand apart."""
    return {
        (f"norm {norm}",): {"time[s]": float(elapsed_s)}
        for norm, elapsed_s in re.findall(r"result norm (\S+) time (\S+)", text)
    }


def make_imb(arguments: argparse.Namespace) -> Case:
    """IMB-NBC comes with Intel MPI's wheel."""
    family = find_family("impi", arguments.wheels)
    program = family.launcher.parent / "IMB-NBC"
    if launcher_missing(family) or not program.exists():
        raise FileNotFoundError(launcher_missing(family) or f"{program} not found")
    sizes = ["-npmin", str(arguments.ranks), "-msglog", f"{arguments.size_log}:{arguments.size_log}"]
    counts = ["-iter", str(arguments.iterations), "-iter_policy", "off"]
    # Ranks on one machine would else speak through its memory.
    environment = {**family.environment, "I_MPI_FABRICS": "ofi"}
    ways = [Way("stock", False, read_imb), Way("lapwing", True, read_imb)]
    return Case(family.launcher, [str(program), *sizes, *counts, *BENCHMARKS], environment, ways)


def make_devito(arguments: argparse.Namespace) -> Case:
    """Devito as tests/packages/fetch.sh installs it, on Debian's Open MPI."""
    family = find_family("openmpi4", arguments.wheels)
    python = arguments.packages / "python/bin/python"
    if launcher_missing(family) or not python.exists():
        raise FileNotFoundError(launcher_missing(family) or f"{python} not found: tests/packages/fetch.sh makes it")
    environment = {**family.environment, **ONE_THREAD, "DEVITO_LOGGING": "ERROR", "DEVITO_LANGUAGE": "C"}
    words = [str(python), str(HERE / "programs/halo_devito.py"), str(arguments.points), str(arguments.steps)]
    stock = [Way(f"{mode}, stock", False, read_devito, {"DEVITO_MPI": mode}) for mode in DEVITO_MODES]
    lapwing = [Way(f"{mode}, lapwing", True, read_devito, {"DEVITO_MPI": mode}) for mode in DEVITO_UNDER_LAPWING]
    return Case(family.launcher, words, environment, [*stock, *lapwing])


def command_of(case: Case, way: Way, arguments: argparse.Namespace) -> list[str]:
    """The command line that a user would type; `lapwing lab` knows its own command by its name."""
    run = ["lapwing", "run", "--quiet", *arguments.options.split()] if way.with_lapwing else []
    lab = [sys.executable, "-m", "lapwing", "lab", "--hosts", str(arguments.ranks), "--rate", arguments.rate, "--"]
    return [*lab, *run, str(case.launcher), "-n", str(arguments.ranks), *case.program]


def measure(case: Case, way: Way, arguments: argparse.Namespace) -> Figures:
    """Run once."""
    own = {"PYTHONPATH": str(ROOT / "python"), "LAPWING_PRELOAD": str(arguments.preload)}
    with tempfile.TemporaryDirectory(prefix="lapwing-overlap-") as folder:
        variables = {**case.environment, **way.environment, **own}
        command = command_of(case, way, arguments)
        exit_code, text = run_limited(command, Path(folder), variables, arguments.timeout)
    figures = way.read(text)
    if not figures:
        raise MeasureError(f"{way.name}: no figures, exit code {exit_code}: {text[-600:]}")
    return figures


def measure_all(case: Case, arguments: argparse.Namespace) -> dict[str, list[Figures]]:
    """Run all ways in turn, as often as there are rounds."""
    runs: dict[str, list[Figures]] = {way.name: [] for way in case.ways}
    for _ in range(arguments.rounds):
        for way in case.ways:
            runs[way.name].append(measure(case, way, arguments))
    return runs


def summarise(runs: Mapping[str, Sequence[Figures]]) -> dict[str, Figures]:
    """The median of each figure over the rounds."""
    return {
        name: {
            row: {column: median(run[row][column] for run in of_one if row in run) for column in columns}
            for row, columns in {row: figures for run in of_one for row, figures in run.items()}.items()
        }
        for name, of_one in runs.items()
    }


def format_table(summary: Mapping[str, Figures]) -> list[str]:
    """A line for each row and way, ready for a document."""
    rows = sorted({row for figures in summary.values() for row in figures})
    lines = []
    for row in rows:
        columns = next(figures[row] for figures in summary.values() if row in figures)
        lines += ["", f"| {' '.join(row)} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        for name, figures in summary.items():
            if row in figures:
                lines.append(f"| {name} | " + " | ".join(f"{value:.6g}" for value in figures[row].values()) + " |")
    return lines


def write_runs(path: Path, runs: Mapping[str, Sequence[Figures]]) -> None:
    """All figures of all runs, as JSON."""
    plain = {name: [{" ".join(row): f for row, f in run.items()} for run in of_one] for name, of_one in runs.items()}
    path.write_text(json.dumps(plain, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=["imb", "devito"])
    parser.add_argument("--preload", type=Path, default=ROOT / "build/release/liblapwing.so", help="liblapwing.so")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".venv/mpi", help="environments with MPI wheels")
    parser.add_argument("--packages", type=Path, default=ROOT / "build/packages", help="what fetch.sh made")
    parser.add_argument("--rate", default="1gbit", help="of the emulated links (default: 1gbit)")
    parser.add_argument("--ranks", type=int, default=2, help="one per emulated host (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each way (default: 3)")
    parser.add_argument("--options", default="", help="of `lapwing run`")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S, help="longest run in seconds")
    parser.add_argument("--output", type=Path, help="file for all figures, as JSON")
    parser.add_argument("--size-log", type=int, default=20, help="imb: binary logarithm of the size (default: 20)")
    parser.add_argument("--iterations", type=int, default=50, help="imb: operations that are timed (default: 50)")
    parser.add_argument("--points", type=int, default=160, help="devito: points of an edge of the cube (default: 160)")
    parser.add_argument("--steps", type=int, default=20, help="devito: time steps (default: 20)")
    return parser.parse_args()


def main() -> int:
    """Measure and print; 77 where the program is not installed."""
    arguments = parse_arguments()
    arguments.preload, arguments.packages = arguments.preload.resolve(), arguments.packages.absolute()
    try:
        case = {"imb": make_imb, "devito": make_devito}[arguments.program](arguments)
    except FileNotFoundError as error:
        print(f"skip: {error}")
        return SKIP
    try:
        runs = measure_all(case, arguments)
    except MeasureError as error:
        print(error)
        return 1
    print("\n".join(format_table(summarise(runs))))
    if arguments.output:
        write_runs(arguments.output, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
