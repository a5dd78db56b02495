# SPDX-License-Identifier: MIT
"""The files that users ask for: written whole or not at all, so that a failure leaves the old one as it was."""

import errno
import os
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lapwing.errors import LapwingError

REMEDY = "choose another place"
STANDARD_OUTPUT = Path("-")
USUAL_MODE, PRIVATE_MODE, PRIVATE_FOLDER_MODE = 0o666, 0o600, 0o700
OTHERS_WRITE = 0o022
LEAST_FREE_BYTES = 64 << 10  # what a few records take; with less a disk counts as full
DEVICES = ("/dev/", "/proc/")  # what stands there is no file that another may take the place of

# What matplotlib writes; a name without an ending gets the default.
PLOT_ENDING_DEFAULT = ".png"
PLOT_ENDINGS = ("", ".png", ".svg", ".svgz", ".pdf", ".eps", ".ps", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")


def find_folder(path: Path) -> Path:
    """Return the folder of a file that is to be made."""
    try:
        return Path(os.path.realpath(path)).parent
    except FileNotFoundError as error:  # of os.getcwd()
        raise LapwingError(f"{path} cannot be written (the current folder is gone)", REMEDY) from error


def can_write(path: Path) -> bool:
    """Tell whether a file can be written, or made."""
    try:
        if path.exists():
            return not path.is_dir() and os.access(path, os.W_OK)
        folder = find_folder(path)
        return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    except OSError:  # the way there cannot be entered, or the name is too long
        return False


def describe_full_disk(folder: Path) -> str:
    """Say that the disk of a folder is full; empty where it has room."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return ""
    is_full = disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES
    return f"the disk of {folder.parent} is full" if is_full else ""


def check_output(path: Path) -> None:
    """Find out before a long run whether its results can be written."""
    if path == STANDARD_OUTPUT:  # the commands print for people there, or their programs do
        raise LapwingError("- is not written: only `lapwing doctor --json -` prints what would be in a file", REMEDY)
    if not can_write(path):
        raise LapwingError(f"{path} cannot be written", REMEDY)


def find_written(name: str, path: Path) -> Path | None:
    """Return the file that a flag makes; None for devices, pipes and the like, which take more than one."""
    if name == "plot" and not path.suffix:
        path = path.with_name(f"{path.name}{PLOT_ENDING_DEFAULT}")
    return find_target(path)


def check_outputs(arguments: Namespace, *names: str) -> None:
    """Check those that are wanted, by the names of their flags; each needs a file of its own."""
    known: dict[Path, str] = {}
    for name in names:
        path = getattr(arguments, name)
        if path is None:
            continue
        check_output(path)
        flag, target = f"--{name.replace('_', '-')}", find_written(name, path)
        if target in known:
            raise LapwingError(f"{known[target]} and {flag} name one file", "choose another place for one of them")
        if target:
            known[target] = flag


def check_plot(path: Path | None) -> None:
    """Refuse a plot that no format is known for."""
    if path is not None and path.suffix.lower() not in PLOT_ENDINGS:
        raise LapwingError(f"{path} is no plot's name", "choose a name that ends in .png or .svg")


def is_same_file(one: Path, other: Path) -> bool:
    """Say whether two paths name one file."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def refuse_input(source: Path, outputs: tuple[Path | None, ...]) -> None:
    """Refuse to write over the file that is read."""
    for path in outputs:
        if path is not None and is_same_file(source, path):
            raise LapwingError(f"{path} is the file that is read", REMEDY)


def find_target(path: Path) -> Path | None:
    """Return the file that a name stands for if another may take its place; None for devices, pipes and the like."""
    if str(path).startswith(DEVICES) or (path.exists() and not path.is_file()):
        return None
    target = Path(os.path.realpath(path))
    return target if os.access(target.parent, os.W_OK) else None


def open_new(path: Path, mode: int) -> BinaryIO:
    """Make a file that was not there, links included; the umask takes from its mode."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")


@contextmanager
def open_beside(target: Path, mode: int) -> Iterator[BinaryIO]:
    """Open a file that takes the target's place, and its rights, at the end."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    part = target.with_name(f".lapwing-{os.urandom(6).hex()}.part")
    try:
        with open_new(part, mode) as stream:
            yield stream
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def open_spool(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is copied to the path at the end."""
    with tempfile.TemporaryFile() as spool:
        yield spool
        spool.seek(0)
        with path.open("wb") as output:
            shutil.copyfileobj(spool, output)


@contextmanager
def write_whole(path: Path, mode: int = USUAL_MODE) -> Iterator[BinaryIO]:
    """Open a file to write; whatever is raised leaves the path as it was. mode: of a file that was not there."""
    try:
        target = find_target(path)
        with open_beside(target, mode) if target else open_spool(path) as stream:
            yield stream
    except OSError as error:
        raise LapwingError(f"{path} was not written ({error.strerror or error})", REMEDY) from error


def describe_foreign(path: Path) -> str:
    """Say why a folder that is there is not the user's own; empty where it is. OSError: it cannot be looked at."""
    status = path.stat()
    is_foreign = status.st_uid != os.geteuid() or status.st_mode & OTHERS_WRITE
    return f"{path} is another user's folder, or others may write there" if is_foreign else ""


def make_private_folder(path: Path) -> None:
    """Make a folder of the user's own, with those above it; refuse one in which others could put files."""
    try:
        for folder in (*reversed(path.parents), path):
            folder.mkdir(mode=PRIVATE_FOLDER_MODE, exist_ok=True)
        foreign = describe_foreign(path)
    except OSError as error:
        raise LapwingError(f"{path} was not made ({error.strerror or error})", REMEDY) from error
    except UnicodeEncodeError as error:  # the locale has no such letter
        raise LapwingError(f"{path} was not made ({error})", REMEDY) from error
    if foreign:
        raise LapwingError(foreign, REMEDY)


def write_text(path: Path, text: str) -> None:
    """Write a text; names in it that are no text get a backslash."""
    with write_whole(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))
