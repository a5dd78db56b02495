# SPDX-License-Identifier: MIT
"""Make the preload's version script from the lists of interposed names."""

import argparse
import re
import sys
from pathlib import Path

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def names_in(text: str) -> set[str]:
    """Names of a list: one per line, `#` starts a comment."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    names = {line for line in lines if line}
    for name in names:
        if not NAME.fullmatch(name):
            raise ValueError(f"not a symbol name: {name!r}")
    return names


def version_script(names: list[str]) -> str:
    """A linker script that exports these names and nothing else."""
    listed = "".join(f"    {name};\n" for name in names)
    return f"{{\n  global:\n{listed}  local:\n    *;\n}};\n"


def main() -> int:
    """Merge the lists, write the script and the merged list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("lists", type=Path, nargs="+")
    arguments = parser.parse_args()
    names = sorted(set().union(*(names_in(path.read_text()) for path in arguments.lists)))
    arguments.script.write_text(version_script(names))
    arguments.list.write_text("".join(f"{name}\n" for name in names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
