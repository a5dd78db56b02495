# SPDX-License-Identifier: MIT
"""Configuration files: what is stronger, what is refused, and what they keep Lapwing out of."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lapwing.cli import main
from lapwing.commands.config import describe_reports
from lapwing.configuration.document import Document, Reports, find_user_file, is_ranks, parse_document, read_documents
from lapwing.configuration.settings import (
    collect_variables,
    draw_reports,
    explain_exclusion,
    find_user,
    list_program_variables,
    list_rank_variables,
    list_variables,
    name_report_folder,
    resolve,
)
from lapwing.errors import LapwingError
from lapwing.outfiles import make_private_folder
from lapwing.profile.record import read_job

PYTHON = Path(__file__).parents[2] / "python"
SITE = Path("/etc/lapwing/lapwing.toml")
USER = Path("/home/u/.config/lapwing/lapwing.toml")


def parse(text: str, path: Path = SITE) -> Document:
    return parse_document(path, text)


def test_each_source_is_stronger_than_those_before_it() -> None:
    site = parse('[options]\nthreshold = "1KiB"\nhold = "signal"\nsends = false\nlearn = "off"')
    user = parse('[options]\nthreshold = "2KiB"\nhold = "none"\nsends = true', USER)
    settings = resolve({"threshold": "4KiB"}, {"LAPWING_THRESHOLD": "3KiB", "LAPWING_HOLD": "auto"}, [site, user])
    found = {name: (settings[name].value, settings[name].source) for name in ("threshold", "hold", "sends", "learn")}
    assert found == {
        "threshold": ("4096", "--threshold"),
        "hold": ("auto", "LAPWING_HOLD"),
        "sends": ("on", str(USER)),
        "learn": ("off", str(SITE)),
    }
    assert settings["waits"].source == "default"
    assert "LAPWING_WAITS" not in list_variables(settings)


def test_memory_stays_within_the_least_limit() -> None:
    files = [parse('[limits]\nbuffer = "8MiB"'), parse('[limits]\nbuffer = "9MiB"', USER)]
    for flags in ({}, {"buffer": "1GiB"}):
        setting = resolve(flags, {}, files)["buffer"]
        assert (setting.value, setting.source) == (str(8 << 20), f"limit of {SITE}")
    assert resolve({"buffer": "1MiB"}, {}, files)["buffer"].value == str(1 << 20)


@pytest.mark.parametrize(
    "text",
    [
        "threshold = 1",
        "[option]\nthreshold = 1",
        "[options]\nthresold = 1",
        '[options]\nhold = "magic"',
        "[options]\nthreshold = [1]",
        '[select]\nexclude_programs = "app"',
        '[select]\nexclude_ranks = "1-"',
        "[limits]\nmemory = 1",
        '[limits]\nbuffer = "much"',
        "[reports]\nsampling = 2",
        "[reports]\nfolder = 1",
        '[reports]\nfolder = "/r/\\u0000"',
        '[reports]\nfolder = "/r/%Y-%m-%d/{user}"',
        '[reports]\nfolder = "/r/%%%Y{user}"',
        '[reports]\nfolder = "r/{user}"',
        '[reports]\nfolder = "/r/{usr}"',
        '[select]\nexclude_programs = ["./app"]',
        "options = 1",
        "[options",
        '[select]\nexclude_ranks = "1 2"',
        f'[select]\nexclude_ranks = "{"9" * 5000}"',
        f"[options]\nthreshold = {'9' * 5000}",
        f"[options]\nthreshold = 0x{'f' * 5000}",
        f"[limits]\nbuffer = 0x{'f' * 5000}",
        f"[options]\nthreshold = {'[' * 3000}",
        "[options]\nhuge-pages = false\nhuge_pages = true",
        "[options]\ndrain-system_calls = false\ndrain_system-calls = true",
    ],
)
def test_flaws_name_the_file_and_the_remedy(text: str) -> None:
    with pytest.raises(LapwingError) as caught:
        parse(text)
    assert str(SITE) in caught.value.message
    assert caught.value.remedy


def test_the_example_in_the_documents_is_read() -> None:
    (text,) = re.findall("```toml\n(.*?)```", (PYTHON.parent / "docs/site.md").read_text("utf-8"), re.DOTALL)
    document = parse(text)
    assert document.options["threshold"] == str(128 << 10)
    assert (document.selection.exclude_ranks, document.selection.include_ranks) == ("0", "")
    assert document.reports


@pytest.mark.parametrize(
    ("text", "programs", "user", "is_excluded"),
    [
        ("", ["./app"], "u", False),
        ('[select]\nexclude_programs = ["vasp*"]', ["/opt/vasp_std"], "u", True),
        ('[select]\nexclude_programs = ["vasp*"]', ["/opt/vasp/app"], "u", False),
        ('[select]\ninclude_programs = ["app"]', ["./other"], "u", True),
        ('[select]\ninclude_programs = ["app"]', ["./app", "./other"], "u", True),
        ('[select]\nexclude_users = ["u"]', ["./app"], "u", True),
        ('[select]\ninclude_users = ["v*"]', ["./app"], "u", True),
        ('[select]\ninclude_users = ["u"]', [], "u", False),
    ],
)
def test_selection(text: str, programs: list[str], user: str, is_excluded: bool) -> None:
    assert bool(explain_exclusion(programs, user, [parse(text)])) is is_excluded


def test_a_user_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr("getpass.getuser", fail)
    monkeypatch.setattr("os.getuid", lambda: 12345)
    assert find_user() == "12345"


def test_ranks() -> None:
    files = [
        parse('[select]\nexclude_ranks = "0"\ninclude_ranks = "0-9"'),
        parse('[select]\nexclude_ranks = "4-6"\ninclude_ranks = "0-3"', USER),
    ]
    found = list_rank_variables({}, files)
    assert found == {"LAPWING_EXCLUDE_RANKS": "0,4-6", "LAPWING_INCLUDE_RANKS": "0-3"}
    assert list_rank_variables({"LAPWING_EXCLUDE_RANKS": ""}, files) == {"LAPWING_INCLUDE_RANKS": "0-3"}
    assert [text for text in ("0", "1,3-4", "", "-1", "a", "1--2", "5-2", "٣") if is_ranks(text)] == ["0", "1,3-4"]
    assert list_rank_variables({"LAPWING_INCLUDE_RANKS": " 0, 2 - 4 "}, [])["LAPWING_INCLUDE_RANKS"] == "0,2-4"


@pytest.mark.parametrize("text", ["banana", "1 2", "1,2 3", "1 - 2 3"])
def test_ranks_of_the_environment_are_checked(text: str) -> None:
    with pytest.raises(LapwingError, match=f"LAPWING_EXCLUDE_RANKS cannot be '{text}'"):
        list_rank_variables({"LAPWING_EXCLUDE_RANKS": text}, [])


def test_a_file_is_not_read_in_part(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("#" * (1 << 20) + '\n[options]\nhold = "none"')
    with pytest.raises(LapwingError, match="longer than 1 MiB"):
        read_documents({"LAPWING_CONFIG": str(tmp_path / "site.toml"), "XDG_CONFIG_HOME": str(tmp_path)})


@pytest.mark.parametrize(("sampling", "words"), [("0.001", "0.1 % of the jobs"), ("1", "100 % of the jobs")])
def test_share_of_the_records_is_not_rounded_to_none(sampling: str, words: str) -> None:
    (line,) = describe_reports([parse(f'[reports]\nfolder = "/r"\nsampling = {sampling}')])
    assert words in line


def test_reports_without_a_folder_are_not_kept() -> None:
    assert describe_reports([parse("[reports]\nsampling = 0.5")]) == ["no records are kept: [reports] has no folder"]


@pytest.mark.parametrize("folder", ["/r/%Y", "/r/{user}/%Y", "/r/50%%/{user}/%Y", "/r/{user}-%Y"])
def test_reports_are_dated_below_the_user(folder: str) -> None:
    assert parse(f'[reports]\nfolder = "{folder}"').reports


def test_reports_may_lie_below_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert parse('[reports]\nfolder = "~/reports"').reports == Reports("/home/ada/reports")


def test_ranks_of_a_file_are_left_out_by_run_alone(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('[select]\nexclude_ranks = "0-63"\n')
    environment = {"LAPWING_CONFIG": str(tmp_path / "site.toml"), "XDG_CONFIG_HOME": str(tmp_path)}
    for flags, ranks in (({"any_program": False}, "0-63"), ({"any_program": True}, None), ({}, None)):
        found = collect_variables(argparse.Namespace(**flags), environment)
        assert found.get("LAPWING_EXCLUDE_RANKS") == ranks


def test_reports_are_sampled_and_dated() -> None:
    files = [parse('[reports]\nfolder = "/r/{user}/%Y-%m-%d"\nsampling = 0.25')]
    assert draw_reports(files, 0.25) is None
    reports = draw_reports(files, 0.2)
    assert reports
    day = time.strptime("2026-02-03", "%Y-%m-%d")
    assert name_report_folder(reports, "%Y", day) == Path("/r/%Y/2026-02-03")
    assert draw_reports([parse("")], 0) is None


def test_a_folder_in_which_others_write_is_refused(tmp_path: Path) -> None:
    make_private_folder(tmp_path / "a/b")
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700
    (tmp_path / "a").chmod(0o777)
    with pytest.raises(LapwingError, match="others may write"):
        make_private_folder(tmp_path / "a")


def test_a_folder_that_the_locale_cannot_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise UnicodeEncodeError("ascii", "\u20ac", 0, 1, "ordinal not in range(128)")  # as LC_ALL=C may do

    monkeypatch.setattr("os.mkdir", fail)
    with pytest.raises(LapwingError, match="was not made"):
        make_private_folder(tmp_path / "\u20ac")


def test_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_user_file({"HOME": "/h"}) == Path("/h/.config/lapwing/lapwing.toml")
    assert find_user_file({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}) == Path("/h/.config/lapwing/lapwing.toml")
    (tmp_path / "lapwing").mkdir()
    (tmp_path / "lapwing/lapwing.toml").write_text('[options]\nhold = "none"')
    (tmp_path / "site.toml").write_text("")
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "LAPWING_CONFIG": str(tmp_path / "site.toml")}
    assert [document.options for document in read_documents(environment)] == [{}, {"hold": "none"}]


def test_a_file_that_the_environment_names_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(LapwingError, match="no such file") as caught:
        read_documents({"LAPWING_CONFIG": str(tmp_path / "nothing")})
    assert caught.value.remedy == "correct LAPWING_CONFIG"


def run_lapwing(folder: Path, site: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command with this site's file alone."""
    (folder / "site.toml").write_text(site)
    mine = {"LAPWING_CONFIG": str(folder / "site.toml"), "XDG_CONFIG_HOME": str(folder), "PYTHONPATH": str(PYTHON)}
    command = [sys.executable, "-m", "lapwing", *words]
    return subprocess.run(command, env={**os.environ, **mine}, cwd=folder, capture_output=True, text=True, check=False)


def test_run_keeps_reports_for_the_users_eyes(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    site = f'[reports]\nfolder = "{tmp_path}/reports/%Y"\n[options]\nthreshold = "128KiB"'
    done = run_lapwing(tmp_path, site, "run", "--quiet", "sh", "-c", "echo $LAPWING_THRESHOLD")
    assert (done.returncode, done.stdout, done.stderr) == (0, "131072\n", "")
    (report,) = (tmp_path / "reports" / time.strftime("%Y")).iterdir()
    assert report.stat().st_mode & 0o777 == 0o600
    assert report.name.startswith("sh-")
    assert read_job(report).about["exit_code"] == 0


def test_run_stays_out_of_excluded_programs(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    site = '[select]\nexclude_programs = ["sh"]'
    done = run_lapwing(tmp_path, site, "run", "sh", "-c", "echo [$LD_PRELOAD] $LAPWING")
    assert (done.returncode, done.stdout) == (0, "[] off\n")  # off: a module file may preload it all the same
    assert "site.toml keeps it out of sh" in done.stderr


def test_config_shows_where_values_come_from(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    site = '[options]\nhold = "signal"\n[select]\nexclude_ranks = "0"'
    document = json.loads(run_lapwing(tmp_path, site, "config", "--json").stdout)
    assert document["options"]["hold"] == {"value": "signal", "source": str(tmp_path / "site.toml")}
    assert "signal" in run_lapwing(tmp_path, site, "config").stdout
    exports = run_lapwing(tmp_path, site, "config", "--environment").stdout
    assert shlex.split(exports)[1::2] == [
        f"LD_PRELOAD={stand_in_preload}",
        "LAPWING_HOLD=signal",
        "LAPWING_EXCLUDE_RANKS=0",
    ]


def test_programs_of_the_files_hold_where_lapwing_is_switched_on_by_default(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    site = '[select]\nexclude_programs = ["gdb", "valgrind*"]\ninclude_programs = ["app"]'
    exports = run_lapwing(tmp_path, site, "config", "--environment").stdout
    assert shlex.split(exports)[1::2] == [
        f"LD_PRELOAD={stand_in_preload}",
        "LAPWING_EXCLUDE_PROGRAMS=gdb,valgrind*",
        "LAPWING_INCLUDE_PROGRAMS=app",
    ]


def test_options_of_what_commands_collect_do_not_hold_by_default(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    exports = run_lapwing(tmp_path, "[options]\ntimeline = 5", "config", "--environment").stdout
    assert exports == f"export LD_PRELOAD={stand_in_preload}\n"


def test_users_that_the_files_keep_out_get_no_preload(tmp_path: Path) -> None:
    site = f'[select]\nexclude_users = ["{find_user()}"]'
    done = run_lapwing(tmp_path, site, "config", "--environment")
    cause = f"{tmp_path / 'site.toml'} keeps it out of the jobs of {find_user()}"
    assert done.stdout == f"# {cause}: nothing is preloaded\n"


def test_patterns_that_no_environment_can_tell_are_refused(tmp_path: Path) -> None:
    site = '[select]\nexclude_programs = ["a,b"]'
    done = run_lapwing(tmp_path, site, "config", "--environment")
    assert (done.returncode, "whose comma an environment cannot tell" in done.stderr) == (2, True)
    files = [parse('[select]\ninclude_programs = ["app"]', Path(name)) for name in ("a.toml", "b.toml")]
    with pytest.raises(LapwingError, match=r"a.toml and b.toml both have include_programs"):
        list_program_variables({}, files)


@pytest.mark.parametrize(("any_program", "text"), [(False, "gdb"), (True, "")])
def test_programs_of_the_environment_count_where_those_of_files_do(any_program: bool, text: str) -> None:
    environment = {"LAPWING_EXCLUDE_PROGRAMS": "gdb", "XDG_CONFIG_HOME": "/nowhere"}
    found = collect_variables(argparse.Namespace(any_program=any_program), environment)
    assert found["LAPWING_EXCLUDE_PROGRAMS"] == text


def test_config_says_that_nothing_holds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, stand_in_preload: Path
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    monkeypatch.delenv("LAPWING", raising=False)
    assert main(["config", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["off"] is False
    monkeypatch.setenv("LAPWING", "off")
    assert main(["config", "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["off"] is True
    assert "LAPWING=off is set" in output.err
    for line in (["config"], ["config", "--environment"]):
        assert main(line) == 0
        assert "LAPWING=off is set: every process runs as if Lapwing were not there" in capsys.readouterr().err
    monkeypatch.setenv("LAPWING", "no")
    assert main(["config"]) == 0
    assert "LAPWING=no is not understood" in capsys.readouterr().err


def test_config_shows_where_engines_run(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    document = json.loads(run_lapwing(tmp_path, "", "config", "--json").stdout)
    assert document["options"]["engine_cores"] == {"value": "", "source": "default"}
    monkeypatch.setenv("LAPWING_ENGINE_CORES", "4-7")
    document = json.loads(run_lapwing(tmp_path, "", "config", "--json").stdout)
    assert document["options"]["engine_cores"] == {"value": "4-7", "source": "LAPWING_ENGINE_CORES"}
    assert "4-7" in run_lapwing(tmp_path, "", "config").stdout
    assert "LAPWING_ENGINE_CORES=4-7" in run_lapwing(tmp_path, "", "config", "--environment").stdout
    document = json.loads(run_lapwing(tmp_path, "", "config", "--json", "--engine-cores", "auto").stdout)
    assert document["options"]["engine_cores"] == {"value": "auto", "source": "--engine-cores"}


@pytest.mark.parametrize("words", [["config"], ["config", "--json"], ["config", "--environment"], ["doctor", "--here"]])
def test_cores_that_cannot_be_are_refused(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPWING_ENGINE_CORES", "bogus")
    done = run_lapwing(tmp_path, "", *words)
    assert (done.returncode, "LAPWING_ENGINE_CORES cannot be 'bogus'" in done.stderr) == (2, True)


def test_flaws_end_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site.toml").write_text("[nonsense]")
    monkeypatch.setenv("LAPWING_CONFIG", str(tmp_path / "site.toml"))
    assert main(["config"]) == 2
    assert "[nonsense] is unknown" in capsys.readouterr().err
