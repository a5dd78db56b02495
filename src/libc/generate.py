#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make libc's entries from functions.toml.

Writes into the output folder:

    real_table.h      the struct of the real functions
    real_table.c      the names to look up
    entries.c         an entry per row
    libc_exports.txt    every interposed name, one per line
"""

from __future__ import annotations

import argparse
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROLES = {
    "reads", "writes", "string", "strings", "path", "vector_reads", "vector_writes", "message_reads", "message_writes",
    "aio_list", "sized_writes", "descriptors", "break_at", "break_by", "block", "all", "all_when", "known",
    "known_when", "file", "stream", "threads", "key", "room", "grows", "limits", "locks", "unlocks", "remaps", "tells",
    "shares", "maps_locked", "keeps", "keeps_stack", "socket", "by", "filters",
    "hides",
}  # fmt: skip
OUTSIDE = {"known", "known_when", "file", "stream", "tells"}  # not memory: after it
# Whether or not something is armed.
ANYWAY = {"threads", "key", "locks", "unlocks", "shares", "keeps", "keeps_stack", "filters", "hides"}
AFTER = {"room"}  # what a failure is told by, and once more when ops have ended
LAST = {"remaps", "maps_locked", "socket"}  # when the function has returned, whether or not something is armed
BY = "by"  # what the entry calls instead of the real function
ABSENT = {"minus one": "LIBC_REAL_ABSENT", "null": "LIBC_REAL_ABSENT_NULL"}
NOTICE = "/* SPDX-License-Identifier: MIT */\n/* Made from functions.toml by generate.py; do not edit. */\n"


@dataclass(frozen=True)
class Function:
    """One row: a libc function and the memory that it uses."""

    name: str
    returns: str
    parameters: str
    uses: tuple[str, ...]
    is_by_hand: bool
    absent: str

    def argument_names(self) -> str:
        """The parameters' names as a call wants them."""
        if self.parameters == "void":
            return ""
        return ", ".join(re.split(r"[ *]", part.strip())[-1] for part in self.parameters.split(","))


def function_read(row: list[str], is_by_hand: bool, absent: str) -> Function:
    """Parse one row of the table."""
    match = re.fullmatch(r"(.*?[ *])(\w+)\((.*)\)", row[0])
    if match is None:
        raise ValueError(f"not a C prototype: {row[0]}")
    for use in row[1:]:
        if role(use) not in ROLES:
            raise ValueError(f"{match[2]}: unknown role in '{use}'")
    return Function(match[2], match[1].strip(), match[3], tuple(row[1:]), is_by_hand, absent)


def functions_read(path: Path) -> list[Function]:
    """All rows of the table, checked: known keys, every name once."""
    groups = tomllib.loads(path.read_text())["group"]
    functions = [
        function_read(row, group.get("by_hand", False) and len(row) == 1, ABSENT[group.get("absent", "minus one")])
        for group in groups
        for row in group["functions"]
    ]
    names = [function.name for function in functions]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"in the table more than once: {sorted(twice)}")
    return functions


def joined(returns: str, rest: str) -> str:
    """A C type and what follows it, with the star at the name."""
    return f"{returns}{rest}" if returns.endswith("*") else f"{returns} {rest}"


def role(use: str) -> str:
    """The first word of a use."""
    return use.split()[0]


def use_c(use: str) -> str:
    """The C statement of one use."""
    name, _, arguments = use.partition(" ")
    return f"libc_use_{name}({arguments});"


def uses_c(function: Function) -> str:
    """The C function that waits for what one row uses."""
    memory = [use for use in function.uses if role(use) not in OUTSIDE | ANYWAY | AFTER | LAST]
    outside = [use for use in function.uses if role(use) in OUTSIDE]
    statements = "".join(f"    {use_c(use)}\n" for use in memory + outside)
    idle = "    if (!protect_armed_is_any())\n        return;\n" if statements else ""
    return (
        f"__attribute__((noinline, cold)) static void libc_uses_{function.name}({function.parameters})\n"
        f"{{\n{idle}{statements}}}\n\n"
    )


def last_call_c(function: Function) -> str:
    """The C that calls the real function at the end of an entry, once more where that may help."""
    back = "" if function.returns == "void" else "return "
    call = f"LIBC_REAL({function.name})({function.argument_names()})"
    failures = [use.partition(" ")[2] for use in function.uses if role(use) in AFTER]
    if not failures:
        return f"    {back}{call};\n"
    return (
        f"    {joined(function.returns, 'result')} = {call};\n"
        f"    if (result == {failures[0]} && libc_use_makes_room(errno))\n"
        f"        result = {call};\n"
        "    return result;\n"
    )


def entry_c(function: Function) -> str:
    """The C of one entry."""
    calls = [use.partition(" ")[2] for use in function.uses if role(use) == BY]
    return entry_by_c(function, calls[0]) if calls else entry_waiting_c(function)


def entry_by_c(function: Function, call: str) -> str:
    """The C of an entry that leaves all to a function of Lapwing's."""
    signature = joined(function.returns, f"libc_entry_{function.name}({function.parameters})")
    back = "" if function.returns == "void" else "return "
    return (
        f"{signature} LIBC_ENTRY({function.name});\n"
        f"{signature}\n"
        "{\n"
        f"    LIBC_REAL_TYPE({function.name}) real = LIBC_REAL({function.name});\n"
        f"    {back}{call};\n"
        "}\n"
    )


def entry_waiting_c(function: Function) -> str:
    """The C of one entry, and of what it does when something is armed, or at its first call.

    Apart, so that the way past an idle Lapwing saves no registers: two tests and a jump.
    """
    signature = joined(function.returns, f"libc_entry_{function.name}({function.parameters})")
    busy = joined(function.returns, f"libc_busy_{function.name}({function.parameters})")
    last = "".join(f"    {use_c(use)}\n" for use in function.uses if role(use) in LAST)
    back = "" if function.returns == "void" else "result = " if last else "return "
    result = f"    {joined(function.returns, 'result')};\n" if last else ""
    end = f"{last}    return result;\n" if last else ""
    names = function.argument_names()
    anyway = "".join(f"    {use_c(use)}\n" for use in function.uses if role(use) in ANYWAY)
    return (
        f"{uses_c(function)}"
        f"__attribute__((noinline, cold)) static {busy}\n"
        "{\n"
        "    libc_use_drain();\n"
        f"    libc_uses_{function.name}({names});\n"
        f"{last_call_c(function)}"
        "}\n\n"
        f"{signature} LIBC_ENTRY({function.name});\n"
        f"{signature}\n"
        f"{{\n{result}{anyway}"
        f"    LIBC_REAL_TYPE({function.name}) real = LIBC_REAL_FOUND({function.name});\n"
        "    if (libc_use_is_idle() && __builtin_expect(real != NULL, 1))\n"
        f"        {back}real({names});\n"
        "    else\n"
        f"        {back}libc_busy_{function.name}({names});\n"
        f"{end}"
        "}\n"
    )


def real_table_h(functions: list[Function]) -> str:
    """The header with the struct that tells the real functions' types and places."""
    members = "".join(f"    {joined(f.returns, f'(*{f.name})({f.parameters});')}\n" for f in functions)
    longest = max(len(function.name) for function in functions)
    return (
        f"{NOTICE}#ifndef LIBC_REAL_TABLE_H\n#define LIBC_REAL_TABLE_H\n\n"
        '#include "libc/types.h"\n\n'
        f"struct libc_real {{\n{members}}};\n\n"
        f"enum {{ LIBC_REAL_COUNT = {len(functions)}, LIBC_REAL_NAME_BYTES = {longest + 1} }};\n\n#endif\n"
    )


def gnu_hash(name: str) -> int:
    """The number by which DT_GNU_HASH finds a name (glibc, elf/dl-lookup.c, dl_new_hash)."""
    number = 5381
    for letter in name.encode():
        number = (number * 33 + letter) % 2**32
    return number


def real_table_c(functions: list[Function]) -> str:
    """The names of the real functions, in the struct's order."""
    names = "".join(f'    {{"{f.name}", {gnu_hash(f.name):#010x}, {f.absent}}},\n' for f in functions)
    return (
        f'{NOTICE}#include "libc/real.h"\n\n'
        f"const struct libc_real_name libc_real_names[LIBC_REAL_COUNT] = {{\n{names}}};\n"
    )


def call_case_c(function: Function) -> str:
    """The C of one system call that has the arguments of a function."""
    types = [re.sub(r"\w+$", "", part.strip()) for part in function.parameters.split(",")]
    values = ", ".join(f"({kind.strip()}){letter}" for kind, letter in zip(types, "abcdef", strict=False))
    return (
        f"#ifdef SYS_{function.name}\n    case SYS_{function.name}:\n"
        f"        libc_uses_{function.name}({values});\n        return true;\n#endif\n"
    )


def plain_case_c(name: str) -> str:
    """The C label of one system call, where the machine has it."""
    return f"#ifdef SYS_{name}\n    case SYS_{name}:\n#endif\n"


def calls_c(functions: list[Function], calls: dict[str, list[str]]) -> str:
    """The function that waits for what a system call uses, by its number."""
    rows = {function.name: function for function in functions}
    same = "".join(call_case_c(rows[name]) for name in calls["same"])
    all_ = "".join(plain_case_c(name) for name in calls["all"])
    none = "".join(plain_case_c(name) for name in calls["none"])
    own = "".join(plain_case_c(name) for name in calls["own"])
    return (
        "bool libc_use_system_call(long number, long a, long b, long c, long d, long e, long f)\n"
        f"{{\n    switch (number) {{\n{same}{all_}        libc_use_all();\n        return true;\n"
        f"{own}        libc_use_all_when(libc_use_is_failing());\n        return true;\n"
        f"{none}        return true;\n"
        "    default:\n        return false;\n    }\n}\n"
    )


def entries_c(functions: list[Function], calls: dict[str, list[str]]) -> str:
    """All generated entries."""
    made = [function for function in functions if not function.is_by_hand]
    bodies = "\n".join(entry_c(function) for function in made)
    headers = ("allocate", "process", "real", "signals", "timers", "use")
    includes = "".join(f'#include "libc/{name}.h"\n' for name in headers)
    return f"{NOTICE}#include <errno.h>\n#include <sys/syscall.h>\n\n{includes}\n{bodies}\n{calls_c(functions, calls)}"


def main() -> None:
    """Write the four files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    functions = functions_read(arguments.table)
    arguments.output.mkdir(parents=True, exist_ok=True)
    texts = {
        "real_table.h": real_table_h(functions),
        "real_table.c": real_table_c(functions),
        "entries.c": entries_c(functions, tomllib.loads(arguments.table.read_text())["system_calls"]),
        "libc_exports.txt": "".join(f"{function.name}\n" for function in functions),
    }
    for name, text in texts.items():
        (arguments.output / name).write_text(text)


if __name__ == "__main__":
    main()
