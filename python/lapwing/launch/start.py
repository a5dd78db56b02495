# SPDX-License-Identifier: MIT
"""From a launcher's command line to a run of it with Lapwing: what `run`, `profile` and `advise` share."""

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import Any

import lapwing
from lapwing.configuration.settings import RANKS_IN, RANKS_OUT
from lapwing.errors import LapwingError
from lapwing.files import (
    LIBRARY,
    PRELOADED_BY_ALL,
    find_preload,
    is_lapwing,
    list_preloaded_by_all,
    split_preload,
)
from lapwing.launch.job import JobResult, Supervision, run_job
from lapwing.launch.launchers import Direct, Launcher, find_command, find_launcher, join_preload
from lapwing.launch.program import explain_unusable, locate_program
from lapwing.options import SWITCH_WORDS
from lapwing.output import forgive_output

OFF_TEXT = "LAPWING=off is set: every process runs as if Lapwing were not there"
RECORDS_VARIABLE = "LAPWING_RECORD_DIR"  # the folder where ranks leave their records
MISUNDERSTOOD_REMEDY = "write off, or unset LAPWING"
BUSY_SHARE = 0.5  # a load of so many tasks per core, before we begin, comes from others


def describe_load(load: float, cores: int) -> str:
    """Say that others use the machine; empty when they do not, or hardly."""
    if load <= BUSY_SHARE * cores:
        return ""
    return f"this machine is busy (load {load:.1f} on {cores} cores): times will scatter, stock's as well as Lapwing's"


def say(text: str) -> None:
    """Print one line of Lapwing's own, if anybody reads; stdout belongs to the program."""
    if sys.stderr is None:  # closed before Python began; print() would take stdout for it
        return
    with forgive_output():
        print(f"lapwing: {text}", file=sys.stderr)


@contextmanager
def say_failure() -> Iterator[None]:
    """Say what was not written, and go on: the exit code is the program's own."""
    try:
        yield
    except LapwingError as error:
        say(str(error))


def is_off(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the environment keeps Lapwing out of every process."""
    return environment.get("LAPWING", "").lower() == "off"


def find_misunderstood(environment: Mapping[str, str] = os.environ) -> str:
    """Return a value of LAPWING that means off elsewhere, but not to the library; empty when there is none.

    Anything else may be of another's making, such as the path of an installation.
    """
    value = environment.get("LAPWING", "")
    is_meant_off = SWITCH_WORDS.get(value.lower()) == "off" and not is_off(environment)
    return value if is_meant_off else ""


def explain_misunderstood(value: str) -> str:
    """Say what such a value does not do."""
    return f"LAPWING={value} is not understood, and only LAPWING=off switches Lapwing off"


def refuse_misunderstood() -> None:
    """Refuse to start anything while the environment may mean that Lapwing should stay out, and does not say so."""
    value = find_misunderstood()
    if value:
        raise LapwingError(explain_misunderstood(value), MISUNDERSTOOD_REMEDY)


def refuse_off() -> None:
    """Refuse what cannot be found out while the environment keeps Lapwing out."""
    refuse_misunderstood()
    if is_off():
        raise LapwingError("LAPWING=off is set, and keeps Lapwing out of every process", "unset LAPWING")


def refuse_exclusion() -> None:
    """Refuse an experiment from some or all of whose ranks the environment keeps Lapwing out."""
    refuse_off()
    for name in (RANKS_IN, RANKS_OUT):
        if os.environ.get(name):
            raise LapwingError(f"{name} is set, and keeps Lapwing out of ranks to be measured", f"unset {name}")


def split_words(words: Sequence[str]) -> list[str]:
    """Return the paths in words: alone, after a variable's name, in an LD_PRELOAD, or in a list of Open MPI's."""
    return re.split("[:; =]", " ".join(words))


def prepare_stock(words: Sequence[str], by_all: Path = PRELOADED_BY_ALL) -> None:
    """See to it that stock runs are without Lapwing's library, where a site has switched it on by default.

    It is taken out of this environment, which all runs begin with, as is the site's folder of records: experiments are
    no jobs of the user's. words: the launcher's line; where that brings the library, or the system does, nothing can be
    compared.
    """
    names = (LIBRARY, find_preload().name)
    for path in list_preloaded_by_all(by_all):
        if Path(path).name in names:
            raise LapwingError(f"{by_all} names {path}: stock would run with it", f"take it out of {by_all}")
    for path in split_words(words):
        if Path(path).name in names:
            raise LapwingError(f"the line names {path}: stock would run with it", "leave it out")
    leave_out(names)
    os.environ.pop(RECORDS_VARIABLE, None)


def leave_out(names: Collection[str]) -> None:
    """Take libraries of these names out of this process's LD_PRELOAD, and say so."""
    paths = split_preload(os.environ.get("LD_PRELOAD", ""))
    others = [path for path in paths if Path(path).name not in names]
    if len(others) == len(paths):
        return
    say(f"LD_PRELOAD names {next(path for path in paths if path not in others)}: stock runs without it")
    if others:
        os.environ["LD_PRELOAD"] = ":".join(others)
    else:
        del os.environ["LD_PRELOAD"]


def strip_separator(line: Sequence[str]) -> list[str]:
    """Take away the -- that may stand before a command."""
    return list(line[1:] if line[:1] == ["--"] else line)


def check_programs(launcher: Launcher, arguments: Sequence[str]) -> list[str]:
    """Return what should be said about the programs before they start; a missing one is an error."""
    lines: list[str] = []
    for name in launcher.find_programs(arguments):
        reason = explain_unusable(locate_program(name, launcher.searches_folder))
        lines += [f"{name} runs without Lapwing: {reason}; link it dynamically"] if reason else []
    return lines


def make_variables(options: Mapping[str, str], preload: Path, records: Path | None) -> dict[str, str]:
    """Return what every rank must have in its environment; without a folder nothing is recorded."""
    chain = join_preload(str(preload), os.environ.get("LD_PRELOAD"))
    folder = {RECORDS_VARIABLE: str(records)} if records else {}
    return {"LD_PRELOAD": chain, **folder, **options}


def tell_copies(preload: Path, words: Sequence[str]) -> None:
    """Name other copies of Lapwing's library that are left out: both would be at work, and each rank recorded twice."""
    chains = [os.environ.get("LD_PRELOAD", ""), *re.findall(r"\bLD_PRELOAD[= ]([^ ;]+)", " ".join(words))]
    paths = dict.fromkeys(path for chain in chains for path in split_preload(chain) if is_lapwing(path))
    for path in paths:
        if path != str(preload):
            say(f"{path} is preloaded, too: it is left out, so that one Lapwing alone is at work")


@dataclass(frozen=True)
class Command:
    """A launcher with its arguments, as the user wrote them."""

    words: Sequence[str]
    launcher: Launcher

    def list_programs(self) -> list[str]:
        """Return the programs that it starts, as far as they can be told for certain."""
        return self.launcher.find_programs(self.words[1:])

    def list_settings(self) -> list[tuple[str, str]]:
        """Return the variables that it sets for its ranks, each with the words that do."""
        return self.launcher.list_settings(self.words[1:])

    def start(self, variables: Mapping[str, str], supervision: Supervision | None = None) -> JobResult:
        """Run it with these variables for its ranks; with none, it runs as if Lapwing were not there."""
        words = [self._name_launcher(), *self.launcher.add_environment(self.words[1:], variables)]
        return run_job(words, {**os.environ, **self.launcher.launcher_environment(variables)}, supervision)

    def _name_launcher(self) -> str:
        """Return it as the user wrote it: Open MPI's puts its own folder first on the ranks' PATH when it is a path."""
        return self.words[0] if shutil.which(self.words[0]) else self.launcher.path

    def describe(self, result: JobResult) -> dict[str, Any]:
        """Return what records say about a run."""
        interruption = {"interrupted_by": Signals(result.interrupted_by).name} if result.interrupted_by else {}
        return {
            "lapwing": lapwing.__version__,
            "command": list(self.words),
            "exit_code": result.exit_code,
            "elapsed_s": round(result.elapsed_s, 6),
            **interruption,
        }


def take_line(words: Sequence[str], name: str) -> list[str]:
    """Return the command line in a subcommand's last arguments."""
    line = strip_separator(words)
    if not line:
        raise LapwingError("there is nothing to run", f"write for example: lapwing {name} mpirun -n 4 ./app")
    return line


def refuse_settings(command: Command, deciders: Mapping[str, str]) -> None:
    """Refuse a line whose launcher sets what is decided elsewhere, too: which one wins is not the same for all of them.

    deciders: what else sets a variable, by its name.
    """
    for name, words in command.launcher.find_settings(command.words[1:]).items():
        if name in deciders:
            raise LapwingError(f"{deciders[name]} and the launcher's {words} both set {name}", f"leave {words} out")


def start_untouched(words: Sequence[str], name: str) -> JobResult:
    """Run a subcommand's last arguments as they are, whatever they name."""
    line = take_line(words, name)
    return Command(line, Direct(find_command(line[0]))).start({})


def prepare_command(words: Sequence[str], name: str) -> Command:
    """Make a Command of a subcommand's last arguments; say what is odd about its programs."""
    line = take_line(words, name)
    launcher = find_launcher(line[0])
    for text in check_programs(launcher, line[1:]):
        say(text)
    return Command(line, launcher)
