# SPDX-License-Identifier: MIT
"""`lapwing compare`."""

import argparse
import json
from pathlib import Path

from lapwing.commands.predict import add_model_flags, check_flags, study_file
from lapwing.errors import LapwingError
from lapwing.model.comparison import Comparison, compare_runs
from lapwing.model.profile import JobProfile, Way
from lapwing.model.reader import read_profile
from lapwing.model.study import Study
from lapwing.report.comparison import SCHEMA, encode_comparison, print_comparison
from lapwing.screen import Screen

WAY_NAMES = {
    "stock": Way.STOCK,
    "events": Way.EVENTS,
    "dedicated": Way.DEDICATED,
    "deferred": Way.DEFERRED,
    "deferred-dedicated": Way.DEFERRED_DEDICATED,
    "rewritten": Way.REWRITTEN,
    "rewritten-dedicated": Way.REWRITTEN_DEDICATED,
}


def choose_ways(profiles: list[JobProfile], names: list[str] | None) -> list[Way]:
    """Return the way that each run was made: as told, or as the profile says."""
    if names is None:
        return [profile.way for profile in profiles]
    if len(names) not in (1, len(profiles)):
        raise LapwingError(f"{len(names)} ways are given for {len(profiles)} runs", "give --way once, or for each run")
    return [WAY_NAMES[name] for name in (names * len(profiles) if len(names) == 1 else names)]


def check_ways(study: Study, ways: list[Way]) -> None:
    """Refuse ways that cannot be predicted."""
    for way in ways:
        reason = study.predictions[way].impossible
        if reason:
            raise LapwingError(f"{way.value} cannot be predicted: {reason}", "say more, or compare other runs")


class CompareCommand:
    """Set runs beside what was predicted for them.

    BASE is the profile of the run that is predicted from; each RUN the profile of a run made another way.
    Per class of calls and per call site: before, predicted, achieved; then what the difference means.
    Profiles of mpiP do not know how they ran: say it with --way.
    """

    name = "compare"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("base", type=Path, metavar="BASE", help="the profile to predict from")
        parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="profiles of other runs")
        parser.add_argument("--way", action="append", choices=sorted(WAY_NAMES), help="how the runs were made")
        parser.add_argument("--json", action="store_true", help="print JSON")
        add_model_flags(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Compare and print."""
        check_flags(arguments)
        study = study_file(arguments.base, arguments)
        profiles = [read_profile(path) for path in arguments.runs]
        ways = choose_ways(profiles, arguments.way)
        check_ways(study, ways)
        comparisons = compare_runs(study, list(zip(profiles, ways, strict=True)))
        self._show(arguments, study, comparisons)
        return 0

    def _show(self, arguments: argparse.Namespace, study: Study, comparisons: list[Comparison]) -> None:
        """Print it."""
        if arguments.json:
            rows = [encode_comparison(comparison, study) for comparison in comparisons]
            print(json.dumps({"schema": SCHEMA, "base": study.profile.name, "runs": rows}, indent=2))
            return
        console = Screen()
        for comparison in comparisons:
            print_comparison(comparison, study, console)
