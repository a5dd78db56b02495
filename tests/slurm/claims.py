# SPDX-License-Identifier: MIT
"""What Lapwing claims of Slurm, each with its check: in the cluster that cluster.sh makes.

A claim is a shell line, or a batch script, with `LAPWING` where `lapwing run` stands, and nothing in the stock run.
Both runs must end with the same exit code, which the claim names, and print the same, but for one thing: whether
Lapwing is in a rank.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = ROOT / ".venv/bin"
TIMEOUT_S = 120.0
END_S = 30.0  # for the processes of a job that is over
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,tcp",
    "OMPI_MCA_btl_tcp_if_include": "10.77.1.0/24",
    "OMPI_MCA_oob_tcp_if_include": "10.77.1.0/24",
    "PATH": f"{BIN}:{os.environ['PATH']}",
}
START_S = 60.0  # for the jobs of submit_all
DEFAULT_ON = 'eval "$(lapwing config --environment)"'


class ClaimError(Exception):
    """Why a claim cannot be checked further."""


@dataclass(frozen=True)
class Mpi:
    """An MPI library and its way to start under Slurm."""

    name: str
    pmi: str
    library: str  # the file's name begins so

    @property
    def srun(self) -> str:
        """How srun starts two ranks on two nodes."""
        return f"srun --mpi={self.pmi} -N2 -n2"

    @property
    def mpirun(self) -> str:
        """How its own launcher does."""
        return f"mpirun.{self.name} -n 2"


MPIS = (Mpi("openmpi", "pmix", "libmpi.so"), Mpi("mpich", "pmi2", "libmpich.so"))


@dataclass(frozen=True)
class Result:
    """How a run ended, and what it printed."""

    code: int
    text: str

    @property
    def ranks(self) -> list[str]:
        """What the ranks said, in their order."""
        return sorted(line for line in self.text.splitlines() if line.startswith("rank "))

    @property
    def summaries(self) -> list[str]:
        """The first lines of Lapwing's summaries."""
        return [line for line in self.text.splitlines() if line.startswith("lapwing: ") and "ranks reporting" in line]


@dataclass(frozen=True)
class Claim:
    """One claim. sbatch: its options, where `line` is a batch script; None: a line for the shell."""

    name: str
    line: str
    sbatch: str | None = None
    code: int = 0
    ranks: int = 2
    is_in: bool = True  # is Lapwing in the ranks?
    summaries: int = 1
    marks: str = "there"  # what ranks see of the variable MARK
    before: str = ""  # for the shell that starts all, in the run with Lapwing
    variables: Mapping[str, str] = field(default_factory=dict)


def run_shell(line: str, folder: Path, variables: Mapping[str, str]) -> Result:
    """Run a line; what does not end counts as code 124."""
    environment = {**os.environ, **SETTINGS, "MARK": "there", **variables}
    done = subprocess.run(
        ["timeout", "-k", "5", str(TIMEOUT_S), "bash", "-c", line],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )  # fmt: skip
    return Result(done.returncode, done.stdout)


def write_script(path: Path, line: str) -> None:
    """Write a batch script. A job that gets no variables must find what it needs."""
    settings = "".join(f"export {name}='{value}'\n" for name, value in SETTINGS.items())
    path.write_text(f"#!/bin/bash\n{settings}{line}\n")


def read_output(path: Path) -> str:
    """What a job has written so far; nothing before it begins."""
    return path.read_text(errors="replace") if path.exists() else ""


def run_line(claim: Claim, line: str, before: str, folder: Path) -> Result:
    """Run a claim's line as it says."""
    if claim.sbatch is None:
        return run_shell(f"{before}\n{line}", folder, claim.variables)
    write_script(folder / "job.sh", line)
    (folder / "out").unlink(missing_ok=True)
    submitted = f"{before}\nsbatch --wait --quiet -N2 -n2 --output=out {claim.sbatch} job.sh"
    result = run_shell(submitted, folder, claim.variables)
    return Result(result.code, result.text + read_output(folder / "out"))


def judge_ranks(claim: Claim, result: Result, is_in: bool) -> str:
    """What is wrong with one run; empty when nothing is."""
    if result.code != claim.code:
        return f"exit code {result.code} instead of {claim.code}"
    if len(result.ranks) != claim.ranks:
        return f"{len(result.ranks)} of {claim.ranks} ranks said something"
    there = "in" if is_in else "out"
    wrong = [line for line in result.ranks if not line.endswith(f"Lapwing {there}, mark {claim.marks}")]
    return f"not {there}, or another mark: {wrong[0]}" if wrong else ""


def forget_lapwing(lines: Sequence[str]) -> list[str]:
    """What ranks said, without whether Lapwing is in them, and whichever nodes Slurm gave them.

    A node of a job that has just ended is not free at once: the next job gets another one.
    """
    said = [re.sub("Lapwing (in|out)", "", line) for line in lines]
    nodes = list(dict.fromkeys(re.findall(r"\bnode\d\b", "\n".join(said))))
    return [re.sub(r"\bnode\d\b", lambda found: f"node {nodes.index(found[0])}", line) for line in said]


def judge_claim(claim: Claim, folder: Path) -> str:
    """Run a claim stock and with Lapwing; says what is wrong."""
    stock = run_line(claim, claim.line.replace("LAPWING ", ""), "", folder)
    wrong = judge_ranks(claim, stock, is_in=False)
    if wrong:
        return f"stock: {wrong}\n{stock.text[-1500:]}"
    run = run_line(claim, claim.line.replace("LAPWING", "lapwing run"), claim.before, folder)
    wrong = judge_ranks(claim, run, claim.is_in)
    if not wrong and forget_lapwing(run.ranks) != forget_lapwing(stock.ranks):
        wrong = "the ranks said something else than with stock"
    if not wrong and len(run.summaries) != claim.summaries:
        wrong = f"{len(run.summaries)} summaries instead of {claim.summaries}"
    return f"{wrong}\n{run.text[-1500:]}" if wrong else ""


def list_of_mpi(mpi: Mpi, folder: Path) -> Iterator[Claim]:
    """The claims of one MPI."""
    program = f"{folder}/exchange.{mpi.name}"
    srun = f"LAPWING {mpi.srun} {program}"
    mpirun = f"LAPWING {mpi.mpirun} {program}"
    none = "srun --export=NONE"
    yield Claim(f"{mpi.pmi}: lapwing run srun", srun)
    yield Claim(f"{mpi.pmi}: exit code 3 of srun", f"{srun} 3", code=3)
    yield Claim(f"{mpi.pmi}: four ranks on two nodes", srun.replace("-n2", "-n4"), ranks=4)
    yield Claim(f"{mpi.pmi}: {none}", srun.replace("srun", none), marks="none")
    yield Claim(f"{mpi.pmi}: srun --export=MARK=other", srun.replace("srun", "srun --export=MARK=other"), marks="other")
    yield Claim(f"{mpi.pmi}: SLURM_EXPORT_ENV=NONE", srun, marks="none", variables={"SLURM_EXPORT_ENV": "NONE"})
    yield Claim(f"{mpi.pmi}: LAPWING=off", srun, is_in=False, summaries=0, variables={"LAPWING": "off"})
    yield Claim(f"{mpi.pmi}: srun in sbatch", srun, sbatch="")
    yield Claim(f"{mpi.pmi}: exit code 3 of srun in sbatch", f"{srun} 3", sbatch="", code=3)
    yield Claim(f"{mpi.pmi}: srun in sbatch --export=NONE", srun, sbatch="--export=NONE", marks="none")
    yield Claim(f"{mpi.name}: mpirun in sbatch", mpirun, sbatch="")
    yield Claim(f"{mpi.name}: exit code 3 of mpirun in sbatch", f"{mpirun} 3", sbatch="", code=3)
    # Both launchers start their daemons by srun, which must hand on what the script has: without Lapwing, too.
    exported = f"export SLURM_EXPORT_ENV=ALL; {mpirun}"
    yield Claim(f"{mpi.name}: mpirun in sbatch --export=NONE", exported, sbatch="--export=NONE", marks="none")
    yield Claim(f"{mpi.name}: mpirun in salloc", f"salloc --quiet -N2 -n2 {mpirun}")
    plain = f"{mpi.srun} {program}"
    yield Claim(f"{mpi.pmi}: on by default, srun", plain, before=DEFAULT_ON, summaries=0)
    yield Claim(f"{mpi.pmi}: on by default, srun in sbatch", plain, sbatch="", before=DEFAULT_ON, summaries=0)
    yield Claim(f"{mpi.name}: on by default, mpirun in sbatch", f"{mpi.mpirun} {program}", sbatch="",
                before=DEFAULT_ON, summaries=0)  # fmt: skip
    yield Claim(f"{mpi.pmi}: on by default, srun in sbatch --export=NONE: not in", plain, sbatch="--export=NONE",
                before=DEFAULT_ON, summaries=0, is_in=False, marks="none")  # fmt: skip


# Special claims: what they do does not fit one line. Each returns what is wrong.


def claim_steps(mpi: Mpi, folder: Path) -> str:
    """Of two steps at the same time in one job, one is under Lapwing."""
    program = f"{folder}/exchange.{mpi.name}"
    line = f"lapwing run {mpi.srun} --overlap {program} 0 2 & {mpi.srun} --overlap {program} 0 2 & wait"
    write_script(folder / "job.sh", line)
    (folder / "out").unlink(missing_ok=True)
    result = run_shell("sbatch --wait --quiet -N2 -n4 --output=out job.sh", folder, {})
    ranks = Result(0, read_output(folder / "out")).ranks
    ends = sorted(line.split("Lapwing ")[1].split(",")[0] for line in ranks)
    return "" if result.code == 0 and ends == ["in", "in", "out", "out"] else f"code {result.code}, {ranks}"


def claim_steps_by_default(mpi: Mpi, folder: Path) -> str:
    """Where it is on by default, it is in both of two steps at the same time, and in each job of an array."""
    srun = f"{mpi.srun} --overlap {folder}/exchange.{mpi.name} 0 2"
    write_script(folder / "job.sh", f"{srun} & {srun} & wait")
    line = f"{DEFAULT_ON}\nsbatch --wait --quiet -N2 -n4 --array=0-1 --output=out.%a job.sh"
    result = run_shell(line, folder, {})
    for number in range(2):
        ranks = Result(0, read_output(folder / f"out.{number}")).ranks
        if len(ranks) != 4 or any("Lapwing in," not in line for line in ranks):
            return f"job {number}: {ranks}"
    return "" if result.code == 0 else f"code {result.code}"


def claim_reports_by_default(mpi: Mpi, folder: Path) -> str:
    """Where it is on by default, two steps at the same time are two jobs of a report, each with ranks on two nodes."""
    (folder / "site.toml").write_text(f'[reports]\nfolder = "{folder}/reports"\n')
    srun = f"{mpi.srun} --overlap {folder}/exchange.{mpi.name} 0 2"
    setting = f"export LAPWING_CONFIG={folder}/site.toml\n{DEFAULT_ON}"
    write_script(folder / "job.sh", f"{setting}\n{srun} & {srun} & wait")
    result = run_shell("sbatch --wait --quiet -N2 -n4 --output=out job.sh", folder, {})
    report = run_shell("lapwing report --json reports", folder, {})
    if result.code != 0 or report.code != 0:
        return f"code {result.code}, {report.text}{read_output(folder / 'out')}"
    rows = json.loads(report.text)["jobs"]
    found = [(row["ranks_reporting"], row["ranks_expected"], row["program"]) for row in rows]
    is_told_apart = len({row["launch"] for row in rows}) == 2
    return "" if found == [(2, 2, f"exchange.{mpi.name}")] * 2 and is_told_apart else report.text[:1500]


def claim_array(mpi: Mpi, folder: Path) -> str:
    """Each job of an array keeps a record of its own."""
    program = f"{folder}/exchange.{mpi.name}"
    write_script(folder / "job.sh", f"lapwing run --keep-record $SLURM_ARRAY_TASK_ID.record {mpi.srun} {program}")
    result = run_shell("sbatch --wait --quiet -N2 -n2 --array=0-2 --output=out.%a job.sh", folder, {})
    for number in range(3):
        ranks = Result(0, read_output(folder / f"out.{number}")).ranks
        report = run_shell(f"lapwing report {number}.record", folder, {})
        if len(ranks) != 2 or report.code != 0 or "2 of 2 ranks" not in report.text:
            return f"job {number}: {ranks} {report.text}"
    return "" if result.code == 0 else f"code {result.code}"


def claim_submitted(mpi: Mpi, folder: Path) -> str:
    """`lapwing run sbatch` brings Lapwing to the job, though nobody waits for its records."""
    write_script(folder / "job.sh", f"{mpi.srun} {folder}/exchange.{mpi.name}")
    result = run_shell("lapwing run sbatch -N2 -n2 --output=out job.sh && sleep 1", folder, {})
    said = folder / "out"
    wait_until(lambda: len(Result(0, read_output(said)).ranks) == 2, END_S)
    text = read_output(said)
    is_in = [line for line in Result(0, text).ranks if "Lapwing in" in line]
    return "" if result.code == 0 and len(is_in) == 2 else f"code {result.code}: {result.text}{text[-1500:]}"


def find_state(job: str, folder: Path) -> str:
    """A job's state, as Slurm tells it."""
    text = run_shell(f"scontrol show job {job}", folder, {}).text
    found = re.search(r"JobState=(\w+)", text)
    return found[1] if found else "unknown"


def count_processes(name: str) -> int:
    """Processes of a program, by its file's name."""
    links = Path("/proc").glob("[0-9]*/exe")
    return sum(1 for link in links if link.exists() and link.resolve().name == name)


def wait_until(is_true: Callable[[], bool], seconds: float) -> bool:
    """Look four times a second."""
    end_s = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.25)
    return True


@dataclass(frozen=True)
class Way:
    """How a job is submitted. before: in the shell that submits it; command: before srun; there: is Lapwing in it?"""

    before: str
    command: str
    there: str


WAYS: Mapping[str, Way] = {
    "stock": Way("", "", "out"),
    "lapwing-run": Way("", "lapwing run", "in"),
    "by-default": Way(DEFAULT_ON, "", "in"),
}


def submit(mpi: Mpi, folder: Path, name: str, options: str) -> str:
    """Submit a job whose ranks sleep for minutes, in one of WAYS; its number."""
    program = f"{folder}/exchange.{mpi.name}"
    write_script(folder / f"{name}.sh", f"{WAYS[name].command} {mpi.srun} --overlap {program} 0 300")
    line = f"{WAYS[name].before}\nsbatch --parsable -N2 -n2 {options} --output={name}.out {name}.sh"
    said = run_shell(line, folder, {}).text.strip()
    if not said.isdigit():
        raise ClaimError(f"sbatch: {said}")
    return said


def judge_ended(mpi: Mpi, folder: Path, jobs: Mapping[str, str], state: str, seconds: float) -> str:
    """Do jobs end in this state, with no process left?"""
    for name, job in jobs.items():
        if not wait_until(lambda job=job: find_state(job, folder) == state, seconds):  # type: ignore[misc]
            return f"{name}: {find_state(job, folder)} instead of {state}"
    if not wait_until(lambda: count_processes(f"exchange.{mpi.name}") == 0, END_S):
        return "ranks are left"
    wait_until(lambda: not any(folder.glob(".lapwing-*")), END_S)  # the command ends after its ranks
    left = [path.name for path in folder.glob(".lapwing-*")]
    return f"left behind: {left}" if left else ""


def submit_all(mpi: Mpi, folder: Path, options: str) -> dict[str, str]:
    """The same job in all ways, all running: their ranks have said whether Lapwing is in them."""
    jobs = {name: submit(mpi, folder, name, options) for name in WAYS}
    said = {name: folder / f"{name}.out" for name in jobs}
    wait_until(lambda: all(len(Result(0, read_output(path)).ranks) == 2 for path in said.values()), START_S)
    for name, path in said.items():
        ranks = Result(0, read_output(path)).ranks
        if len(ranks) != 2 or any(f"Lapwing {WAYS[name].there}," not in line for line in ranks):
            raise ClaimError(f"{name} ({jobs[name]}) does not run as it should: {read_output(path)[-1500:]}")
    if count_processes(f"exchange.{mpi.name}") != 2 * len(WAYS):
        raise ClaimError("the ranks do not go on")
    return jobs


def claim_cancelled(mpi: Mpi, folder: Path) -> str:
    """scancel ends a job under Lapwing as it ends one without."""
    jobs = submit_all(mpi, folder, "")
    run_shell(f"scancel {' '.join(jobs.values())}", folder, {})
    return judge_ended(mpi, folder, jobs, "CANCELLED", END_S)


def claim_time_limit(mpi: Mpi, folder: Path) -> str:
    """So does a time limit."""
    return judge_ended(mpi, folder, submit_all(mpi, folder, "--time=1"), "TIMEOUT", 150)


def claim_doctor(mpi: Mpi, folder: Path) -> str:
    """`lapwing doctor srun ...` tells of both nodes, and begins the MPI that this way to start is for."""
    result = run_shell(f"lapwing doctor {mpi.srun}", folder, {})
    named = all(word in result.text for word in ("node1", "node2", mpi.library))
    return "" if result.code in (0, 1) and named else f"code {result.code}: {result.text[-2500:]}"


def read_counters(path: Path, folder: Path) -> Mapping[str, int]:
    """The counters of a kept record, of all ranks together."""
    counters: dict[str, int] = json.loads(run_shell(f"lapwing report --json {path}", folder, {}).text)["counters"]
    return counters


def claim_collectives(mpi: Mpi, folder: Path) -> str:
    """Four ranks on two nodes find that all have the same Lapwing, and their collectives return early."""
    srun = f"{mpi.srun.replace('-n2', '-n4')} {folder}/exchange.{mpi.name}"
    result = run_shell(f"lapwing run --learn off --keep-record all.record {srun}", folder, {})
    counters = read_counters(folder / "all.record", folder)
    is_right = result.code == 0 and counters["whole"] == 4 and counters["ops_collective"] > 0
    return "" if is_right else f"code {result.code}: {counters} {result.text[-1500:]}"


def claim_unlike(mpi: Mpi, folder: Path) -> str:
    """One rank without Lapwing, whichever: no collective returns early, and the job ends as it should."""
    program = f"{folder}/exchange.{mpi.name}"
    for rank in (0, 1, 3):
        line = f'[ "$SLURM_PROCID" = {rank} ] && unset LD_PRELOAD; exec {program}'
        srun = mpi.srun.replace("-n2", "-n4")
        result = run_shell(f"lapwing run --keep-record unlike.record {srun} bash -c '{line}'", folder, {})
        counters = read_counters(folder / "unlike.record", folder)
        if result.code != 0 or len(result.ranks) != 4 or counters["whole"] or counters["ops_collective"]:
            return f"without rank {rank}: code {result.code}: {counters} {result.text[-1500:]}"
    return ""


def claim_bound(mpi: Mpi, folder: Path) -> str:
    """The engine stays where Slurm has bound its rank; it leaves only if it is asked to, and both are shown."""
    srun = f"{mpi.srun} --cpu-bind=map_cpu:0 {folder}/exchange.{mpi.name}"
    for option, engine in (("", "0"), ("--engine-cores auto", "1")):
        result = run_shell(f"lapwing run --show-binding on {option} {srun}", folder, {})
        wanted = {f"lapwing: rank {rank}: program on 0, engine on {engine}" for rank in (0, 1)}
        if result.code != 0 or len(result.ranks) != 2 or not wanted <= set(result.text.splitlines()):
            return f"{option} code {result.code}: {result.text[-1500:]}"
    return ""


def claim_profile(mpi: Mpi, folder: Path) -> str:
    """`lapwing profile srun ...` records all ranks."""
    line = f"lapwing profile --output srun.profile {mpi.srun} {folder}/exchange.{mpi.name}"
    result = run_shell(line, folder, {})
    return "" if result.code == 0 and len(result.ranks) == 2 else f"code {result.code}: {result.text[-1500:]}"


SPECIAL: Mapping[str, Callable[[Mpi, Path], str]] = {
    "two steps at once, one under Lapwing": claim_steps,
    "an array of three jobs, a record each": claim_array,
    "on by default, steps of an array": claim_steps_by_default,
    "on by default, reports of two steps": claim_reports_by_default,
    "lapwing run sbatch": claim_submitted,
    "scancel": claim_cancelled,
    "time limit": claim_time_limit,
    "large collectives return early": claim_collectives,
    "one rank without Lapwing": claim_unlike,
    "srun --cpu-bind, and the engine": claim_bound,
    "lapwing doctor srun": claim_doctor,
    "lapwing profile srun": claim_profile,
}


def list_claims(folder: Path) -> Iterator[tuple[str, Callable[[Path], str]]]:
    """All claims, with their names."""
    for mpi in MPIS:
        for claim in list_of_mpi(mpi, folder):
            yield claim.name, lambda place, claim=claim: judge_claim(claim, place)  # type: ignore[misc]
        for name, check in SPECIAL.items():
            yield f"{mpi.pmi}: {name}", lambda place, check=check, mpi=mpi: check(mpi, place)  # type: ignore[misc]


def main() -> int:
    """Check all claims, or those whose names have one of the words."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="*", help="only claims whose names contain one of these")
    arguments = parser.parse_args()
    counts = {"pass": 0, "FAIL": 0}
    for name, check in list_claims(arguments.folder):
        if arguments.words and not any(word in name for word in arguments.words):
            continue
        with tempfile.TemporaryDirectory(dir=arguments.folder) as place:
            for program in arguments.folder.glob("exchange.*"):
                (Path(place) / program.name).symlink_to(program)
            begin_s = time.monotonic()
            try:
                wrong = check(Path(place))
            except (ClaimError, OSError) as error:
                run_shell("scancel --user=root", arguments.folder, {})
                wrong = str(error)
        result = "FAIL" if wrong else "pass"
        counts[result] += 1
        print(f"{result} {name} ({time.monotonic() - begin_s:.0f} s) {wrong}".rstrip(), flush=True)
    print(f"{counts['pass']} passed, {counts['FAIL']} failed" if any(counts.values()) else "no claim has such a name")
    return 1 if counts["FAIL"] or not counts["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())
