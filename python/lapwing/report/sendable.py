# SPDX-License-Identifier: MIT
"""A benchmark's report that can be sent to others: one page without names of hosts, users and folders.

The page has the tables as text, the plot as SVG, what it ran on, and all figures as JSON. Names are taken out where
they stand as words; a path keeps its last part.
"""

import io
import json
import os
import platform
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from lapwing.configuration.settings import find_user
from lapwing.report.html import make_document
from lapwing.screen import Screen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_COLUMNS = 120
FIGURES_STYLE = "pre { font: 13px/1.3 monospace; overflow-x: auto; } td { white-space: normal; text-align: left; }"
PATH = re.compile(r"(?<![\w/.:-])/(?:[\w.+@%~-]+/)+[\w.+@%~-]*|(?<![\w/.:-])/[\w.+@%~-]{2,}")
ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){3,}[0-9a-fA-F:]+")
HIDDEN_ALWAYS = ("launcher", "line")  # what the page says in another form
COMMON_USERS = ("root",)  # tell nothing, and stand in launchers' options
SETTINGS = re.compile(r"(OMPI_|PRTE_|PMIX_|MPICH_|MPIR_|I_MPI_|UCX_|FI_|LAPWING)\w*")
Names = Sequence[tuple[str, str]]  # what is hidden, and what stands there instead


def list_names(hosts: Sequence[str]) -> Names:
    """Return the names of hosts and user, with what takes their place; long ones first."""
    known = list(dict.fromkeys([*hosts, socket.gethostname()]))
    names = [(name, f"host{number}") for number, name in enumerate(known, 1)]
    names += [(name.split(".")[0], shown) for name, shown in names if "." in name]
    user = find_user()
    is_telling = user not in COMMON_USERS and not user.isdecimal()  # a number might be one of the figures
    names += [(user, "user")] if is_telling else []
    return sorted(names, key=lambda pair: -len(pair[0]))


def hide_names(text: str, names: Names) -> str:
    """Take paths, addresses and names out of a text."""
    text = ADDRESS.sub("address", PATH.sub(lambda found: Path(found[0]).name or "folder", text))
    for name, shown in names:
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", shown, text)
    return text


def hide_all(value: Any, names: Names) -> Any:
    """Take names out of everything that JSON can hold."""
    if isinstance(value, str):
        return hide_names(value, names)
    if isinstance(value, Mapping):
        return {hide_names(str(key), names): hide_all(one, names) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [hide_all(one, names) for one in value]
    return value


def strip_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what only names things: the launcher's own path and line, hosts, and what the runs were started by."""
    kept = {key: value for key, value in document.items() if key not in (*HIDDEN_ALWAYS, "hosts", "lapwing_runs")}
    kept["host_count"] = len(document.get("hosts", ())) or None
    kept["lapwing_runs"] = [
        {key: value for key, value in run.items() if key != "job"} for run in document.get("lapwing_runs", ())
    ]
    return kept


def find_processor() -> str:
    """Return what the processor calls itself."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.machine()


def describe_system(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say what was measured, where; a line each."""
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if SETTINGS.fullmatch(name)]
    libraries = sorted({name for run in document.get("lapwing_runs", ()) for name in run.get("mpi_libraries", ())})
    rows = [
        ("Lapwing", document["lapwing"]),
        ("experiment", document["experiment"]),
        ("MPI", ", ".join([document.get("mpi", ""), *libraries]).strip(", ")),
        ("launcher", " ".join(document.get("line_without_hosts", ()))),
        ("place", document.get("place", "this machine")),
        ("ranks", str(document.get("ranks", ""))),
        ("rate of 1 MiB messages", document.get("measured_rate") or ""),
        ("first host", f"{find_processor()}, {os.cpu_count()} cores, Linux {document['kernel']}"),
        ("settings", " ".join(settings)),
    ]
    return [(name, text) for name, text in rows if text]


def print_text(show: Callable[[Console], None]) -> str:
    """Return what a command prints."""
    stream = io.StringIO()
    screen = Screen(file=stream)
    screen.width = WIDTH_COLUMNS
    show(screen)
    return stream.getvalue()


def draw_svg(figure: "Figure") -> str:
    """Return a plot as SVG that stands inside a page."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()[stream.getvalue().index("<svg") :]


def hide_drawn(figure: "Figure", names: Names) -> None:
    """Take names out of what a plot shows."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_text(hide_names(text.get_text(), names))


def hide_in_svg(svg: str, names: Names) -> str:
    """Take names out of comments, which repeat what is drawn, and of what stands between tags; paths are lines there.

    Labels of ticks are made anew when a plot is drawn.
    """
    return re.sub(r"<!--.*?-->|(?<=>)[^<>]+(?=<)", lambda found: hide_names(found[0], names), svg, flags=re.DOTALL)


def make_sendable(
    document: Mapping[str, Any],
    show: Callable[[Console], None],
    figure: "Figure | None",
    names: Names,
    with_names: bool = False,
) -> str:
    """Make the page; with names it has everything as it is."""
    system, text = describe_system(document), print_text(show)
    data: Any = document
    if figure and not with_names:
        hide_drawn(figure, names)
    svg = draw_svg(figure) if figure else ""
    if not with_names:
        svg = hide_in_svg(svg, names)
        system, text = hide_all(system, names), hide_names(text, names)
        data = hide_all(strip_document(document), names)
    rows = "\n".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in system)
    packed = json.dumps(data, indent=1).replace("</", "<\\/")
    title = escape(f"lapwing bench {document['experiment']}")
    body = (
        f"<h1>{title}</h1>\n<table>{rows}</table>\n"
        f"<pre>{escape(text)}</pre>\n{svg}\n"
        f'<h2>All figures</h2>\n<details><summary>JSON</summary><pre id="figures">{escape(packed)}</pre></details>'
    )
    return make_document(title, body, FIGURES_STYLE)
