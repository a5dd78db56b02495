# SPDX-License-Identifier: MIT
"""Files that users ask for are written whole or not at all."""

import os
import re
import shutil
import threading
from argparse import Namespace
from pathlib import Path

import pytest

from lapwing.cli import main
from lapwing.commands.profile import write_somewhere
from lapwing.errors import LapwingError
from lapwing.outfiles import check_output, check_outputs, check_plot, write_text, write_whole
from lapwing.profile.job_file import write_profile_job


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(LapwingError, match="No space left"), write_whole(path) as stream:
        stream.write(b"new")
        raise OSError(28, "No space left on device")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(LapwingError, match=r"record cannot be written \(the current folder is gone\)"):
        check_output(Path("record"))


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"


def test_rights_are_those_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(mode=0o640)
    path.chmod(0o640)
    write_text(path, "text")
    assert path.stat().st_mode & 0o777 == 0o640


def test_new_file_has_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_text(tmp_path / "file", "text")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_pipe_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write_text(path, "text")
    reader.join(10)
    assert read == ["text"]
    assert path.is_fifo()


def test_device_stays_a_device() -> None:
    write_text(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


def test_missing_folder_is_one_error() -> None:
    with pytest.raises(LapwingError, match="/nonexistent/x was not written"):
        write_text(Path("/nonexistent/x"), "text")


PLOT = ["--plot", "/nonexistent/x.png"]
OUTPUT = ["--output", "/nonexistent/x"]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--keep-record", "/nonexistent/x", "touch", "ran"],
        ["run", "--json", "/nonexistent/x", "touch", "ran"],
        ["profile", *OUTPUT, "touch", "ran"],
        ["advise", "--profile-record", "/nonexistent/x", "touch", "ran"],
        ["probe", "--json", "/nonexistent/x"],
        ["demo", *OUTPUT],
        ["demo", *PLOT],
        *(["bench", name, *flags] for name in ("pingpong", "overlap", "bip", "sendtime") for flags in (OUTPUT, PLOT)),
        ["bench", "collective", *OUTPUT],
        ["bench", "collective", *PLOT],
        ["bench", "progress", *OUTPUT],
        ["bench", "predict", *OUTPUT],
        ["report", "record", "--html", "/nonexistent/x"],
    ],
)
def test_file_that_cannot_be_written_is_said_before_anything_runs(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAPWING_PRELOAD", str(shutil.which("true")))
    assert main(words) == 2
    assert re.fullmatch(r"lapwing: /nonexistent/x\S* cannot be written; .*\n", capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "one", "other"),
    [
        ("run --keep-record x --json ./x touch ran", "--keep-record", "--json"),
        ("run --timeline 9 --timeline-output x --json x touch ran", "--json", "--timeline-output"),
        ("advise --json x --html x touch ran", "--json", "--html"),
        ("probe --system x --simgrid x", "--system", "--simgrid"),
        ("probe --system s --simgrid x --loggopsim x", "--loggopsim", "--simgrid"),
        ("demo --output x.svg --plot x.svg", "--output", "--plot"),
        ("demo --output x.png --plot x", "--output", "--plot"),
        ("bench pingpong --output x --report x", "--output", "--report"),
        ("bench harm --output x --report x", "--output", "--report"),
        ("bench converted --output x --report x", "--output", "--report"),
        ("bench predict --plot x.svg --report link", "--report", "--plot"),
        ("report record --html x --chrome-trace x", "--html", "--chrome-trace"),
    ],
)
def test_one_file_is_not_written_twice(
    command: str,
    one: str,
    other: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAPWING_PRELOAD", str(shutil.which("true")))
    (tmp_path / "link").symlink_to("x.svg")
    assert main(command.split()) == 2
    assert re.fullmatch(rf"lapwing: {one} and {other} name one file; .*\n", capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize(
    "command",
    [
        "run --json - touch ran",
        "run --keep-record - touch ran",
        "profile --output - touch ran",
        "advise --json - touch ran",
        "probe --json -",
        "demo --output -",
        "bench pingpong --output -",
        "bench harm --report -",
        "report record --html -",
    ],
)
def test_dash_is_no_file(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAPWING_PRELOAD", str(shutil.which("true")))
    assert main(command.split()) == 2
    assert capsys.readouterr().err.startswith("lapwing: - is not written: only `lapwing doctor --json -` prints")
    assert list(tmp_path.iterdir()) == []


def test_results_may_share_a_device() -> None:
    check_outputs(Namespace(json=Path("/dev/null"), html=Path("/dev/null")), "json", "html")


def test_old_file_without_the_right_to_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    # Root may write everything.
    monkeypatch.setattr("lapwing.outfiles.os.access", lambda path, _: Path(path) != tmp_path / "file")
    with pytest.raises(LapwingError, match="cannot be written"):
        check_output(tmp_path / "file")
    with pytest.raises(LapwingError, match="was not written"):
        write_text(tmp_path / "file", "text")


def test_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LapwingError, match="file/x cannot be written"):
        check_output(tmp_path / "file/x")


def test_folder_without_the_right_to_enter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may enter everything.
    monkeypatch.setattr("lapwing.outfiles.os.access", lambda _, rights: rights == os.W_OK)
    with pytest.raises(LapwingError, match="x cannot be written"):
        check_output(tmp_path / "x")


def test_profile_whose_place_is_gone_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "records").mkdir()
    record = write_somewhere(Path("gone/record"), {}, tmp_path / "records")
    assert record is not None
    assert record.is_file()
    assert "gone/record was not written" in capsys.readouterr().err


def test_ending_that_no_plot_has_is_refused_before_anything_runs() -> None:
    with pytest.raises(LapwingError, match="no plot's name"):
        check_plot(Path("plot.xyz"))


def test_failure_to_write_keeps_the_exit_code_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAPWING_PRELOAD", str(shutil.which("true")))
    (tmp_path / "gone").mkdir()
    words = ["run", "--quiet", "--keep-record", "gone/r", "--json", "j", "sh", "-c", "rm -r gone; exit 7"]
    assert main(words) == 7
    assert "gone/r was not written" in capsys.readouterr().err
    assert (tmp_path / "j").exists()


def test_failed_profile_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lapwing.profile.job_file.write_places", fail)
    (tmp_path / "job").write_text("old")
    (tmp_path / "records").mkdir()
    with pytest.raises(LapwingError):
        write_profile_job(tmp_path / "job", {}, tmp_path / "records")
    assert (tmp_path / "job").read_text() == "old"
