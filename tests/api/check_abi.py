# SPDX-License-Identifier: MIT
"""Each src/mpi/abi/<abi>/abi.h agrees with the mpi.h of every installed MPI of that ABI."""

import sys
import tempfile
from pathlib import Path

from installed import ABI_OF_FAMILY, HERE, ROOT, SKIP, Family, compile_with, environment, installed_families, output_of

SOURCE = ROOT / "src"


def check(family: Family, folder: Path) -> str:
    """Build our description and theirs into one program that compares them."""
    abi = SOURCE / "mpi/abi" / ABI_OF_FAMILY[family.name]
    variables = environment(family)
    ours = folder / "ours.o"
    prepare = folder / "prepare.o"
    compile_with("cc", ["-c", f"-I{abi}", f"-I{SOURCE}", f"-I{HERE}", HERE / "abi_ours.c", "-o", ours], variables)
    compile_with("cc", ["-c", f"-I{abi}", f"-I{SOURCE}", abi / "abi.c", "-o", prepare], variables)
    program = folder / "compare"
    sources = [HERE / "abi_main.c", HERE / "abi_theirs.c", ours, prepare]
    compile_with(family.compiler, [f"-I{HERE}", *sources, "-ldl", "-o", program], variables)
    return output_of(program, variables)


def main() -> int:
    """Check all installed MPIs."""
    families = list(installed_families())
    for family in families:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{family.name}: {check(family, Path(folder)).strip()}")
    if not families:
        print("skipped: no MPI is installed")
        return SKIP
    return 0


if __name__ == "__main__":
    sys.exit(main())
