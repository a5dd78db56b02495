# SPDX-License-Identifier: MIT
"""Show how many files of src/ a large MPI_Recv that returns early runs through, and how often it changes folders.

    measure_way.py [--steps] [MPICC MPIRUN]

Builds the preload in build/way with -O1 -finstrument-functions, and runs two ranks of bench/way.c with it. Counted
are the functions that the receiving thread enters from the call to its return, inline ones included, in their order. A
C file and its header are one file; a change of folders is a step into a function of another folder than the step
before. Functions of src/base, the ground of all folders, are counted apart: most are lines that the compiler puts where
they are used. The first receive that returns early is counted apart from the later ones: it starts the engine, too. Of
the later ones the median counts, since what the engine is doing at the time makes a difference. With --steps each of
its steps is printed. Exit code 77 when there is no MPI.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/way"
PRELOAD = BUILD / "liblapwing.so"
# Of lines of DWARF 5 addr2line (binutils 2.40) names the wrong file for a function that comes first in its object.
FLAGS = "-O1 -gdwarf-4 -finstrument-functions"
LAUNCH = ("op/transfer", "transfer_launch")
SKIP = 77
SOURCE = re.compile(r"(?:/src/|/generated/)((?:\w+/)*\w+)\.[chS]:")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def build_preload() -> None:
    """Make build/way/liblapwing.so."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    options = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={FLAGS}", f"-DPython3_EXECUTABLE={sys.executable}"]
    configure = ["cmake", "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja", *options]
    for command in (configure, ["cmake", "--build", str(BUILD), "--target", "lapwing"]):
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def run_receives(compiler: str, launcher: str) -> list[list[str]]:
    """The addresses of the functions that each receive enters."""
    with tempfile.TemporaryDirectory(prefix="lapwing-way-") as folder:
        program = Path(folder) / "way"
        subprocess.run([compiler, "-O2", "-rdynamic", str(ROOT / "bench/way.c"), "-o", str(program)], check=True)
        ranks = [launcher, "-n", "2", "env", f"LD_PRELOAD={PRELOAD}", str(program)]
        lines = subprocess.check_output(ranks, env=ENVIRONMENT, text=True).splitlines()
    return [line.split() for line in lines]


def find_steps(addresses: Sequence[str]) -> list[tuple[str, str]]:
    """The file of src/ and the name of each function; what is made while building counts for its folder."""
    command = ["addr2line", "-f", "-e", str(PRELOAD), *addresses]
    lines = subprocess.check_output(command, text=True).splitlines()
    named = zip(lines[::2], (SOURCE.search(line) for line in lines[1::2]), strict=True)
    return [(source[1], name) for name, source in named if source is not None]


def find_early(receives: Sequence[Sequence[str]]) -> list[list[tuple[str, str]]]:
    """The steps of those that have returned early."""
    steps = [find_steps(addresses) for addresses in receives]
    early = [receive for receive in steps if LAUNCH in receive]
    if len(early) < 2:
        sys.exit(f"{len(early)} of {len(steps)} receives have returned early: no second one to count")
    return early


def above_base(steps: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those outside src/base."""
    return [step for step in steps if not step[0].startswith("base/")]


def count_changes(steps: Sequence[tuple[str, str]]) -> int:
    """How often they change folders."""
    return max(len(list(groupby(Path(source).parent for source, _ in steps))) - 1, 0)


def describe(steps: Sequence[tuple[str, str]]) -> str:
    """How many files and changes of folder, without src/base and with it."""
    parts = (above_base(steps), steps)
    counts = [f"{len({source for source, _ in part})} files, {count_changes(part)} changes of folder" for part in parts]
    return "; with src/base: ".join(counts)


def main() -> int:
    """Build, run, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("compiler", nargs="?", default="mpicc.openmpi")
    parser.add_argument("launcher", nargs="?", default="mpirun.openmpi")
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        print(f"no {arguments.compiler}")
        return SKIP
    build_preload()
    first, *others = find_early(run_receives(arguments.compiler, arguments.launcher))
    later = sorted(others, key=lambda steps: count_changes(above_base(steps)))[len(others) // 2]
    if arguments.steps:
        print("\n".join(f"{source}: {name}" for source, name in later))
    print(f"first MPI_Recv that returns early: {describe(first)}")
    print(f"later ones: {describe(later)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
