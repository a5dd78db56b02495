# SPDX-License-Identifier: MIT
"""`lapwing config`."""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Any

from rich.table import Column, Table

from lapwing.configuration.document import Document, Reports, read_documents
from lapwing.configuration.settings import (
    DEFAULT,
    choose_reports,
    describe_files,
    draw_number,
    draw_reports,
    explain_exclusion,
    find_cores,
    find_owner,
    find_user,
    list_core_variables,
    list_program_variables,
    list_rank_variables,
    list_variables,
    name_report_folder,
    read_flags,
    resolve,
)
from lapwing.files import find_preload
from lapwing.launch.job import is_of_run
from lapwing.launch.start import (
    MISUNDERSTOOD_REMEDY,
    OFF_TEXT,
    RECORDS_VARIABLE,
    explain_misunderstood,
    find_misunderstood,
    is_off,
    make_variables,
    say,
    say_failure,
)
from lapwing.options import add_cores_flag, add_flags
from lapwing.outfiles import make_private_folder
from lapwing.screen import Screen

SCHEMA = "lapwing-config-1"
PROFILE_GROUP = "profile"  # options of what commands collect: nobody does where Lapwing is on by default
CORES = "engine_cores"  # not in the table of options; it has no value where the engines run beside their ranks

# What holds for each option, and where that comes from, by the option's name.
Rows = Mapping[str, tuple[str, str]]


class ConfigCommand:
    """Show which options hold, and where each comes from.

    The site's file (/etc/lapwing/lapwing.toml, or what LAPWING_CONFIG names) is the weakest, then come the user's file
    ($XDG_CONFIG_HOME/lapwing/lapwing.toml), the environment, and flags. With --environment it prints what a
    shell needs to preload Lapwing into all that is started from then on, and makes today's folder of records.
    """

    name = "config"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        output = parser.add_mutually_exclusive_group()
        output.add_argument("--json", action="store_true", help="print what holds as JSON")
        output.add_argument("--environment", action="store_true", help="print it as commands for sh")
        add_flags(parser)
        add_cores_flag(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, resolve, print."""
        documents = read_documents()
        settings = resolve(read_flags(arguments), os.environ, documents)
        ranks = list_rank_variables(os.environ, documents)
        cores = find_cores(arguments, os.environ)
        rows = {**{name: (row.value, row.source) for name, row in settings.items()}, CORES: cores}
        kept_out = explain_exclusion([], find_user(), documents)
        if arguments.environment and kept_out:
            print(f"# {kept_out}: nothing is preloaded\n{format_records([], os.environ, 0)}", end="")
        elif arguments.environment:
            programs = list_program_variables(os.environ, documents)
            more = {**ranks, **programs, **list_core_variables(arguments, os.environ)}
            kept = {name: setting for name, setting in settings.items() if setting.option.group != PROFILE_GROUP}
            exports = format_exports({**list_variables(kept), **more})
            print(exports + format_records(documents, os.environ, draw_number(os.environ)), end="")
        elif arguments.json:
            print(json.dumps(make_document(rows, ranks, documents), indent=1))
        else:
            show(rows, ranks, documents)
        tell_switch()
        return 0


def tell_switch() -> None:
    """Say that nothing of that holds, or that it does although something else may be meant."""
    if is_off():
        say(f"{OFF_TEXT}, and nothing of this holds")
    elif find_misunderstood():
        say(f"{explain_misunderstood(find_misunderstood())}; {MISUNDERSTOOD_REMEDY}")


def make_folder(reports: Reports) -> Path | None:
    """Make today's folder of records for the user; None, and a line that says why, where that cannot be done."""
    folder = name_report_folder(reports, find_owner())
    with say_failure():
        make_private_folder(folder)
        return folder
    return None


def format_records(documents: Sequence[Document], environment: Mapping[str, str], draw: float) -> str:
    """Write for sh where ranks leave their records. A `lapwing run` that this is called in has said so already.

    What an earlier session said, whose environment this one has, does not hold. draw: see draw_reports().
    """
    said = environment.get(RECORDS_VARIABLE, "")
    if is_of_run(Path(said)):
        return ""
    reports = draw_reports(documents, draw)
    folder = make_folder(reports) if reports else None
    if folder:
        return f"export {RECORDS_VARIABLE}={quote(str(folder))}\n"
    return f"unset {RECORDS_VARIABLE}\n" if said else ""


def format_exports(variables: Mapping[str, str]) -> str:
    """Write variables as sh reads them."""
    every = make_variables(variables, find_preload(), None)
    return "".join(f"export {name}={quote(value)}\n" for name, value in every.items())


def make_document(rows: Rows, ranks: Mapping[str, str], documents: Sequence[Document]) -> dict[str, Any]:
    """Make what holds for programs."""
    reports = choose_reports(documents)
    return {
        "schema": SCHEMA,
        "off": is_off(),
        "files": [str(document.path) for document in documents],
        "options": {name: {"value": value, "source": source} for name, (value, source) in rows.items()},
        "select": [{"file": str(document.path), **asdict(document.selection)} for document in documents],
        "ranks": dict(ranks),
        "reports": asdict(reports) if reports else None,
    }


def describe_selection(documents: Sequence[Document]) -> list[str]:
    """Say which jobs the files choose."""
    rows = [
        (document.path, name, value) for document in documents for name, value in asdict(document.selection).items()
    ]
    return [
        f"{name}: {value if isinstance(value, str) else ', '.join(value)} ({path})"
        for path, name, value in rows
        if value
    ]


def describe_reports(documents: Sequence[Document]) -> list[str]:
    """Say which records are kept."""
    reports = choose_reports(documents)
    if reports and not reports.folder:
        return ["no records are kept: [reports] has no folder"]
    return [f"records of {100 * reports.sampling:.3g} % of the jobs are kept in {reports.folder}"] if reports else []


def show(rows: Rows, ranks: Mapping[str, str], documents: Sequence[Document]) -> None:
    """Print a table, and what else the files say."""
    table = Table("option", "value", Column("from", overflow="fold"))
    for name, (value, source) in rows.items():
        table.add_row(name, value or "where the ranks run", source, style=None if source != DEFAULT else "dim")
    screen = Screen()
    screen.print(table)
    variables = [f"{name}={text}" for name, text in ranks.items()]
    for line in (
        *describe_files(os.environ, documents),
        *describe_selection(documents),
        *variables,
        *describe_reports(documents),
    ):
        screen.print(line, highlight=False)
