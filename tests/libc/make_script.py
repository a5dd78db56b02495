#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the test preload's version script: the interposed names and the test's own controls."""

from __future__ import annotations

import sys
from pathlib import Path


def script_of(names: list[str]) -> str:
    """The text of the version script."""
    exported = "".join(f"    {name};\n" for name in [*names, "fake_*"])
    return f"{{\n  global:\n{exported}  local: *;\n}};\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(script_of(Path(sys.argv[1]).read_text().split()))
