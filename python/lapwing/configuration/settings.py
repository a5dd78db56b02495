# SPDX-License-Identifier: MIT
"""What of flags, environment and files holds: the system's file < the user's < the environment < a flag."""

import argparse
import getpass
import os
import pwd
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from random import random
from time import localtime, strftime, struct_time
from zlib import crc32

from lapwing.configuration.document import Document, Reports, find_system_file, parse_ranks, read_documents
from lapwing.errors import LapwingError
from lapwing.options import CORES_FLAG, CORES_VARIABLE, Option, load_options, parse_cores, parse_value

DEFAULT = "default"
RANKS_IN, RANKS_OUT = "LAPWING_INCLUDE_RANKS", "LAPWING_EXCLUDE_RANKS"
PROGRAMS_IN, PROGRAMS_OUT = "LAPWING_INCLUDE_PROGRAMS", "LAPWING_EXCLUDE_PROGRAMS"
BATCH_JOB = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID")  # a number each
SELECTING = (RANKS_OUT, RANKS_IN, PROGRAMS_OUT, PROGRAMS_IN)  # what keeps Lapwing out of processes


@dataclass(frozen=True)
class Setting:
    """What holds for one option. source: a flag, a variable, a file, or the default."""

    option: Option
    value: str
    source: str


def list_candidates(
    option: Option, flags: Mapping[str, str], environment: Mapping[str, str], documents: Sequence[Document]
) -> Iterable[tuple[str, str]]:
    """Yield what is said of an option, the strongest first: value and source."""
    if option.name in flags:
        yield parse_value(option, flags[option.name]), option.flag
    if option.variable in environment:
        yield parse_value(option, environment[option.variable]), option.variable
    for document in reversed(documents):
        if option.name in document.options:
            yield document.options[option.name], str(document.path)


def find_limit(documents: Sequence[Document]) -> tuple[int, Path] | None:
    """Return the least of the files' limits of the memory for copies, and its file."""
    limits = [(document.buffer_most, document.path) for document in documents if document.buffer_most is not None]
    return min(limits, default=None)


def limit_buffer(setting: Setting, documents: Sequence[Document]) -> Setting:
    """Keep the memory for copies within the files' limits."""
    limit = find_limit(documents)
    if limit is None or int(setting.value) <= limit[0]:
        return setting
    most, path = limit
    return Setting(setting.option, str(most), f"limit of {path}")


def resolve(
    flags: Mapping[str, str], environment: Mapping[str, str], documents: Sequence[Document]
) -> dict[str, Setting]:
    """Return what holds for each option, by name."""
    settings = {}
    for option in load_options():
        candidates = list_candidates(option, flags, environment, documents)
        value, source = next(iter(candidates), (option.default, DEFAULT))
        settings[option.name] = Setting(option, value, source)
    settings["buffer"] = limit_buffer(settings["buffer"], documents)
    return settings


def refuse_above_limit(
    said: Iterable[tuple[str, str]], documents: Sequence[Document], environment: Mapping[str, str] = os.environ
) -> None:
    """Refuse a launcher's line that gives ranks more memory for copies than a file allows: it wins over what we lower.

    said: its variables, each with the words that set it; words without a value take the environment's.
    """
    limit = find_limit(documents)
    if limit is None:
        return
    most, path = limit
    option = next(option for option in load_options() if option.name == "buffer")
    for words in (words for name, words in said if name == option.variable):
        text = words.partition(option.variable)[2][1:] or environment.get(option.variable)
        if text and int(parse_value(option, text)) > most:
            cause = f"the launcher's {words} is above the limit of {path}"
            raise LapwingError(cause, f"give at most {most}, or leave {words} out")


def read_ranks(name: str, text: str) -> str:
    """Read a list of ranks from the environment."""
    try:
        return parse_ranks(text)
    except LapwingError as error:
        raise LapwingError(f"{name} cannot be {text!r}", error.remedy) from error


def list_rank_variables(environment: Mapping[str, str], documents: Sequence[Document]) -> dict[str, str]:
    """Return the variables that keep Lapwing out of ranks, checked: a variable wins; excluded ranks add up."""
    excluded = [document.selection.exclude_ranks for document in documents if document.selection.exclude_ranks]
    included = [document.selection.include_ranks for document in documents if document.selection.include_ranks]
    filed = {RANKS_OUT: ",".join(excluded), RANKS_IN: included[-1] if included else ""}
    found = {name: read_ranks(name, environment[name]) if name in environment else filed[name] for name in filed}
    return {name: text for name, text in found.items() if text}


def join_patterns(documents: Sequence[Document], name: str) -> str:
    """Join the patterns of programs that files have in [select], for the environment."""
    patterns = [(document.path, pattern) for document in documents for pattern in getattr(document.selection, name)]
    for path, pattern in patterns:
        if "," in pattern:
            cause = f"{path}: [select] {name} has {pattern!r}, whose comma an environment cannot tell"
            raise LapwingError(cause, "write ? in its place")
    return ",".join(pattern for _, pattern in patterns)


def list_program_variables(environment: Mapping[str, str], documents: Sequence[Document]) -> dict[str, str]:
    """Return the variables that keep Lapwing out of programs: a variable wins; excluded programs add up."""
    choosing = [str(document.path) for document in documents if document.selection.include_programs]
    if len(choosing) > 1:
        cause = f"{' and '.join(choosing)} both have include_programs, of which an environment can tell one"
        raise LapwingError(cause, "leave one of them out")
    filed = {
        PROGRAMS_OUT: join_patterns(documents, "exclude_programs"),
        PROGRAMS_IN: join_patterns(documents, "include_programs"),
    }
    found = {name: environment.get(name, text) for name, text in filed.items()}
    return {name: text for name, text in found.items() if text}


def read_flags(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the options that stand in the command line."""
    given = ((option.name, getattr(arguments, f"option_{option.name}", None)) for option in load_options())
    return {name: str(text) for name, text in given if text is not None}


def list_deciders(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the flags that stand in the command line, by the variable that each decides."""
    given = read_flags(arguments)
    deciders = {option.variable: option.flag for option in load_options() if option.name in given}
    if getattr(arguments, "engine_cores", None):
        deciders[CORES_VARIABLE] = CORES_FLAG
    return deciders


def list_variables(settings: Mapping[str, Setting]) -> dict[str, str]:
    """Return the variables of the ranks: what is as by default needs none."""
    chosen = (setting for setting in settings.values() if setting.source != DEFAULT)
    return {setting.option.variable: setting.value for setting in chosen}


def find_cores(arguments: argparse.Namespace, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return what says where the engines run, checked, and its source: a flag wins. An empty variable says nothing."""
    flag = getattr(arguments, "engine_cores", None)
    if flag is not None:
        return parse_cores(flag, CORES_FLAG), CORES_FLAG
    text = environment.get(CORES_VARIABLE)
    return (parse_cores(text, CORES_VARIABLE), CORES_VARIABLE) if text else ("", DEFAULT)


def list_core_variables(arguments: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that says where the engines run, if anything does."""
    text, _ = find_cores(arguments, environment)
    return {CORES_VARIABLE: text} if text else {}


def heeds_selection(arguments: argparse.Namespace) -> bool:
    """Tell whether [select] counts: for `lapwing run` alone, and there not in the runs of an experiment."""
    return getattr(arguments, "any_program", True) is False


def choose_programs(arguments: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that keep Lapwing out of programs of a job, emptied where [select] does not count.

    What files say of programs counts for the job as a whole (explain_exclusion()).
    """
    said = list_program_variables(environment, [])
    return said if heeds_selection(arguments) else dict.fromkeys(said, "")


def collect_variables(arguments: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables for the ranks, from a command's flags, the environment and the files; all checked."""
    documents = read_documents(environment)
    settings = resolve(read_flags(arguments), environment, documents)
    ranks = list_rank_variables(environment, documents if heeds_selection(arguments) else [])
    programs = choose_programs(arguments, environment)
    return {**list_variables(settings), **ranks, **programs, **list_core_variables(arguments, environment)}


def collect_options(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables of what environment and files say of options; all checked."""
    settings = resolve({}, environment, read_documents(environment))
    return {**list_variables(settings), **list_core_variables(argparse.Namespace(), environment)}


def find_user() -> str:
    """Return the user's name; the number where the system has no name for it, as in many containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def find_owner() -> str:
    """Return the name of the user whom files are made for; not what the environment says, which `su` may leave."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Tell whether a name fits one of the patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def describe_kept_out(variables: Mapping[str, str]) -> str:
    """Say which of these variables keep Lapwing out of ranks; empty where none does."""
    said = [f"{name}={variables[name]}" for name in SELECTING if variables.get(name)]
    return f"{' and '.join(said)} keeps Lapwing out of ranks" if said else ""


def explain_exclusion(programs: Iterable[str], user: str, documents: Sequence[Document]) -> str:
    """Say why a job runs without Lapwing; empty when it does not.

    Of several programs in a line one is enough, since they make one job.
    """
    names = [Path(program).name for program in programs]
    for document in documents:
        chosen = document.selection
        excluded = [name for name in names if matches(name, chosen.exclude_programs)]
        missing = [name for name in names if chosen.include_programs and not matches(name, chosen.include_programs)]
        if excluded or missing:
            return f"{document.path} keeps it out of {(excluded or missing)[0]}"
        is_included = not chosen.include_users or matches(user, chosen.include_users)
        if matches(user, chosen.exclude_users) or not is_included:
            return f"{document.path} keeps it out of the jobs of {user}"
    return ""


def choose_reports(documents: Sequence[Document]) -> Reports | None:
    """Return where records are kept: as the user's file says, else as the system's does."""
    return next((document.reports for document in reversed(documents) if document.reports), None)


def draw_reports(documents: Sequence[Document], draw: float) -> Reports | None:
    """Return where this job's record is kept, None if nowhere. draw: from 0 up to 1, below the share for those kept."""
    reports = choose_reports(documents)
    return reports if reports and reports.folder and draw < reports.sampling else None


def draw_number(environment: Mapping[str, str]) -> float:
    """Return a number from 0 up to 1: within a batch job the same everywhere, so that all of its ranks agree."""
    job = next((f"{name}={environment[name]}" for name in BATCH_JOB if environment.get(name)), "")
    return crc32(job.encode("utf-8", "backslashreplace")) / 2**32 if job else random()


def name_report_folder(reports: Reports, user: str, now: struct_time | None = None) -> Path:
    """Return the folder of a job that ends now, or of a session that begins."""
    return Path(strftime(reports.folder, now or localtime()).replace("{user}", user))


def describe_files(environment: Mapping[str, str], documents: Sequence[Document]) -> list[str]:
    """Say which files were read, and where the system's would be."""
    paths = [str(document.path) for document in documents]
    system = str(find_system_file(environment))
    return [f"read: {', '.join(paths)}" if paths else f"no file was read; the site's would be {system}"]
