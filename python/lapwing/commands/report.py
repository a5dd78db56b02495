# SPDX-License-Identifier: MIT
"""`lapwing report`."""

import argparse
import json
from pathlib import Path

from lapwing.advise.document import encode_advice, is_advice, read_advice
from lapwing.advise.page import make_advice_page
from lapwing.advise.show import print_advice
from lapwing.errors import LapwingError
from lapwing.outfiles import check_outputs, refuse_input, write_text
from lapwing.profile.job_file import PICTURE, ProfileJob, is_profile, open_profile_job
from lapwing.profile.record import read_job
from lapwing.report.html import make_page
from lapwing.report.jobs import encode_jobs, print_jobs, read_jobs
from lapwing.report.picture import PICTURE_SCHEMA, encode_story, format_picture, make_picture_page, tell_stories
from lapwing.report.profile import encode_profile_totals, print_profile
from lapwing.report.summary import format_summary, make_json
from lapwing.report.timeline import draw_timeline
from lapwing.report.totals import sum_profile
from lapwing.report.trace import write_trace
from lapwing.screen import Screen


class ReportCommand:
    """Print the summary of a kept record, or of the jobs whose records are in a folder.

    The record is a file that `lapwing profile`, `lapwing run --timeline N`, `lapwing run --keep-record FILE` or
    `lapwing advise --json FILE` wrote. Folders are those of [reports] in the configuration.
    """

    name = "report"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        text = "the kept record, or folders of [reports]"
        parser.add_argument("records", type=Path, nargs="+", metavar="FILE", help=text)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "--html", type=Path, metavar="FILE", help="write a page with drawings (of `run` only with --timeline)"
        )
        text = "write the timeline as trace events for Perfetto (recorded with --timeline only)"
        parser.add_argument("--chrome-trace", type=Path, metavar="FILE", help=text)

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it."""
        if any(path.is_dir() for path in arguments.records):
            return self._report_folders(arguments)
        arguments.record, *others = arguments.records
        if others:
            raise LapwingError(f"{others[0]} is a second record", "give one file, or folders")
        refuse_input(arguments.record, (arguments.html, arguments.chrome_trace))
        check_outputs(arguments, "html", "chrome_trace")
        if is_profile(arguments.record):
            return self._report_profile(arguments)
        if is_advice(arguments.record):
            return self._report_advice(arguments)
        if arguments.html or arguments.chrome_trace:
            raise LapwingError(f"{arguments.record} holds no profile", "record with `lapwing profile`")
        job = read_job(arguments.record)
        text = json.dumps(make_json(job), indent=2) if arguments.json else "\n".join(format_summary(job))
        print(text)
        return 0

    def _report_folders(self, arguments: argparse.Namespace) -> int:
        """Report the jobs of some folders."""
        files = [path for path in arguments.records if not path.is_dir()]
        if files:
            raise LapwingError(f"{files[0]} is no folder, as others are", "give one file, or folders")
        if arguments.html or arguments.chrome_trace:
            raise LapwingError("a folder's jobs have no page", "give one of its files, or --json")
        jobs = read_jobs(arguments.records)
        if arguments.json:
            print(encode_jobs(jobs))
        else:
            print_jobs(jobs, Screen())
        return 0

    def _report_advice(self, arguments: argparse.Namespace) -> int:
        """Report what `lapwing advise` found; its page lacks the profile, which it does not hold."""
        if arguments.chrome_trace:
            raise LapwingError(f"{arguments.record} holds no timeline", "record with `lapwing profile --timeline N`")
        advice = read_advice(arguments.record)
        if arguments.html:
            write_text(arguments.html, make_advice_page(advice, None))
        if arguments.json:
            print(encode_advice(advice), end="")
        elif not arguments.html:
            print_advice(advice, Screen())
        return 0

    def _report_picture(self, arguments: argparse.Namespace, job: ProfileJob) -> int:
        """Report what `lapwing run --timeline` recorded."""
        if arguments.html:
            write_text(arguments.html, make_picture_page(job))
        if arguments.chrome_trace:
            write_trace(job, arguments.chrome_trace)
        stories = tell_stories(job)
        if arguments.json:
            rows = [encode_story(story) for story in stories]
            print(json.dumps({"schema": PICTURE_SCHEMA, "sites": rows}, indent=2))
        elif not (arguments.html or arguments.chrome_trace):
            print("\n".join(format_picture(stories)))
        return 0

    def _report_profile(self, arguments: argparse.Namespace) -> int:
        """Report what `lapwing profile` recorded."""
        job = open_profile_job(arguments.record)
        if job.about.get(PICTURE):
            return self._report_picture(arguments, job)
        totals = sum_profile(job)
        if arguments.html:
            write_text(arguments.html, make_page(totals, draw_timeline(job)))
        if arguments.chrome_trace:
            write_trace(job, arguments.chrome_trace)
        if arguments.json:
            print(json.dumps(encode_profile_totals(totals), indent=2))
        elif not (arguments.html or arguments.chrome_trace):
            print_profile(totals, Screen())
        return 0
