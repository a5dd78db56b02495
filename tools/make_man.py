#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Manual pages of `lapwing` and its subcommands, made from what `--help` is made from.

tools/make_man.py FOLDER      writes lapwing.1, lapwing-run.1, ... (the wheel's build does)
tools/make_man.py --markdown  prints all of them as one document (the site's page "Commands")
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from lapwing import __version__
from lapwing.cli import make_parser
from lapwing.options import GROUPS, load_options

# The options of the injected part are the same for every command that has them: one page lists them.
HOME_OF_OPTIONS = "lapwing run"


@dataclass
class Entry:
    """A flag, an argument, a subcommand or a variable, and what it means."""

    name: str
    text: str


@dataclass
class Page:
    """One command. `paragraphs` that are indented are examples."""

    name: str
    synopsis: str
    paragraphs: list[str]
    sections: dict[str, list[Entry]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The name of the page: lapwing-bench-overlap."""
        return self.name.replace(" ", "-")


def describe_action(action: argparse.Action) -> Entry:
    """A flag with its value, as `--help` shows it."""
    value = action.metavar or ("|".join(str(choice) for choice in action.choices) if action.choices else "")
    shown = str(value) if action.nargs != 0 else ""
    shown = f"[{shown}]" if action.nargs == "?" else shown
    names = ", ".join(f"{flag} {shown}".strip() for flag in action.option_strings)
    return Entry(names or shown, (action.help or "").replace("%%", "%"))


def find_subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of a command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def summarize(parser: argparse.ArgumentParser) -> str:
    """The first line of a command's help, as manual pages have it: without a full stop."""
    return (parser.description or "").strip().splitlines()[0].rstrip(".")


def make_synopsis(parser: argparse.ArgumentParser) -> str:
    """The line that says how to call a command."""
    if parser.usage:
        return parser.usage
    words = [parser.prog, "[options]"]
    for action in parser._actions:
        if not action.option_strings:
            words.append("COMMAND ..." if isinstance(action, argparse._SubParsersAction) else str(action.metavar))
            if action.nargs == "+":
                words[-1] += " ..."
    return " ".join(words)


def list_sections(parser: argparse.ArgumentParser, page: Page) -> None:
    """The flags and arguments by group; those of the injected part on one page only."""
    subparsers = find_subparsers(parser)
    if subparsers:
        page.sections["Commands"] = [Entry(name, summarize(sub)) for name, sub in subparsers.items()]
    for group in parser._action_groups:
        if group.title == GROUPS["basic"] and page.name != HOME_OF_OPTIONS:
            title = GROUPS["basic"].capitalize()
            page.notes["More options"] = f'The options of `{HOME_OF_OPTIONS}` under "{title}" hold here, too.'
        if group.title in (GROUPS["basic"], GROUPS["advanced"]) and page.name != HOME_OF_OPTIONS:
            continue
        actions = [one for one in group._group_actions if not isinstance(one, argparse._SubParsersAction)]
        entries = [describe_action(one) for one in actions if one.help != argparse.SUPPRESS]
        if entries:
            page.sections[(group.title or "options").capitalize()] = entries


def list_variables(parser: argparse.ArgumentParser) -> list[Entry]:
    """The environment variables that stand for this command's options."""
    flags = {flag for action in parser._actions for flag in action.option_strings}
    entries = [Entry("LAPWING=off", "keep Lapwing out of a process that has it preloaded, whatever else is set")]
    return entries + [Entry(option.variable, f"as {option.flag}") for option in load_options() if option.flag in flags]


def make_page(parser: argparse.ArgumentParser) -> Page:
    """The page of one command."""
    paragraphs = re.split(r"\n\s*\n", (parser.description or "").strip("\n"))
    page = Page(parser.prog, make_synopsis(parser), paragraphs)
    list_sections(parser, page)
    if page.name in (HOME_OF_OPTIONS, "lapwing profile"):
        page.sections["Environment"] = list_variables(parser)
    return page


def list_pages(parser: argparse.ArgumentParser) -> Iterator[Page]:
    """The command's own page, then those of its subcommands."""
    yield make_page(parser)
    for subparser in find_subparsers(parser).values():
        yield from list_pages(subparser)


def escape_roff(text: str) -> str:
    """Keep roff from reading anything into the text."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in text.splitlines())


def format_paragraph(text: str) -> str:
    """One paragraph for man; an indented one keeps its lines."""
    if text.startswith("    "):
        lines = "\n".join(line[4:] for line in text.splitlines())
        return f".PP\n.RS 4\n.nf\n{escape_roff(lines)}\n.fi\n.RE"
    return f".PP\n{escape_roff(text)}"


def format_entry(entry: Entry) -> str:
    """One entry of a list for man."""
    return f".TP\n.B {escape_roff(entry.name)}\n{escape_roff(entry.text)}"


def make_roff(page: Page, names: Iterable[str]) -> str:
    """The page as man reads it."""
    summary = page.paragraphs[0].strip().rstrip(".")
    lines = [
        f'.TH {page.slug.upper()} 1 "" "lapwing {__version__}" "Lapwing"',
        ".SH NAME",
        f"{escape_roff(page.slug)} \\- {escape_roff(summary)}",
        ".SH SYNOPSIS",
        f".B {escape_roff(page.synopsis)}",
        ".SH DESCRIPTION",
        *(format_paragraph(paragraph) for paragraph in page.paragraphs),
    ]
    for title, entries in page.sections.items():
        lines += [f".SH {title.upper()}", *(format_entry(entry) for entry in entries)]
    for title, text in page.notes.items():
        lines += [f".SH {title.upper()}", escape_roff(text.replace("`", ""))]
    others = [f".BR {escape_roff(name)} (1)" for name in names if name != page.slug]
    return "\n".join([*lines, ".SH SEE ALSO", ",\n".join(others).replace(",\n", " ,\n")]) + "\n"


def format_sections(page: Page) -> Iterator[str]:
    """The lists of a page as Markdown."""
    for title, entries in page.sections.items():
        yield from (f"**{title}**", "")
        yield from (f"- `{entry.name}`: {' '.join(entry.text.split())}" for entry in entries)
        yield ""
    yield from (f"{text}\n" for text in page.notes.values())


def make_markdown() -> str:
    """All pages as one document."""
    source = "The same text is in the manual pages (`man lapwing-run`) and in `lapwing COMMAND --help`."
    lines = ["# Commands", "", source]
    for page in list_pages(make_parser()):
        body = "\n\n".join(page.paragraphs)
        lines += ["", f"## {page.name}", "", f"    {page.synopsis}", "", body, "", *format_sections(page)]
    return "\n".join(lines) + "\n"


def write_pages(folder: Path) -> None:
    """Write one file per command."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = list(list_pages(make_parser()))
    for page in pages:
        (folder / f"{page.slug}.1").write_text(make_roff(page, [other.slug for other in pages]), "utf-8")


def main() -> None:
    """Write the pages, or print the document."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", nargs="?", type=Path)
    arguments.add_argument("--markdown", action="store_true")
    chosen = arguments.parse_args()
    if chosen.markdown or not chosen.folder:
        print(make_markdown(), end="")
    else:
        write_pages(chosen.folder)


if __name__ == "__main__":
    main()
