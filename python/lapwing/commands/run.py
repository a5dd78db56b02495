# SPDX-License-Identifier: MIT
"""`lapwing run`."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from random import random
from time import strftime
from typing import Any

from lapwing.configuration.document import read_documents
from lapwing.configuration.settings import (
    collect_variables,
    describe_kept_out,
    draw_reports,
    explain_exclusion,
    find_owner,
    find_user,
    list_deciders,
    name_report_folder,
    refuse_above_limit,
)
from lapwing.errors import LapwingError
from lapwing.files import find_preload
from lapwing.launch.job import open_record_folder
from lapwing.launch.start import (
    RECORDS_VARIABLE,
    Command,
    is_off,
    make_variables,
    prepare_command,
    refuse_misunderstood,
    refuse_settings,
    say,
    say_failure,
    start_untouched,
    tell_copies,
)
from lapwing.options import ANY_PROGRAM, CORES_FLAG, add_cores_flag, add_flags
from lapwing.outfiles import PRIVATE_MODE, check_outputs, describe_full_disk, make_private_folder, write_text

DEFAULT_TIMELINE = "lapwing-timeline.record"


def keep_report(folder: Path, command: Command, about: Mapping[str, Any], records: Path) -> None:
    """Keep a job's record in the folder of reports, for the user's eyes, under a name that says what and when."""
    from lapwing.profile.record import read_folder, write_job

    programs = [Path(program).name for program in command.list_programs()]
    name = f"{(programs or ['job'])[0]}-{strftime('%H%M%S')}-{os.urandom(4).hex()}.record"
    make_private_folder(folder)
    write_job(folder / name, about, read_folder(records, about).ranks, PRIVATE_MODE)


def choose_progress(arguments: argparse.Namespace, options: Mapping[str, str]) -> dict[str, str]:
    """Return these variables, with a core of each rank's given up where that was asked for."""
    if arguments.dedicate_core and arguments.option_progress not in (None, "dedicated"):
        raise LapwingError("--dedicate-core is --progress dedicated", "leave one of the two out")
    variables = {**options, **({"LAPWING_PROGRESS": "dedicated"} if arguments.dedicate_core else {})}
    if arguments.engine_cores and variables.get("LAPWING_PROGRESS") == "dedicated":
        raise LapwingError("dedicated progress chooses the engines' cores itself", f"leave {CORES_FLAG} out")
    return variables


def describe_unwritten(arguments: argparse.Namespace) -> str:
    """Name the files that stay as they are."""
    names = [str(path) for path in (arguments.json, arguments.keep_record) if path]
    return f"; {' and '.join(names)} {'are' if len(names) > 1 else 'is'} not written" if names else ""


def tell_off(reason: str, arguments: argparse.Namespace) -> None:
    """Say that Lapwing stays out, and why."""
    say(f"{reason}: the program runs without Lapwing, and nothing is recorded{describe_unwritten(arguments)}")


class RunCommand:
    """Run an MPI program so that its blocking calls overlap its computation.

    LAUNCHER is the command line that you would use without Lapwing, for example

        lapwing run mpirun -n 4 ./app input.dat

    Without a launcher the program runs as a single process. The exit code is the launcher's own.
    """

    name = "run"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.usage = "lapwing run [options] LAUNCHER ..."
        parser.add_argument(
            "--quiet", action="store_true", help="print no summary, and record nothing that no other option asks for"
        )
        parser.add_argument(ANY_PROGRAM, action="store_true", help=argparse.SUPPRESS)
        parser.add_argument("--keep-record", type=Path, metavar="FILE", help="keep what the ranks recorded in FILE")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the summary to FILE as JSON")
        parser.add_argument(
            "--dedicate-core", action="store_true", help="each rank gives up a core: the same as --progress dedicated"
        )
        add_cores_flag(parser)
        text = f"where --timeline keeps what it recorded (default: {DEFAULT_TIMELINE})"
        parser.add_argument("--timeline-output", type=Path, default=Path(DEFAULT_TIMELINE), metavar="FILE", help=text)
        add_flags(parser, also=("timeline",))
        parser.add_argument("launcher", nargs=argparse.REMAINDER, metavar="LAUNCHER ...", help="mpirun -n 4 ./app ...")

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the launcher, then report."""
        if is_off():  # before anything is read: what is wrong there must not keep the program from running
            tell_off("LAPWING=off", arguments)
            return start_untouched(arguments.launcher, self.name).exit_code
        refuse_misunderstood()
        options = choose_progress(arguments, collect_variables(arguments))
        preload = find_preload()
        command = prepare_command(arguments.launcher, self.name)
        given = {"LAPWING_PROGRESS": "--dedicate-core"} if arguments.dedicate_core else {}
        refuse_settings(command, {**list_deciders(arguments), **given, RECORDS_VARIABLE: "lapwing run"})
        check_outputs(arguments, "keep_record", "json")
        documents = read_documents()
        reason = explain_exclusion(command.list_programs(), find_user(), documents)
        if reason and not arguments.any_program:
            tell_off(reason, arguments)
            return command.start({"LAPWING": "off"}).exit_code
        refuse_above_limit(command.list_settings(), documents)
        tell_copies(preload, command.words)
        reports = draw_reports(documents, random())
        os.environ.pop(RECORDS_VARIABLE, None)  # of a site's default: this run is recorded here, or not at all
        is_drawn = int(options.get("LAPWING_TIMELINE", "0")) > 0
        check_outputs(arguments, "keep_record", "json", *(["timeline_output"] if is_drawn else []))
        if arguments.quiet and not (arguments.keep_record or arguments.json or reports or is_drawn):
            return command.start(make_variables(options, preload, None)).exit_code
        with open_record_folder() as records:
            result = command.start(make_variables(options, preload, records))
            causes = {"kept_out": describe_kept_out(options), "full_disk": describe_full_disk(records)}
            self._report(arguments, {**command.describe(result), **causes}, records)
            if reports:
                with say_failure():
                    keep_report(name_report_folder(reports, find_owner()), command, command.describe(result), records)
            if is_drawn:
                with say_failure():
                    self._draw(arguments, command.describe(result), records)
        return result.exit_code

    def _draw(self, arguments: argparse.Namespace, about: Mapping[str, Any], records: Path) -> None:
        """Keep the picture of the run, and say what became of each call site."""
        # Not above: what reads profiles takes longer to load than `lapwing run` may cost.
        from lapwing.profile.job_file import (
            CAUSES_OF_NONE,
            PICTURE,
            describe_damaged,
            list_profiles,
            open_profile_job,
            write_profile_job,
        )
        from lapwing.report.picture import format_picture, tell_stories

        profiles, damaged = list_profiles(records)
        if not profiles:
            say(f"no rank left a timeline{describe_damaged(damaged)}: {CAUSES_OF_NONE}")
            return
        write_profile_job(arguments.timeline_output, {**about, PICTURE: True}, records)
        if not arguments.quiet:
            for text in format_picture(tell_stories(open_profile_job(arguments.timeline_output))):
                say(text)
            name = arguments.timeline_output
            say(f"the timeline is {name}: lapwing report {name} --html FILE --chrome-trace FILE")

    def _report(self, arguments: argparse.Namespace, about: Mapping[str, Any], records: Path) -> None:
        """Write and keep what was asked for, then print: whoever reads may have left.

        What that takes is loaded here, after the job: the program should not wait for it.
        """
        import json

        from lapwing.profile.record import read_folder, write_job
        from lapwing.report.summary import format_summary, make_json

        job = read_folder(records, about)
        if arguments.keep_record:
            with say_failure():
                write_job(arguments.keep_record, about, job.ranks)
        if arguments.json:
            with say_failure():
                write_text(arguments.json, json.dumps(make_json(job), indent=2) + "\n")
        for text in [] if arguments.quiet else format_summary(job):
            say(text)
