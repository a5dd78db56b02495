# SPDX-License-Identifier: MIT
"""Make stubs of an old GLIBC to link with: libraries that have its names and versions, and no code.

make_libc_stubs.py x86_64 2.17 FOLDER. Zig (the Python package ziglang, to be installed) knows the names of every
GLIBC version and makes such stubs before it links; they are taken from its cache. The preload is compiled by the usual
compiler, as the tests have it, and only linked with them (LAPWING_LIBC_STUBS of CMake).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NEEDED = ("libc.so.6", "libpthread.so.0", "libdl.so.2", "libld.so.2")  # the last: the dynamic linker


def make_stubs(machine: str, version: str, folder: Path) -> None:
    """Let Zig link an empty library, and keep what it links with."""
    with tempfile.TemporaryDirectory() as work:
        source, cache = Path(work) / "empty.c", Path(work) / "cache"
        source.write_text("int empty;\n")
        target = f"{machine}-linux-gnu.{version}"
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared", "-fPIC", str(source)]
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
        libraries = ["-lpthread", "-ldl", "-o", str(Path(work) / "empty.so")]
        subprocess.run([*command, *libraries], check=True, env=environment)
        folder.mkdir(parents=True, exist_ok=True)
        for name in NEEDED:
            shutil.copy(next(cache.rglob(name)), folder / name)


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", choices=["x86_64", "aarch64"])
    parser.add_argument("version", help="of GLIBC, as in 2.17")
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    make_stubs(chosen.machine, chosen.version, chosen.folder)


if __name__ == "__main__":
    main()
