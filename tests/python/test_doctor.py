# SPDX-License-Identifier: MIT
"""What `lapwing doctor` says of a host, and that it agrees with what the preload decides there."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from needs import needs_mpi

from lapwing.configuration.document import Document, Reports
from lapwing.doctor import hosts, system
from lapwing.doctor.ask import find_number, judge_host
from lapwing.doctor.cores import CoreFacts, has_capability, judge_cores
from lapwing.doctor.document import decode_diagnosis, encode_diagnosis, format_doctor_schema
from lapwing.doctor.finding import Finding, HostReport, Level, choose_exit_code, diagnose
from lapwing.doctor.hosts import (
    ASK,
    FOR_HOST,
    choose_for_line,
    count_started,
    diagnose_here,
    diagnose_line,
    judge_hosts,
    read_answers,
)
from lapwing.doctor.kernel import KernelFacts, expect_hold, judge_kernel, read_kernel
from lapwing.doctor.limits import LimitFacts, judge_limits
from lapwing.doctor.mpi import Answer, choose_libraries, find_libraries, judge_answer
from lapwing.doctor.network import judge_devices, judge_opened, read_devices
from lapwing.doctor.preload import PreloadFacts, judge_preload, read_needed_glibc, read_preload, try_load
from lapwing.doctor.records import judge_records
from lapwing.errors import LapwingError
from lapwing.profile.record import RankRecord

ROOT = Path(__file__).parents[2]
KERNEL = KernelFacts("Linux", "x86_64", "6.12", True, True, True, True, True, 0, False)
LIMITS = LimitFacts(-1, 8 << 20, 1024, 65530)
CORES = CoreFacts(4, 4, 2, 0, False)
PRELOAD = PreloadFacts("/p/liblapwing.so", (2, 17), (2, 36), "", (), False)
ANSWER = Answer("h1", 77, "/lib/libmpi.so.40", "", "/p/liblapwing.so")


def list_levels(findings: list[Finding]) -> set[Level]:
    return {finding.level for finding in findings}


@pytest.mark.parametrize(
    ("facts", "hold", "code"),
    [
        (KERNEL, "userfaultfd", 0),
        (replace(KERNEL, faults_full=False), "userfaultfd-user", 1),
        (replace(KERNEL, faults_full=False, faults_user=False), "signal", 1),
        (replace(KERNEL, moves_pages=False), "none", 2),
        (replace(KERNEL, machine="riscv64"), "userfaultfd", 2),
        (replace(KERNEL, queries_mappings=False), "userfaultfd", 1),
        (replace(KERNEL, collapses_pages=False), "userfaultfd", 1),
        (replace(KERNEL, faults_full=False, faults_user=False, kills_who_asks=True), "signal", 2),
        (replace(KERNEL, choice="signal"), "signal", 1),
        (replace(KERNEL, choice="none"), "none", 1),
        (replace(KERNEL, choice="none", moves_pages=False), "none", 2),
        (replace(KERNEL, choice="keys"), "none", 1),
        (replace(KERNEL, choice="keys", key_count=15), "keys", 0),
        (replace(KERNEL, choice="userfaultfd", faults_full=False), "none", 1),
        (replace(KERNEL, choice="userfaultfd-user"), "userfaultfd-user", 1),
    ],
)
def test_kernels(facts: KernelFacts, hold: str, code: int) -> None:
    findings = judge_kernel(facts)
    assert expect_hold(facts) == hold
    assert choose_exit_code(findings) == code
    assert all(finding.remedy for finding in findings if finding.level in (Level.REDUCES, Level.FAILS))


def test_a_filter_is_named_where_userfaultfd_is_refused() -> None:
    findings = judge_kernel(replace(KERNEL, faults_full=False, faults_user=False, is_filtered=True))
    assert any("seccomp" in finding.remedy for finding in findings)


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        (replace(LIMITS, address_space=256 << 20), "address space"),
        (replace(LIMITS, mapping_count=1000), "vm.max_map_count"),
        (replace(LIMITS, descriptors=20), "descriptors"),
    ],
)
def test_low_limits(facts: LimitFacts, word: str) -> None:
    (finding,) = judge_limits(facts, False)
    assert (finding.level, word in finding.text) == (Level.REDUCES, True)
    assert list_levels(judge_limits(LIMITS, False)) == {Level.WELL}


def test_priority_matters_on_shared_cores_only() -> None:
    assert list_levels(judge_cores(CORES)) == {Level.WELL, Level.NOTE}
    assert Level.REDUCES in list_levels(judge_cores(replace(CORES, rank_count=4)))
    assert Level.REDUCES in list_levels(judge_cores(replace(CORES, own=1)))
    assert Level.REDUCES not in list_levels(judge_cores(replace(CORES, own=1, nice_limit=40)))
    assert has_capability("CapEff:\t0000000000800000\n", 23)
    assert not has_capability("CapEff:\t0000000000400000\n", 23)


def test_devices_are_found_by_their_files(tmp_path: Path) -> None:
    (tmp_path / "sys/class/infiniband/mlx5_0").mkdir(parents=True)
    (tmp_path / "dev/dri").mkdir(parents=True)
    for name in ("cxi0", "nvidia0", "null", "dri/renderD128"):
        (tmp_path / "dev" / name).touch()
    facts = read_devices({"UCX_TLS": "tcp"}, tmp_path)
    assert facts.rdma == ("mlx5_0", "cxi0")
    assert facts.gpus == ("/dev/nvidia0", "/dev/dri/renderD128")
    assert facts.choices == ("UCX_TLS=tcp",)
    assert list_levels(judge_devices(facts)) == {Level.NOTE}


def test_where_records_are_kept_or_why_not_is_told(tmp_path: Path) -> None:
    def judge(folder: str) -> Finding:
        (finding,) = judge_records([Document(tmp_path / "lapwing.toml", reports=Reports(f"{tmp_path}/{folder}"))])
        return finding

    (tmp_path / "file").touch()
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    assert judge("own").level is judge("new/{user}/%Y").level is Level.WELL
    assert not (tmp_path / "new").exists()
    for folder, cause in (("file/below", "file is no folder"), ("open", "others may write there")):
        finding = judge(folder)
        assert (finding.level, cause in finding.text) == (Level.NOTE, True)
    assert judge_records([Document(tmp_path / "lapwing.toml")]) == []


def test_what_an_mpi_opens_reduces_what_is_gained() -> None:
    findings = judge_opened(["/dev/null", "/dev/infiniband/uverbs0", "/dev/nvidia0"], "MPI", "none")
    assert [finding.topic for finding in findings] == ["network", "gpu"]
    assert list_levels(findings) == {Level.REDUCES}
    assert "protection keys" in findings[0].remedy
    assert judge_opened(["/dev/null"], "MPI", "none") == []


def test_rdma_devices_reduce_nothing_that_is_gained_where_keys_hold() -> None:
    (finding,) = judge_opened(["/dev/infiniband/uverbs0"], "MPI", "keys")
    assert (finding.level, finding.remedy) == (Level.NOTE, "")


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (PRELOAD, 0),
        (replace(PRELOAD, needed_glibc=(2, 40)), 2),
        (replace(PRELOAD, complaint="ERROR: ld.so"), 2),
        (replace(PRELOAD, error="Lapwing's own file is missing; install it"), 2),
        (replace(PRELOAD, is_off=True), 2),
        (replace(PRELOAD, misunderstood="0"), 2),
        (replace(PRELOAD, others=("libasan.so.8",)), 2),
        (replace(PRELOAD, others=("/opt/libjemalloc.so.2",)), 1),
        (replace(PRELOAD, others=("libdarshan.so",)), 0),
        (replace(PRELOAD, others=("/opt/liblapwing.so",)), 1),
    ],
)
def test_preloads(facts: PreloadFacts, code: int) -> None:
    assert choose_exit_code(judge_preload(facts)) == code


def test_the_record_says_what_the_preload_decided(rank_record: RankRecord) -> None:
    assert list_levels(judge_answer(ANSWER, rank_record, "signal", False)) == {Level.WELL}
    assert Level.REDUCES in list_levels(judge_answer(ANSWER, rank_record, "userfaultfd", False))
    passed = replace(rank_record, is_active=False, notice="looks for PMPI functions by name")
    (finding,) = judge_answer(ANSWER, passed, "signal", False)
    assert (finding.level, "PMPI" in finding.text) == (Level.FAILS, True)


def test_an_open_network_explains_why_nothing_is_held(rank_record: RankRecord) -> None:
    answer = replace(ANSWER, opened=("/dev/infiniband/uverbs0",))
    findings = judge_answer(answer, replace(rank_record, hold="none"), "userfaultfd", False)
    assert [finding.topic for finding in findings] == ["mpi", "network"]


def test_no_record_is_told_from_no_preload() -> None:
    assert "no record" in judge_answer(ANSWER, None, "signal", False)[0].text
    assert "LD_PRELOAD" in judge_answer(replace(ANSWER, preload=""), None, "signal", False)[0].text


def test_an_mpi_that_does_not_begin_alone_may_begin_under_its_launcher() -> None:
    answer = replace(ANSWER, error="MPI_Init returned 1")
    assert judge_answer(answer, None, "signal", True)[0].level is Level.NOTE
    assert judge_answer(answer, None, "signal", False)[0].level is Level.FAILS


def test_libraries_are_found_and_chosen_by_their_names(tmp_path: Path) -> None:
    names = ("libmpi.so.40", "libmpich.so.12", "libmpi_abi.so.1", "libmpichcxx.so.12", "libmpi_mpifh.so.40")
    for name in names:
        (tmp_path / name).touch()
    found = [path for path in find_libraries([], {"LD_LIBRARY_PATH": str(tmp_path)}) if path.parent == tmp_path]
    assert [path.name for path in found] == ["libmpi.so.40", "libmpi_abi.so.1", "libmpich.so.12"]
    assert [path.name for path in choose_libraries(found, "openmpi")] == ["libmpi.so.40"]
    assert [path.name for path in choose_libraries(found, "hydra")] == ["libmpi_abi.so.1", "libmpich.so.12"]
    assert choose_libraries(found, "srun") == found


def test_srun_with_pmi2_begins_mpich() -> None:
    found = [Path("libmpi.so.40"), Path("libmpich.so.12")]
    assert choose_for_line(found, "srun", ["srun", "--mpi=pmi2", "-n", "2"]) == found[1:]
    assert choose_for_line(found, "srun", ["srun", "--mpi=pmix", "-n", "2"]) == found
    assert choose_for_line(found[:1], "srun", ["srun", "--mpi", "pmi2"]) == found[:1]
    by_default = {"SLURM_MPI_TYPE": "pmi2"}
    assert choose_for_line(found, "srun", ["srun", "-n", "2"], by_default) == found[1:]
    assert choose_for_line(found, "srun", ["srun", "--mpi=pmix"], by_default) == found
    assert choose_for_line(found, "srun", ["srun", "--mpi", "pmix"], by_default) == found
    assert choose_for_line(found, "openmpi", ["mpirun"], by_default) == found[:1]


def test_hosts_whose_ranks_leave_nothing_are_told(rank_record: RankRecord) -> None:
    output = "[1,0]<stdout>:lapwing-doctor-rank h1 77\nlapwing-doctor-rank h2 5\nelse\n"
    assert count_started(output) == {"h1": 1, "h2": 1}
    report = encode_diagnosis(diagnose([HostReport("h1", "signal", (Finding("kernel", Level.WELL, "fine"),))]))
    reports = judge_hosts([(replace(ANSWER, report=report), rank_record)], count_started(output))
    assert [report.host for report in reports] == ["h1", "h2"]
    assert next(finding.text for finding in reports[0].findings) == "fine"
    assert list_levels(list(reports[1].findings)) == {Level.FAILS}


def test_a_damaged_report_is_a_finding() -> None:
    (report,) = judge_hosts([(replace(ANSWER, report="Traceback", error="x"), None)], {})
    assert "cannot be judged" in report.findings[0].text


def test_launchers_say_how_many_ranks_a_host_has() -> None:
    assert find_number(("A", "B"), {"B": "3(x2)"}) == 3
    assert find_number(("A",), {}) is None


def test_json_is_read_back_and_the_published_schema_is_current() -> None:
    diagnosis = diagnose(
        [HostReport("h", "signal", (Finding("a", Level.REDUCES, "b", "c"), Finding("d", Level.NOTE, "e")))]
    )
    assert decode_diagnosis(encode_diagnosis(diagnosis), "here") == diagnosis
    remedy = "python -m lapwing.doctor.document > docs/doctor.schema.json"
    assert (ROOT / "docs/doctor.schema.json").read_text("utf-8") == format_doctor_schema(), remedy


@needs_mpi
def test_the_preload_takes_the_hold_that_the_kernel_allows() -> None:
    if not find_libraries([]):
        pytest.skip("no MPI library in the linker's cache")
    command = [sys.executable, "-m", "lapwing", "doctor", "--json", "-"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    findings = json.loads(done.stdout)["diagnosis"]["hosts"][0]["findings"]
    decided = [finding["text"] for finding in findings if "the preload is at work" in finding["text"]]
    assert decided, findings
    assert all(f"hold {expect_hold(read_kernel())}" in text for text in decided)


def test_glibc_of_a_file() -> None:
    assert read_needed_glibc(Path(sys.executable).resolve()) >= (2,)


def test_file_that_is_no_library_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "liblapwing.so").write_text("cut short\n")
    monkeypatch.setenv("LAPWING_PRELOAD", str(tmp_path / "liblapwing.so"))
    finding = judge_preload(read_preload({}))[0]
    assert (finding.level, "is no library" in finding.text) == (Level.FAILS, True)


def test_a_library_that_the_system_preloads_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "liblapwing.so").touch()
    monkeypatch.setenv("LAPWING_PRELOAD", str(tmp_path / "liblapwing.so"))
    by_all = tmp_path / "ld.so.preload"
    by_all.write_text(f"# /x/liblapwing.so\n/lib/libother.so {tmp_path}/liblapwing.so\n")
    facts = read_preload({}, by_all)
    assert (facts.is_in_all, facts.others) == (True, ("/lib/libother.so",))
    (finding,) = (one for one in judge_preload(facts) if "in every process" in one.text)
    assert finding.level is Level.NOTE
    by_all.write_text("# /x/liblapwing.so\n")
    assert not read_preload({}, by_all).is_in_all


def ask_stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> str:
    """Let a script stand in for a launcher that begins no rank; return what is said of that."""
    (folder / "liblapwing.so").touch()
    (folder / "srun").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "srun").chmod(0o755)
    monkeypatch.setenv("LAPWING_PRELOAD", str(folder / "liblapwing.so"))
    monkeypatch.chdir(folder)
    with pytest.raises(LapwingError) as caught:
        diagnose_line([str(folder / "srun"), "-n", "2"])
    return caught.value.message


def test_a_launcher_that_begins_no_rank_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "printf -- '-----\\nno slots\\nfor you\\n\\nmore\\n' >&2; exit 1"
    assert ask_stand_in(tmp_path, monkeypatch, script) == "no rank began (exit code 1): no slots for you"


def test_a_launcher_that_hangs_is_ended_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "BEGIN_LIMIT_S", 1.0)
    monkeypatch.setattr(hosts, "QUEUES", ())
    begin_s = time.monotonic()
    told = ask_stand_in(tmp_path, monkeypatch, "echo queued >&2; exec sleep 50")
    assert told == f"no rank began in time (queued): {tmp_path}/srun -n 2"
    assert time.monotonic() - begin_s < 30.0


def test_a_host_that_nobody_judged_is_told(rank_record: RankRecord) -> None:
    (report,) = judge_hosts([(ANSWER, rank_record)], {"h1": 1})
    fails = [finding.text for finding in report.findings if finding.level is Level.FAILS]
    assert fails == ["h1 cannot be judged: none of the answers is of its first rank"]
    assert not any("allows the hold" in finding.text for finding in report.findings)


def test_the_cause_why_a_host_cannot_be_judged_is_told(rank_record: RankRecord) -> None:
    (report,) = judge_hosts([(replace(ANSWER, report="python3: no module named lapwing\nmore"), rank_record)], {})
    fails = [finding.text for finding in report.findings if finding.level is Level.FAILS]
    assert fails == ["h1 cannot be judged: python3: no module named lapwing"]
    assert not any("allows the hold" in finding.text for finding in report.findings)


def test_a_silent_death_of_what_judges_a_host_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\nkill -SYS $$\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert judge_host() == "`lapwing doctor --here` ended with -31"


@pytest.mark.parametrize(
    ("choice", "asked"),
    [
        ("auto", [False, True]),
        ("userfaultfd", [False]),
        ("userfaultfd-user", [True]),
        ("signal", []),
        ("keys", []),
        ("none", []),
    ],
)
def test_what_the_hold_excludes_is_not_asked_of_the_kernel(
    choice: str, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []
    monkeypatch.setattr(system, "can_watch_faults", lambda is_user_only: bool(made.append(is_user_only)))
    monkeypatch.setattr(system, "ask_apart", lambda question: question())
    read_kernel(choice)
    assert made == asked


def test_the_hold_of_the_environment_is_the_one_that_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPWING_HOLD", "signal")
    (report,) = diagnose_here(asks_mpi=False).hosts
    assert report.hold == "signal"
    assert any("hold is signal" in finding.text for finding in report.findings)


def test_what_does_not_switch_off_is_named() -> None:
    facts = read_preload({"LAPWING": "no"}, Path("/nonexistent"))
    assert (facts.is_off, facts.misunderstood) == (False, "no")
    assert any("LAPWING=no is not understood" in finding.text for finding in judge_preload(facts))


def test_settings_that_keep_the_preload_out_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPWING", "off")
    (off,) = judge_answer(replace(ANSWER, settings={"LAPWING": "OFF"}), None, "signal", False)
    assert off in judge_preload(replace(PRELOAD, is_off=True))
    (left_out,) = judge_answer(replace(ANSWER, settings={"LAPWING_EXCLUDE_RANKS": "0"}), None, "signal", False)
    assert (left_out.level, "LAPWING_EXCLUDE_RANKS=0" in left_out.text) == (Level.NOTE, True)
    (empty,) = judge_answer(replace(ANSWER, settings={"LAPWING_INCLUDE_RANKS": ""}), None, "signal", False)
    assert "left no record" in empty.text


def test_ranks_are_judged_that_are_to_run_without_lapwing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPWING_EXCLUDE_RANKS", "0")
    monkeypatch.setenv("LAPWING_INCLUDE_RANKS", "1")
    script = 'echo "ranks: [$LAPWING_EXCLUDE_RANKS] [$LAPWING_INCLUDE_RANKS]" >&2'
    assert ask_stand_in(tmp_path, monkeypatch, script) == "no rank began (exit code 0): ranks: [] []"


def test_ranks_that_are_left_out_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPWING_EXCLUDE_RANKS", "0")
    findings = diagnose_here(asks_mpi=False).hosts[0].findings
    (note,) = [finding for finding in findings if "LAPWING_EXCLUDE_RANKS=0" in finding.text]
    assert note.level is Level.NOTE


@pytest.mark.parametrize("setting", [("LAPWING_PROGRESS", "off"), ("LAPWING_PROFILE", "on")])
def test_the_setting_that_passes_every_call_is_named(setting: tuple[str, str], rank_record: RankRecord) -> None:
    answer = replace(ANSWER, settings=dict([setting]))
    (finding,) = judge_answer(answer, replace(rank_record, is_active=False, hold="none"), "signal", False)
    assert "=".join(setting) in finding.text
    assert "lapwing config" in finding.remedy


def test_what_is_no_device_is_not_blamed(rank_record: RankRecord) -> None:
    answer = replace(ANSWER, opened=("/dev/null", "/dev/shm/open_mpi.0000"))
    (_, finding) = judge_answer(answer, replace(rank_record, hold="none"), "userfaultfd", False)
    assert "/dev/" not in finding.text
    assert "device" not in finding.remedy


@pytest.mark.parametrize(
    "surroundings",
    [
        {},
        {"PYTHONWARNINGS": "foo"},
        {"PYTHONHOME": "/nowhere"},
        {"LD_AUDIT": "/nowhere.so"},
        {"LD_PRELOAD": "/nowhere.so"},
        {"LD_DEBUG": "files"},
    ],
)
def test_what_others_complain_of_is_not_about_the_preload(surroundings: dict[str, str], stand_in_preload: Path) -> None:
    assert try_load(stand_in_preload, surroundings) == ""


def test_what_the_linker_says_of_the_preload_is_told(tmp_path: Path, stand_in_preload: Path) -> None:
    damaged = tmp_path / "liblapwing.so"
    damaged.write_bytes(b"\x7fELF, cut short")
    surroundings = {"LD_AUDIT": "/nowhere.so"}
    assert "cannot be preloaded" in try_load(damaged, surroundings)
    assert "cannot be preloaded" in try_load(tmp_path / "missing.so", surroundings)
    with_space = tmp_path / "a folder.so"
    shutil.copy(stand_in_preload, with_space)
    assert "cannot be preloaded" in try_load(with_space, surroundings)


def test_a_preload_that_ends_programs_is_told(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "end.c", tmp_path / "end.so"
    source.write_text("#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { _Exit(3); }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    assert try_load(library, {}) == "a program with it ended with 3"


def die() -> bool:
    os.kill(os.getpid(), signal.SIGSYS)
    return True


def test_what_may_kill_is_asked_by_a_child() -> None:
    assert system.ask_apart(lambda: True) is True
    assert system.ask_apart(lambda: False) is False
    assert system.ask_apart(die) is None
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert system.ask_apart(lambda: True) is True
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_filter_that_kills_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "can_watch_faults", lambda is_user_only: die())
    (finding,) = [finding for finding in judge_kernel(read_kernel()) if finding.level is Level.FAILS]
    assert "kills" in finding.text
    assert "LAPWING_HOLD=signal" in finding.remedy


def test_a_rank_that_ends_in_mpi_init_has_told_before(tmp_path: Path) -> None:
    (tmp_path / "dying.c").write_text("#include <stdlib.h>\nint MPI_Init(void *a, void *b) { abort(); }\n")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path / "dying.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "dying.c"], check=True)
    mine = {"LAPWING_RECORD_DIR": str(tmp_path), FOR_HOST: "1", "LD_PRELOAD": str(library)}
    done = subprocess.run([sys.executable, ASK, library], env={**os.environ, **mine}, check=False, timeout=60)
    assert done.returncode != 0
    ((answer, record),) = read_answers(tmp_path)
    assert (answer.error, record) == ("it ended within MPI_Init", None)
    assert answer.report.startswith("{")
