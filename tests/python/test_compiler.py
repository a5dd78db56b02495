# SPDX-License-Identifier: MIT
"""A bundled program is compiled by Zig's compiler where no other is there, and only there."""

import sys
from pathlib import Path

import pytest

from lapwing.bench.mpi import Mpi, build_program, choose_compiler
from lapwing.errors import LapwingError
from lapwing.launch.launchers import Direct

# As MPI's wrappers: another compiler than the usual one where a variable names it.
WRAPPER = '#!/bin/sh\nexec ${OMPI_CC:-gcc} "$@"\n'
COMPILER = "import sys\nprint(open(sys.argv[sys.argv.index('-o') + 1], 'w').write('made by zig'))\n"


def make_tool(path: Path, text: str) -> Path:
    """Write a command."""
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def zig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package `ziglang` is installed."""
    package = tmp_path / "packages/ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(COMPILER)
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all commands that are found: no compiler, but an MPI's wrapper."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    make_tool(folder / "mpicc", WRAPPER)
    return folder


def build(folder: Path, to: Path) -> str:
    """Build the demo's solver, and return what was made."""
    mpi = Mpi("openmpi", str(folder / "mpicc"), Direct(str(folder / "mpirun")))
    return build_program(mpi, "heat3d.c", to).read_text()


def test_zig_is_used_where_no_compiler_is_there(zig: None, bare: Path, tmp_path: Path) -> None:
    assert build(bare, tmp_path) == "made by zig"


def test_a_compiler_that_is_there_is_used(zig: None, bare: Path, tmp_path: Path) -> None:
    make_tool(bare / "gcc", f"#!{sys.executable}\n{COMPILER.replace('zig', 'gcc')}")
    assert choose_compiler() == {}
    assert build(bare, tmp_path) == "made by gcc"


def test_what_the_user_names_is_used(zig: None, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = make_tool(tmp_path / "own", f"#!{sys.executable}\n{COMPILER.replace('zig', 'the user')}")
    monkeypatch.setenv("OMPI_CC", str(own))
    assert build(bare, tmp_path) == "made by the user"


def test_without_any_the_remedy_names_both(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LapwingError) as told:
        build(bare, tmp_path)
    assert "apt-get install gcc" in told.value.remedy and "pip install ziglang" in told.value.remedy
