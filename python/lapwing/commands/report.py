# SPDX-License-Identifier: MIT
"""`lapwing report`."""

import argparse
import json
from pathlib import Path

from rich.console import Console

from lapwing.profile.job_file import is_profile, open_profile_job
from lapwing.profile.record import read_job
from lapwing.report.profile import encode_profile_totals, print_profile
from lapwing.report.summary import format_summary, make_json
from lapwing.report.totals import sum_profile


class ReportCommand:
    """Print the summary of a kept record.

    The record is a file that `lapwing profile` or `lapwing run --keep-record FILE` wrote.
    """

    name = "report"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("record", type=Path, metavar="FILE", help="the kept record")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it."""
        if is_profile(arguments.record):
            return self._report_profile(arguments)
        job = read_job(arguments.record)
        text = json.dumps(make_json(job), indent=2) if arguments.json else "\n".join(format_summary(job))
        print(text)
        return 0

    def _report_profile(self, arguments: argparse.Namespace) -> int:
        """Report what `lapwing profile` recorded."""
        totals = sum_profile(open_profile_job(arguments.record))
        if arguments.json:
            print(json.dumps(encode_profile_totals(totals), indent=2))
        else:
            print_profile(totals, Console())
        return 0
