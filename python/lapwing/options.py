# SPDX-License-Identifier: MIT
"""The options of the injected part, made from base/options.toml: flags, checks, documentation."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lapwing.errors import LapwingError
from lapwing.files import read_table

BYTE_UNITS = {
    "": 1,
    "b": 1,
    "k": 1024,
    "kib": 1024,
    "kb": 1000,
    "m": 1024**2,
    "mib": 1024**2,
    "mb": 1000**2,
    "g": 1024**3,
    "gib": 1024**3,
    "gb": 1000**3,
}
NUMBER_MOST = 2**64 - 1  # the injected part's
DIGITS_MOST = 100  # no float becomes infinite, and int() and str() take that many
SWITCH_WORDS = {"on": "on", "yes": "on", "1": "on", "true": "on", "off": "off", "no": "off", "0": "off", "false": "off"}


@dataclass(frozen=True)
class Option:
    """One row of the options table."""

    name: str
    type: str
    default: str
    group: str
    help: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    @property
    def flag(self) -> str:
        """The option of `lapwing run`."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable that the injected part reads."""
        return "LAPWING_" + self.name.upper()

    @property
    def values(self) -> str:
        """What may be given, for help texts."""
        words = {"bytes": "SIZE", "count": "N", "switch": "on|off"}
        return words.get(self.type, "|".join(self.choices))


def option_from_row(row: dict[str, Any]) -> Option:
    """Make an Option of one table row."""
    return Option(
        name=row["name"],
        type=row["type"],
        default=str(row["default"]),
        group=row["group"],
        help=row["help"],
        choices=tuple(row.get("choices", ())),
        minimum=row.get("minimum"),
        maximum=row.get("maximum"),
    )


@cache
def load_options() -> tuple[Option, ...]:
    """Read the table."""
    return tuple(option_from_row(row) for row in read_table("options"))


def parse_number(text: str, units: Mapping[str, int]) -> int | None:
    """Read a number with an optional unit, e.g. 64KiB; None when it is none."""
    found = re.fullmatch(r"(\d+)(\.\d+)?\s*([a-z]*)", text.strip().lower())
    if not found or found[3] not in units:
        return None
    if len(found[1]) > DIGITS_MOST:
        return NUMBER_MOST + 1
    # A whole number stays one: a float has 53 bits for it.
    return round(float(found[1] + found[2]) * units[found[3]]) if found[2] else int(found[1]) * units[found[3]]


def parse_bytes(text: str) -> int:
    """Read a size such as 4096, 64KiB or 1.5MiB."""
    value = parse_number(text, BYTE_UNITS)
    if value is None:
        raise LapwingError(f"{text!r} is not a size", "write a number of bytes, or a unit as in 64KiB")
    return value


def check_bounds(option: Option, value: int) -> str:
    """Return the number as the injected part reads it, when it lies in the option's bounds."""
    if option.minimum is not None and value < option.minimum:
        raise LapwingError(f"{option.flag} {value} is too small", f"give at least {option.minimum}")
    most = NUMBER_MOST if option.maximum is None else option.maximum
    if value > most:
        raise LapwingError(f"{option.flag} {value} is too large", f"give at most {most}")
    return str(value)


def parse_value(option: Option, text: str) -> str:
    """Return an option's value in the form that the injected part reads."""
    if option.type in ("bytes", "count"):
        units = BYTE_UNITS if option.type == "bytes" else {"": 1}
        number = parse_number(text, units)
        if number is None:
            remedy = f"give {option.values}, for example {option.default}"
            raise LapwingError(f"{option.flag} cannot be {text!r}", remedy)
        return check_bounds(option, number)
    words = SWITCH_WORDS if option.type == "switch" else {choice: choice for choice in option.choices}
    if text.lower() not in words:
        raise LapwingError(f"{option.flag} cannot be {text!r}", f"choose one of {option.values.replace('|', ', ')}")
    return words[text.lower()]


CORES_FLAG, CORES_VARIABLE = "--engine-cores", "LAPWING_ENGINE_CORES"  # src/base/cores.h
ANY_PROGRAM = "--any-program"  # of `lapwing run`, for experiments: programs and users of [select] do not count
CORES_MAX = 1024  # CPU_SETSIZE of libc


def are_ranges(text: str, highest: int) -> bool:
    """Tell whether a text is a list such as 0,4-7, whose ranges go from low to high, up to this number."""
    ranges = [re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part, re.ASCII) for part in text.split(",")]
    return all(found and int(found[1]) <= int(found[2] or found[1]) <= highest for found in ranges)


def parse_cores(text: str, name: str) -> str:
    """Return where the engines run, as the injected part reads it. name: of the flag or variable that says so."""
    if text != "auto" and not are_ranges(text, CORES_MAX - 1):
        raise LapwingError(f"{name} cannot be {text!r}", "give auto, or a list such as 0,4-7")
    return text


def add_cores_flag(parser: argparse.ArgumentParser) -> None:
    """Declare where the engines run; it is not in the table, since a plan of the ranks may change it."""
    text = (
        "where the engines run: on hardware threads of their host that no rank uses (auto), or on those of a list "
        "such as 0,4-7; all of a host share them (default: where the ranks run)"
    )
    parser.add_argument(CORES_FLAG, metavar="auto|LIST", help=text)


GROUPS = {
    "basic": "how Lapwing works",
    "advanced": "how Lapwing works, advanced (only if you know what it means)",
    "profile": "what is recorded",
}


def add_flags(
    parser: argparse.ArgumentParser, names: Sequence[str] = ("basic", "advanced"), also: Sequence[str] = ()
) -> None:
    """Give a command one flag per option of these groups, and of single options of others."""
    wanted = [option for option in load_options() if option.group in names or option.name in also]
    groups = {name: parser.add_argument_group(GROUPS[name]) for name in GROUPS if any(o.group == name for o in wanted)}
    for option in wanted:
        text = f"{option.help} (default: {option.default})".replace("%", "%%")
        destination = f"option_{option.name}"
        groups[option.group].add_argument(option.flag, dest=destination, metavar=option.values, help=text)


def format_markdown() -> str:
    """Make docs/options.md."""
    lines = [
        "<!-- Made by `lapwing options --markdown` from src/base/options.toml: change that file. -->",
        "# Options",
        "",
        "Each option is a flag of `lapwing run` (or `lapwing profile`), an environment variable of the ranks, and a",
        "line of [a configuration file](site.md#configure). The flag wins, then the variable: as the launcher's line",
        "sets it for its ranks (`-x`, `-genv`, `--export`), else as it is in the environment. A line that sets what a",
        "flag of `lapwing` sets, too, is refused: which of the two would win is not the same for all launchers.",
        "Sizes take units: `64KiB`, `1MiB`, `1GiB`. Two flags of `lapwing run` have no row:",
        "`--dedicate-core` is `--progress dedicated`, and `--engine-cores auto|LIST` (`LAPWING_ENGINE_CORES`)",
        "says [where the engines run](limits-all.md#engines-on-spare-cores).",
        "",
        "`LAPWING=off` in the environment comes before all of them: a process that has the library preloaded then runs",
        "as if it were not there (no thread, no handler, nothing deferred, nothing recorded). `lapwing run` says so in",
        "one line and starts its launcher untouched. Nothing else switches off: `LAPWING=0`, `no` and `false` do not,",
        "and the commands that start a job refuse them. `LAPWING_EXCLUDE_RANKS=0,4-7` keeps Lapwing out of these ranks",
        "of a job, `LAPWING_INCLUDE_RANKS` out of all but those that it lists (an empty list says nothing).",
        "`LAPWING_EXCLUDE_PROGRAMS` and `LAPWING_INCLUDE_PROGRAMS` do the same for programs, by patterns of their",
        "executables' names, with commas between them.",
    ]
    for group, title in (
        ("basic", "Basic"),
        ("advanced", "Advanced"),
        ("profile", "Profile (`lapwing profile`; `--timeline` also `lapwing run`)"),
    ):
        lines += ["", f"## {title}", "", "| flag | variable | values | default | meaning |", "|---|---|---|---|---|"]
        for option in (row for row in load_options() if row.group == group):
            values = option.values.replace("|", ", ")
            lines.append(f"| `{option.flag}` | `{option.variable}` | {values} | {option.default} | {option.help} |")
    return "\n".join(lines) + "\n"
