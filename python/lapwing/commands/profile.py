# SPDX-License-Identifier: MIT
"""`lapwing profile`."""

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lapwing.advise.calibrate import calibrate_as_asked, count_runs
from lapwing.advise.trial import InterruptionError, Trial
from lapwing.configuration.document import read_documents
from lapwing.configuration.settings import collect_variables, describe_kept_out, list_deciders, refuse_above_limit
from lapwing.errors import LapwingError, RecordError
from lapwing.files import find_preload
from lapwing.launch.job import open_record_folder
from lapwing.launch.start import (
    RECORDS_VARIABLE,
    make_variables,
    prepare_command,
    refuse_off,
    refuse_settings,
    say,
    tell_copies,
)
from lapwing.model.recorded import read_recorded
from lapwing.model.scaling import read_sweep
from lapwing.model.switched import OPTIONS
from lapwing.options import add_flags
from lapwing.outfiles import check_output, describe_full_disk
from lapwing.output import forgive_output
from lapwing.profile.job_file import (
    CAUSES_OF_NONE,
    describe_damaged,
    list_profiles,
    open_profile_job,
    write_profile_job,
)
from lapwing.report.profile import print_profile
from lapwing.report.scaling import print_sweep
from lapwing.report.totals import sum_profile
from lapwing.screen import Screen

DEFAULT_RECORD = "lapwing-profile.record"


class ProfileCommand:
    """Record what an MPI program does, as MPI does it: times, messages, call sites, and where there is slack.

    LAUNCHER is the command line that you would use without Lapwing, for example

        lapwing profile mpirun -n 4 ./app input.dat

    Nothing returns early in this run. The record is for `lapwing report` and `lapwing predict`. The exit code
    is the launcher's own.
    """

    name = "profile"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.usage = "lapwing profile [options] LAUNCHER ..."
        default = f"(default: {DEFAULT_RECORD})"
        parser.add_argument("--quiet", action="store_true", help="print no summary")
        parser.add_argument(
            "--output", type=Path, default=Path(DEFAULT_RECORD), metavar="FILE", help=f"the record {default}"
        )
        add_calibration_flag(parser)
        add_flags(parser, ("profile",))
        parser.add_argument("launcher", nargs=argparse.REMAINDER, metavar="LAUNCHER ...", help="mpirun -n 4 ./app ...")

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the launcher, gather what the ranks left, and say what it shows."""
        refuse_off()
        chosen = collect_variables(arguments)
        options = {**chosen, "LAPWING_PROFILE": "on"}
        preload = find_preload()
        command = prepare_command(arguments.launcher, self.name)
        refuse_settings(command, {**list_deciders(arguments), **list_calibrated(arguments, self.name)})
        refuse_above_limit(command.list_settings(), read_documents())
        check_record(arguments.output)
        tell_copies(preload, command.words)
        failed_with = 0
        with open_record_folder() as records:
            # Before the program runs: it may read its standard input to the end.
            trial = Trial(command, preload, make_subfolder(records), options) if arguments.calibrate else None
            result = command.start(make_variables(options, preload, records))
            about = {**command.describe(result), OPTIONS: chosen}
            if trial and result.exit_code == result.interrupted_by == 0:
                if not arguments.quiet:
                    say(announce_runs(arguments.calibrate, result.elapsed_s))
                found, failed_with = try_calibration(trial, arguments.calibrate)
                about |= found
            self._keep(arguments, about, records)
        return result.exit_code or failed_with

    def _keep(self, arguments: argparse.Namespace, about: Mapping[str, Any], records: Path) -> None:
        """Write the record, and print."""
        profiles, damaged = list_profiles(records)
        if not profiles:
            kept_out = describe_full_disk(records) or describe_kept_out(collect_variables(arguments))
            say(
                f"no rank left a profile{describe_damaged(damaged)}: {f'{kept_out}; or: ' if kept_out else ''}"
                f"{CAUSES_OF_NONE}"
                f"{describe_old(arguments.output)}"
            )
            return
        record = write_somewhere(arguments.output, about, records)
        if record and not arguments.quiet:
            print_summary(record)
        if record and (record != arguments.output or not arguments.quiet):
            say(f"the record is {record}; see `lapwing report` and `lapwing predict`")


def check_record(path: Path) -> None:
    """Find out before the run whether its record can be written, and read again to tell what it shows."""
    check_output(path)
    if path.exists() and not path.is_file():
        raise LapwingError(f"{path} is no file from which the record can be read again", "choose another place")


def announce_runs(asked: Sequence[int], elapsed_s: float) -> str:
    """Say how often the program runs once more, and about how long that takes."""
    count = count_runs(asked)
    return f"now the calibration: {count} more runs, about {count * elapsed_s:.0f} s if each takes as long as this one"


def try_calibration(trial: Trial, asked: Sequence[int]) -> tuple[dict[str, Any], int]:
    """Return what a record says of the calibration, and the exit code: a failure must not cost the profile."""
    try:
        return calibrate_as_asked(trial, asked), 0
    except InterruptionError as interrupted:
        say("the calibration was interrupted: the record has none")
        return {}, interrupted.exit_code
    except LapwingError as error:
        say(f"the record has no calibration: {error}")
        return {}, error.exit_code


def write_somewhere(path: Path, about: Mapping[str, Any], records: Path) -> Path | None:
    """Write the record, in this folder or TMPDIR where its own place fails after the run; return where it is."""
    other = f"lapwing-profile-{os.urandom(4).hex()}.record"
    for place in (path, Path(other), Path(tempfile.gettempdir()) / other):
        try:
            write_profile_job(place, about, records)
            return place
        except LapwingError as error:
            say(f"{error.message}{'.' if describe_old(place) else ''}{describe_old(place)}")
    return None


def print_summary(record: Path) -> None:
    """Print what a record shows; the exit code stays the launcher's where that cannot be told."""
    try:
        totals = sum_profile(open_profile_job(record))
    except RecordError as error:
        say(str(error))
        return
    with forgive_output():
        print_profile(totals, Screen(stderr=True))
        print_scaling(record, Screen(stderr=True))


def print_scaling(record: Path, screen: Screen) -> None:
    """Print the sweep over threads, where a record has one."""
    sweep = read_sweep(open_profile_job(record).about, str(record))
    if sweep:
        print_sweep(screen, sweep, read_recorded(record).cores_per_rank)


def describe_old(path: Path) -> str:
    """Say that what lies where the record would be is not this run's: the next command would study it."""
    return f" {path} holds no record of this run: remove it" if path.is_file() else ""


def parse_runs(text: str) -> tuple[int, ...]:
    """Read a number of runs, 0 for none; or several numbers of threads."""
    words = text.split(",")
    if not all(word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs: give 0 or more, or threads as in 1,2,4")
    numbers = tuple(map(int, words))
    if numbers == (0,):
        return ()
    if len(numbers) > 1 and (0 in numbers or len(set(numbers)) < len(numbers)):
        raise argparse.ArgumentTypeError(f"{text!r} are not different numbers of threads: give for example 1,2,4")
    return numbers


def add_calibration_flag(parser: argparse.ArgumentParser) -> None:
    """Declare the calibration, for `advise` too."""
    text = (
        "then run the program N times on one core less per rank and on all, in turn: what giving up a core costs; or, "
        "given 1,2,4,..., with so many OpenMP threads (OMP_NUM_THREADS), and fit the computation over threads"
    )
    parser.add_argument("--calibrate", type=parse_runs, default=(), metavar="N|LIST", help=text)


def list_calibrated(arguments: argparse.Namespace, command: str) -> dict[str, str]:
    """Return the variables that profiled runs set themselves, each with what asks for that."""
    threads = {"OMP_NUM_THREADS": "--calibrate"} if len(arguments.calibrate) > 1 else {}
    cores = {"LAPWING_PROGRESS": "--calibrate"} if len(arguments.calibrate) == 1 else {}
    return {**dict.fromkeys(("LAPWING_PROFILE", RECORDS_VARIABLE), f"lapwing {command}"), **threads, **cores}


def make_subfolder(folder: Path) -> Path:
    """Make a folder that goes with another."""
    path = folder / "calibration"
    path.mkdir()
    return path
