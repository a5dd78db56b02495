# SPDX-License-Identifier: MIT
"""Check that what a C file of src/ exports carries the file's name, and that no two files share one.

A file and its header are one. Functions and variables are judged where they are defined, types and inline functions
where a header defines them: each is named by the file (`gate` or `gate_enter` of engine/gate.c), by its singular
(`request_key` of requests.c), or by folder and file (`base_lock_take` of base/lock.c). What a header without a file of
its own promises carries the header's name, whoever keeps the promise (`host` of op/host.h, in lib/wiring.c). Entries
are named after the functions of MPI and libc that they stand before.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

# Entries and what the linker asks for; the standard's own types; a macro that is one name per ABI.
FOREIGN = re.compile(r"(?:entry|carried)_MPI_\w+|libc_entry_\w+|lapwing_\w+|__wrap_\w+|MPI_\w+|ABI_BACKEND")
# Files that others consist of: each abi.h includes this one.
PART_OF: Mapping[str, str] = {"mpi/abi/common": "mpi/abi/abi"}
NOISE = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE
)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|_Thread_local|__extension__|\b_?_?[Aa]sm_?_?\b")
ELF = re.compile(r"ElfW\(\w+\)")
TYPE = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{")
FUNCTION = re.compile(r"\b(\w+)\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$")
ATOMIC = re.compile(r"_Atomic\s*\([^()]*(?:\([^()]*\)[^()]*)*\)")


def without_bodies(text: str) -> Iterator[tuple[str, bool]]:
    """The statements at the top of a file without what stands in braces, and whether a body ended each."""
    depth = 0
    statement = ""
    for character in ELF.sub("Elf", NOISE.sub(" ", text)):
        if character == "{":
            depth += 1
            statement += "{" if depth == 1 else ""
        elif character == "}":
            depth -= 1
            if depth == 0 and is_body(statement):
                yield statement, True
                statement = ""
        elif character == ";" and depth == 0:
            yield statement, False
            statement = ""
        elif depth == 0:
            statement += character


def is_body(statement: str) -> bool:
    """True for the braces of a function, not of a type or a value."""
    head = statement.rstrip("{ \n")
    return head.endswith(")") and "=" not in head


def forms(stem: str) -> set[str]:
    """The file's name, its plural, and what a plural is the plural of."""
    return {stem, stem + "s", re.sub("ies$", "y", stem), stem.removesuffix("s"), stem.removesuffix("es")}


def prefixes(unit: str) -> set[str]:
    """What names of a file may begin with."""
    path = Path(PART_OF.get(unit, unit))
    stems = forms(path.name)
    return {*stems, *(f"{folder}_{stem}" for folder in path.parent.parts for stem in stems)}


def is_named(name: str, unit: str) -> bool:
    """True for names that carry the file's."""
    return any(re.fullmatch(rf"{prefix}(_\w*)?", name) for prefix in prefixes(unit)) or bool(FOREIGN.fullmatch(name))


def declared_name(statement: str) -> str | None:
    """What a statement defines or declares: a function or a variable."""
    head = ATOMIC.sub("_Atomic", ATTRIBUTE.sub(" ", statement)).split("=")[0].split("{")[0].strip()
    found = FUNCTION.search(head) or VARIABLE.search(head)
    return found[1] if found else None


def source_names(text: str) -> Iterator[str]:
    """What a C file defines for others."""
    for statement, has_body in without_bodies(text):
        words = ATTRIBUTE.sub(" ", statement).split()
        is_hidden = not words or words[0] in ("static", "typedef", "extern") or words[0].startswith("_Static_assert")
        is_type = bool(re.match(r"(struct|enum|union)\b[^()=]*\{\s*$", statement.strip()))
        is_prototype = not has_body and "=" not in statement and "(" in ATOMIC.sub("", ATTRIBUTE.sub(" ", statement))
        name = None if is_hidden or is_type or is_prototype else declared_name(statement)
        if name is not None:
            yield name


def header_names(text: str) -> Iterator[str]:
    """The types and inline functions of a header."""
    for statement, has_body in without_bodies(text):
        words = statement.split()
        if has_body and words[:1] == ["static"]:
            name = declared_name(statement)
            if name is not None:
                yield name
        elif words[:1] == ["typedef"]:
            found = re.search(r"(\w+)\s*(\(|$)", statement.split("{")[-1].strip().removeprefix("typedef"))
            called = re.search(r"(\w+)\s*\([^()]*\)$", statement.strip())
            yield called[1] if called else (found[1] if found else statement)
        elif TYPE.search(statement):
            yield TYPE.search(statement)[1]  # type: ignore[index]


def exported(source: Path) -> dict[str, set[str]]:
    """What each file exports."""
    names: dict[str, set[str]] = {}
    for path in sorted(source.rglob("*.[ch]")):
        unit = path.relative_to(source).with_suffix("").as_posix()
        read = source_names if path.suffix == ".c" else header_names
        names.setdefault(unit, set()).update(read(path.read_text()))
    return names


def is_declared(name: str, text: str) -> bool:
    """True for what a header promises of a file that it does not name."""
    return any(declared_name(statement) == name for statement, has_body in without_bodies(text) if not has_body)


def read_promises(source: Path) -> dict[str, str]:
    """The headers that no file of their name keeps, by unit."""
    headers = {path for path in source.rglob("*.h") if not path.with_suffix(".c").exists()}
    return {path.relative_to(source).with_suffix("").as_posix(): path.read_text() for path in sorted(headers)}


def find_misnamed(source: Path) -> dict[str, set[str]]:
    """Names that carry neither their file's nor that of the header that promises them."""
    promises = read_promises(source)
    wrong: dict[str, set[str]] = {}
    for unit, own in exported(source).items():
        for name in own:
            is_promised = any(is_named(name, other) and is_declared(name, text) for other, text in promises.items())
            if not is_named(name, unit) and not is_promised:
                wrong.setdefault(unit, set()).add(name)
    return wrong


def find_shared(source: Path) -> set[str]:
    """Names of several files. Each ABI has a folder with the same files."""
    units = {path.relative_to(source).with_suffix("") for path in source.rglob("*.[chS]")}
    stems = sorted(unit.name for unit in units if unit.parent.parent.name != "abi")
    return {one for one, other in pairwise(stems) if one == other}


def find_violations(source: Path) -> list[str]:
    """All that breaks the rule."""
    wrong = find_misnamed(source)
    misnamed = [f"src/{unit}: {name}" for unit in sorted(wrong) for name in sorted(wrong[unit])]
    return [*misnamed, *(f"several files are named {stem}" for stem in sorted(find_shared(source)))]


def main() -> int:
    """Print what is wrong; 1 when something is."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    violations = find_violations(root / "src")
    print("\n".join(violations) or "names: ok")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
