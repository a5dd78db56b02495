# SPDX-License-Identifier: MIT
"""The checks of tools/ find what they are there to find."""

import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402
import check_names  # noqa: E402
import check_preload  # noqa: E402
import check_state  # noqa: E402
import generate_exports  # noqa: E402
import generate_tables  # noqa: E402


class Layers(unittest.TestCase):
    """tools/check_layers.py."""

    def violations(self, files: dict[str, str]) -> list[str]:
        """Check a tree made of these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.find_violations(Path(folder))

    def test_allowed(self) -> None:
        """Downward, and within the own layer."""
        self.assertEqual(self.violations({"src/engine/a.c": '#include "base/lock.h"\n#include "engine/a.h"\n'}), [])
        self.assertEqual(self.violations({"python/lapwing/report/a.py": "from lapwing.profile.record import x\n"}), [])

    def test_forbidden(self) -> None:
        """Upward, and between neighbours."""
        self.assertEqual(len(self.violations({"src/base/a.c": '#include "engine/a.h"\n'})), 1)
        self.assertEqual(len(self.violations({"src/engine/a.c": '#  include "protect/protect.h"\n'})), 1)
        self.assertEqual(len(self.violations({"src/policy/a.h": '#include "op/wait.h"\n'})), 1)
        self.assertEqual(len(self.violations({"python/lapwing/profile/a.py": "from lapwing import report\n"})), 1)

    def test_circle(self) -> None:
        """Two files of one folder that include each other; a file and its header are one."""
        files = {"src/engine/a.c": '#include "engine/b.h"\n', "src/engine/b.h": '#include "engine/a.h"\n'}
        self.assertEqual(len(self.violations(files)), 2)

    def test_unknown(self) -> None:
        """A new folder must be given its place."""
        self.assertEqual(len(self.violations({"src/other/a.c": "\n"})), 1)


class Names(unittest.TestCase):
    """tools/check_names.py."""

    def misnamed(self, files: dict[str, str]) -> set[str]:
        """What is wrong in a tree made of these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            wrong = check_names.find_misnamed(Path(folder))
            return set().union(*wrong.values()) | check_names.find_shared(Path(folder))

    def test_source(self) -> None:
        """What a C file defines for others, and nothing else in it."""
        text = """/* int comment(void); */
            static int own(void) { return 1; }
            struct hidden { int field; };
            enum { MAX = 1 };
            extern int elsewhere[2];
            int prototype(int number);
            _Static_assert(1, "text");
            _Atomic(void *) gate_slots[MAX] = {0};
            __attribute__((noinline)) int gate_enter(void) { if (1) { own(); } return 0; }
            """
        self.assertEqual(self.misnamed({"engine/gate.c": text}), set())
        wrong = "int enter(void)\n{\n    return 0;\n}\n_Thread_local int depth;\nint table[2] = {1, 2};\n"
        self.assertEqual(self.misnamed({"engine/gate.c": wrong}), {"enter", "depth", "table"})

    def test_header(self) -> None:
        """Types and inline functions; what another file defines is judged there."""
        text = "typedef int gate_fn(void *argument);\nstruct gate { int a; };\nvoid enter(void);\nstruct other;\n"
        self.assertEqual(self.misnamed({"engine/gate.h": text}), set())
        wrong = "typedef int turn_fn(int);\nenum turn { ONE };\nstatic inline int look(void) { return 1; }\n"
        self.assertEqual(self.misnamed({"engine/gate.h": wrong}), {"turn_fn", "turn", "look"})

    def test_promise(self) -> None:
        """What a header promises and another file defines; not where the header has a file of its own."""
        files = {"op/host.h": "extern const struct host host;\n", "lib/wiring.c": "const struct host host = {0};\n"}
        self.assertEqual(self.misnamed(files), set())
        self.assertEqual(self.misnamed({**files, "op/host.c": ""}), {"host"})

    def test_prefix(self) -> None:
        """The file, its singular, its folder before it; what stands before a function has that one's name."""
        text = "int request_key(void) { return 1; }\nint op_requests_count;\nint entry_MPI_Wait(void) { return 0; }\n"
        self.assertEqual(self.misnamed({"op/requests.c": text}), set())
        self.assertEqual(self.misnamed({"op/requests.c": "int op_count;\n"}), {"op_count"})

    def test_shared(self) -> None:
        """One name for a file and its header, and for an ABI's files, but for no others."""
        files = {"a/one.c": "", "a/one.h": "", "b/two.c": "", "mpi/abi/x/abi.h": "", "mpi/abi/y/abi.h": ""}
        self.assertEqual(self.misnamed(files), set())
        self.assertEqual(self.misnamed({**files, "b/one.c": ""}), {"one"})


class State(unittest.TestCase):
    """tools/check_state.py."""

    def test_differences(self) -> None:
        """What is new, and what is gone."""
        wrong = list(check_state.find_differences({"op/a": ["own*", "table"]}, {"op/a": ["table"], "op/b": ["lost"]}))
        self.assertEqual(wrong, ["op/a: own* is not in src/state.txt", "op/b: lost of src/state.txt is no more"])

    def test_excess(self) -> None:
        """More than there may be."""
        self.assertEqual(list(check_state.find_excess(["one"] * check_state.LIMIT)), [])
        self.assertEqual(len(list(check_state.find_excess(["one"] * (check_state.LIMIT + 1)))), 1)

    def test_sections(self) -> None:
        """What the dynamic linker makes read-only is no state."""
        sections = (".bss", ".data.rel.ro.local", ".rodata", ".tbss")
        writable = [name for name in sections if check_state.WRITABLE.match(name)]
        self.assertEqual(writable, [".bss", ".tbss"])


class Preload(unittest.TestCase):
    """tools/check_preload.py reads what readelf writes."""

    def test_needed(self) -> None:
        """Names of libraries."""
        line = " 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]\n"
        self.assertEqual(check_preload.find_needed(line), ["libm.so.6"])
        self.assertIsNone(check_preload.NEEDED_ALLOWED.fullmatch("libm.so.6"))

    def test_exports(self) -> None:
        """Defined names only."""
        symbols = (
            "     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND free@GLIBC_2.2.5 (2)\n"
            "     2: 0000000000001000    16 FUNC    GLOBAL DEFAULT   12 MPI_Send\n"
        )
        self.assertEqual(check_preload.find_exports(symbols), {"MPI_Send"})

    def test_ages(self) -> None:
        """The oldest version of a name counts, and versions are compared as numbers."""
        lines = "FUNC GLOBAL DEFAULT 15 moved@@GLIBC_2.34\nFUNC GLOBAL DEFAULT 15 moved@GLIBC_2.9\n"
        self.assertEqual(check_preload.read_ages(lines), {"moved": (2, 9)})

    def test_strong_names(self) -> None:
        """A name that may be missing is not needed, nor is one that a new header put in another's place."""
        lines = "".join(
            f"FUNC {bind} DEFAULT UND {name} (2)\n"
            for bind, name in (("GLOBAL", "a@GLIBC_2.9"), ("WEAK", "b@GLIBC_2.34"), ("GLOBAL", "__isoc23_c@GLIBC_2.38"))
        )
        self.assertEqual(check_preload.find_strong(lines), {"a"})


class Tables(unittest.TestCase):
    """The generators refuse tables that could not work."""

    def test_bad_rows(self) -> None:
        """Defaults outside the choices, unknown types."""
        row = {"name": "x", "type": "choice", "choices": ["a"], "default": "b", "group": "basic", "help": ""}
        for wrong in (row, {**row, "type": "size"}, {**row, "default": "a", "group": "other"}):
            with self.assertRaises(ValueError):
                generate_tables.check_options([wrong])

    def test_real_tables(self) -> None:
        """Every row becomes one constant or field."""
        rows = tomllib.loads((ROOT / "src/base/options.toml").read_text())["option"]
        self.assertEqual(generate_tables.options_table(rows).count('{"LAPWING_'), len(rows))

    def test_exports(self) -> None:
        """Lists are names only."""
        self.assertEqual(generate_exports.names_in("read # a\n\nwrite\n"), {"read", "write"})
        with self.assertRaises(ValueError):
            generate_exports.names_in("read;write")


if __name__ == "__main__":
    unittest.main()
