# SPDX-License-Identifier: MIT
"""`lapwing advise`."""

import argparse
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID

from lapwing.advise.advice import Advice
from lapwing.advise.build import build_advice, needs_more
from lapwing.advise.calibrate import calibrate_as_asked
from lapwing.advise.campaign import CampaignRun, parse_inputs, summarise_run
from lapwing.advise.campaign_page import encode_campaign, make_campaign_page, print_campaign
from lapwing.advise.document import encode_advice
from lapwing.advise.page import make_advice_page
from lapwing.advise.rounds import Rounds, plan_rounds, run_rounds
from lapwing.advise.show import print_advice
from lapwing.advise.trial import InterruptionError, Trial
from lapwing.advise.ways import CANDIDATES, UNFIT, WAY_VARIABLES, Beside, Choice, choose_ways, keep_fit
from lapwing.bench.interval import LOOKS
from lapwing.commands.compare import WAY_NAMES
from lapwing.commands.predict import add_system_flag, complete_profile, read_system_flag
from lapwing.commands.profile import add_calibration_flag, list_calibrated
from lapwing.configuration.document import read_documents
from lapwing.configuration.settings import collect_variables, describe_kept_out, list_deciders, refuse_above_limit
from lapwing.errors import LapwingError
from lapwing.files import find_preload
from lapwing.launch.job import open_record_folder
from lapwing.launch.start import (
    Command,
    prepare_command,
    prepare_stock,
    refuse_off,
    refuse_settings,
    say,
    say_failure,
)
from lapwing.model.profile import JobProfile, Way
from lapwing.model.reader import read_profile
from lapwing.model.setup import PROGRESS_THRESHOLD_BYTES, THRESHOLD_BYTES
from lapwing.model.study import Study, study_profile
from lapwing.model.switched import OPTIONS
from lapwing.model.system import System
from lapwing.model.waits import sum_all_causes
from lapwing.options import add_flags, parse_bytes
from lapwing.outfiles import check_outputs, write_text
from lapwing.profile.job_file import describe_damaged, list_profiles, open_profile_job, write_profile_job
from lapwing.report.summary import format_count
from lapwing.report.totals import JobTotals, sum_profile
from lapwing.screen import Screen

DEFAULT_BUDGET_S = 900.0
BUDGET_MOST_S = 10**9
UNWRITTEN = 1  # exit code
NAMES = {name: way for name, way in WAY_NAMES.items() if way in CANDIDATES}


@dataclass(frozen=True)
class Finished:
    """What came of one command line. advice and profiled: None when it was interrupted before anything was measured."""

    exit_code: int
    advice: Advice | None = None
    profiled: "Profiled | None" = None


@dataclass(frozen=True)
class Profiled:
    """What the profiled run told. wall_s: of the launcher. is_kept: where the user wants its record."""

    study: Study
    totals: JobTotals
    wall_s: float
    is_kept: bool = True


class AdviseCommand:
    """Find out what overlap brings an MPI program: profile it, predict, try what promises most, and advise.

    LAUNCHER is the command line that you would use without Lapwing, for example

        lapwing advise mpirun -n 4 ./app input.dat

    The program runs many times: once without Lapwing, once profiled, then stock and the promising ways in turn. Its
    output goes into files that are removed at the end. It should do the same in every run, and take seconds to
    minutes. Stock runs without Lapwing's library, and the launcher's times are compared, so that all that Lapwing costs
    counts. A gain is claimed when it is 95 % certain. Until that, or its contrary, is clear more rounds are run, as
    long as the budget lasts; where none was predicted and none shows, there are no more. docs/advise.md says how it
    decides.
    """

    name = "advise"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.usage = "lapwing advise [options] LAUNCHER ..."
        budget = (
            f"time for everything; a run that it ends does not count; 0: predict only (default: {DEFAULT_BUDGET_S:.0f})"
        )
        looks = f"{LOOKS[0]}, and up to {LOOKS[-1]} until the answer is clear; fewer than {LOOKS[0]} prove no gain"
        rounds = f"runs of each way, fewer when the budget is short (default: {looks})"
        parser.add_argument("--budget", type=float, default=DEFAULT_BUDGET_S, metavar="SECONDS", help=budget)
        parser.add_argument("--rounds", type=int, metavar="N", help=rounds)
        text = "try this way, whatever is predicted (may be repeated; default: the promising ones)"
        parser.add_argument("--way", action="append", choices=sorted(NAMES), help=text)
        text = "write the advice to FILE; `report` reads it (not with --inputs)"
        parser.add_argument("--json", type=Path, metavar="FILE", help=text)
        parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with drawings")
        text = "advise on every line of FILE (NAME: LAUNCHER ...), and compare them; the budget is shared out"
        parser.add_argument("--inputs", type=Path, metavar="FILE", help=text)
        parser.add_argument("--profile-record", type=Path, metavar="FILE", help="keep the record of the profiled run")
        add_calibration_flag(parser)
        add_system_flag(parser)
        parser.add_argument("--cores", type=int, metavar="N", help="cores that each rank computes on")
        parser.add_argument("--spare-cores", type=int, metavar="N", help="cores of each host that no rank computes on")
        add_flags(parser, ("basic",), also=("progress_threshold",))
        parser.add_argument("launcher", nargs=argparse.REMAINDER, metavar="LAUNCHER ...", help="mpirun -n 4 ./app ...")

    def run(self, arguments: argparse.Namespace) -> int:
        """Profile, predict, try, advise."""
        refuse_off()
        check_arguments(arguments)
        read_system_flag(arguments)  # a file that cannot be read is refused before anything runs
        if arguments.inputs:
            return self._run_campaign(arguments)
        finished = self._run_line(arguments, self._prepare(arguments, arguments.launcher), arguments.budget or inf)
        if not (finished.advice and finished.profiled):
            return finished.exit_code
        shown = self._show(arguments, finished.advice, finished.profiled)
        return finished.exit_code or shown

    def _run_campaign(self, arguments: argparse.Namespace) -> int:
        """Advise on all lines in turn, and compare them; an interruption ends it with what is there.

        A line whose runs fail is left out, and its exit code is the command's.
        """
        lines = parse_inputs(read_inputs(arguments.inputs))
        commands = [self._prepare(arguments, line.words) for line in lines]  # all of them before the first one runs
        begin_s, runs = time.monotonic(), list[CampaignRun]()
        exit_code = 0
        for number, (line, command) in enumerate(zip(lines, commands, strict=True)):
            left_s = max(0.0, (arguments.budget or inf) - (time.monotonic() - begin_s))
            say(f"{line.name}: {shlex.join(line.words)}")
            try:
                finished = self._run_line(arguments, command, left_s / (len(lines) - number))
            except LapwingError as error:
                say(f"{line.name}: {error}")
                exit_code = exit_code or error.exit_code
                continue
            if finished.advice and finished.profiled:
                runs.append(summarise_run(line.name, finished.advice, finished.profiled.study.profile))
            if finished.exit_code:
                exit_code = finished.exit_code
                break
        if not runs:
            return exit_code
        is_written = write_asked(arguments, lambda: encode_campaign(runs), lambda: make_campaign_page(runs))
        print_campaign(Screen(), runs)
        return exit_code or (0 if is_written else UNWRITTEN)

    def _prepare(self, arguments: argparse.Namespace, words: Sequence[str]) -> Command:
        """Refuse a command line that cannot be run with and without Lapwing, or would decide the way itself."""
        command = prepare_command(words, self.name)
        ways = dict.fromkeys(WAY_VARIABLES, f"lapwing {self.name}")
        refuse_settings(command, {**list_deciders(arguments), **list_calibrated(arguments, self.name), **ways})
        refuse_above_limit(command.list_settings(), read_documents())
        prepare_stock(command.words)
        return command

    def _run_line(self, arguments: argparse.Namespace, command: Command, budget_s: float) -> Finished:
        """Advise on one command line."""
        options = keep_fit(collect_variables(arguments))
        with open_record_folder() as folder:
            return self._advise(arguments, Trial(command, find_preload(), folder, options), budget_s)

    def _advise(self, arguments: argparse.Namespace, trial: Trial, budget_s: float) -> Finished:
        """Do everything in a folder that is there."""
        begin_s = time.monotonic()
        trial.left_s = lambda: budget_s - (time.monotonic() - begin_s)
        with show_steps(trial) as steps:
            try:
                steps.begin("without Lapwing", 2)
                plain_s = trial.run_plain()
                steps.advance()
                profiled = profile_program(arguments, trial, plain_s)
                trial.time_start()
                steps.advance()
            except InterruptionError as interrupted:
                say("interrupted before anything was measured")
                return Finished(interrupted.exit_code)
            wanted = [NAMES[name] for name in arguments.way or ()]
            choice = choose_ways(profiled.study, wanted, find_beside(trial, profiled))
            # Of two runs, one may have met a busy moment.
            run_s = min(plain_s, profiled.wall_s)
            looks = (arguments.rounds,) if arguments.rounds else LOOKS
            rounds = try_ways(trial, choice, Plan(looks, run_s, trial.left_s), steps) if arguments.budget else Rounds()
        advice = conclude(trial, profiled, choice, rounds, explain_unmeasured(rounds, arguments.budget))
        return Finished(trial.interrupted_with if rounds.is_interrupted else 0, advice, profiled)

    def _show(self, arguments: argparse.Namespace, advice: Advice, profiled: Profiled) -> int:
        """Write what was asked for, then print: whoever reads may have left."""
        page = partial(make_advice_page, advice, profiled.totals)
        is_written = write_asked(arguments, lambda: encode_advice(advice), page) and profiled.is_kept
        print_advice(advice, Screen())
        return 0 if is_written else UNWRITTEN


@dataclass
class Steps:
    """The bar on a terminal: drawn from here alone, since a thread of its own would take signals."""

    progress: Progress
    task: TaskID | None = None

    def begin(self, name: str, total: int) -> None:
        """Begin a bar."""
        if self.task is not None:
            self.progress.remove_task(self.task)
        self.task = self.progress.add_task(name, total=total)
        self.progress.refresh()

    def advance(self) -> None:
        """A run is over."""
        if self.task is not None:
            self.progress.advance(self.task)
        self.progress.refresh()


@contextmanager
def show_steps(trial: Trial) -> Iterator[Steps]:
    """Show a bar while programs run, on a terminal only."""
    console = Screen(stderr=True)
    bar = Progress(console=console, transient=True, auto_refresh=False, disable=not console.is_terminal)
    trial.on_look = bar.refresh
    with bar:
        yield Steps(bar)


@dataclass(frozen=True)
class Plan:
    """After how many rounds to look, how long a run takes, and how much time is left."""

    looks: Sequence[int]
    run_s: float
    left_s: Callable[[], float]


def try_ways(trial: Trial, choice: Choice, plan: Plan, steps: Steps) -> Rounds:
    """Run stock and the chosen ways in turn; nothing where not even one round fits into the budget."""
    ways = (Way.STOCK, *choice.tried)

    def is_open(rounds: Rounds) -> bool:
        if not needs_more(rounds, choice.is_check):
            return False
        more = next(look for look in plan.looks if look > rounds.count) - rounds.count
        steps.begin("more rounds", more * len(ways))
        return True

    count = plan_rounds(plan.run_s, len(ways), plan.left_s(), plan.looks[0])
    steps.begin("in turn", count * len(ways))
    return run_rounds(ways, plan.looks, trial.run_way, plan.left_s, is_open, steps.advance) if count else Rounds()


def write_asked(arguments: argparse.Namespace, make_json: Callable[[], str], make_page: Callable[[], str]) -> bool:
    """Write the files that are wanted; say so where that fails, and go on: what was measured is not lost."""
    wanted = [(path, make) for path, make in ((arguments.json, make_json), (arguments.html, make_page)) if path]
    written_count = 0
    for path, make in wanted:
        with say_failure():
            write_text(path, make())
            written_count += 1
    return written_count == len(wanted)


def read_inputs(path: Path) -> str:
    """Read the lines of a campaign."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LapwingError(f"{path} cannot be read ({error})", "correct --inputs") from error


def check_arguments(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be done before anything runs."""
    if arguments.inputs and (arguments.launcher or arguments.profile_record):
        raise LapwingError("--inputs names the command lines", "leave LAUNCHER and --profile-record out")
    if arguments.rounds is not None and arguments.rounds < 1:
        raise LapwingError(f"--rounds {arguments.rounds} is out of range", "give at least 1")
    if not 0 <= arguments.budget <= BUDGET_MOST_S:
        remedy = f"give 0 (only predict) to {BUDGET_MOST_S} seconds"
        raise LapwingError(f"--budget {arguments.budget:g} is out of range", remedy)
    for name, least in (("cores", 1), ("spare_cores", 0)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise LapwingError(f"--{name.replace('_', '-')} {value} is out of range", f"give at least {least}")
    check_outputs(arguments, "json", "html", "profile_record")
    if arguments.option_progress in UNFIT["LAPWING_PROGRESS"]:
        cause = f"--progress {arguments.option_progress} makes all ways alike, and `advise` compares them"
        raise LapwingError(cause, "leave it out; --way says what is tried")
    if collect_variables(arguments).get("LAPWING_PROFILE") == "on":
        say("LAPWING_PROFILE, or a file, switches the profile on: what is measured has it off, and so must your runs")


def profile_program(arguments: argparse.Namespace, trial: Trial, plain_s: float) -> Profiled:
    """Run the program with the profile on, and study what it left."""
    result, records = trial.run_profile(plain_s)
    profiles, damaged = list_profiles(records)
    if not profiles:
        kept_out = describe_kept_out(collect_variables(arguments))
        text = f"no rank left a profile{describe_damaged(damaged)}{f': {kept_out}, or' if kept_out else ''}"
        remedy = "see docs/limits.md: is MPI linked statically, do all hosts see this folder, is the disk full?"
        raise LapwingError(f"{text}: no MPI program was started, or Lapwing did not reach it", remedy, 1)
    about = {**trial.command.describe(result), OPTIONS: trial.options}
    if arguments.calibrate:
        about |= calibrate_as_asked(trial, arguments.calibrate)
    path = keep_profile(arguments.profile_record, trial.folder / "profile.record", about, records)
    profile = complete_profile(read_profile(path), arguments)
    study = study_with_options(profile, trial.options, read_system_flag(arguments))
    is_kept = arguments.profile_record in (path, None)
    return Profiled(study, sum_profile(open_profile_job(path)), result.elapsed_s, is_kept)


def keep_profile(wanted: Path | None, own: Path, about: Mapping[str, Any], records: Path) -> Path:
    """Write the profile's record where it is wanted; for this command alone where that fails, or nobody wants it."""
    with say_failure():
        if wanted:
            write_profile_job(wanted, about, records)
            return wanted
    write_profile_job(own, about, records)
    return own


def study_with_options(profile: JobProfile, options: Mapping[str, str], system: System | None) -> Study:
    """Apply both models to Lapwing as the user's options have it."""
    return study_profile(
        profile,
        parse_bytes(options.get("LAPWING_THRESHOLD", str(THRESHOLD_BYTES))),
        system=system,
        progress_threshold_bytes=parse_bytes(options.get("LAPWING_PROGRESS_THRESHOLD", str(PROGRESS_THRESHOLD_BYTES))),
    )


def explain_unmeasured(rounds: Rounds, budget_s: float) -> str:
    """Say why there are no times. budget_s: as the user gave it."""
    if not budget_s:
        return "--budget 0 only predicts"
    if rounds.is_interrupted:
        return "interrupted in the first round"
    if rounds.failed:
        return next(iter(rounds.failed.values()))
    return "the budget is too small for one round (see --budget)"


def list_remarks(trial: Trial, profiled: Profiled, rounds: Rounds) -> list[str]:
    """Say what the numbers leave out."""
    remarks = []
    if len(set(trial.outputs.values())) > 1:
        remarks.append("the program's output differs from run to run (programs print times): compare results yourself")
    if profiled.study.system is None and sum_all_causes(profiled.study.waits).late_ns > 0:
        remarks.append("what messages take is guessed from the fastest calls: measure it (`lapwing probe --system`)")
    sites = profiled.totals.sites.values()
    if sites and not any(site.file for site in sites):
        remarks.append("the program has no debug information: build with -g to see source lines instead of functions")
    if rounds.is_interrupted:
        remarks.append(f"interrupted: only whole rounds count, here {rounds.count}")
    elif rounds.is_cut:
        remarks.append(f"{format_count(rounds.count, 'round')} fitted into the budget (--budget)")
    return [*remarks, *(f"the profile cannot tell {text}" for text in profiled.study.profile.unknown[1:])]


def find_beside(trial: Trial, profiled: Profiled) -> Beside:
    """Return what runs take beside the time from MPI_Init to MPI_Finalize; the launcher as in the profiled run."""
    return Beside(max(0.0, profiled.wall_s - profiled.study.profile.elapsed_ns / 1e9), trial.start_s)


def conclude(trial: Trial, profiled: Profiled, choice: Choice, rounds: Rounds, cause: str) -> Advice:
    """Make the advice. cause: why nothing was measured, if nothing was."""
    return build_advice(
        profiled.study,
        profiled.totals,
        choice,
        rounds,
        trial.options,
        shlex.join(trial.command.words),
        cause=cause,
        remarks=list_remarks(trial, profiled, rounds),
        beside=find_beside(trial, profiled),
    )
