# SPDX-License-Identifier: MIT
"""A benchmark's report that can be sent to others: one page without names of hosts, users and folders.

The page has the tables as text, the plot as SVG, what it ran on, and all figures as JSON. Names are taken out where
they stand as words, but not of the keys of the JSON, which mean the same everywhere; a path keeps its last part.
"""

import io
import json
import os
import platform
import re
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from html import escape
from ipaddress import ip_address
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
PART = r"(?:[\w.+@%~#=$^!&{}-]|\\ )"
BASE = r"(?:~(?:[A-Za-z_][\w.-]*)?|\.\.?|\$\w+|\$\{\w+\})"  # of a path: a home, this folder, a variable; or the root
PATH = re.compile(
    r"(?P<option>(?<![\w/.)-])-[A-Za-z]+(?=/[\w.])|(?<![\w/.)%]))"  # as in -I/usr/include
    rf"(?P<path>{BASE}?/+(?:{PART}+/+)+{PART}*|/{PART}{{2,}}|{BASE}/{PART}+)"
)
QUOTED = re.compile(rf"(?P<quote>['\"])(?P<paths>{BASE}?/[^'\"\n]* [^'\"\n]*)(?P=quote)")
URL = re.compile(r"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>[^\s'\"`<>,;]*)")
# Of Ethernet and InfiniBand: six, eight or twenty bytes, or four times two.
HARDWARE = re.compile(
    r"(?<![\w:])(?:(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){2}|(?::[0-9A-Fa-f]{2}){14})?"
    r"|(?:[0-9A-Fa-f]{4}:){3}[0-9A-Fa-f]{4})(?![\w:])"
)
WITH_ADDRESS = re.compile(r"[\w.:%]*[.:][\w.:%]*")
HIDDEN = "address"
HIDDEN_ALWAYS = ("launcher", "line")  # what the page says in another form
COMMON = ("root", "lapwing", "mpi")  # tell nothing, and stand in launchers' options and on every page
FIXED = ("schema", "experiment")  # keys of texts that mean the same everywhere
NAMED = ("hosts", "skipped", "failures")  # keys of tables whose own keys may be names
SETTINGS = re.compile(r"(OMPI_|PRTE_|PMIX_|MPICH_|MPIR_|I_MPI_|UCX_|FI_|LAPWING)\w*")
Names = Sequence[tuple[str, str]]  # what is hidden, and what stands there instead


def list_spaced_folders() -> Names:
    """Return the folders at hand whose names have spaces: in a text nobody could tell where these end."""
    known = list(map(Path, os.get_exec_path()))
    for find in (Path.cwd, Path.home, lambda: Path(tempfile.gettempdir())):
        with suppress(OSError, RuntimeError):  # there may be none any more
            known.append(find())
    every = {str(folder) for one in known for folder in (one, *one.parents) if folder.is_absolute()}
    return [(folder, "/folder") for folder in every if " " in folder]


def list_names(hosts: Sequence[str]) -> Names:
    """Return the names of hosts and user, and folders, with what takes their place; long ones first."""
    known = list(dict.fromkeys([*hosts, socket.gethostname()]))
    names = [(name, f"host{number}") for number, name in enumerate(known, 1)]
    names += [(name.split(".")[0], shown) for name, shown in names if "." in name]
    names += [(find_user(), "user")]
    # A number might be one of the figures.
    telling = [pair for pair in names if pair[0] not in COMMON and not pair[0].isdecimal()]
    return sorted([*telling, *list_spaced_folders()], key=lambda pair: -len(pair[0]))


def find_last_part(path: str) -> str:
    """Return what stays of a path."""
    return Path(path).name or "folder"


def hide_paths(text: str) -> str:
    """Leave the last part of each path: alone, in a list, after an option's letter, in quotes, or in a URL."""

    def hide_url(found: re.Match[str]) -> str:
        return find_last_part(found["rest"]) if found["scheme"] == "file" else HIDDEN

    def hide_quoted(found: re.Match[str]) -> str:
        return found["quote"] + ":".join(map(find_last_part, found["paths"].split(":"))) + found["quote"]

    text = QUOTED.sub(hide_quoted, URL.sub(hide_url, text))
    return PATH.sub(lambda found: found["option"] + find_last_part(found["path"]), text)


def is_address(text: str) -> bool:
    """Tell an address of the internet, in any of the ways to write it."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return text != "::"  # as in a text it is hardly one


def hide_address(word: str) -> str:
    """Take the first address out of a word: what stands before one ends in a colon, what follows begins with one."""
    colons = [found.start() for found in re.finditer(r"(?<!:):(?!:)", word)]
    ends = (len(word), len(word.rstrip(".:")), *reversed(colons))
    for begin in (0, *(colon + 1 for colon in colons)):
        for end in ends:
            if is_address(word[begin:end]):
                return f"{word[:begin]}{HIDDEN}{word[end:]}"
    return word


def hide_addresses(text: str) -> str:
    """Take addresses out, of hosts and of their devices."""
    return WITH_ADDRESS.sub(lambda found: hide_address(found[0]), HARDWARE.sub(HIDDEN, text))


def hide_places(text: str) -> str:
    """Take paths and addresses out of a text."""
    return hide_addresses(hide_paths(text))


def hide_names(text: str, names: Names) -> str:
    """Take paths, addresses and names out of a text."""
    for name, shown in names:
        if name.startswith("/"):
            text = text.replace(name, shown)
    text = hide_places(text)
    for name, shown in names:
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", shown, text)
    return text


def hide_all(value: Any, names: Names, key: str = "") -> Any:
    """Take names out of everything that JSON can hold. key: whose value it is.

    A key is fixed, as a host's name may be a word of many keys; except in the tables that are known to have names.
    """
    if isinstance(value, str):
        return value if key in FIXED else hide_names(value, names)
    if isinstance(value, Mapping):
        own_names = names if key in NAMED else ()
        return {hide_names(str(one), own_names): hide_all(value[one], names, str(one)) for one in value}
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
        system, text = [(name, hide_names(value, names)) for name, value in system], hide_names(text, names)
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
