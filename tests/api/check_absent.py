# SPDX-License-Identifier: MIT
"""check_absent.py PRELOAD: a program that asks for MPI functions weakly sees the same with the preload as without."""

import sys
import tempfile
from pathlib import Path

from installed import HERE, SKIP, Family, compile_with, environment, installed_families, output_of

# How an address is taken decides which relocation holds it.
KINDS = (("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-fPIE", "-pie", "-Wl,-z,now"))
EVERYTHING_PRESENT = "1111 1 1 1 1\n"


def answers(family: Family, kind: tuple[str, ...], preload: str, folder: Path) -> tuple[str, str]:
    """What the program sees without and with the preload."""
    program = folder / "weak"
    compile_with(family.compiler, [*kind, "-Wl,--no-as-needed", HERE / "weak.c", "-o", program], environment(family))
    stock = output_of(program, environment(family))
    return stock, output_of(program, environment(family, {"LD_PRELOAD": preload}))


def check_preload_answers(preload: str, folder: Path, family: Family) -> None:
    """With no MPI loaded nothing is hidden: the preload is there, and exports all of the names."""
    program = folder / "plain"
    compile_with("cc", [HERE / "weak.c", "-o", program], environment(family))
    assert output_of(program, environment(family, {"LD_PRELOAD": preload})) == EVERYTHING_PRESENT


def main() -> int:
    """Compare in all installed MPIs."""
    preload = str(Path(sys.argv[1]).resolve())
    families = list(installed_families())
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        for family in families:
            check_preload_answers(preload, Path(name), family)
            for kind in KINDS:
                stock, preloaded = answers(family, kind, preload, Path(name))
                failures += stock != preloaded
                print(f"{family.name} {' '.join(kind)}: stock {stock.strip()}, preloaded {preloaded.strip()}")
    if not families:
        print("skipped: no MPI is installed")
        return SKIP
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
