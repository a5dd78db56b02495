# SPDX-License-Identifier: MIT
"""Start many ranks on one host, stock and under Lapwing, and print what each rank takes.

Memory is that of a rank with its share of what it shares with others. Processor time is that of all of the job's
processes; most of it goes into waiting for one another where ranks outnumber cores, so it is also shown for a process
alone, where nobody waits. "start" is the processor time of a rank until MPI_Init returns. "end" is the time from
MPI_Finalize until the command ends, reading the records included. "files" is the largest number of files seen in the
folder of the records. `lapwing advise` runs the job several times, and keeps what it prints and the records of all
runs: only its processor time, elapsed time and files are known.
"""

import argparse
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "mpi"))

from families import Family, list_families  # noqa: E402
from launching import end_group  # noqa: E402

SKIP = 77
LIMIT_S = 240.0  # of one run
# What Lapwing may add, to a rank's memory and to a job's end.
MORE_KIB_MOST = 4 * 1024
MORE_END_S_MOST = 2.0
RANK_KIB = 6 * 1024  # of an MPI's own, roughly: where there is less memory, the job is not started
# Shared memory alone, in small segments; ranks that wait let others run.
FLAGS: Mapping[str, Sequence[str]] = {
    "openmpi4": ("--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1"),
}
ENVIRONMENT: Mapping[str, Mapping[str, str]] = {"mpich4": {"UCX_TLS": "self,sysv,posix"}}
WAYS = ("stock", "run", "profile")
# Stock, profiled, then stock and what is tried, once each.
ADVISE = ("advise", "--rounds", "1", "--budget", str(round(5 * LIMIT_S)))
ADVISE_LIMIT_S = 6 * LIMIT_S


@dataclass(frozen=True)
class Ended:
    """How a command ended. exit_code: None where it took too long; files: seen in the folder of records."""

    exit_code: int | None
    output: str
    ended_s: float
    elapsed_s: float
    processor_s: float  # of all its processes
    files: int


@dataclass(frozen=True)
class Figures:
    """What a job took."""

    way: str
    ranks: int
    rank_kib: int  # mean
    start_ms: float  # processor time of a rank, mean
    end_s: float
    ended: Ended


class Watch(threading.Thread):
    """Counts the files in the folder of records while a job runs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder = folder
        self.most = 0
        self.is_over = threading.Event()

    def run(self) -> None:
        """Look ten times a second."""
        while not self.is_over.wait(0.1):
            for records in self.folder.glob(".lapwing-*"):
                try:
                    self.most = max(self.most, len(list(records.iterdir())))
                except OSError:
                    continue


def run_watched(command: Sequence[str], environment: Mapping[str, str], folder: Path, limit_s: float) -> Ended:
    """Run a command to its end."""
    watch = Watch(folder)
    watch.start()
    before_s, begin_s = processor_s(), time.time()
    process = subprocess.Popen(
        command,
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=limit_s)
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        end_group(process)
        output, errors = process.communicate()
        code = None
    ended_s = time.time()
    watch.is_over.set()
    watch.join()
    text = output if code == 0 else output + errors
    return Ended(code, text, ended_s, ended_s - begin_s, processor_s() - before_s, watch.most)


def processor_s() -> float:
    """Processor time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_job(family: Family, program: Path, ranks: int, lapwing: Sequence[str], words: Sequence[str]) -> Ended:
    """Run a job to its end. lapwing: the words of its command; none: stock."""
    launched = family.command(ranks, {}, [str(program), *words])
    command = [launched[0], *FLAGS.get(family.name, ()), *launched[1:]]
    if lapwing:
        command = [sys.executable, "-m", "lapwing", *lapwing, *command]
    environment = {
        **os.environ,
        **family.environment,
        **ENVIRONMENT.get(family.name, {}),
        "PYTHONPATH": str(ROOT / "python"),
        "LAPWING_PRELOAD": str(ROOT / "build/release/liblapwing.so"),
    }
    with TemporaryDirectory(prefix="lapwing-ranks-") as name:
        limit_s = ADVISE_LIMIT_S if lapwing == ADVISE else LIMIT_S
        return run_watched(command, environment, Path(name), limit_s)


def explain(way: str, ended: Ended) -> str:
    """Say how a job failed."""
    return f"{way}: ends with {ended.exit_code}: {' '.join(ended.output.split())[-300:]}"


def measure(family: Family, program: Path, ranks: int, way: str, words: Sequence[str]) -> Figures | str:
    """Run a job; what it took, or why it did not work."""
    ended = run_job(family, program, ranks, () if way == "stock" else (way,), words)
    fields = next((line.split() for line in ended.output.splitlines() if line.startswith(f"{ranks} ")), [])
    if ended.exit_code != 0 or len(fields) != 6:
        return explain(way, ended)
    return Figures(way, ranks, int(fields[1]), int(fields[4]) / 1e3, ended.ended_s - float(fields[5]), ended)


def measure_alone(program: Path, way: str, times: int) -> float:
    """Processor time of one process without a launcher, in ms."""
    environment = {**os.environ}
    if way != "stock":
        environment["LD_PRELOAD"] = str(ROOT / "build/release/liblapwing.so")
    taken = []
    for _ in range(times):
        before_s = processor_s()
        subprocess.run([str(program)], env=environment, stdout=subprocess.DEVNULL, check=True)
        taken.append(1e3 * (processor_s() - before_s))
    return median(taken)


def has_memory(ranks: int) -> bool:
    """Is there room for so many ranks?"""
    available = next(line for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line)
    return int(available.split()[1]) > 2 * ranks * RANK_KIB


def find_excess(figures: Figures, stock: Figures) -> str:
    """What Lapwing adds beyond its limits; empty where it does not."""
    more_kib = figures.rank_kib - stock.rank_kib
    more_s = figures.end_s - stock.end_s
    wrong = [f"a rank takes {more_kib / 1024:.1f} MiB more"] * (more_kib > MORE_KIB_MOST)
    wrong += [f"the end takes {more_s:.1f} s longer"] * (more_s > MORE_END_S_MOST)
    return " and ".join(wrong)


def print_row(figures: Figures, stock: Figures) -> None:
    """Print a line of the table."""
    more_kib = figures.rank_kib - stock.rank_kib
    print(
        f"| {figures.ranks} | {figures.way} | {figures.rank_kib / 1024:.2f} | {more_kib / 1024:+.2f} | "
        f"{figures.start_ms:.0f} | {figures.ended.processor_s:.1f} | {figures.ended.elapsed_s:.2f} | "
        f"{figures.end_s:.2f} | {figures.ended.files} |",
        flush=True,
    )


def advise(family: Family, program: Path, ranks: int, words: Sequence[str]) -> str:
    """Take advice on a job, and print its line of the table; the verdict, or "" where none was measured."""
    ended = run_job(family, program, ranks, ADVISE, words)
    verdict = " ".join(ended.output.split("\n\n")[0].split())
    if ended.exit_code != 0 or "deferred by Lapwing" not in verdict:
        print(f"FAIL {family.name} with {ranks} ranks, {explain('advise', ended)}")
        return ""
    print(f"| {ranks} | advise | | | | {ended.processor_s:.1f} | {ended.elapsed_s:.2f} | | {ended.files} |", flush=True)
    return f"advise, {ranks} ranks: {verdict}"


def measure_family(family: Family, program: Path, arguments: argparse.Namespace) -> int:
    """Print the table of an MPI; how many jobs did not work."""
    failed = 0
    verdicts = []
    for way in ("stock", "run"):
        print(f"{family.name}: a process alone takes {measure_alone(program, way, 15):.1f} ms ({way})")
    titles = ("ranks", "way", "MiB per rank", "more than stock", "start (ms)", "processor time (s)", "job (s)")
    print(f"| {' | '.join((*titles, 'end (s)', 'files'))} |\n|{'---|' * 9}")
    for ranks in arguments.ranks or (64, 128, 256, 512):
        if not has_memory(ranks):
            print(f"skip {family.name} with {ranks} ranks: too little memory")
            continue
        stock = None
        for way in WAYS:
            figures = measure(family, program, ranks, way, arguments.words)
            if isinstance(figures, str):
                print(f"FAIL {family.name} with {ranks} ranks, {figures}")
                failed += 1
                continue
            stock = stock or figures
            print_row(figures, stock)
            if excess := find_excess(figures, stock):
                print(f"FAIL {family.name} with {ranks} ranks, {way}: {excess}")
                failed += 1
        verdicts.append(advise(family, program, ranks, arguments.words))
    print("\n".join(verdicts))
    return failed + verdicts.count("")


def main() -> int:
    """Print a table for each MPI."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", action="append", default=[], help="only this MPI (repeatable)")
    parser.add_argument("--ranks", action="append", type=int, default=[], help="only so many (repeatable)")
    parser.add_argument("words", nargs="*", help="the program's arguments: the bytes of a message")
    arguments = parser.parse_args()
    failed = tried = 0
    for family in list_families(ROOT / ".venv/mpi"):
        if family.name not in (arguments.mpi or ("openmpi4", "mpich4")) or family.missing:
            continue
        with TemporaryDirectory(prefix="lapwing-ranks-") as name:
            program = Path(name) / "ranks"
            compiler = [str(family.compiler), "-O1", "-Wall", str(HERE / "ranks.c"), "-o", str(program)]
            subprocess.run(compiler, check=True, env={**os.environ, **family.environment})
            failed += measure_family(family, program, arguments)
            tried += 1
    return 1 if failed else 0 if tried else SKIP


if __name__ == "__main__":
    sys.exit(main())
