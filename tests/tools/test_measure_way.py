# SPDX-License-Identifier: MIT
"""tools/measure_way.py counts an inline function for the file that it stands in, whoever includes it."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import measure_way  # noqa: E402

SOURCES = {
    "base/ground.h": "static inline int ground_is_empty(int low, int high)\n{\n    return low >= high;\n}\n",
    "op/before.c": "int before(int x)\n{\n    return x + 1;\n}\n",
    "op/user.c": '#include "base/ground.h"\nint user(int x)\n{\n    return ground_is_empty(x, 3);\n}\n',
}


def build_library(folder: Path) -> Path:
    """A library of SOURCES, as measure_way.py builds the preload."""
    source = folder / "src"
    for name, text in SOURCES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    files = [str(source / name) for name in SOURCES if name.endswith(".c")]
    flags = [*measure_way.FLAGS.split(), "-fPIC", "-shared", "-nostdlib", f"-I{source}"]
    subprocess.run(["cc", *flags, *files, "-o", str(folder / "library.so")], check=True)
    return folder / "library.so"


class Steps(unittest.TestCase):
    """measure_way.find_steps()."""

    @unittest.skipIf(shutil.which("cc") is None or shutil.which("nm") is None, "no C compiler")
    def test_inline(self) -> None:
        """The function comes first in its object: there addr2line takes the wrong file from lines of DWARF 5."""
        with tempfile.TemporaryDirectory() as folder:
            library = build_library(Path(folder))
            symbols = subprocess.check_output(["nm", str(library)], text=True).splitlines()
            address = next(line.split()[0] for line in symbols if line.endswith(" ground_is_empty"))
            with mock.patch.object(measure_way, "PRELOAD", library):
                self.assertEqual(measure_way.find_steps([address]), [("base/ground", "ground_is_empty")])


if __name__ == "__main__":
    unittest.main()
