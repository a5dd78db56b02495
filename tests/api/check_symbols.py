# SPDX-License-Identifier: MIT
"""Every MPI function that an installed MPI library exports has a row in mpi/functions.toml.

check_symbols.py [LIBRARY...]    without libraries: those of all installed MPIs
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from installed import ROOT, SKIP, Family, compile_with, environment, installed_families

sys.path.insert(0, str(ROOT / "mpi"))

from notation import functions

# Exported names that are no C calls: predefined callbacks of Fortran, and helpers that C reaches through macros.
NOT_FUNCTION = re.compile(r"MPI_[A-Z0-9_]+")
# A library with fewer is not the one that programs are linked with.
FEWEST_FUNCTIONS = 300


def library_of(family: Family, folder: Path) -> Path:
    """The library that a program of that MPI is loaded with."""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    program = folder / "empty"
    compile_with(family.compiler, ["-Wl,--no-as-needed", source, "-o", program], environment(family))
    command = ["ldd", str(program)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True, env=environment(family)).stdout
    match = re.search(r"libmpi(?:ch|_abi)?\.so[.\d]* => (\S+)", listing)
    assert match is not None, listing
    return Path(match[1])


def exported_functions(library: Path) -> set[str]:
    """The MPI functions of a library's dynamic symbol table, extensions included; PMPI_X is a function MPI_X."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    names = re.findall(r"^[0-9a-f]+ [TWwi] P?(MPIX?_\w+)", listing.stdout, re.MULTILINE)
    return {name for name in names if not NOT_FUNCTION.fullmatch(name)}


def complaints(library: Path, known: set[str]) -> list[str]:
    """What is wrong with the table in the eyes of one library."""
    exported = exported_functions(library)
    print(f"{library}: {len(exported)} functions")
    if len(exported) < FEWEST_FUNCTIONS:
        return [f"{library}: too few functions for an MPI library"]
    return [f"{library}: {name} has no row" for name in sorted(exported - known)]


def main() -> int:
    """Check the given libraries, or all that are installed."""
    libraries = [Path(argument) for argument in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        libraries = libraries or [library_of(family, Path(folder)) for family in installed_families()]
    if not libraries:
        print("skipped: no MPI is installed")
        return SKIP
    known = {function.name for function in functions()}
    found = [complaint for library in libraries for complaint in complaints(library, known)]
    print("\n".join(found) or f"{len(libraries)} libraries, {len(known)} rows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
