# SPDX-License-Identifier: MIT
"""Where Lapwing's own files lie: tables, preload library, sources of the bundled programs.

Installed, they stand inside the package (_tables, _preload, _sources); in a
source tree they stand where they are edited.
"""

import os
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from lapwing.errors import LapwingError

PACKAGE = Path(__file__).resolve().parent
SOURCE_TREE = PACKAGE.parent.parent
LIBRARY = "liblapwing.so"
PRELOADED_BY_ALL = Path("/etc/ld.so.preload")
# This command once more. -P: a random.py of the user in the current folder is not Python's.
SELF = [sys.executable, "-P", "-m", "lapwing"]


def is_file(path: Path) -> bool:
    """Tell whether there is such a file; a path that cannot be looked at is none, as for the shell."""
    try:
        return path.is_file()
    except OSError:  # a folder on the way that may not be entered, a name that is too long
        return False


def is_folder(path: Path) -> bool:
    """Tell whether there is such a folder, likewise."""
    try:
        return path.is_dir()
    except OSError:
        return False


def find_file(name: str, folders: list[Path]) -> Path:
    """Return the first folder's file of that name."""
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise LapwingError(f"Lapwing's own file {name} is missing", "install Lapwing again (pip install .)")


def load_table(name: str) -> dict[str, Any]:
    """Load a table that the C side and the Python side share."""
    folders = [PACKAGE / "_tables", *(SOURCE_TREE / folder for folder in ("src/base", "src/record", "mpi"))]
    return tomllib.loads(find_file(f"{name}.toml", folders).read_text("utf-8"))


def read_table(name: str) -> list[dict[str, Any]]:
    """Read the rows of such a table, e.g. "options"."""
    rows: dict[str, list[dict[str, Any]]] = load_table(name)
    return next(iter(rows.values()))


@cache
def read_abis() -> dict[str, dict[str, Any]]:
    """Read the rows of mpi/abis.toml, by the ABIs' names."""
    return load_table("abis")


def split_preload(chain: str) -> list[str]:
    """Return the libraries of an LD_PRELOAD (ld.so(8): colons and spaces separate them)."""
    return chain.replace(":", " ").split()


def list_preloaded_by_all(path: Path = PRELOADED_BY_ALL) -> list[str]:
    """Return the libraries that the system preloads into every process (ld.so(8))."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [name for line in lines for name in split_preload(line.partition("#")[0])]


def is_lapwing(path: str) -> bool:
    """Say whether a preloaded library is Lapwing's, of whatever installation."""
    return Path(path).name == LIBRARY


def find_preload() -> Path:
    """Return the library to preload; LAPWING_PRELOAD names the one of a build tree."""
    chosen = os.environ.get("LAPWING_PRELOAD")
    path = Path(chosen).absolute() if chosen else find_file(LIBRARY, [PACKAGE / "_preload"])
    if not is_file(path):
        raise LapwingError(f"LAPWING_PRELOAD names {chosen}, which is no file", "correct it or unset it")
    # ld.so(8): both separate the libraries in LD_PRELOAD, and nothing quotes them.
    if any(character in ": " for character in str(path)):
        remedy = "install Lapwing, or put a link to it, where the path has neither (LAPWING_PRELOAD may name it)"
        raise LapwingError(f"{path} cannot be preloaded: its path has a space or a colon", remedy)
    return path


def find_source(name: str) -> Path:
    """Return the C source of a bundled program, e.g. "overlap.c"."""
    parents = (PACKAGE / "_sources", SOURCE_TREE)
    return find_file(name, [parent / folder for parent in parents for folder in ("bench", "examples")])
