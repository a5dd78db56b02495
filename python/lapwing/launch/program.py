# SPDX-License-Identifier: MIT
"""What can be told about a program before it runs: is it there, and does it carry its own copy of MPI?"""

import os
import shutil
import struct
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path

from lapwing.errors import LapwingError
from lapwing.files import is_file, is_folder

SEGMENT_INTERPRETER = 3  # PT_INTERP, see elf(5)
SECTIONS_WITH_SYMBOLS = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
# A profiling tool that is linked in defines MPI_Init too, but not PMPI_Init.
OWN_MPI = {b"MPI_Init", b"PMPI_Init"}


def refuse_folder(name: str) -> None:
    """Say so where a folder stands in a program's place."""
    if "/" in name and is_folder(Path(name)):
        raise LapwingError(f"{name} is a folder, not a program", "name the program in it")


def locate_program(name: str, searches_folder: bool = False) -> Path:
    """Return the program's path as the launcher would find it on this host.

    searches_folder: the launcher looks in the current folder, too, after PATH.
    """
    found = shutil.which(name) or (shutil.which(f"./{name}") if searches_folder and "/" not in name else None)
    if found is not None:
        return Path(found)
    refuse_folder(name)
    if not is_file(Path(name)):
        remedy = "build it or correct the path" if "/" in name else "install it, or write ./ before a local program"
        raise LapwingError(f"{name}: no such program", remedy)
    if os.access(name, os.X_OK):
        raise LapwingError(f"{name} is not on PATH, where this launcher looks for it", f"write ./{name}")
    raise LapwingError(f"{name} is not executable", f"chmod +x {name}")


def has_interpreter(data: mmap) -> bool:
    """Tell whether a 64-bit little-endian ELF file asks for a dynamic linker."""
    offset = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    kinds = (struct.unpack_from("<I", data, offset + index * size)[0] for index in range(count))
    return SEGMENT_INTERPRETER in kinds


def iterate_defined_symbols(data: mmap) -> Iterator[bytes]:
    """Yield the names that a 64-bit little-endian ELF file defines itself, if PMPI_Init may be one of them.

    Of a large program that links MPI dynamically only the names are looked through, not every symbol.
    """
    offset = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + index * size) for index in range(count)]
    for section in (row for row in sections if row[1] in SECTIONS_WITH_SYMBOLS):
        strings, strings_bytes = sections[section[6]][4:6]
        if data.find(b"PMPI_Init\0", strings, strings + strings_bytes) < 0:
            continue
        for position in range(section[4], section[4] + section[5], 24):
            name, _, _, home = struct.unpack_from("<IBBH", data, position)
            if home != 0:
                yield data[strings + name : data.find(b"\0", strings + name)]


def judge_program(data: mmap) -> str | None:
    """Return why a file's program cannot use Lapwing."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    if not has_interpreter(data):
        return "it is statically linked"
    return "MPI is statically linked into it" if set(iterate_defined_symbols(data)) >= OWN_MPI else None


def explain_unusable(path: Path) -> str | None:
    """Return why a program cannot use Lapwing; None when it can, or when that cannot be told.

    Some may be run and not be read.
    """
    try:
        with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
            return judge_program(data)
    except (OSError, struct.error, IndexError, ValueError):
        return None
