# SPDX-License-Identifier: MIT
"""Messages in memory that a GPU uses, by CUDA itself: its driver, its runtime, and a GPU.

    tests/gpu/run.py --preload build/release/liblapwing.so [--mpi openmpi4] [--variant signal] [--way register]

cuda_memory.c says what is claimed; the record must say that memory was held before the GPU was in use, and not since.
Where there is no GPU, no driver or no runtime nothing runs, and what is missing is said (exit code 77).
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "mpi"))

from cases import Case, Program, read_program  # noqa: E402
from families import Family, list_families  # noqa: E402
from judging import SKIP, Verdict, describe, is_plainly_ok, judge_deeds  # noqa: E402
from trial import Bench, RankRecord, compile_part, is_current, read_records  # noqa: E402

WAYS = (
    "register",
    "register_map",
    "register_kernel",
    "register_static",
    "driver",
    "malloc_host",
    "host_alloc",
    "under_way",
    "under_way_static",
    "beside",
    "pageable_kernel",
)
VARIANTS = ("userfaultfd", "signal", "userfaultfd-user")
RECEIVES_BEFORE = 3  # of rank 0, held before the GPU was in use: two rounds, and one under way
RUNTIME_NAMES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so")
STATIC_NAME = "libcudart_static.a"
COUNT_GPUS = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
error = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
print(f"error {error}" if error else count.value)
"""


def list_folders() -> Iterator[Path]:
    """Where CUDA's libraries may lie, beside where the loader looks."""
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    for home in [*filter(None, homes), "/usr/local/cuda"]:
        yield from (Path(home) / "lib64", Path(home) / "targets/x86_64-linux/lib")
    for root in sys.path:
        yield from sorted(Path(root or ".").glob("nvidia/*/lib"))


def find_library(names: Sequence[str]) -> str | None:
    """The first library of these names, in a folder that is known or where the loader looks."""
    for folder in list_folders():
        for name in names:
            if (folder / name).exists():
                return str(folder / name)
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None


def find_missing() -> str:
    """What this needs and is not here; empty when nothing is missing."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"no driver of CUDA's ({error})"
    # In a process of its own: a GPU that is open stays so.
    done = subprocess.run([sys.executable, "-c", COUNT_GPUS], capture_output=True, text=True, timeout=60)
    count = done.stdout.strip()
    if not count.isdigit() or count == "0":
        return f"no GPU that CUDA's driver can use ({count or done.stderr.strip()[-200:]})"
    return "" if find_library(RUNTIME_NAMES) else f"no runtime of CUDA's ({RUNTIME_NAMES[0]}): set CUDA_HOME"


def build(program: Program, bench: Bench, family: Family) -> None:
    """Compile the program, and the plugin where there is a static runtime."""
    output = bench.folder / family.name / program.name
    plugin = output.with_name(f"{program.name}_plugin.so")
    output.parent.mkdir(parents=True, exist_ok=True)
    sources = (program.source, HERE / "cuda.h", HERE.parent / "mpi/check.c")
    if not is_current(output, *sources):
        words = [str(program.source), str(sources[2]), "-o", str(output), "-ldl"]
        compile_part(family, output, words)
    archive = find_library([STATIC_NAME])
    if archive and not is_current(plugin, *sources):
        words = ["-DPLUGIN", "-shared", "-fPIC", str(program.source), archive, "-lpthread", "-lrt", "-ldl"]
        compile_part(family, plugin, words)


class GpuBench(Bench):
    """Its programs are built beforehand."""

    def compile(self, program: Program, family: Family) -> Path:
        """Say where a program lies."""
        return self.folder / family.name / program.name


def judge_rank(records: Sequence[RankRecord]) -> str:
    """What is wrong with the receives of the rank that has the GPU."""
    own = next((record for record in records if record.rank == 0), None)
    if own is None:
        return "rank 0 left no record"
    held, passed = own.counters["ops_receive"], own.passes.get("memory_device")
    if not 0 < held <= RECEIVES_BEFORE:
        return f"rank 0 has held {held} receives"
    return "" if passed and passed.calls else "rank 0 has passed no call for the reason memory_device"


def run_case(bench: Bench, case: Case) -> Verdict:
    """Run one case; what goes wrong under Lapwing is tried with stock MPI, too."""
    with tempfile.TemporaryDirectory(prefix="lapwing-gpu-") as folder:
        run = bench.run(case, Path(folder))
        if run.exit_code == SKIP:
            return Verdict("skip", " ".join(dict.fromkeys(run.lines)))
        if not is_plainly_ok(case, run):
            stock = bench.run_stock(case)
            return describe(f"exit code {run.exit_code} {run.lines} (stock: {stock.exit_code} {stock.lines})", run)
        records = read_records(Path(folder))
    verdict = judge_deeds(case, run, records)
    return describe(judge_rank(records), run) if verdict.result == "pass" else verdict


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", type=Path, required=True, help="liblapwing.so")
    parser.add_argument("--build", type=Path, default=ROOT / "build/gpu", help="where programs are compiled")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".venv/mpi", help="environments with MPI wheels")
    parser.add_argument("--mpi", action="append", default=[], help="only this MPI (default: openmpi4 and mpich4)")
    parser.add_argument("--variant", action="append", default=[], help=f"only this variant (default: {VARIANTS})")
    parser.add_argument("--way", action="append", default=[], choices=WAYS, help="only this way")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run N cases at a time")
    arguments = parser.parse_args()
    arguments.words, arguments.timeout, arguments.trust_ok, arguments.quick = [], None, True, False
    return arguments


def run_cases(bench: Bench, cases: Sequence[Case], jobs: int) -> int:
    """Run all cases; 1 when one failed, 77 when none ran."""
    counts = {"pass": 0, "FAIL": 0, "skip": 0}
    with ThreadPoolExecutor(jobs) as pool:
        for case, verdict in zip(cases, pool.map(lambda case: run_case(bench, case), cases), strict=True):
            counts[verdict.result] += 1
            print(f"{verdict.result} {case.name} {verdict.reason}".rstrip(), flush=True)
    print(f"{counts['pass']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0 if counts["pass"] else SKIP


def main() -> int:
    """Run the program in every way."""
    arguments = parse_arguments()
    missing = find_missing()
    if missing:
        print(missing)
        return SKIP
    os.environ["CUDART"] = find_library(RUNTIME_NAMES) or ""
    wanted = arguments.mpi or ("openmpi4", "mpich4")
    families = [each for each in list_families(arguments.wheels) if each.name in wanted and not each.missing]
    bench, program = GpuBench(arguments), read_program(HERE / "cuda_memory.c")
    for family in families:
        build(program, bench, family)
    cases = [
        Case(program, way, 2, family, variant)
        for way in arguments.way or WAYS
        for family in families
        for variant in arguments.variant or VARIANTS
    ]
    return run_cases(bench, cases, arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
