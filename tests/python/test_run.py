# SPDX-License-Identifier: MIT
"""`lapwing run` with real launchers, where there are any, and a stand-in for the preload library."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needs import needs_mpi
from profile_files import make_host_file

from lapwing.cli import make_parser
from lapwing.commands.experiment import forward_options
from lapwing.configuration.settings import collect_variables
from lapwing.errors import LapwingError
from lapwing.files import SELF
from lapwing.launch.launchers import ask_version
from lapwing.launch.program import explain_unusable, locate_program
from lapwing.launch.start import prepare_stock

PYTHON = Path(__file__).parents[2] / "python"
LAUNCHERS = ["mpirun.openmpi", "mpirun.mpich"]


def start(
    line: list[str], folder: Path, preload: Path | None = None, **extra: str
) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "OMPI_ALLOW_RUN_AS_ROOT": "1", **extra}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LAPWING_PRELOAD": str(preload or shutil.which("true"))}
    command = [sys.executable, "-m", "lapwing", *line]

    def run() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
        )

    done = run()
    # MPICH's launcher is ended by SIGPIPE, without Lapwing too, where rank 0 ended before the launcher told it the
    # end of the standard input: one job of `mpirun.mpich -n 2 env` in a thousand on a busy machine.
    return run() if done.returncode == 128 + signal.SIGPIPE else done


def test_off_is_said_and_leaves_the_launcher_alone(tmp_path: Path) -> None:
    result = start(["run", "env"], tmp_path, LAPWING="off")
    assert result.returncode == 0
    assert "LD_PRELOAD" not in result.stdout
    assert result.stderr.splitlines() == [
        "lapwing: LAPWING=off: the program runs without Lapwing, and nothing is recorded"
    ]


@pytest.mark.parametrize(
    ("name", "value"), [("CONFIG", "bad.toml"), ("CONFIG", "nowhere.toml"), ("THRESHOLD", "x"), ("EXCLUDE_RANKS", "x")]
)
def test_off_comes_before_what_is_wrong_elsewhere(tmp_path: Path, name: str, value: str) -> None:
    (tmp_path / "bad.toml").write_text("[options]\nbogus = 1\n")
    result = start(["run", "echo", "ran"], tmp_path, LAPWING="off", **{f"LAPWING_{name}": value})
    assert (result.returncode, result.stdout) == (0, "ran\n"), result.stderr


def test_off_adds_nothing_to_the_line_of_srun(tmp_path: Path) -> None:
    (tmp_path / "srun").write_text("#!/bin/sh\nprintf '%s\\n' \"$*\"\n")
    (tmp_path / "srun").chmod(0o755)
    result = start(["run", str(tmp_path / "srun"), "-n", "2", "./a"], tmp_path, LAPWING="off")
    assert result.stdout == "-n 2 ./a\n", result.stderr


def test_off_in_capitals_is_off(tmp_path: Path) -> None:
    assert "runs without Lapwing" in start(["run", "true"], tmp_path, LAPWING="OFF").stderr


@pytest.mark.parametrize("value", ["0", "no", "False"])
def test_what_means_off_elsewhere_is_refused_before_the_program_runs(
    tmp_path: Path, stand_in_preload: Path, value: str
) -> None:
    for command in ("run", "profile", "advise", "probe"):
        result = start([command, "sh", "-c", "touch ran"], tmp_path, stand_in_preload, LAPWING=value)
        assert result.returncode == 2
        assert result.stderr.startswith(f"lapwing: LAPWING={value} is not understood, and only LAPWING=off"), command
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("value", ["", "on", "1", "Yes", "/opt/lapwing"])
def test_what_does_not_mean_off_is_no_matter(tmp_path: Path, stand_in_preload: Path, value: str) -> None:
    result = start(["run", "--quiet", "echo", "ran"], tmp_path, stand_in_preload, LAPWING=value)
    assert (result.returncode, result.stdout, result.stderr) == (0, "ran\n", "")


def test_engine_cores_reach_the_program(tmp_path: Path, stand_in_preload: Path) -> None:
    for cores in ("auto", "0,4-7"):
        result = start(["run", "--quiet", "--engine-cores", cores, "env"], tmp_path, stand_in_preload)
        assert f"LAPWING_ENGINE_CORES={cores}" in result.stdout.splitlines()


def test_strategy_beside_a_dedicated_core_is_refused(tmp_path: Path, stand_in_preload: Path) -> None:
    result = start(["run", "--dedicate-core", "--progress", "event", "env"], tmp_path, stand_in_preload)
    assert (result.returncode, "--dedicate-core" in result.stderr, result.stdout) == (2, True, "")


@pytest.mark.parametrize("command", ["profile", "advise"])
def test_commands_that_need_lapwing_name_what_keeps_it_out(
    tmp_path: Path, stand_in_preload: Path, command: str
) -> None:
    result = start([command, "sh", "-c", "touch ran"], tmp_path, stand_in_preload, LAPWING="off")
    assert (result.returncode, "LAPWING=off" in result.stderr) == (2, True)
    assert not (tmp_path / "ran").exists()


@needs_mpi
@pytest.mark.parametrize(
    "variable",
    [("LAPWING", "off"), ("LAPWING_EXCLUDE_RANKS", "1"), ("LAPWING_INCLUDE_RANKS", "0")],
    ids=lambda variable: variable[0],
)
@pytest.mark.parametrize(
    "words",
    [
        "bench pingpong --shared-memory --sizes 1KiB --repetitions 1 --rounds 1",
        "bench progress --shared-memory --sizes 1KiB --compute 200 --strategies auto --repetitions 1 --rounds 1",
        "bench harm --counts --rounds 1",
        "demo --shared-memory --planes 2 --steps 1 --rounds 1",
        "probe --shared-memory --sizes 1KiB --repetitions 3 --absence 5 --strategies auto",
    ],
)
def test_experiments_name_what_keeps_lapwing_out(
    tmp_path: Path, stand_in_preload: Path, words: str, variable: tuple[str, str]
) -> None:
    name, value = variable
    result = start(words.split(), tmp_path, stand_in_preload, **{name: value})
    assert (result.returncode, f"unset {name}" in result.stderr) == (2, True), result.stderr


STOCK_LINES = [
    *("bench pingpong --shared-memory --sizes 1KiB --repetitions 1 --rounds 1", "bench harm --counts --rounds 1"),
    "probe --shared-memory --sizes 1KiB --repetitions 3 --absence 5 --strategies auto",
    *("demo --shared-memory --planes 2 --steps 1 --rounds 1", "advise --rounds 1 true"),
]


@needs_mpi
@pytest.mark.parametrize("words", STOCK_LINES)
def test_stock_is_without_lapwing_where_it_is_on_by_default(tmp_path: Path, stand_in_preload: Path, words: str) -> None:
    default = tmp_path / "liblapwing.so"
    shutil.copy(stand_in_preload, default)
    result = start(words.split(), tmp_path, stand_in_preload, LD_PRELOAD=str(default))
    assert result.stderr.count(f"LD_PRELOAD names {default}: stock runs without it") == 1, result.stderr


def test_stock_keeps_what_else_is_preloaded(monkeypatch: pytest.MonkeyPatch, stand_in_preload: Path) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    for chain, left in (
        (f"/a.so:{stand_in_preload} /opt/liblapwing.so:/b.so", "/a.so:/b.so"),
        ("/opt/liblapwing.so", None),
        ("/a.so /b.so", "/a.so /b.so"),
    ):
        monkeypatch.setenv("LD_PRELOAD", chain)
        prepare_stock(["mpirun", "-n", "2"])
        assert os.environ.get("LD_PRELOAD") == left


def test_stock_is_refused_where_it_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stand_in_preload: Path
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    by_all = tmp_path / "ld.so.preload"
    by_all.write_text("/lib/other.so\n/opt/liblapwing.so\n")
    with pytest.raises(LapwingError, match="stock would run with it"):
        prepare_stock([], by_all)
    with pytest.raises(LapwingError, match="the line names /opt/liblapwing"):
        prepare_stock(["mpirun", "-x", "LD_PRELOAD=/opt/liblapwing.so"])


@needs_mpi
def test_experiments_have_lapwing_whatever_a_file_selects(tmp_path: Path, stand_in_preload: Path) -> None:
    (tmp_path / "site.toml").write_text('[select]\nexclude_programs = ["*"]\nexclude_users = ["*"]\n')
    words = "bench pingpong --shared-memory --sizes 1KiB --repetitions 1 --rounds 1 --output out.json"
    result = start(words.split(), tmp_path, stand_in_preload, LAPWING_CONFIG=str(tmp_path / "site.toml"))
    assert result.returncode == 0, result.stderr
    (report,) = json.loads((tmp_path / "out.json").read_text())["lapwing_runs"]
    assert report["ranks_reporting"] == 2


def test_summary_that_is_not_written_is_named(tmp_path: Path, stand_in_preload: Path) -> None:
    words = ["--json", "sum.json", "--keep-record", "job.record"]
    result = start(["run", *words, "true"], tmp_path, stand_in_preload, LAPWING="off")
    assert "sum.json and job.record are not written" in result.stderr


def test_engine_cores_that_cannot_be_are_refused(tmp_path: Path, stand_in_preload: Path) -> None:
    dedicated = (["auto", "--dedicate-core"], ["auto", "--progress", "dedicated"])
    for words in ([""], ["4-"], ["5-2"], ["0,1024"], ["9" * 5000], *dedicated):
        result = start(["run", "--engine-cores", *words, "env"], tmp_path, stand_in_preload)
        assert (result.returncode, "--engine-cores" in result.stderr) == (2, True)


@pytest.fixture(params=LAUNCHERS)
def launcher(request: pytest.FixtureRequest) -> list[str]:
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return [name, "--oversubscribe"] if "openmpi" in name else [name]


@pytest.mark.parametrize(
    "words", ["run --quiet --threshold 7KiB", "run --quiet --engine-cores auto", "profile --quiet", "run"]
)
def test_launcher_that_sets_what_is_decided_elsewhere_is_refused(
    launcher: list[str], tmp_path: Path, stand_in_preload: Path, words: str
) -> None:
    name, decider = {
        "7KiB": ("LAPWING_THRESHOLD", "--threshold"),
        "auto": ("LAPWING_ENGINE_CORES", "--engine-cores"),
        "--quiet": ("LAPWING_PROFILE", "lapwing profile"),
        "run": ("LAPWING_RECORD_DIR", "lapwing run"),
    }[words.split()[-1]]
    setting = ["-x", f"{name}=5"] if "openmpi" in launcher[0] else ["-genv", name, "5"]
    done = start([*words.split(), *launcher, *setting, "-n", "1", "env"], tmp_path, stand_in_preload)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{decider} and the launcher's {' '.join(setting)} both set {name}; leave" in done.stderr


@pytest.mark.parametrize("command", ["run", "profile", "advise"])
def test_launcher_that_sets_more_than_the_limit_is_refused(
    launcher: list[str], tmp_path: Path, stand_in_preload: Path, command: str
) -> None:
    (tmp_path / "site.toml").write_text('[limits]\nbuffer = "1MiB"\n')
    name = "LAPWING_BUFFER"
    more = ["-x", f"{name}=2MiB"] if "openmpi" in launcher[0] else ["-genv", name, "2MiB"]
    less = ["-x", f"{name}=1"] if "openmpi" in launcher[0] else ["-env", f"{name}=1"]
    line = [command, *launcher, *more, "-n", "1", "env", ":", *less, "-n", "1", "env"]
    done = start(line, tmp_path, stand_in_preload, LAPWING_CONFIG=str(tmp_path / "site.toml"))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the launcher's {' '.join(more)} is above the limit of {tmp_path}/site.toml; give at most" in done.stderr


def test_launcher_may_set_the_limit(launcher: list[str], tmp_path: Path, stand_in_preload: Path) -> None:
    (tmp_path / "site.toml").write_text('[limits]\nbuffer = "1MiB"\n')
    name = "LAPWING_BUFFER"
    setting = ["-x", f"{name}=1MiB"] if "openmpi" in launcher[0] else ["-genv", name, "1MiB"]
    line = ["run", "--quiet", *launcher, *setting, "-n", "1", "env"]
    done = start(line, tmp_path, stand_in_preload, LAPWING_CONFIG=str(tmp_path / "site.toml"))
    assert f"{name}=1MiB" in done.stdout.splitlines(), done.stderr


def test_launcher_that_takes_more_than_the_limit_from_the_environment_is_refused(
    launcher: list[str], tmp_path: Path, stand_in_preload: Path
) -> None:
    (tmp_path / "site.toml").write_text('[limits]\nbuffer = "1MiB"\n')
    option = "-x" if "openmpi" in launcher[0] else "-envlist"
    line = ["run", "--quiet", *launcher, option, "LAPWING_BUFFER", "-n", "1", "env"]
    more = {"LAPWING_CONFIG": str(tmp_path / "site.toml"), "LAPWING_BUFFER": "2MiB"}
    done = start(line, tmp_path, stand_in_preload, **more)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the launcher's {option} LAPWING_BUFFER is above the limit" in done.stderr


def test_launcher_wins_over_the_environment(launcher: list[str], tmp_path: Path, stand_in_preload: Path) -> None:
    name = "LAPWING_THRESHOLD"
    setting = ["-x", f"{name}=5"] if "openmpi" in launcher[0] else ["-genv", name, "5"]
    line = ["run", "--quiet", *launcher, *setting, "-n", "1", "env"]
    done = start(line, tmp_path, stand_in_preload, LAPWING_THRESHOLD="7KiB")
    assert f"{name}=5" in done.stdout.splitlines(), done.stderr


def test_variables_join_a_list_that_open_mpi_has(tmp_path: Path, stand_in_preload: Path) -> None:
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    line = ["run", "--threshold", "1MiB", "mpirun.openmpi", "--oversubscribe", "-n", "2", "env"]
    done = start(line, tmp_path, stand_in_preload, OMPI_MCA_mca_base_env_list="SITE=7")
    assert done.returncode == 0, done.stderr
    for text in ("LAPWING_THRESHOLD=1048576", f"LD_PRELOAD={stand_in_preload}", "SITE=7"):
        assert done.stdout.splitlines().count(text) == 2, done.stdout


def test_variables_join_a_list_in_a_file_that_the_line_names(tmp_path: Path, stand_in_preload: Path) -> None:
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    (tmp_path / "tune").write_text('-mca mca_base_env_list "SITE=7;OTHER=a b" -mca btl tcp,self\n')
    line = ["run", "mpirun.openmpi", "--oversubscribe", "-tune", str(tmp_path / "tune"), "-n", "2", "env"]
    done = start(line, tmp_path, stand_in_preload)
    assert done.returncode == 0, done.stderr
    for text in (f"LD_PRELOAD={stand_in_preload}", "SITE=7", "OTHER=a b"):
        assert done.stdout.splitlines().count(text) == 2, done.stdout


def test_ranks_find_programs_as_without_lapwing(launcher: list[str], tmp_path: Path, stand_in_preload: Path) -> None:
    (tmp_path / "env").write_text("#!/bin/sh\necho the first on PATH\n")
    (tmp_path / "env").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = start(["run", *launcher, "-n", "1", "env"], tmp_path, stand_in_preload, PATH=path)
    assert done.stdout == "the first on PATH\n", done.stderr


@pytest.mark.parametrize("program", [["env"], ["sh", "-c", "env"]])
def test_variables_reach_the_ranks_but_not_the_launcher(
    launcher: list[str], program: list[str], tmp_path: Path, stand_in_preload: Path
) -> None:
    line = ["run", "--threshold", "1MiB", "--json", "out.json", *launcher, "-n", "2", *program]
    done = start(line, tmp_path, stand_in_preload)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("LAPWING_THRESHOLD=1048576") == 2
    assert done.stdout.count(f"LD_PRELOAD={stand_in_preload}") == 2
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["ranks_expected"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_mpmd_reaches_both_programs(launcher: list[str], tmp_path: Path, stand_in_preload: Path) -> None:
    line = [*launcher, "-n", "1", "env", ":", "-n", "1", "env"]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if subprocess.run(line, env={**os.environ, **root}, capture_output=True, timeout=60).returncode < 0:
        pytest.skip(f"{launcher[0]} crashes with two programs")  # Debian 13's does
    done = start(["run", *line], tmp_path, stand_in_preload)
    assert done.stdout.count(f"LD_PRELOAD={stand_in_preload}") == 2, done.stderr


def test_exit_code_is_the_programs_own(launcher: list[str], tmp_path: Path) -> None:
    assert start(["run", "--quiet", *launcher, "-n", "1", "sh", "-c", "exit 7"], tmp_path).returncode == 7


def test_death_by_signal_is_128_more(tmp_path: Path) -> None:
    assert start(["run", "--quiet", "sh", "-c", "kill -9 $$"], tmp_path).returncode == 137


def test_program_may_be_ended_by_a_closed_pipe(tmp_path: Path) -> None:
    done = start(["run", "--quiet", "sh", "-c", "grep ^SigIgn: /proc/self/status"], tmp_path)
    assert not int(done.stdout.split()[1], 16) & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)


def test_users_preload_stays(tmp_path: Path, stand_in_preload: Path) -> None:
    extra = str(shutil.which("true"))
    done = start(["run", "--quiet", "env"], tmp_path, stand_in_preload, LD_PRELOAD=extra)
    assert f"LD_PRELOAD={stand_in_preload}:{extra}" in done.stdout


def test_another_copy_of_lapwing_is_left_out_and_named(tmp_path: Path, stand_in_preload: Path) -> None:
    """A site's default, and a user's own."""
    own, other = tmp_path / "own/liblapwing.so", tmp_path / "site/liblapwing.so"
    for path in (own, other):
        path.parent.mkdir()
        shutil.copy(stand_in_preload, path)
    chain = f"{other}:{own} {stand_in_preload}"
    done = start(["run", "--quiet", "env"], tmp_path, own, LD_PRELOAD=chain)
    assert f"LD_PRELOAD={own}:{stand_in_preload}\n" in done.stdout
    assert done.stderr == f"lapwing: {other} is preloaded, too: it is left out, so that one Lapwing alone is at work\n"


def test_kept_record_can_be_reported(tmp_path: Path, stand_in_preload: Path) -> None:
    extra = {"PMI_RANK": "0", "PMI_SIZE": "1"}
    done = start(["run", "--keep-record", "job", "true"], tmp_path, stand_in_preload, **extra)
    shown = start(["report", "job"], tmp_path)
    assert "1 of 1 rank reporting" in done.stderr
    assert "1 of 1 rank reporting" in shown.stdout


def test_launcher_does_not_wait_for_what_the_report_needs() -> None:
    code = "import sys, lapwing.cli as c; c.make_parser('run'); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(PYTHON)}, capture_output=True, text=True
    )
    assert "lapwing.commands.run" in done.stdout.split()
    assert not {"json", "hashlib", "rich", "lapwing.report.summary"}.intersection(done.stdout.split())


def test_no_process_with_lapwing_is_said(tmp_path: Path) -> None:
    assert "no process left a record" in start(["run", "true"], tmp_path).stderr


def test_quiet_records_nothing(tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPWING_RECORD_DIR", str(tmp_path))  # of a site that has switched Lapwing on by default
    done = start(["run", "--quiet", "sh", "-c", "env; ls -A"], tmp_path, stand_in_preload)
    assert f"LD_PRELOAD={stand_in_preload}" in done.stdout
    assert "LAPWING_RECORD_DIR" not in done.stdout and ".lapwing" not in done.stdout


def test_quiet_says_nothing(tmp_path: Path, stand_in_preload: Path) -> None:
    assert start(["run", "--quiet", "true"], tmp_path, stand_in_preload).stderr == ""


@pytest.mark.parametrize("words", ["run --bogus true", "bench pingpong --bogus", "report --bogus x"])
def test_unknown_option_names_the_help_that_lists_the_others(words: str, tmp_path: Path) -> None:
    done = start(words.split(), tmp_path)
    command = words.partition(" --")[0]
    assert done.stderr == f"lapwing: unrecognized arguments: --bogus; see `lapwing {command} --help`\n"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ([], "nothing to run"),
        (["--threshold", "many", "true"], "--threshold cannot be 'many'"),
        (["--no-such", "true"], "--no-such"),
        (["--threshold=--", "true"], "--threshold cannot be '--'"),
        (["--json=--", "true"], "--json cannot be '--'"),
        (["jsrun", "./app"], "jsrun is not supported"),
        (["mpirun-that-is-not-there", "./app"], "no such program"),
        (["./absent"], "./absent: no such program"),
        (["./"], "./ is a folder, not a program"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(line: list[str], cause: str, tmp_path: Path) -> None:
    done = start(["run", *line], tmp_path)
    assert done.returncode == 2
    assert cause in done.stderr
    assert done.stderr.count("\n") == 1


def test_missing_program_is_found_before_the_launcher_starts(launcher: list[str], tmp_path: Path) -> None:
    done = start(["run", *launcher, "-n", "2", "./absent"], tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("lapwing: ./absent: no such program")


def test_folder_in_a_programs_place_is_named(launcher: list[str], tmp_path: Path) -> None:
    done = start(["run", *launcher, "-n", "2", "./"], tmp_path)
    assert (done.returncode, "./ is a folder, not a program" in done.stderr) == (2, True)


def test_static_program_is_announced(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    built = subprocess.run(["cc", "-static", "-o", tmp_path / "p", tmp_path / "p.c"], capture_output=True)
    if built.returncode != 0:
        pytest.skip("no static libc")
    assert "./p runs without Lapwing: it is statically linked" in start(["run", "./p"], tmp_path).stderr


def test_termination_is_forwarded(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(shutil.which("true"))}
    program = "trap 'exit 9' TERM; touch ready; while :; do sleep 0.05; done"
    command = [sys.executable, "-m", "lapwing", "run", "sh", "-c", program]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as child:
        for _ in range(200):
            if (tmp_path / "ready").exists():
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        said = child.communicate(timeout=20)[1]
    assert child.returncode == 9
    assert said.endswith("lapwing: the run was interrupted (SIGTERM) before a rank left a record\n")
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]


def test_job_survives_a_stop(tmp_path: Path) -> None:
    """As Ctrl-Z and fg do, for longer than the command looks apart."""
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(shutil.which("true"))}
    command = [sys.executable, "-m", "lapwing", "run", "--quiet", "sh", "-c", "touch ready; sleep 3; exit 9"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as child:
        for _ in range(200):
            if (tmp_path / "ready").exists():
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGSTOP)
        time.sleep(1.3)
        child.send_signal(signal.SIGCONT)
        assert child.wait(20) == 9


def test_record_of_an_earlier_run_is_not_taken_for_this_one(tmp_path: Path) -> None:
    (tmp_path / "lapwing-profile.record").write_bytes(b"old")
    text = start(["profile", "true"], tmp_path).stderr
    assert "lapwing-profile.record holds no record of this run: remove it" in text


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["profile"], "no rank left a profile: was an MPI program started"),
        (["advise"], "no rank left a profile: no MPI program was started"),
        (["run", "--timeline", "8"], "no rank left a timeline: was an MPI program started"),
    ],
)
def test_file_that_no_rank_wrote_to_is_no_profile(command: list[str], words: str, tmp_path: Path) -> None:
    """Of a host whose processes ended early, or found the disk full."""
    (tmp_path / "empty").write_bytes(make_host_file([]))
    script = '[ -z "$LAPWING_RECORD_DIR" ] || cp empty "$LAPWING_RECORD_DIR/host.profiles"'
    text = start([*command, "sh", "-c", script], tmp_path).stderr
    assert words in text
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_device_takes_no_record(tmp_path: Path) -> None:
    """A record is read again: so the program is not even started."""
    result = start(["profile", "--output", "/dev/null", "touch", "started"], tmp_path)
    assert result.returncode == 2
    assert "/dev/null is no file from which the record can be read again" in result.stderr
    assert not (tmp_path / "started").exists()


def test_folder_is_no_configuration(tmp_path: Path) -> None:
    text = start(["run", "true"], tmp_path, LAPWING_CONFIG=str(tmp_path)).stderr
    assert "is a folder; name a file in its place" in text


def write_program(path: Path) -> None:
    path.write_text("#!/bin/sh\necho ran\n")
    path.chmod(0o755)


def test_open_mpi_finds_a_program_in_the_folder(tmp_path: Path, stand_in_preload: Path) -> None:
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    write_program(tmp_path / "lapwing-alone")
    done = start(["run", "--quiet", "mpirun.openmpi", "-n", "1", "lapwing-alone"], tmp_path, stand_in_preload)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_program_that_mpich_does_not_find_has_another_remedy_than_its_rights(tmp_path: Path) -> None:
    if shutil.which("mpirun.mpich") is None:
        pytest.skip("mpirun.mpich is not installed")
    write_program(tmp_path / "lapwing-alone")
    done = start(["run", "mpirun.mpich", "-n", "1", "lapwing-alone"], tmp_path)
    assert "lapwing-alone is not on PATH, where this launcher looks for it; write ./lapwing-alone" in done.stderr


@pytest.mark.parametrize("searches_folder", [True, False])
def test_bare_name_without_the_right_to_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searches_folder: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lapwing-alone").touch(0o644)
    with pytest.raises(LapwingError, match="lapwing-alone is not executable"):
        locate_program("lapwing-alone", searches_folder)


def test_program_without_the_right_to_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch(0o644)
    assert "./file is not executable; chmod +x ./file" in start(["run", "./file"], tmp_path).stderr


def test_interruption_is_among_the_causes_of_no_record(tmp_path: Path) -> None:
    text = start(["run", "true"], tmp_path).stderr
    assert "the run was interrupted, the disk is full" in text


@pytest.mark.parametrize("name", ["my folder", "a:b"])
def test_preload_path_that_the_linker_would_split_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    preload = tmp_path / name / "liblapwing.so"
    preload.touch()
    done = start(["run", "true"], tmp_path, preload)
    assert done.returncode == 2
    assert "its path has a space or a colon" in done.stderr


def test_run_in_a_removed_folder_keeps_its_records_elsewhere(tmp_path: Path) -> None:
    line = f'mkdir gone && cd gone && rmdir ../gone && exec "{sys.executable}" -m lapwing run true'
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(shutil.which("true"))}
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_lapwing_that_starts_itself_leaves_the_modules_of_the_current_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit(7)\n")
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(shutil.which("true"))}
    done = subprocess.run([*SELF, "run", "--quiet", "true"], cwd=tmp_path, env=environment, timeout=60)
    assert done.returncode == 0


def test_name_that_is_too_long_is_one_line(tmp_path: Path) -> None:
    name = 300 * "a"
    for words in ([f"./{name}"], ["--json", name, "true"]):
        done = start(["run", *words], tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_long_argument_behind_an_unknown_option_is_no_obstacle(launcher: list[str], tmp_path: Path) -> None:
    done = start(["run", "--quiet", *launcher, "--no-such-option", f"{{{300 * 'a'}/}}", "true"], tmp_path)
    assert "Traceback" not in done.stderr


def test_program_that_may_not_be_read_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may read everything.
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    program = Path(str(shutil.which("true")))
    monkeypatch.setattr(Path, "open", refuse)
    assert explain_unusable(program) is None


def test_version_that_is_no_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "mpirun").write_text("#!/bin/sh\nprintf 'HYDRA \\351\\n'\n")
    (tmp_path / "mpirun").chmod(0o755)
    assert ask_version(str(tmp_path / "mpirun")).startswith("HYDRA ")


def test_launcher_without_an_interpreter_is_asked(tmp_path: Path) -> None:
    (tmp_path / "mpirun").write_text("echo HYDRA\n")
    (tmp_path / "mpirun").chmod(0o755)
    assert ask_version(str(tmp_path / "mpirun")) == "HYDRA\n"


def test_engine_cores_of_the_environment_are_handed_on(tmp_path: Path) -> None:
    """A launcher takes them to other hosts only if it is told to."""
    assert collect_variables(argparse.Namespace(), {"LAPWING_ENGINE_CORES": "auto"})["LAPWING_ENGINE_CORES"] == "auto"
    done = start(["run", "true"], tmp_path, LAPWING_ENGINE_CORES="4-")
    assert (done.returncode, "LAPWING_ENGINE_CORES cannot be '4-'" in done.stderr) == (2, True)


@pytest.mark.parametrize("words", ["bench overlap", "bench pingpong", "bench collective", "bench harm", "demo"])
def test_experiments_take_the_engines_cores(words: str) -> None:
    arguments = make_parser(words.split()[0]).parse_args([*words.split(), "--engine-cores", "auto"])
    assert forward_options(arguments) == ["--engine-cores", "auto"]
