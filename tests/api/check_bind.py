# SPDX-License-Identifier: MIT
"""Binding, with the preload and with libraries made for the purpose.

check_bind.py PRELOAD FOLDER    the folder holds what tests/api/CMakeLists.txt builds
"""

import os
import subprocess
import sys
from pathlib import Path

NOT_FOUND = 127


def run(preload: str, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the preload."""
    command = [str(program), *arguments]
    variables = {**os.environ, "LD_PRELOAD": preload}
    return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=20, check=False)


def check_known(preload: str, folder: Path) -> None:
    """Calls arrive, and nothing is said."""
    result = run(preload, folder / "bind_calls_known")
    assert result.returncode == 0, result
    assert result.stderr == "", result


def check_unknown(preload: str, folder: Path) -> None:
    """Under an ABI that Lapwing does not know calls arrive too, and one line says that it is off."""
    result = run(preload, folder / "bind_calls_unknown")
    assert result.returncode == 0, result
    assert result.stderr.count("\n") == 1, result
    assert "lapwing: off" in result.stderr, result


def check_missing(preload: str, folder: Path) -> None:
    """A function that this MPI lacks ends the program as the dynamic linker does."""
    result = run(preload, folder / "bind_missing")
    assert result.returncode == NOT_FOUND, result
    assert "symbol lookup error: undefined symbol: MPI_Comm_size" in result.stderr, result


def check_local(preload: str, folder: Path) -> None:
    """A library outside the global scope is found."""
    result = run(preload, folder / "bind_local", str(folder / "libmpi.so.12"))
    assert result.returncode == 0, result


def constructor_words(folder: Path) -> list[str]:
    """An MPI library, one with a constructor, and what that loads."""
    names = ("libmpi.so.12", "plugins/bind_constructor_PLUGIN.so", "plugins/bind_constructor_EXTRA.so")
    return [str(folder / name) for name in names]


def check_constructor(preload: str, folder: Path) -> None:
    """A constructor looks a function up while another thread binds: neither waits for the other for ever."""
    for chosen in ("", preload):
        result = run(chosen, folder / "bind_constructor", *constructor_words(folder))
        assert result.returncode == 0, result


def check_fork(preload: str, folder: Path) -> None:
    """A child is not left with the lock of a thread that was binding."""
    result = run(preload, folder / "bind_fork", *constructor_words(folder))
    assert result.returncode == 0, result


def check_lookup(preload: str, folder: Path) -> None:
    """Asking for functions by name answers as without Lapwing."""
    library = str(folder / "libmpi.so.12")
    for chosen in ("", preload):
        result = run(chosen, folder / "bind_lookup", library)
        assert result.returncode == 0, result


def main() -> int:
    """Run all checks."""
    preload = str(Path(sys.argv[1]).resolve())
    folder = Path(sys.argv[2]).resolve()
    checks = (check_known, check_unknown, check_missing, check_local, check_lookup, check_constructor, check_fork)
    for check in checks:
        check(preload, folder)
    print(f"{len(checks)} checks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
