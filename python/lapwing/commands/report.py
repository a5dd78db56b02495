# SPDX-License-Identifier: MIT
"""`lapwing report`."""

import argparse
import json
from pathlib import Path

from lapwing.profile.record import read_job
from lapwing.report.summary import format_summary, make_json


class ReportCommand:
    """Print the summary of a kept record.

    The record is a file that `lapwing run --keep-record FILE` wrote.
    """

    name = "report"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("record", type=Path, metavar="FILE", help="the kept record")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it."""
        job = read_job(arguments.record)
        text = json.dumps(make_json(job), indent=2) if arguments.json else "\n".join(format_summary(job))
        print(text)
        return 0
