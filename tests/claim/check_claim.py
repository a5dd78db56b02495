# SPDX-License-Identifier: MIT
"""The product's claims, on two emulated hosts and over shared memory.

Under Lapwing an unchanged solver ends sooner, with the same result: the demo, with work as long as the messages, and
with half as much: there both ways of the connection must be used at once (1.02 when they were not). A program that
waits for a send at once does not wait for a late receiver, nor, where waits for receives may return early, for a late
sender; with early receives neither does one in MPI_Send, whose receiver then finds its data when it comes. A blocking
collective goes on beside work, too, and the first page of a large one can be used soon: after 0.07 of the transfer
with a short first piece, after 0.125 with a full one. That bound lies between the two. Messages that cross on Open
MPI travel at once, also where one rank hears of its peer's before it begins its own: both take as long as one, not
twice. Over shared memory, too, a call returns before its message is copied: the program waits for a small part of the
time that an exchange takes, where MPI alone copies all of it in the call. A rank that is late for MPI_Finalize does not
let the job hang there on MPICH, which stock MPICH 4.0 does. Where UCX carries the messages, and is asked for events,
the engine sleeps until a late message comes, and then receives it at once. The others are far below what a quiet
machine shows (1.5 and more; 0.1 and less), so that a noisy one does not fail.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/mpi")]

from families import Family, list_families  # noqa: E402

from lapwing.errors import LabError  # noqa: E402
from lapwing.lab.network import choose_prefix  # noqa: E402

LAPWING = ROOT / ".venv/bin/lapwing"
SPEEDUP_LEAST = 1.15
LATE_MOST = 0.5
FIRST_PAGE_MOST = 0.115
CROSSING_MOST = 1.6
SHARED_MOST = 0.5
ATTEMPTS = 2
END_MOST_S = 30
WOKEN_ROUNDS = 15  # of woken.c
SKIP = 77


def judge_demo(result: dict[str, Any]) -> str:
    """What is wrong with a demo; empty when nothing is."""
    checksums, speedup = result["checksums"], result["speedup"]
    if len(checksums) != 1:
        return f"wrong: checksums differ: {checksums}"
    return "" if speedup >= SPEEDUP_LEAST else f"speedup {speedup} is below {SPEEDUP_LEAST}"


def spent_us(times: dict[str, Any], call: str) -> float:
    """Time in a call and at the first touch of its buffer."""
    return float(times[f"{call}_us"]["median"] + times[f"{call}_touch_us"]["median"])


def judge_collective(result: dict[str, Any]) -> str:
    """What is wrong with a blocking collective beside work that does not need its data; empty when nothing is."""
    row = next(row for row in result["results"] if row["shape"] == "apart")
    speedup = row["contenders"]["lapwing"]["speedup"]
    return "" if speedup >= SPEEDUP_LEAST else f"speedup {speedup} is below {SPEEDUP_LEAST}"


def judge_first_page(result: dict[str, Any]) -> str:
    """What is wrong with when the first page of a collective could be used; empty when nothing is."""
    row = next(row for row in result["results"] if row["shape"] == "in_order")
    share = row["contenders"]["lapwing"]["first_page_share"]
    return "" if share <= FIRST_PAGE_MOST else f"the first page is there after {share:.3f} of the transfer"


def judge_crossing(result: dict[str, Any]) -> str:
    """What is wrong with how long two messages take that cross; empty when nothing is."""
    ratio = result["crossing"]
    return "" if ratio <= CROSSING_MOST else f"two messages that cross take {ratio} times as long as one"


def judge_shared(result: dict[str, Any]) -> str:
    """What is wrong with what an exchange over shared memory takes that is needed late; empty when nothing is."""
    ratio = result["shared"]
    return "" if ratio <= SHARED_MOST else f"an exchange that is needed late takes {ratio} of one needed at once"


# Whose time for which call must be well below whose. A send to a late receiver returns early from a copy, too, where
# its buffer lies among others in the heap: that receive is compared with Lapwing's own without early receives.
LATE = (
    ("early auto", "send_late", "stock"),
    ("early auto", "recv_arrived", "lapwing auto"),
    ("lapwing auto", "isend_late", "stock"),
    ("lapwing auto", "irecv_late", "stock"),
)


def judge_late(result: dict[str, Any]) -> str:
    """What is wrong with messages of which one side is late; empty when nothing is."""
    contenders = result["results"][0]["contenders"].items()
    for name, call, beside in LATE:
        times, others = (next(times for who, times in contenders if who.startswith(part)) for part in (name, beside))
        ratio = spent_us(times, call) / spent_us(others, call)
        if ratio > LATE_MOST:
            return f"{call} of {name} takes {ratio:.2f} of its time with {beside}: above {LATE_MOST}"
    return ""


@dataclass(frozen=True)
class Claim:
    """A measurement, and who says whether it shows what it should."""

    words: Sequence[str]
    judge: Callable[[dict[str, Any]], str]


DEMO = ("demo", "--rounds", "2", "--steps", "20")
SENDTIME = ("bench", "sendtime", "--sizes", "256KiB", "--repetitions", "9", "--rounds", "1", "--receive-waits", "on")
COLLECTIVE = ("bench", "collective", "--functions", "alltoall", "--sizes", "2MiB", "--repetitions", "7")
FIRST_PAGE = ("bench", "collective", "--functions", "bcast", "--sizes", "32MiB", "--repetitions", "5", "--learn", "off")
CLAIMS = (
    Claim(DEMO, judge_demo),
    Claim((*DEMO, "--planes", "30"), judge_demo),
    Claim(SENDTIME, judge_late),
    Claim((*COLLECTIVE, "--rounds", "2", "--warm-up", "12"), judge_collective),
    Claim((*FIRST_PAGE, "--compute", "1000", "--rate", "1gbit", "--rounds", "1"), judge_first_page),
)


def find_family(name: str, purpose: str) -> Family | None:
    """An MPI that a program of this folder needs; None, and why, where it is not there."""
    family = next(family for family in list_families(ROOT / "build/wheel") if family.name == name)
    if family.missing:
        print(f"skip {purpose}: {family.missing}")
        return None
    return family


def compile_program(family: Family, name: str, folder: Path) -> Path:
    """Compile a program of this folder."""
    program = folder / name
    source = ROOT / f"tests/claim/{name}.c"
    subprocess.run([str(family.compiler), "-O2", str(source), "-o", str(program)], check=True)
    os.environ.update(family.environment)
    return program


def make_program(family: Family, name: str, folder: Path, start: Sequence[str] = ("run", "--quiet")) -> Sequence[str]:
    """Compile a program of this folder; the words that start it on two emulated hosts."""
    program = compile_program(family, name, folder)
    return ("lab", "--rate", "1gbit", "--", str(LAPWING), *start, *family.command(2, {}, [str(program)]))


def list_crossing(folder: Path) -> list[Claim]:
    """The claim about messages that cross: a program of its own, where Debian's Open MPI is there."""
    family = find_family("openmpi4", "messages that cross")
    return [Claim(make_program(family, "crossing", folder), judge_crossing)] if family else []


def list_shared(folder: Path) -> list[Claim]:
    """The claim about shared memory; the engines have both cores, beside ranks that sleep."""
    family = find_family("openmpi4", "messages over shared memory")
    if family is None:
        return []
    line = family.command(2, {}, [str(compile_program(family, "shared", folder))])
    return [Claim(("run", "--quiet", "--engine-cores", "0-1", "--learn", "off", *line), judge_shared)]


def check_end(folder: Path) -> bool:
    """Tell whether a job of MPICH's ends, run and profiled, although a rank is late for MPI_Finalize."""
    family = find_family("mpich4", "a rank that is late for MPI_Finalize")
    if family is None:
        return True
    profile = ("profile", "--output", str(folder / "profile.json"))
    lines = [make_program(family, "leaves", folder), make_program(family, "leaves", folder, profile)]
    outcomes = [does_end(words) for words in lines]
    return all(outcomes)


def does_end(words: Sequence[str]) -> bool:
    """Run; tell whether the job ends as it should."""
    try:
        result = subprocess.run([str(LAPWING), *words], timeout=END_MOST_S).returncode
    except subprocess.TimeoutExpired:
        result = None
    print("the claim holds" if result == 0 else f"FAIL {' '.join(words)}: exit code {result}")
    return result == 0


# UCX through shared memory, by a transport that can tell of events.
UCX = {
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any",
    "OMPI_MCA_pml_ucx_devices": "any",
    "UCX_TLS": "posix,self",
}


def judge_woken(program: dict[str, float], summary: dict[str, Any]) -> str:
    """What is wrong with how an engine waited for events of UCX's; empty when nothing is.

    It polls once ops have ended twice without an event.
    """
    if summary["progress"] != ["event"]:
        return f"progress {summary['progress']} instead of event"
    if summary["counters"]["engine_guard_wakeups"] < WOKEN_ROUNDS:
        return "the engine did not sleep until late messages came"
    if summary["counters"]["engine_ucx_wakeups"] < WOKEN_ROUNDS:
        return "UCX did not tell of all late messages"
    ratio = program["late_s"] / program["at_once_s"]
    return "" if ratio <= LATE_MOST else f"a message that came long ago takes {ratio:.2f} of one needed at once"


def run_woken(line: Sequence[str], output: Path) -> str:
    """Run; tell what is wrong."""
    words = ["run", "--quiet", "--learn", "off", "--progress", "event", "--json", str(output), *line]
    try:
        run = subprocess.run([str(LAPWING), *words], stdout=subprocess.PIPE, text=True, timeout=END_MOST_S)
    except subprocess.TimeoutExpired:
        return "it hangs"
    if run.returncode:
        return f"exit code {run.returncode}"
    return judge_woken(json.loads(run.stdout), json.loads(output.read_text()))


def check_woken(folder: Path) -> bool:
    """Tell whether events of UCX's wake an engine that is asked to go by them."""
    family = find_family("openmpi4", "events of UCX")
    if family is None:
        return True
    line = family.command(2, UCX, [str(compile_program(family, "woken", folder))])
    wrong = run_woken(line, folder / "woken.json") and run_woken(line, folder / "woken-again.json")
    print(f"FAIL woken.c by events of UCX: {wrong}" if wrong else "the claim holds")
    return not wrong


def measure(claim: Claim, output: Path) -> str:
    """Run; tell what is wrong."""
    run = subprocess.run([str(LAPWING), *claim.words, "--output", str(output)], capture_output=True, text=True)
    print(run.stdout, run.stderr, sep="")
    if not output.exists():
        return f"exit code {run.returncode}"
    try:
        return claim.judge(json.loads(output.read_text()))
    except (StopIteration, KeyError) as error:
        return f"somebody was not measured: {error!r}"


def check(claim: Claim) -> bool:
    """Measure, once more when the first time is too slow; tell whether the claim holds."""
    wrong = "no attempt"
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as folder:
            wrong = measure(claim, Path(folder) / "result.json")
        if not wrong or wrong.startswith("wrong"):
            break
    print(f"FAIL {' '.join(claim.words)}: {wrong}" if wrong else "the claim holds")
    return not wrong


def main() -> int:
    """Check every claim; 1 when one does not hold, 77 where no emulated hosts can be built."""
    try:
        choose_prefix()
    except LabError as error:
        print(f"no emulated hosts here: {error}")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        outcomes = [check(claim) for claim in (*CLAIMS, *list_crossing(Path(folder)), *list_shared(Path(folder)))]
        outcomes += [check_end(Path(folder)), check_woken(Path(folder))]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
