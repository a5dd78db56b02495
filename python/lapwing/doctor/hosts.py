# SPDX-License-Identifier: MIT
"""Asks this host, or all hosts of a launcher's line, and puts the answers together."""

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lapwing.configuration.document import read_documents
from lapwing.configuration.settings import SELECTING, collect_options, list_program_variables, list_rank_variables
from lapwing.doctor.ask import ENDING, HOST_LIMIT_S, LOCAL_SIZES, MARK, find_number
from lapwing.doctor.cores import judge_cores, read_cores
from lapwing.doctor.document import decode_diagnosis
from lapwing.doctor.finding import Diagnosis, Finding, HostReport, Level, diagnose
from lapwing.doctor.kernel import AUTO, KernelFacts, expect_hold, judge_kernel, read_kernel
from lapwing.doctor.limits import judge_limits, read_limits
from lapwing.doctor.mpi import (
    Answer,
    choose_libraries,
    find_libraries,
    judge_answer,
    judge_libraries,
    judge_variables,
    make_answer,
)
from lapwing.doctor.network import judge_devices, read_devices
from lapwing.doctor.preload import judge_preload, read_preload
from lapwing.doctor.records import judge_records
from lapwing.errors import LapwingError, RecordError, find_cause
from lapwing.files import find_preload
from lapwing.launch.job import JobResult, Supervision, open_record_folder
from lapwing.launch.launchers import find_launcher
from lapwing.launch.start import Command, make_variables
from lapwing.profile.record import RankRecord, read_folder

HOLD_VARIABLE = "LAPWING_HOLD"
FOR_HOST = "LAPWING_DOCTOR_HOST"  # in the environment of ranks, of which the first of a host judges it
LAUNCHER = "launcher"
LAUNCHERS = ("mpirun", "mpiexec", "srun")
ALONE_LIMIT_S = 60.0
JOB_LIMIT_S = 300.0
BEGIN_LIMIT_S = 60.0  # of a launcher until its first rank begins, and says so
QUEUES = ("srun",)  # launchers that may wait for hosts to be free
ASK = Path(__file__).with_name("ask.py")


def judge_here(kernel: KernelFacts) -> list[Finding]:
    """Judge this host, but for what only a process of an MPI can tell."""
    devices = read_devices()
    return [
        *judge_preload(read_preload()),
        *judge_kernel(kernel),
        *judge_limits(read_limits(), bool(devices.rdma)),
        *judge_cores(read_cores(find_number(LOCAL_SIZES) or 0)),
        *judge_devices(devices),
        *judge_variables(),
        *judge_records(read_documents()),
    ]


def describe_selection() -> list[Finding]:
    """Say which ranks are to run without Lapwing."""
    chosen = {**list_rank_variables(os.environ, read_documents()), **list_program_variables(os.environ, [])}
    text = "{}={} keeps Lapwing out of some ranks of a job; doctor judges them all the same"
    return [Finding("preload", Level.NOTE, text.format(name, ranks)) for name, ranks in chosen.items()]


def make_judged(preload: Path, folder: Path) -> dict[str, str]:
    """Return the variables of ranks that are to be judged, whichever are chosen to run without Lapwing."""
    chosen = {name: "" for name in SELECTING if name in os.environ}
    return {**make_variables(collect_options(), preload, folder), **chosen}


def read_answers(folder: Path) -> list[tuple[Answer, RankRecord | None]]:
    """Return the answers, each with what the preload wrote in the same process."""
    records = {(record.host, record.pid): record for record in read_folder(folder, {}).ranks}
    answers = [make_answer(json.loads(path.read_text("utf-8"))) for path in sorted(folder.glob(f"*{ENDING}"))]
    return [(answer, records.get((answer.host, answer.pid))) for answer in answers]


def ask_alone(library: Path, preload: Path, expected: str) -> list[Finding]:
    """Begin MPI with one library, in a process without a launcher."""
    with open_record_folder() as folder:
        environment = {**os.environ, **make_judged(preload, folder)}
        command = [sys.executable, str(ASK), str(library)]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, errors="replace", timeout=ALONE_LIMIT_S, cwd=folder
            )
            last = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            last = f"no answer within {ALONE_LIMIT_S:.0f} s"
        answers = read_answers(folder) or [(Answer(socket.gethostname(), 0, str(library), last, ""), None)]
        return [finding for answer, record in answers for finding in judge_answer(answer, record, expected, True)]


def describe_launchers() -> list[Finding]:
    """Say which launchers stand on PATH."""
    findings = []
    for name in (name for name in LAUNCHERS if shutil.which(name)):
        try:
            kind = find_launcher(name)
            findings.append(Finding(LAUNCHER, Level.WELL, f"{name} is {kind.path}, of the kind {kind.name}"))
        except LapwingError as error:
            findings.append(Finding(LAUNCHER, Level.NOTE, error.message, error.remedy))
    return findings


def diagnose_here(asks_mpi: bool) -> Diagnosis:
    """Judge this host. asks_mpi: also begin MPI with each library that is found."""
    kernel = read_kernel(collect_options().get(HOLD_VARIABLE, AUTO))
    findings = [*judge_here(kernel), *([] if FOR_HOST in os.environ else describe_selection())]
    has_preload = all(finding.level != Level.FAILS for finding in findings)
    if asks_mpi:
        libraries = find_libraries(filter(None, map(shutil.which, LAUNCHERS)))
        findings += [*describe_launchers(), *judge_libraries(libraries)]
        for library in libraries if has_preload else []:
            findings += ask_alone(library, find_preload(), expect_hold(kernel))
    return diagnose([HostReport(socket.gethostname(), expect_hold(kernel), tuple(findings))])


def refuse_host(host: str, cause: str) -> HostReport:
    """Say that nothing is known of a host's kernel, not even a hold."""
    remedy = "is Lapwing installed there, in the same place? does `lapwing doctor --here` say more there?"
    return HostReport(host, "", (Finding("host", Level.FAILS, f"{host} cannot be judged: {cause}", remedy),))


def read_report(text: str, host: str) -> HostReport:
    """Read what `lapwing doctor --here` said on another host."""
    if not text.startswith("{"):
        return refuse_host(host, find_cause(text))
    try:
        return decode_diagnosis(text, f"what {host} said").hosts[0]
    except (RecordError, IndexError) as error:
        return refuse_host(host, str(error))


def choose_report(host: str, answers: Sequence[Answer]) -> HostReport:
    """Return the report that one of a host's ranks has of it."""
    said = next((answer.report for answer in answers if answer.report), "")
    if said:
        return read_report(said, host)
    if answers:
        return refuse_host(host, "none of the answers is of its first rank")
    return HostReport(host, "", ())


def judge_host(host: str, answers: Sequence[tuple[Answer, RankRecord | None]], started_count: int) -> HostReport:
    """Put the answers of one host's ranks together; what several ranks say alike is said once."""
    report = choose_report(host, [answer for answer, _ in answers])
    findings = list(report.findings)
    for answer, record in answers:
        findings += judge_answer(answer, record, report.hold, False)
    if len(answers) < started_count:
        text = f"{len(answers)} of {started_count} ranks left an answer in the current folder"
        remedy = "does this host see the folder, with room on its disk? does MPI begin there without Lapwing?"
        findings.append(Finding("host", Level.FAILS, text, remedy))
    return HostReport(host, report.hold or "none", tuple(dict.fromkeys(findings)))


def judge_hosts(answers: Sequence[tuple[Answer, RankRecord | None]], started: Mapping[str, int]) -> list[HostReport]:
    """Judge each host that has begun a rank, or answered."""
    hosts = sorted({answer.host for answer, _ in answers} | set(started))
    return [judge_host(host, [row for row in answers if row[0].host == host], started.get(host, 0)) for host in hosts]


def count_started(output: str) -> dict[str, int]:
    """Return how many ranks began on each host, by the lines that they printed."""
    counts: dict[str, int] = {}
    for line in output.splitlines():
        words = line[line.find(MARK) :].split() if MARK in line else []
        if len(words) >= 2:
            counts[words[1]] = counts.get(words[1], 0) + 1
    return counts


def speaks_pmi2(line: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Say whether a line of srun starts ranks by PMI-2: its own option comes before the environment."""
    own = [word for word in line if word.startswith("--mpi=") or word == "--mpi"]
    if own:
        return any(word in ("pmi2", "--mpi=pmi2") for word in line)
    return environment.get("SLURM_MPI_TYPE") == "pmi2"


def choose_for_line(
    found: Sequence[Path], launcher: str, line: Sequence[str], environment: Mapping[str, str] = os.environ
) -> list[Path]:
    """Return the libraries that a launcher's line may be for.

    srun starts ranks of any MPI; PMI-2 is for MPICH and its kin, since most builds of Open MPI speak PMIx alone.
    """
    is_pmi2 = launcher == "srun" and speaks_pmi2(line, environment)
    return (choose_libraries(found, "hydra") if is_pmi2 else []) or choose_libraries(found, launcher)


def explain_silence(line: Sequence[str], result: JobResult, said: str) -> LapwingError:
    """Say that a launcher's line has begun no rank. said: its errors."""
    if not result.is_late:
        cause = f"no rank began (exit code {result.exit_code}): {find_cause(said)}"
        return LapwingError(cause, "try the line with `hostname`")
    words = f" ({find_cause(said)})" if said.strip() else ""
    cause = f"no rank began in time{words}: {shlex.join(line)}"
    return LapwingError(cause, "try the line with `hostname`; under a batch system, start doctor inside a job")


def diagnose_line(line: Sequence[str]) -> Diagnosis:
    """Judge all hosts of a launcher's line without a program."""
    launcher = find_launcher(line[0])
    programs = launcher.find_programs(line[1:]) if launcher.name != "direct" else [line[0]]
    if programs:
        raise LapwingError(f"{programs[0]} is a program", "give the launcher's line without a program: mpirun -n 2")
    chosen = tuple(describe_selection())
    libraries = choose_for_line(find_libraries([launcher.path]), launcher.name, line)
    with open_record_folder() as folder:
        words = [*line, sys.executable, str(ASK), *(str(path) for path in libraries)]
        variables = {**make_judged(find_preload(), folder), FOR_HOST: "1"}
        output, errors = folder / "output", folder / "errors"
        limit_s = JOB_LIMIT_S + HOST_LIMIT_S
        silent_limit_s = limit_s if launcher.name in QUEUES else BEGIN_LIMIT_S
        supervision = Supervision(output, errors, limit_s=limit_s, silent_limit_s=silent_limit_s)
        result = Command(words, launcher).start(variables, supervision)
        reports = judge_hosts(read_answers(folder), count_started(output.read_text(errors="replace")))
        if not reports:
            raise explain_silence(line, result, errors.read_text(errors="replace"))
    return diagnose(replace(report, findings=report.findings + chosen) for report in reports)
