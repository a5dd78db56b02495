# SPDX-License-Identifier: MIT
"""Check the Spack recipe in dist/ without Spack, and build with it as Spack would.

    tests/sites/spack.py FOLDER

Spack is no package of a registry. A stand-in for its module notes what the recipe says: that must be what
pyproject.toml says, with the release archive's checksum. Then the archive is installed by the line that Spack's
PythonPackage runs (pip, without dependencies, isolation and index), and runs a job. What Spack's solver makes of the
recipe is not checked.
"""

import argparse
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent.parent
DIST = ROOT / "dist"
RECIPE = DIST / "spack_repo/lapwing/packages/lapwing/package.py"
# Spack's names for what is not called py-NAME there.
NAMES = {"cmake": "cmake", "ninja": "ninja", "python": "python"}
# As build_systems/python.py of Spack's packages has them.
PIP = [
    *("-vvv", "--no-input", "--no-cache-dir", "--disable-pip-version-check", "install", "--no-deps"),
    *("--ignore-installed", "--no-build-isolation", "--no-warn-script-location", "--no-index"),
]


class Said:
    """What a recipe says, by directive."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}
        self.dependencies: dict[str, set[str]] = {}  # "py-rich@13:" -> when it is needed
        self.others: list[str] = []

    def version(self, number: str, sha256: str = "") -> None:
        """Note a version and its checksum."""
        self.versions[number] = sha256

    def depends_on(self, spec: str, type: str | tuple[str, ...]) -> None:
        """Note a dependency."""
        self.dependencies[spec] = {type} if isinstance(type, str) else set(type)

    def note(self, *words: str) -> None:
        """Note what is not looked at further."""
        self.others.append(" ".join(words))


def load_recipe(said: Said) -> type:
    """Run the recipe with stand-ins for Spack's modules."""
    package = ModuleType("spack.package")
    package.version, package.depends_on = said.version, said.depends_on  # type: ignore[attr-defined]
    package.license = package.conflicts = said.note  # type: ignore[attr-defined]
    systems = ModuleType("spack_repo.builtin.build_systems.python")
    systems.PythonPackage = type("PythonPackage", (), {})  # type: ignore[attr-defined]
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = ModuleType(name)
    sys.modules[package.__name__] = package
    sys.modules[systems.__name__] = systems
    spec = importlib.util.spec_from_file_location("recipe", RECIPE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipe: type = module.Lapwing
    return recipe


def spell(requirement: str) -> str:
    """Spell a requirement of Python as Spack does: rich>=13 is py-rich@13:."""
    name, minimum = re.fullmatch(r"([\w-]+)(?:>=([\d.]+))?", requirement).groups()  # type: ignore[union-attr]
    return NAMES.get(name, f"py-{name}") + (f"@{minimum}:" if minimum else "")


def compare(said: Said, archive: Path) -> list[str]:
    """What the recipe and pyproject.toml say differently."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        told = tomllib.load(file)
    project = told["project"]
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    wrong = []
    if said.versions != {project["version"]: checksum}:
        wrong.append(f"versions {said.versions}, not {project['version']} with {checksum}")
    build = {spell(text) for text in told["build-system"]["requires"]} | {"c"}
    run = {spell(text) for text in project["dependencies"]}
    python = {spell(f"python{project['requires-python']}")}
    for kind, wanted in (("build", build | python), ("run", run | python)):
        has = {spec for spec, kinds in said.dependencies.items() if kind in kinds}
        if has != wanted:
            wrong.append(f"{kind}: {sorted(has)} instead of {sorted(wanted)}")
    return wrong


def install(folder: Path, archive: Path) -> Path:
    """Unpack the archive and install it into a prefix, with the tools of a fresh environment."""
    python = folder / "python/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
    tools = ["scikit-build-core>=0.10", "cmake<4", "ninja", "rich>=13", "matplotlib>=3.7", "pyelftools>=0.29"]
    if subprocess.run([python, "-m", "pip", "install", "-q", *tools]).returncode != 0:
        print("what the recipe needs cannot be fetched")
        sys.exit(77)
    subprocess.run(["rm", "-rf", folder / "stage", folder / "prefix"], check=True)
    (folder / "stage").mkdir()
    subprocess.run(["tar", "-xzf", archive, "-C", folder / "stage", "--strip-components=1"], check=True)
    variables = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    line = [str(python), "-m", "pip", *PIP, f"--prefix={folder}/prefix", "."]
    subprocess.run(line, cwd=folder / "stage", env=variables, check=True)
    return folder / "prefix"


def run_job(folder: Path, prefix: Path) -> int:
    """Start the job of all installations with what lies in the prefix."""
    modules = next(prefix.glob("lib/python3*/site-packages"))
    variables = {**os.environ, "PYTHONPATH": str(modules)}
    return subprocess.run([ROOT / "tests/sites/job.sh", folder, prefix / "bin/lapwing"], env=variables).returncode


def main() -> int:
    """Check, build and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    said = Said()
    recipe = load_recipe(said)
    archive = Path(recipe.url.removeprefix("file://"))  # type: ignore[attr-defined]
    wrong = compare(said, archive)
    print("\n".join(wrong))
    return 1 if wrong else run_job(folder, install(folder, archive))


if __name__ == "__main__":
    sys.exit(main())
