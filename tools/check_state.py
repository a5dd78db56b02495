# SPDX-License-Identifier: MIT
"""Check that every variable of the injected code that outlives a call is known: src/state.txt lists them by file.

    check_state.py BUILD            compare what was built with the list
    check_state.py BUILD --write    make the list anew

There may be at most LIMIT of them, and the section of docs/inside.md that says who owns them names each file, by its
name alone or with its folder: no two files of src/ share one. What counts is what the objects have in writable
sections, thread-local ones included, static ones too. The entries of MPI are compiled once per ABI and counted once.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "src/state.txt"
OWNERS = ROOT / "docs/inside.md"
OWNERS_SECTION = re.compile(r"^## State, and who owns it$(.*?)^## ", re.MULTILINE | re.DOTALL)
NAMED_FILE = re.compile(r"`(?:\w+/)*(\w+)\.[chS]`")
LIMIT = 80  # of the process and of each thread together

# .data.rel.ro is read-only once the dynamic linker is done.
WRITABLE = re.compile(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss)")
OTHER_ABIS = re.compile(r"lapwing_backend_(?!openmpi\.)\w+\.dir")
OBJECTS = {"OBJECT", "TLS"}
OF_EACH_THREAD = "*"

State = dict[str, list[str]]


def read_elf(path: Path, flag: str) -> str:
    """What readelf says."""
    return subprocess.run(["readelf", "-W", flag, str(path)], check=True, capture_output=True, text=True).stdout


def find_variables(path: Path) -> Iterator[str]:
    """An object file's writable variables, less the numbers that a compiler gives to those of functions; with a mark
    where each thread has its own."""
    sections = dict(re.findall(r"^ *\[ *(\d+)\] (\S+)", read_elf(path, "-S"), re.MULTILINE))
    for line in read_elf(path, "-s").splitlines():
        fields = line.split()
        is_variable = len(fields) == 8 and fields[3] in OBJECTS and fields[6] in sections
        if is_variable and WRITABLE.match(sections[fields[6]]):
            yield fields[7].split(".")[0] + (OF_EACH_THREAD if fields[3] == "TLS" else "")


def source_name(file: Path, build: Path) -> str | None:
    """A source's place below src/, or below the generated folder; None for those of tests."""
    for folder in (ROOT / "src", build / "generated"):
        if file.is_relative_to(folder):
            return file.relative_to(folder).with_suffix("").as_posix()
    return None


def find_state(build: Path) -> State:
    """What was built has, by source."""
    state: State = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        output = build / entry["output"]
        source = source_name(Path(entry["file"]), build)
        if source is None or not output.is_relative_to(build / "src") or OTHER_ABIS.search(entry["output"]):
            continue
        state.setdefault(source, []).extend(sorted(find_variables(output)))
    return {source: names for source, names in sorted(state.items()) if names}


def read_list() -> State:
    """What src/state.txt says."""
    rows = (line.split(":") for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return {source: names.split() for source, names in rows}


def write_list(state: State) -> None:
    """Make src/state.txt."""
    head = [line for line in LIST.read_text().splitlines() if line.startswith("#")] if LIST.exists() else []
    rows = [f"{source}: {' '.join(names)}" for source, names in state.items()]
    LIST.write_text("\n".join(head + rows) + "\n")


def find_differences(built: State, known: State) -> Iterator[str]:
    """What one has and the other lacks."""
    for source in sorted(built.keys() | known.keys()):
        names, listed = built.get(source, []), known.get(source, [])
        yield from (f"{source}: {name} is not in src/state.txt" for name in names if name not in listed)
        yield from (f"{source}: {name} of src/state.txt is no more" for name in listed if name not in names)


def find_excess(names: Sequence[str]) -> Iterator[str]:
    """What is wrong with their number."""
    if len(names) > LIMIT:
        yield f"{len(names)} variables, {LIMIT} at most: one that belongs to others becomes a field of their struct"


def find_unowned(sources: Iterable[str]) -> Iterator[str]:
    """Files of which the document does not say who owns their state."""
    section = OWNERS_SECTION.search(OWNERS.read_text())
    named = set(NAMED_FILE.findall(section[1])) if section else set()
    unowned = [source for source in sources if Path(source).name not in named]
    yield from (f"docs/inside.md does not say who owns the state of {source}" for source in unowned)


def main() -> int:
    """Print what is wrong; 1 when something is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    built = find_state(arguments.build.resolve())
    if arguments.write:
        write_list(built)
    names = [name for of_file in built.values() for name in of_file]
    wrong = [*find_differences(built, read_list()), *find_excess(names), *find_unowned(built)]
    of_threads = sum(name.endswith(OF_EACH_THREAD) for name in names)
    counts = f"{len(names) - of_threads} variables of the process, {of_threads} of each thread, in {len(built)} files"
    print("\n".join(f"state: {line}" for line in wrong) or f"state: ok, {counts}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
