# SPDX-License-Identifier: MIT
"""Check that no file reaches a folder that its own must not know, and that no files include each other in a circle.

C (src/): every folder of the tree has a row in C_LAYERS. A file and its header are one. Python (python/lapwing/):
errors, files, options, configuration, outfiles, output and screen < profile, launch, lab < model < report, bench
< probe, advise, doctor < commands < cli.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

MIDDLE = {"policy", "protect", "engine", "record"}
BELOW_OP = {"base", *MIDDLE}
ABOVE_OP = {"libc", "bind", "job", "profile"}
BELOW_MPI = {*BELOW_OP, "op", *ABOVE_OP}
C_LAYERS: Mapping[str, set[str]] = {
    "base": set(),
    **{layer: {"base"} for layer in MIDDLE},
    "op": BELOW_OP,
    **{layer: {*BELOW_OP, "op"} for layer in ABOVE_OP},
    "mpi/abi": {"base"},
    "mpi/abi/*": {"base", "mpi/abi"},  # one folder per ABI
    "mpi": {*BELOW_MPI, "mpi/abi"},
    "mpi/request": {*BELOW_MPI, "mpi/abi", "mpi"},
    "mpi/message": {*BELOW_MPI, "mpi/abi", "mpi", "mpi/request"},
    "mpi/collective": {*BELOW_MPI, "mpi/abi", "mpi", "mpi/message"},
    "mpi/early": {*BELOW_MPI, "mpi/abi", "mpi", "mpi/request", "mpi/message"},
    "mpi/process": {*BELOW_MPI, "mpi/abi", "mpi", "mpi/request", "mpi/message", "mpi/collective", "mpi/early"},
    "lib": BELOW_MPI,
}

GROUND = {"errors", "files", "options", "configuration", "outfiles", "output", "screen"}
PYTHON_LAYERS: Mapping[str, set[str]] = {
    "errors": set(),
    "files": {"errors"},
    "options": {"errors", "files"},
    "outfiles": {"errors"},
    "configuration": {"errors", "files", "options"},
    "output": set(),
    "screen": set(),
    "profile": GROUND,
    "launch": GROUND,
    "lab": GROUND | {"launch"},
    "model": GROUND | {"profile"},
    "report": GROUND | {"profile", "model"},
    "bench": GROUND | {"profile", "launch", "lab", "model"},
    "probe": GROUND | {"launch", "lab", "model", "report", "bench"},
    "advise": GROUND | {"profile", "launch", "model", "report", "bench"},
    "doctor": GROUND | {"profile", "launch", "model"},
    "commands": GROUND | {"profile", "launch", "lab", "report", "model", "bench", "probe", "advise", "doctor"},
    "cli": GROUND | {"commands", "launch"},
    "__main__": {"cli"},
}


def c_unit(path: Path, source: Path) -> str:
    """A C file and its header: the path below src/ without suffix."""
    return path.relative_to(source).with_suffix("").as_posix()


def c_graph(source: Path) -> dict[str, set[str]]:
    """What each C file, with its header, includes; what is made while building is not looked at."""
    graph: dict[str, set[str]] = {}
    for path in sorted(source.rglob("*.[ch]")):
        uses = graph.setdefault(c_unit(path, source), set())
        for name in INCLUDE.findall(path.read_text()):
            if name == "abi.h":  # one per ABI, found by the compiler's include path
                name = "mpi/abi/abi.h"
            found = path.parent / name if "/" not in name else source / name
            uses.add(
                c_unit(found.resolve(), source.resolve()) if found.exists() else Path(name).with_suffix("").as_posix()
            )
        uses.discard(c_unit(path, source))
    return graph


def find_arrows(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """Includes of folders that a file's own must not know, and folders without a row."""
    for unit, uses in graph.items():
        folder = str(Path(unit).parent)
        row = folder if folder in C_LAYERS else f"{Path(folder).parent}/*"
        if row not in C_LAYERS:
            yield f"src/{unit}: unknown layer {folder}"
            continue
        allowed = {folder, *C_LAYERS[row]}
        yield from (
            f"src/{unit}: {folder} must not use {used}" for used in uses if str(Path(used).parent) not in allowed
        )


def reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """All that a file includes, directly or not."""
    seen: set[str] = set()
    left = [start]
    while left:
        new = graph.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def find_circles(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """Files that reach themselves."""
    reach = {unit: reachable(graph, unit) for unit in graph}
    for unit in graph:
        if unit in reach[unit]:
            back = sorted(used for used in graph[unit] if unit in reach.get(used, set()))
            yield f"src/{unit}: in a circle by {', '.join(back)}"


def python_uses(path: Path) -> Iterator[tuple[str, str]]:
    """Parts of the package that a Python file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" if node.module == "lapwing" else node.module for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "lapwing" and len(parts) > 1 and not parts[1].startswith("__"):
                yield parts[1], name


def layer_of(path: Path, folder: Path) -> str:
    """The layer that a file belongs to: its first folder, or its own name at the top."""
    return path.relative_to(folder).parts[0].removesuffix(".py")


def find_python_violations(package: Path) -> Iterator[str]:
    """Imports that the rule forbids, and parts that it does not know."""
    for path in package.rglob("*.py"):
        layer = layer_of(path, package)
        if layer == "__init__":
            continue
        if layer not in PYTHON_LAYERS:
            yield f"{path}: unknown layer {layer}"
            continue
        allowed = {layer, *PYTHON_LAYERS[layer]}
        yield from (f"{path}: {layer} must not use {name}" for used, name in python_uses(path) if used not in allowed)


def find_violations(root: Path) -> list[str]:
    """All uses that the rules forbid, circles, and layers that the rules do not know."""
    graph = c_graph(root / "src")
    python = find_python_violations(root / "python/lapwing")
    return sorted([*find_arrows(graph), *find_circles(graph), *python])


def main() -> int:
    """Print what is wrong; 1 when something is."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    violations = find_violations(root)
    print("\n".join(violations) or "layers: ok")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
