# SPDX-License-Identifier: MIT
"""Make the C tables of options, reasons and counters from their TOML files.

One row in a table is the only place where an option, a reason or a counter is
named; the C enums, the option reader's rows and the command's help all follow.
Runs at build time and needs nothing but the standard library.
"""

import argparse
import sys
import tomllib
from pathlib import Path
from typing import Any

Row = dict[str, Any]

UNIT_SUFFIX = {"bytes": "_bytes"}
UINT64_MAX = 2**64 - 1


def banner(source: str) -> str:
    """First lines of every generated file."""
    return f"/* SPDX-License-Identifier: MIT */\n/* Made from {source} by tools/generate_tables.py. Do not edit. */\n"


def guarded(guard: str, source: str, body: str) -> str:
    """A header with its include guard."""
    return f"{banner(source)}#ifndef {guard}\n#define {guard}\n\n{body}\n#endif\n"


def constant(prefix: str, name: str) -> str:
    """Name of an enum constant."""
    return f"{prefix}_{name}".upper().replace("-", "_")


def enum(tag: str, constants: list[tuple[str, str]]) -> str:
    """An enum whose constants carry their help as comments."""
    lines = [f"    {name}, /* {text} */\n" if text else f"    {name},\n" for name, text in constants]
    return f"enum {tag} {{\n{''.join(lines)}}};\n"


def counted_enum(tag: str, prefix: str, rows: list[Row], count: str) -> str:
    """An enum with one constant per row and, at the end, the number of them."""
    constants = [(constant(prefix, row["name"]), row["help"]) for row in rows]
    return enum(tag, [*constants, (count, "")])


def field_name(row: Row) -> str:
    """Name of an option's field, with its unit."""
    return f"{row['name']}{UNIT_SUFFIX.get(row['type'], '')}"


def field_type(row: Row) -> str:
    """C type of an option's field."""
    if row["type"] == "choice":
        return f"enum option_{row['name']}"
    return "bool" if row["type"] == "switch" else "uint64_t"


def field_default(row: Row) -> str:
    """C initialiser of an option's field."""
    if row["type"] == "choice":
        return constant(f"option_{row['name']}", row["default"])
    if row["type"] == "switch":
        return "true" if row["default"] == "on" else "false"
    return f"UINT64_C({row['default']})"


def options_header(rows: list[Row]) -> str:
    """base/options.h: the struct of all options and how it is read."""
    enums = [
        enum(f"option_{row['name']}", [(constant(f"option_{row['name']}", choice), "") for choice in row["choices"]])
        for row in rows
        if row["type"] == "choice"
    ]
    fields = "".join(f"    {field_type(row)} {field_name(row)}; /* {row['help']} */\n" for row in rows)
    body = (
        "#include <stdbool.h>\n#include <stdint.h>\n\n"
        + "\n".join(enums)
        + "\n/* notice: what was wrong with the first bad value, or \"\"; as long as the record's field.\n"
        + " * presence: for options_are_off(). */\n"
        + "enum options_presence { OPTIONS_UNKNOWN, OPTIONS_ON, OPTIONS_OFF };\n"
        + f"struct options {{\n{fields}    char notice[64];\n    _Atomic enum options_presence presence;\n}};\n\n"
        + "/* The defaults, until options_read(). Written once, before other threads read it. */\n"
        + "extern __attribute__((visibility(\"hidden\"))) struct options options;\n\n"
        + "/* Reads LAPWING_<NAME> from the environment. A bad value leaves the default. */\n"
        + "void options_read(void);\n\n"
        + "/* LAPWING=off, or a rank or program that Lapwing stays out of (base/selection.h): this process is to run\n"
        + " * as if Lapwing were not there. Looked at once, by whoever asks first. Any thread, before or after\n"
        + " * constructors; no allocation. */\n"
        + "bool options_are_off(void);\n\n"
        + "/* A number that is the same in two processes whose options are. */\n"
        + "uint64_t options_fingerprint(void);\n"
    )
    return guarded("BASE_OPTIONS_H", "src/base/options.toml", body)


def choices_array(row: Row) -> str:
    """The words of a choice, ended by NULL."""
    words = ", ".join(f'"{choice}"' for choice in row["choices"])
    return f"static const char *const {row['name']}_choices[] = {{{words}, NULL}};\n"


def option_row(row: Row) -> str:
    """One row of the reader's table."""
    choices = f"{row['name']}_choices" if row["type"] == "choice" else "NULL"
    return (
        f'    {{"LAPWING_{row["name"].upper()}", {constant("options_table", row["type"])}, '
        f"UINT64_C({row.get('minimum', 0)}), UINT64_C({row.get('maximum', UINT64_MAX)}), "
        f"{choices}, &options.{field_name(row)}}},\n"
    )


def options_table(rows: list[Row]) -> str:
    """base/options_table.c: defaults and rows for src/base/options.c."""
    defaults = "".join(f"    .{field_name(row)} = {field_default(row)},\n" for row in rows)
    return (
        banner("src/base/options.toml")
        + '#include "base/options.h"\n#include "base/options_table.h"\n\n'
        + "".join(choices_array(row) for row in rows if row["type"] == "choice")
        + f"\nstruct options options = {{\n{defaults}}};\n\n"
        + f"const struct options_table_row options_table_rows[] = {{\n{''.join(option_row(row) for row in rows)}}};\n\n"
        + "const size_t options_table_count = sizeof options_table_rows / sizeof options_table_rows[0];\n"
    )


def reasons_header(rows: list[Row]) -> str:
    """base/reasons.h."""
    body = counted_enum("reason", "reason", rows, "REASON_COUNT")
    return guarded("BASE_REASONS_H", "src/base/reasons.toml", body)


def counters_header(rows: list[Row]) -> str:
    """record/counters.h."""
    body = counted_enum("record_counter", "record", rows, "RECORD_COUNTER_COUNT")
    return guarded("RECORD_COUNTERS_H", "src/record/record.toml", body)


def check_options(rows: list[Row]) -> None:
    """Refuse rows that the reader could not serve; a build must not carry them."""
    for row in rows:
        if row["type"] not in ("bytes", "count", "switch", "choice"):
            raise ValueError(f"option {row['name']}: unknown type {row['type']!r}")
        if row["type"] == "choice" and row["default"] not in row["choices"]:
            raise ValueError(f"option {row['name']}: default is not one of its choices")
        if row["type"] == "switch" and row["default"] not in ("on", "off"):
            raise ValueError(f"option {row['name']}: default must be on or off")
        if row["group"] not in ("basic", "advanced", "profile"):
            raise ValueError(f"option {row['name']}: group must be basic, advanced or profile")


def read_rows(path: Path, key: str) -> list[Row]:
    """The rows of one table."""
    rows: list[Row] = tomllib.loads(path.read_text())[key]
    names = [row["name"] for row in rows]
    if len(set(names)) != len(names):
        raise ValueError(f"{path}: a name stands twice")
    return rows


def write(path: Path, text: str) -> None:
    """Write only what changed, so that a rebuild compiles nothing without need."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> int:
    """Read the three tables, write the four files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the src folder")
    parser.add_argument("output", type=Path, help="the folder of generated files")
    arguments = parser.parse_args()
    options = read_rows(arguments.source / "base/options.toml", "option")
    check_options(options)
    reasons = read_rows(arguments.source / "base/reasons.toml", "reason")
    counters = read_rows(arguments.source / "record/record.toml", "counter")
    write(arguments.output / "base/options.h", options_header(options))
    write(arguments.output / "base/options_table.c", options_table(options))
    write(arguments.output / "base/reasons.h", reasons_header(reasons))
    write(arguments.output / "record/counters.h", counters_header(counters))
    return 0


if __name__ == "__main__":
    sys.exit(main())
