# SPDX-License-Identifier: MIT
"""`lapwing run`."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lapwing
from lapwing.errors import LapwingError
from lapwing.files import find_preload
from lapwing.launch.job import JobResult, make_record_folder, run_job
from lapwing.launch.launchers import Launcher, find_launcher, join_preload
from lapwing.launch.program import explain_unusable, locate_program
from lapwing.options import add_flags, collect_environment
from lapwing.profile.record import read_folder, write_job
from lapwing.report.summary import format_summary, make_json


def say(text: str) -> None:
    """Print one line of Lapwing's own; stdout belongs to the program."""
    print(f"lapwing: {text}", file=sys.stderr)


def check_programs(launcher: Launcher, arguments: Sequence[str]) -> list[str]:
    """Return what should be said about the programs before they start; a missing one is an error."""
    lines: list[str] = []
    for name in launcher.find_programs(arguments):
        reason = explain_unusable(locate_program(name))
        lines += [f"{name} runs without Lapwing: {reason}; link it dynamically"] if reason else []
    return lines


def make_variables(options: Mapping[str, str], preload: Path, records: Path) -> dict[str, str]:
    """Return what every rank must have in its environment."""
    chain = join_preload(str(preload), os.environ.get("LD_PRELOAD"))
    return {"LD_PRELOAD": chain, "LAPWING_RECORD_DIR": str(records), **options}


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
        parser.add_argument("--quiet", action="store_true", help="print no summary")
        parser.add_argument("--keep-record", type=Path, metavar="FILE", help="keep what the ranks recorded in FILE")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the summary to FILE as JSON")
        parser.add_argument(
            "--dedicate-core", action="store_true", help="each rank gives up a core: the same as --progress dedicated"
        )
        add_flags(parser)
        parser.add_argument("launcher", nargs=argparse.REMAINDER, metavar="LAUNCHER ...", help="mpirun -n 4 ./app ...")

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the launcher, then report."""
        line = arguments.launcher[1:] if arguments.launcher[:1] == ["--"] else arguments.launcher
        if not line:
            raise LapwingError("there is nothing to run", "write for example: lapwing run mpirun -n 4 ./app")
        options = collect_environment(arguments)
        if arguments.dedicate_core:
            options = {**options, "LAPWING_PROGRESS": "dedicated"}
        preload = find_preload()
        launcher = find_launcher(line[0])
        for text in check_programs(launcher, line[1:]):
            say(text)
        records = make_record_folder()
        try:
            variables = make_variables(options, preload, records)
            result = self._start(launcher, line[1:], variables)
            self._report(arguments, line, result, records)
        finally:
            shutil.rmtree(records, ignore_errors=True)
        return result.exit_code

    def _start(self, launcher: Launcher, line: Sequence[str], variables: Mapping[str, str]) -> JobResult:
        """Run the launcher with the variables for its ranks."""
        command = [launcher.path, *launcher.add_environment(line, variables)]
        return run_job(command, {**os.environ, **launcher.launcher_environment(variables)})

    def _report(self, arguments: argparse.Namespace, line: Sequence[str], result: JobResult, records: Path) -> None:
        """Print, write and keep what was asked for."""
        about: dict[str, Any] = {
            "lapwing": lapwing.__version__,
            "command": list(line),
            "exit_code": result.exit_code,
            "elapsed_s": round(result.elapsed_s, 6),
        }
        job = read_folder(records, about)
        for text in [] if arguments.quiet else format_summary(job):
            say(text)
        try:
            if arguments.keep_record:
                write_job(arguments.keep_record, about, job.ranks)
            if arguments.json:
                arguments.json.write_text(json.dumps(make_json(job), indent=2) + "\n", "utf-8")
        except OSError as error:
            say(f"{error.filename} was not written ({error.strerror}); choose another place")
