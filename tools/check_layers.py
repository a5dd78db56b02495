# SPDX-License-Identifier: MIT
"""Check that no layer reaches a layer that it must not know.

C (src/): base < {policy, protect, engine, record} < intercept < lib; the four
in the middle never include one another. Python (python/lapwing/): errors,
files, options, outfiles, output and screen < profile, launch, lab < model < report, bench < probe, advise < commands
< cli.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

MIDDLE = {"policy", "protect", "engine", "record"}
C_LAYERS: Mapping[str, set[str]] = {
    "base": set(),
    **{layer: {"base"} for layer in MIDDLE},
    "intercept": {"base", *MIDDLE},
    "lib": {"base", *MIDDLE, "intercept"},
}

GROUND = {"errors", "files", "options", "outfiles", "output", "screen"}
PYTHON_LAYERS: Mapping[str, set[str]] = {
    "errors": set(),
    "files": {"errors"},
    "options": {"errors", "files"},
    "outfiles": {"errors"},
    "output": set(),
    "screen": set(),
    "profile": GROUND,
    "launch": GROUND,
    "lab": GROUND | {"launch"},
    "model": GROUND | {"profile"},
    "report": GROUND | {"profile", "model"},
    "bench": GROUND | {"profile", "launch", "lab", "model"},
    "probe": GROUND | {"launch", "lab", "report", "bench"},
    "advise": GROUND | {"profile", "launch", "model", "report", "bench"},
    "commands": GROUND | {"profile", "launch", "lab", "report", "model", "bench", "probe", "advise"},
    "cli": GROUND | {"commands", "launch"},
    "__main__": {"cli"},
}


def c_uses(path: Path, source: Path) -> Iterator[tuple[str, str]]:
    """Layers that a C file includes; a name without a folder is in the file's own."""
    for name in INCLUDE.findall(path.read_text()):
        if "/" in name and not (path.parent / name).exists():
            yield name.split("/")[0], name
        elif "/" in name:
            yield (path.parent / name).resolve().relative_to(source.resolve()).parts[0], name


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


def find_violations(root: Path) -> list[str]:
    """All uses that the rule forbids, and layers that it does not know."""
    source, package = root / "src", root / "python/lapwing"
    files = [(path, layer_of(path, source), C_LAYERS, list(c_uses(path, source))) for path in source.rglob("*.[ch]")]
    for path in package.rglob("*.py"):
        layer = layer_of(path, package)
        if layer != "__init__":
            files.append((path, layer, PYTHON_LAYERS, list(python_uses(path))))
    violations = []
    for path, layer, rule, uses in files:
        if layer not in rule:
            violations.append(f"{path}: unknown layer {layer}")
            continue
        allowed = {layer, *rule[layer]}
        violations += [f"{path}: {layer} must not use {name}" for used, name in uses if used not in allowed]
    return sorted(violations)


def main() -> int:
    """Print what is wrong; 1 when something is."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    violations = find_violations(root)
    print("\n".join(violations) or "layers: ok")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
