# SPDX-License-Identifier: MIT
"""Runs MPI programs over RDMA devices, stock and under Lapwing, in the machine that run.sh starts.

    guest.py compile FOLDER PART    outside: compiles what the part runs
    guest.py run FOLDER PART        inside: runs it, and prints a table

A program passes if it ends and prints as with stock MPI, each rank left a record, and both runs sent packets through
the devices. What Lapwing held, copied and passed stands in the table.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests/mpi"), str(ROOT / "python")]

from cases import VARIANTS, Case, list_cases, read_program  # noqa: E402
from families import Family, list_families  # noqa: E402
from judging import find_undeferred, is_mixed_output, is_plainly_ok, judge_lapwing, judge_stock  # noqa: E402
from trial import Bench, RankRecord, Run, read_records  # noqa: E402

UNITS = ROOT / "build/release/tests/protect"
TIMED = ("protect_huge",)  # huge pages are given up where one takes ten milliseconds
PRELOAD = ROOT / "build/release/liblapwing.so"
WHEELS = ROOT / ".venv/mpi"
SKIP = 77
RANKS_MAX = 3
# Fail with stock MPI, too: what a device knows is not there in a child (MADV_DONTFORK), except after libc's fork().
STOCK_FAILS = (("fork_child", "clone"), ("fork_child", "raw"))
PACKETS_LEAST = 100  # some fifteen only open the devices
STOCK_TRIES = 3
TIMEOUT_S = 600.0  # the machine is some thirty times slower
MESSAGES = (
    "ring",
    "send_modes",
    "sendrecv_both",
    "sendrecv_replace",
    "mprobe_mrecv",
    "probe_recv",
    "recv_wildcard",
    "derived_types",
    "large",
    "unaligned",
    "write_after_send",
    "send_copied",
)
COLLECTIVES = ("collectives_early", "collectives_lists")
REQUESTS = (
    "nonblocking_waits",
    "nonblocking_kinds",
    "persistent",
    "waits_of_sends",
    "request_free_active",
    "requests_many",
)
THREADS = ("thread_multiple_mixed", "thread_serialized_mixed", "openmp_masteronly")
TOUCHES = ("touch_system_call", "touch_freed", "handler_touch", "jump_out_of_wait", "fork_child", "alternate_stack",
           "signal_at_touch", "reduction_begins_reader")  # fmt: skip
PROGRAMS = (*MESSAGES, *COLLECTIVES, *REQUESTS, *THREADS, *TOUCHES)
FEW = ("ring", "sendrecv_both", "large", "collectives_early", "nonblocking_waits", "persistent", "touch_system_call")
KEYS = (
    *FEW, "unaligned", "write_after_send", "probe_recv", "handler_touch", "fork_child", "touch_freed",
    "reduction_begins_reader",
)  # fmt: skip
BACKENDS = ("userfaultfd-1", "userfaultfd-user", "signal-1", "poll", "default")  # the first three may hold nothing
EVENTS = (*FEW, "unaligned", "send_modes", "nonblocking_kinds", "thread_multiple_mixed")
STRESS = ("3000", "1")
FAILURES = Path("/run/tmp/failures")  # in the machine, whose other files are only read
# Registered memory is not the child's after a fork (ibv_fork_init(3)), and stock MPI crashes there.
FUZZ = (
    "--variant", "userfaultfd-1", "--variant", "default", "--variant", "keys-1", "--no-forks",
    "--seconds", "120", "--lines", "200", "--no-minimise", "--timeout", "600",
)  # fmt: skip
# UCX: messages over reliable connections, addresses of IPv6, memory registered in its cache and nowhere else.
UCX = {"UCX_TLS": "rc_verbs,ud_verbs,self", "UCX_IB_GID_INDEX": "0", "UCX_IB_REG_METHODS": "rcache"}
# libfabric: for a thousand peers, its default, it asks a device for a longer queue of completions than rdma_rxe has.
OFI = {"FI_UNIVERSE_SIZE": "16", "FI_PROVIDER": "verbs;ofi_rxm"}
OPENMPI_OFI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_btl": "self"}
OPENMPI_TCP = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}
MPICH_APART = {"MPIR_CVAR_NOLOCAL": "1"}
OPENMPI_UCX = {
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any",
    "OMPI_MCA_pml_ucx_devices": "any",
    "OMPI_MCA_btl": "self",
}


@dataclass(frozen=True)
class Network:
    """An MPI, and how it is made to use the devices."""

    family: str
    settings: Mapping[str, str]
    is_rdma: bool = True
    stock_fails: Sequence[str] = ()  # programs that fail there with stock MPI, too


MPICH4 = Network("mpich4", {**UCX, **MPICH_APART})
OPENMPI4 = Network("openmpi4", {**UCX, **OPENMPI_UCX})
# A message of 96 MiB is larger than the device takes, and threads of two ranks wait for each other without end.
OPENMPI4_OFI = Network("openmpi4", {**OFI, **OPENMPI_OFI}, stock_fails=("large", "thread_multiple_mixed"))
OPENMPI5_OFI = Network("openmpi5", {**OFI, **OPENMPI_OFI}, stock_fails=("large",))
# A receive whose request is freed: it does not tell the sender in MPI_Finalize that the data have come.
MPICH5_OFI = Network(
    "mpich5", {**OFI, **MPICH_APART, "MPIR_CVAR_CH4_NETMOD": "ofi"}, stock_fails=("request_free_active",)
)
OPENMPI4_TCP = Network("openmpi4", OPENMPI_TCP, False)


@dataclass(frozen=True)
class Part:
    """What one start of the machine runs."""

    networks: Sequence[Network]
    programs: Sequence[str] = ()
    variants: Sequence[str] = ("keys-1",)
    words: Sequence[str] = ()
    fuzz: Sequence[str] = ()
    units: str = ""  # the backend that the unit tests of src/protect are run with
    has_doctor: bool = False  # does `lapwing doctor` look at a job first?


PARTS: Mapping[str, Part] = {
    "mpich4": Part((MPICH4,), PROGRAMS),
    "openmpi4": Part((OPENMPI4,), PROGRAMS),
    "openmpi4_ofi": Part((OPENMPI4_OFI,), PROGRAMS),
    "mpich5_ofi": Part((MPICH5_OFI,), PROGRAMS),
    "openmpi5_ofi": Part((OPENMPI5_OFI,), FEW),
    "backends": Part((MPICH4,), FEW, BACKENDS, has_doctor=True),
    "stress": Part((MPICH4, OPENMPI4), ("stress",), ("keys-1", "userfaultfd-1"), STRESS),
    "events": Part((MPICH4, OPENMPI4), EVENTS, ("event-1",)),
    "tcp": Part((OPENMPI4_TCP,), KEYS, units="keys"),
    "fuzz": Part((MPICH4, OPENMPI4), fuzz=FUZZ),
    "fuzz_ofi": Part((MPICH5_OFI,), fuzz=FUZZ),
}


def wrap_launcher(folder: Path, family: Family, settings: Mapping[str, str]) -> Family:
    """Put a stand-in before a launcher, which brings each rank to a device of its own: mpirun.sh.

    Those that are found by PATH (the fuzzer's) have it, too.
    """
    place = folder / family.launcher.name
    place.symlink_to(HERE / "mpirun.sh")
    place.with_name(f"{place.name}.real").symlink_to(family.launcher)
    lines = [f"export {name}='{value}'\n" for name, value in settings.items()]
    place.with_name(f"{place.name}.settings").write_text("".join(lines))
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    os.environ["RANK_SCRIPT"] = str(HERE / "rank.sh")
    return replace(family, launcher=place)


def list_networks(part: Part) -> Iterator[tuple[Network, Family]]:
    """The part's MPIs that are installed."""
    families = {family.name: family for family in list_families(WHEELS)}
    for network in part.networks:
        family = families[network.family]
        if family.missing:
            print(f"skip {family.name}: {family.missing}")
        else:
            yield network, family


def list_part_cases(part: Part, network: Network, family: Family) -> list[Case]:
    """What it runs; with few ranks, since two processors are emulated."""
    names = [name for name in part.programs if name not in network.stock_fails]
    programs = [read_program(ROOT / f"tests/mpi/programs/{name}.c") for name in names]
    cases = list_cases(programs, [family], part.variants, is_quick=False)
    return [case for case in cases if case.ranks <= RANKS_MAX and (case.program.name, case.argument) not in STOCK_FAILS]


def make_bench(folder: Path, part: Part) -> Bench:
    """Where programs are compiled and run."""
    return Bench(
        argparse.Namespace(
            build=folder / "programs", preload=PRELOAD, words=part.words, timeout=TIMEOUT_S, trust_ok=False, quick=False
        )
    )


def fuzz_command(folder: Path, part: Part, family: str, failures: Path) -> list[str]:
    """The command that runs random programs. failures: where those are kept that fail."""
    places = ["--preload", str(PRELOAD), "--build", str(folder / "fuzz"), "--failures", str(failures)]
    return [sys.executable, str(ROOT / "tests/fuzz/run.py"), *places, "--mpi", family, *part.fuzz]


def compile_part(folder: Path, part: Part) -> int:
    """Compile everything, where this is fast."""
    bench = make_bench(folder, part)
    for network, family in list_networks(part):
        for case in list_part_cases(part, network, family):
            bench.compile(case.program, case.family)
        if part.fuzz:
            command = fuzz_command(folder, part, family.name, folder / "failures")
            subprocess.run([*command, "--seconds", "1", "--lines", "5"], check=True)
    return 0


def count_packets() -> int:
    """How many packets the devices have sent."""
    counters = Path("/sys/class/infiniband").glob("*/ports/1/hw_counters/sent_pkts")
    return sum(int(path.read_text()) for path in counters)


@dataclass(frozen=True)
class Row:
    """One case, as it ended."""

    case: Case
    wrong: str
    records: Sequence[RankRecord] = ()
    packets: tuple[int, int] = (0, 0)  # of stock and of Lapwing's run

    def count(self, name: str) -> int:
        """A counter, summed over ranks."""
        return sum(record.counters.get(name, 0) for record in self.records)

    def count_passed(self) -> int:
        """Calls that were given to MPI because of the devices."""
        return sum(record.passes["transport"].calls for record in self.records if "transport" in record.passes)


COUNTERS = ("ops_receive", "ops_send", "copies", "ops_collective", "assisted")
TITLES = """\
| program | hold | receives held | sends deferred | of these from copies | collectives | nonblocking \
| passed (transport) | packets, stock | packets, Lapwing | result |
|---|---|---|---|---|---|---|---|---|---|---|"""


def format_rows(name: str, rows: Sequence[Row], result: str) -> str:
    """A line of the table: one row, or the sums of several."""
    holds = ", ".join(sorted({record.hold for row in rows for record in row.records})) or "-"
    counts = [str(sum(row.count(counter) for row in rows)) for counter in COUNTERS]
    passed = str(sum(row.count_passed() for row in rows))
    packets = [str(sum(row.packets[which] for row in rows)) for which in (0, 1)]
    return f"| {' | '.join([name, holds, *counts, passed, *packets, result])} |"


def print_totals(rows: Sequence[Row]) -> None:
    """A line for each MPI and variant."""
    for name in dict.fromkeys(f"{row.case.family.name}/{row.case.variant}" for row in rows):
        some = [row for row in rows if f"{row.case.family.name}/{row.case.variant}" == name]
        same = sum(1 for row in some if not row.wrong)
        print(format_rows(f"total {name}", some, f"{same} of {len(some)} the same as stock"))


def judge_holds(case: Case, records: Sequence[RankRecord]) -> str:
    """What is wrong with how memory is held: by protection keys where they are asked for, and where nothing is."""
    holds = {record.hold for record in records}
    is_multiple = case.program.name.startswith("thread_multiple")
    is_by_keys = VARIANTS[case.variant].get("LAPWING_HOLD", "keys") == "keys" and not is_multiple
    if is_by_keys and holds - {"keys"}:
        return f"memory is held by {', '.join(sorted(holds))}"
    return find_undeferred(case, records) if case.variant.startswith("keys") else ""


def judge_case(
    case: Case, network: Network, stock: Run, run: Run, records: Sequence[RankRecord], packets: tuple[int, int]
) -> str:
    """What is wrong; empty when nothing is."""
    wrong = judge_stock(case, stock)
    if not wrong and not is_mixed_output(run.lines, stock.lines):
        wrong = judge_lapwing(case, stock, run)
    if wrong:
        return f"{wrong} {(stock if wrong.startswith('stock') else run).errors[-1500:]}"
    if is_plainly_ok(case, run) and len(records) < case.ranks:
        return f"{len(records)} of {case.ranks} ranks left a record"
    if network.is_rdma and min(packets) < PACKETS_LEAST:
        return "no message went through the devices"
    return judge_holds(case, records)


def run_stock(bench: Bench, case: Case) -> Run:
    """Run one case stock, again where it fails: over these devices stock MPICH 5.0 crashes now and then."""
    for _ in range(STOCK_TRIES - 1):
        stock = bench.run_stock_again(case)
        if stock.exit_code == SKIP or not judge_stock(case, stock):
            return stock
        print(f"again {case.name}: {judge_stock(case, stock)}", flush=True)
    return bench.run_stock_again(case)


def run_case(bench: Bench, network: Network, case: Case) -> Row | None:
    """Run one case, stock and under Lapwing; None where stock skips it."""
    begin = count_packets()
    stock = run_stock(bench, case)
    middle = count_packets()
    if stock.exit_code == SKIP:
        return None
    with tempfile.TemporaryDirectory() as folder:
        run = bench.run(case, Path(folder))
        records = read_records(Path(folder))
    packets = (middle - begin, count_packets() - middle)
    return Row(case, judge_case(case, network, stock, run, records, packets), records, packets)


def run_cases(bench: Bench, network: Network, cases: Sequence[Case]) -> bool:
    """Run all, and print the table; True when nothing was wrong."""
    print(TITLES)
    rows = []
    for case in cases:
        row = run_case(bench, network, case)
        if row is None:
            print(f"skip {case.name}", flush=True)
            continue
        print(format_rows(case.name, [row], row.wrong or "same as stock"), flush=True)
        rows.append(row)
    print_totals(rows)
    return bool(rows) and not any(row.wrong for row in rows) and have_events(rows)


def have_events(rows: Sequence[Row]) -> bool:
    """Whether UCX told of events, if it was to: in all programs together, since some give it no time."""
    events = sum(row.count("engine_ucx_wakeups") for row in rows if row.case.variant.startswith("event"))
    is_asked = any(row.case.variant.startswith("event") for row in rows)
    if is_asked:
        print(f"{events} events of UCX")
    return events > 0 or not is_asked


def run_fuzz(folder: Path, part: Part, network: Network) -> bool:
    """Run random programs; True when all were as with stock.

    Where no launcher is found by PATH all ranks share a device.
    """
    before = count_packets()
    environment = {**os.environ, **network.settings}
    result = subprocess.run(fuzz_command(folder, part, network.family, FAILURES), env=environment)
    print(f"{count_packets() - before} packets", flush=True)
    for path in FAILURES.glob("*"):
        print(path.read_text())
    return result.returncode == 0 and count_packets() > before


def run_doctor(family: Family) -> bool:
    """Let `lapwing doctor` look at a job over the devices; True when it names them, and how memory is held."""
    words = ("doctor", "--json", "-", str(family.launcher), "-n", "2")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "LAPWING_PRELOAD": str(PRELOAD)}
    result = subprocess.run([sys.executable, "-m", "lapwing", *words], env=environment, capture_output=True, text=True)
    is_told = "/dev/infiniband/uverbs" in result.stdout and "memory is held where it is" in result.stdout
    is_well = is_told and result.returncode in (0, 1)
    outcome = "names the devices" if is_well else f"FAILED, {result.stdout} {result.stderr}"
    print(f"doctor {family.name}: {outcome}", flush=True)
    return is_well


def run_unit(program: Path, backend: str) -> bool:
    """Run a unit test of src/protect; True when it passed."""
    result = subprocess.run(["timeout", "300", program, backend], capture_output=True, text=True)
    word = {0: "passed", SKIP: "skipped"}.get(result.returncode, f"FAILED, exit code {result.returncode}")
    print(f"{program.name} {backend}: {word} {result.stdout}{result.stderr}".strip(), flush=True)
    return result.returncode in (0, SKIP)


def run_units(backend: str) -> bool:
    """Run them all; True when none failed, and some ran."""
    programs = [path for path in sorted(UNITS.glob("protect_*")) if path.is_file() and path.name not in TIMED]
    outcomes = [run_unit(program, backend) for program in programs]
    return bool(outcomes) and all(outcomes)


def run_part(folder: Path, part: Part) -> int:
    """Everything of a part."""
    outcomes = [run_units(part.units)] if part.units else []
    for network, family in list_networks(part):
        with tempfile.TemporaryDirectory() as place:
            wrapped = wrap_launcher(Path(place), family, network.settings)
            if part.has_doctor:
                outcomes.append(run_doctor(wrapped))
            if part.programs:
                outcomes.append(run_cases(make_bench(folder, part), network, list_part_cases(part, network, wrapped)))
            if part.fuzz:
                outcomes.append(run_fuzz(folder, part, network))
    is_well = bool(outcomes) and all(outcomes)
    print("rdma: all passed" if is_well else "rdma: something failed")
    return 0 if is_well else 1


def main() -> int:
    """Compile or run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compile", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", choices=PARTS)
    arguments = parser.parse_args()
    do = compile_part if arguments.what == "compile" else run_part
    return do(arguments.folder, PARTS[arguments.part])


if __name__ == "__main__":
    sys.exit(main())
