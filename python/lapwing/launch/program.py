# SPDX-License-Identifier: MIT
"""What can be told about a program before it runs: is it there, and does it carry its own copy of MPI?"""

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

from lapwing.errors import LapwingError

SEGMENT_INTERPRETER = 3  # PT_INTERP, see elf(5)
SECTIONS_WITH_SYMBOLS = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM


def locate_program(name: str) -> Path:
    """Return the program's path as the launcher would find it on this host."""
    found = shutil.which(name)
    if found is None and not Path(name).is_file():
        remedy = "build it or correct the path" if "/" in name else "install it, or write ./ before a local program"
        raise LapwingError(f"{name}: no such program", remedy)
    if found is None:
        raise LapwingError(f"{name} is not executable", f"chmod +x {name}")
    return Path(found)


def has_interpreter(data: bytes) -> bool:
    """Tell whether a 64-bit little-endian ELF file asks for a dynamic linker."""
    offset = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    kinds = (struct.unpack_from("<I", data, offset + index * size)[0] for index in range(count))
    return SEGMENT_INTERPRETER in kinds


def iterate_defined_symbols(data: bytes) -> Iterator[bytes]:
    """Yield the names that a 64-bit little-endian ELF file defines itself."""
    offset = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + index * size) for index in range(count)]
    for section in (row for row in sections if row[1] in SECTIONS_WITH_SYMBOLS):
        strings = sections[section[6]][4]
        for position in range(section[4], section[4] + section[5], 24):
            name, _, _, home = struct.unpack_from("<IBBH", data, position)
            if home != 0:
                yield data[strings + name : data.index(b"\0", strings + name)]


def explain_unusable(path: Path) -> str | None:
    """Return why a program cannot use Lapwing; None when it can, or when that cannot be told."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    try:
        if not has_interpreter(data):
            return "it is statically linked"
        # A profiling tool that is linked in defines MPI_Init too, but not PMPI_Init.
        if {b"MPI_Init", b"PMPI_Init"} <= set(iterate_defined_symbols(data)):
            return "MPI is statically linked into it"
    except (struct.error, IndexError, ValueError):
        return None
    return None
