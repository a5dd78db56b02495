# SPDX-License-Identifier: MIT
"""tools/measure_functions.py counts the lines between a function's braces, and nothing else's."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import measure_functions  # noqa: E402
from measure_functions import Function  # noqa: E402

TEXT = """\
/* A function is none. */
struct pair {
    int low;
    int high;
};

static const int table[] = {
    1,
};

__attribute__((noinline)) static int pair_sum(const struct pair *pair, int first,
                                              int second)
{
    if (first != 0) {
        return second;
    }

    return pair->low + pair->high;
}

void nothing(void)
{
}
"""


class Functions(unittest.TestCase):
    """measure_functions.find_functions()."""

    def test_lengths(self) -> None:
        """A head of several lines, an empty line, an empty body."""
        found = list(measure_functions.find_functions("a/pair.c", TEXT))
        self.assertEqual(found, [Function("a/pair.c", "pair_sum", 5), Function("a/pair.c", "nothing", 0)])

    def test_bound(self) -> None:
        """95 of 100 are no longer, and of one that one."""
        self.assertEqual(measure_functions.bound_of(range(1, 101), 0.95), 95)
        self.assertEqual(measure_functions.bound_of([7], 0.95), 7)


class Tree(unittest.TestCase):
    """measure_functions.read_tree()."""

    def test_folders(self) -> None:
        """Each counts what lies in it, not below it."""
        with tempfile.TemporaryDirectory() as name:
            source = Path(name)
            (source / "a/b").mkdir(parents=True)
            (source / "a/pair.c").write_text(TEXT)
            (source / "a/b/stub.S").write_text("nop\n")
            functions, folders = measure_functions.read_tree(source)
        self.assertEqual(len(functions), 2)
        self.assertEqual(folders["a"], measure_functions.Folder(files=1, lines=len(TEXT.splitlines()), functions=2))
        self.assertEqual(folders["a/b"], measure_functions.Folder(files=1, lines=1, functions=0))


if __name__ == "__main__":
    unittest.main()
