# SPDX-License-Identifier: MIT
"""Reads configuration files: TOML with the tables [options], [select], [limits] and [reports], all of them checked."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapwing.errors import LapwingError
from lapwing.options import Option, are_ranges, load_options, parse_bytes, parse_value

SYSTEM_FILE = Path("/etc/lapwing/lapwing.toml")
SYSTEM_VARIABLE = "LAPWING_CONFIG"  # names another file in the system's place
LENGTH_MAX_BYTES = 1 << 20
RANK_MAX = 10**18 - 1  # it fits into the injected part's numbers


@dataclass(frozen=True)
class Selection:
    """Which jobs Lapwing enters: patterns of programs' file names and of users, and a list of ranks such as 0,4-7.

    Empty means all. What is excluded stays out whatever else is included.
    """

    include_programs: tuple[str, ...] = ()
    exclude_programs: tuple[str, ...] = ()
    include_users: tuple[str, ...] = ()
    exclude_users: tuple[str, ...] = ()
    include_ranks: str = ""
    exclude_ranks: str = ""


@dataclass(frozen=True)
class Reports:
    """Where the records of jobs are kept. folder: may hold {user} and what strftime knows, as in %Y-%m-%d.

    sampling: the share of jobs that are kept, 0 to 1.
    """

    folder: str = ""
    sampling: float = 1.0


@dataclass(frozen=True)
class Document:
    """One file. options: by name, as the injected part reads them; buffer_most: bytes, None without a limit."""

    path: Path
    options: Mapping[str, str] = field(default_factory=dict)
    selection: Selection = Selection()
    buffer_most: int | None = None
    reports: Reports | None = None


def find_system_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the site's file."""
    return Path(environment.get(SYSTEM_VARIABLE) or SYSTEM_FILE)


def find_user_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the user's file, by the XDG base directory specification: a relative path there does not count."""
    chosen = Path(environment.get("XDG_CONFIG_HOME", ""))
    home = Path(environment.get("HOME") or "/")
    return (chosen if chosen.is_absolute() else home / ".config") / "lapwing/lapwing.toml"


def refuse(path: Path, cause: str, remedy: str) -> LapwingError:
    """Name the file."""
    return LapwingError(f"{path}: {cause}", remedy)


def check_names(path: Path, table: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse names that mean nothing here: a misspelt one would be ignored."""
    for name in given:
        if name not in known:
            place = f"[{table}] {name}" if table else f"[{name}]"
            raise refuse(path, f"{place} is unknown", f"choose of {', '.join(sorted(known))}")


def check_doubles(path: Path, table: Mapping[str, Any]) -> None:
    """Refuse an option that is written with - and with _: TOML takes these for two names."""
    names = [name.replace("-", "_") for name in table]
    for name in names:
        if names.count(name) > 1:
            raise refuse(path, f"[options] {name} is there twice, with - and with _", "remove one of them")


def take_table(path: Path, document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return one table; an empty one when it is not there."""
    table = document.get(name, {})
    if not isinstance(table, dict):
        raise refuse(path, f"{name} is no table", f"write [{name}], and a line for each setting below")
    return table


def write_value(path: Path, value: Any) -> str:
    """Return a value as a text."""
    try:
        return str(value)
    except ValueError as error:  # hexadecimal numbers are read at any length, but not written
        raise refuse(path, "a number has too many digits", "write a smaller one") from error


def read_option(path: Path, option: Option, value: Any) -> str:
    """Read one option's value: TOML's true and false are on and off."""
    words = {True: "on", False: "off"}
    text = words[value] if isinstance(value, bool) else write_value(path, value)
    try:
        return parse_value(option, text)
    except LapwingError as error:
        raise refuse(path, error.message, error.remedy) from error


def read_options(path: Path, table: Mapping[str, Any]) -> dict[str, str]:
    """Read [options]: the names of docs/options.md, with _ or -."""
    given = {name.replace("-", "_"): value for name, value in table.items()}
    known = {option.name: option for option in load_options()}
    check_names(path, "options", given, known)
    check_doubles(path, table)
    return {name: read_option(path, known[name], value) for name, value in given.items()}


def read_patterns(path: Path, name: str, value: Any) -> tuple[str, ...]:
    """Read a list of patterns."""
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise refuse(path, f"[select] {name} is no list of texts", f'write {name} = ["..."]')
    if name.endswith("programs") and any("/" in entry for entry in value):
        raise refuse(path, f"[select] {name} has a path, which no file name fits", "write the file's name alone")
    return tuple(value)


def is_ranks(text: str) -> bool:
    """Tell whether a text is a list of ranks."""
    return are_ranges(text, RANK_MAX)


def parse_ranks(text: str) -> str:
    """Return a list of ranks as the injected part reads it, without blanks; an empty one says nothing."""
    ranks = ",".join("-".join(end.strip(" ") for end in entry.split("-")) for entry in text.split(","))
    if ranks and not is_ranks(ranks):
        raise LapwingError(f"{text!r} is no list of ranks", "write ranks, and ranges from low to high, as in 0,4-7")
    return ranks


def read_ranks(path: Path, name: str, value: Any) -> str:
    """Read a list of ranks."""
    try:
        return parse_ranks(write_value(path, value))
    except LapwingError as error:
        raise refuse(path, f"[select] {name}: {error.message}", error.remedy) from error


def read_selection(path: Path, table: Mapping[str, Any]) -> Selection:
    """Read [select]."""
    check_names(path, "select", table, Selection.__dataclass_fields__)
    patterns = {name: read_patterns(path, name, value) for name, value in table.items() if not name.endswith("ranks")}
    ranks = {name: read_ranks(path, name, value) for name, value in table.items() if name.endswith("ranks")}
    return Selection(**patterns, **ranks)  # type: ignore[arg-type] # by the names' endings


def read_limits(path: Path, table: Mapping[str, Any]) -> int | None:
    """Read [limits]: the most memory for copies of messages that a process may be given."""
    check_names(path, "limits", table, {"buffer": None})
    try:
        return parse_bytes(write_value(path, table["buffer"])) if table else None
    except LapwingError as error:
        raise refuse(path, f"[limits] buffer: {error.message}", error.remedy) from error


def has_date_above_user(folder: str) -> bool:
    """Tell whether a day's folder would hold those of its users: the first of them would own it, alone."""
    above, user, _ = folder.replace("%%", "").partition("{user}")
    return bool(user) and "%" in above


def expand_home(path: Path, folder: str) -> str:
    """Return a folder of which ~ is the home of who runs."""
    if not folder.startswith("~"):
        return folder
    try:
        return str(Path(folder).expanduser())
    except RuntimeError as error:
        raise refuse(path, "[reports] folder is below a home that nobody knows", "write a path without ~") from error


def read_folder(path: Path, value: Any) -> str:
    """Read where reports are kept; empty for nowhere."""
    if not isinstance(value, str):
        raise refuse(path, "[reports] folder is no text", 'write folder = "/scratch/{user}/lapwing/%Y-%m-%d"')
    if "\0" in value:
        raise refuse(path, "[reports] folder has a NUL, which no path has", "remove it")
    folder = expand_home(path, value)
    if folder and not folder.startswith("/"):
        remedy = "write a path that begins with / or ~"
        raise refuse(path, "[reports] folder is below whatever folder a job starts in", remedy)
    if set(re.findall(r"{[^}]*}", folder)) - {"{user}"}:
        raise refuse(path, "[reports] folder has braces of an unknown name", "write {user}: nothing else is replaced")
    if has_date_above_user(folder):
        remedy = "put {user} first, as in /scratch/{user}/lapwing/%Y-%m-%d"
        raise refuse(path, "[reports] folder has a date before {user}: the day's first user would own it", remedy)
    return folder


def read_reports(path: Path, table: Mapping[str, Any]) -> Reports | None:
    """Read [reports]."""
    check_names(path, "reports", table, Reports.__dataclass_fields__)
    folder, sampling = read_folder(path, table.get("folder", "")), table.get("sampling", 1.0)
    if isinstance(sampling, bool) or not isinstance(sampling, int | float) or not 0 <= sampling <= 1:
        raise refuse(path, "[reports] sampling is no share", "write a number from 0 to 1")
    return Reports(folder, float(sampling)) if table else None


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """Read TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise refuse(path, f"no TOML ({error})", "correct that line") from error
    except ValueError as error:  # of int()
        raise refuse(path, "a number has too many digits", "write a smaller one") from error
    except RecursionError as error:
        raise refuse(path, "lists stand too deep in one another", "remove brackets") from error


def parse_document(path: Path, text: str) -> Document:
    """Read a file's text; every flaw is one error that names the file."""
    document = parse_toml(path, text)
    tables = ("options", "select", "limits", "reports")
    check_names(path, "", document, dict.fromkeys(tables))
    options, select, limits, reports = (take_table(path, document, name) for name in tables)
    return Document(
        path,
        read_options(path, options),
        read_selection(path, select),
        read_limits(path, limits),
        read_reports(path, reports),
    )


def read_document(path: Path) -> Document | None:
    """Read a file; None when there is none."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LENGTH_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise refuse(path, "is a folder", "name a file in its place") from error
    except OSError as error:
        raise refuse(path, f"cannot be read ({error.strerror})", "correct its rights, or remove it") from error
    if len(data) > LENGTH_MAX_BYTES:
        raise refuse(path, "is longer than 1 MiB", "shorten it")
    try:
        return parse_document(path, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise refuse(path, "no UTF-8", "write it anew") from error


def read_system_document(environment: Mapping[str, str]) -> Document | None:
    """Read the site's file; one that the environment names must be there."""
    path = find_system_file(environment)
    document = read_document(path)
    if document is None and environment.get(SYSTEM_VARIABLE):
        raise refuse(path, "there is no such file", f"correct {SYSTEM_VARIABLE}")
    return document


def read_documents(environment: Mapping[str, str] = os.environ) -> list[Document]:
    """Return the site's file and the user's, as far as they are there: the later one is stronger."""
    found = (read_system_document(environment), read_document(find_user_file(environment)))
    return [document for document in found if document]
