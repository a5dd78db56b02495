#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claim: the table of libc's entries refuses rows that it cannot mean."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any


def module_load(path: Path) -> Any:
    """The generator, which is a program and in no package."""
    spec = importlib.util.spec_from_file_location("libc_generate", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
generate = module_load(Path(sys.argv.pop()) / "generate.py")


def table(*rows: str) -> Path:
    """A table with these rows in one group."""
    path = Path(tempfile.mkdtemp()) / "functions.toml"
    path.write_text('[[group]]\nfunctions = [' + ",".join(rows) + "]\n")
    return path


class Table(unittest.TestCase):
    """What generate.py makes of single rows."""

    def test_entry_waits_before_it_calls(self) -> None:
        rows = generate.functions_read(table('["ssize_t read(int d, void *b, size_t n)", "writes b, n"]'))
        text = generate.entry_c(rows[0])
        self.assertLess(text.index("libc_use_writes(b, n);"), text.index("return LIBC_REAL(read)(d, b, n);"))

    def test_pointer_results_and_no_arguments(self) -> None:
        rows = generate.functions_read(table('["FILE *tmp(void)"]'))
        self.assertIn("FILE *libc_entry_tmp(void)", generate.entry_c(rows[0]))
        self.assertIn("LIBC_REAL(tmp)();", generate.entry_c(rows[0]))

    def test_entry_that_is_another_call(self) -> None:
        rows = generate.functions_read(table('["int f(int d)", "by ours(d, real)"]'))
        self.assertIn("return ours(d, real);", generate.entry_c(rows[0]))
        self.assertNotIn("libc_busy_f", generate.entry_c(rows[0]))

    def test_unknown_role(self) -> None:
        with self.assertRaisesRegex(ValueError, "unknown role"):
            generate.functions_read(table('["int f(void *p)", "touches p, 1"]'))

    def test_same_name_twice(self) -> None:
        with self.assertRaisesRegex(ValueError, "more than once"):
            generate.functions_read(table('["int f(void)"]', '["int f(void)"]'))

    def test_no_prototype(self) -> None:
        with self.assertRaisesRegex(ValueError, "not a C prototype"):
            generate.functions_read(table('["read"]'))


if __name__ == "__main__":
    unittest.main()
