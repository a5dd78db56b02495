# SPDX-License-Identifier: MIT
"""Check the format of all C files, and that every source begins with its licence."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench", "examples", "mpi", "tools", "python")
LICENCE = "SPDX-License-Identifier: MIT"


def list_sources(*suffixes: str) -> list[Path]:
    """Source files with one of these suffixes."""
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)


def find_unlicensed() -> list[str]:
    """Files that do not say their licence in the first three lines."""
    sources = list_sources(".c", ".h", ".S", ".py", ".sh", ".toml")
    return [f"{path}: no licence line" for path in sources if LICENCE not in "".join(path.read_text().splitlines()[:3])]


def check_c() -> int:
    """clang-format's own exit code."""
    files = [str(path) for path in list_sources(".c", ".h")]
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *files]).returncode


def main() -> int:
    """1 when something is wrong; 77 when clang-format is missing."""
    unlicensed = find_unlicensed()
    print("\n".join(unlicensed) or "licences: ok")
    if not shutil.which("clang-format"):
        print("skip: clang-format is not installed")
        return 1 if unlicensed else 77
    wrong = check_c()
    print("format: wrong" if wrong else "format: ok")
    return 1 if unlicensed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
