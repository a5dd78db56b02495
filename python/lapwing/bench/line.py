# SPDX-License-Identifier: MIT
"""The hosts of a launcher's command line that the user gave: what is there, and how programs run there."""

import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.mpi import Mpi, build_program
from lapwing.bench.place import Place
from lapwing.errors import LapwingError
from lapwing.files import find_preload
from lapwing.launch.launchers import Direct, Hydra, Launcher, ask_version, find_launcher

LOOK_LIMIT_S = 120.0
LINES_MOST = 1 << 20  # more than a launcher starts ranks
# What each rank says of its host: name, the cores that the rank may use, and the first of the files that it lacks.
LOOK = (
    "cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status); missing=; "
    'for file; do test -r "$file" || missing=$file; done; echo "lapwing-host $(uname -n) $cores $missing"'
)
PILOT_BYTES, PILOT_REPETITIONS = 1 << 20, 5


@dataclass(frozen=True)
class RankView:
    """What one rank said. missing: a file that its host lacks."""

    host: str
    cores: frozenset[int]
    missing: str = ""


@dataclass
class LinePlace(Place):
    """Runs programs by the user's launcher and its arguments."""

    arguments: Sequence[str] = ()
    views: Sequence[RankView] = ()

    @property
    def hosts(self) -> list[str]:
        """Return the names of the hosts."""
        return list(dict.fromkeys(view.host for view in self.views))

    @property
    def ranks_per_core(self) -> int:
        """Return how many ranks compute on the busiest host's busiest core."""
        return max((share_cores([view for view in self.views if view.host == host]) for host in self.hosts), default=1)

    def command(self, contender: Contender, program: Sequence[str]) -> list[str]:
        """Return the user's line with the program at its end."""
        launcher = self.mpi.launcher
        line = [launcher.path, *launcher.add_environment([*self.arguments, *program], contender.variables)]
        return [*self._wrap(contender), *line]

    def run_alone(self, words: Sequence[str]) -> list[str]:
        """Run a program that needs no MPI on every rank; return all that they print."""
        return self.execute([self.mpi.launcher.path, *self.arguments, *words], LINES_MOST)


def share_cores(views: Sequence[RankView]) -> int:
    """Return how many of a host's ranks share a core, when they spread over the cores that they may use."""
    return -(-len(views) // max(1, len(frozenset().union(*(view.cores for view in views)))))


def parse_cores(text: str) -> frozenset[int]:
    """Read the kernel's list of cores: 0-3,8."""
    cores: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cores |= set(range(int(first), int(last or first) + 1))
    return frozenset(cores)


def parse_view(line: str) -> RankView:
    """Read what a rank said."""
    mark, _, rest = line.partition(" ")
    host, _, rest = rest.partition(" ")
    cores, _, missing = rest.partition(" ")
    try:
        if mark != "lapwing-host":
            raise ValueError(mark)
        return RankView(host, parse_cores(cores), missing)
    except ValueError:
        remedy = "give the launcher and its options without a program, and nothing that changes what programs print"
        raise LapwingError(f"the launcher's line printed {line!r}", remedy) from None


def look_around(place: LinePlace, files: Sequence[Path]) -> list[RankView]:
    """Ask every rank where it is, and refuse to go on where one of the files is missing."""
    views = [parse_view(line) for line in place.run_alone(["sh", "-c", LOOK, "sh", *map(str, files)])]
    if not views:
        raise LapwingError("the launcher's line starts no rank", "run it by hand with `hostname` at its end")
    for view in views:
        if view.missing:
            is_program = view.missing == str(files[0])
            remedy = "start in a folder that all hosts share" if is_program else "install Lapwing there, at that path"
            raise LapwingError(f"the host {view.host} has no {view.missing}", remedy)
    return views


def measure_rate(place: Place, program: Path) -> str:
    """Return how fast large messages travel between the ranks, as a link rate: repetitions are planned by it."""
    row = json.loads(place.run_as(Contender(STOCK), [str(program), str(PILOT_BYTES), str(PILOT_REPETITIONS)], 1)[0])
    bits_per_us = 2 * 8 * PILOT_BYTES / statistics.median(row["round_trip_us"])
    return f"{max(bits_per_us, 0.001):.3f}mbit"


def find_compiler(launcher: str) -> str:
    """Return the compiler that stands beside a launcher: mpirun.mpich has mpicc.mpich."""
    path = Path(launcher)
    base = next((name for name in ("mpirun.", "mpiexec.") if path.name.startswith(name)), None)
    suffix = path.name[len(base) - 1 :] if base else ""
    suffix = ".mpich" if suffix == ".hydra" else suffix
    for name in (f"mpicc{suffix}", "mpigcc", "mpicc"):
        found = shutil.which(name, path=str(path.parent)) or shutil.which(name)
        if found:
            return found
    raise LapwingError(f"there is no mpicc beside {launcher}", "name the compiler with --compiler")


def name_mpi(launcher: Launcher) -> str:
    """Return the family that a launcher belongs to."""
    if not isinstance(launcher, Hydra):
        return "openmpi"
    return "impi" if "Intel" in ask_version(launcher.path) else "mpich"


def find_line_mpi(line: Sequence[str], compiler: str | None, example: str = "probe") -> Mpi:
    """Return the MPI of a launcher's command line, which must not name a program."""
    launcher = find_launcher(line[0])
    if isinstance(launcher, Direct):
        raise LapwingError(
            f"{line[0]} is no MPI launcher", f"give for example: lapwing {example} mpirun -n 2 --host a,b"
        )
    if launcher.find_program(line[1:]) is not None:
        raise LapwingError("the line names a program", "give the launcher and its options only")
    return Mpi(name_mpi(launcher), compiler or find_compiler(launcher.path), launcher)


def hide_hosts(launcher: Launcher, arguments: Sequence[str]) -> list[str]:
    """Return the arguments without the values of options that name hosts or folders."""
    shown: list[str] = []
    pending = list(arguments)
    while pending:
        word = pending.pop(0)
        option, _, value = word.partition("=")
        is_naming = "-" + option.lstrip("-") in launcher.host_options
        shown.append(f"{option}=..." if is_naming and value else word)
        if is_naming and not value:
            taken = min(launcher.count_values([word, *pending]) or 0, len(pending))
            shown += ["..."] * taken
            pending = pending[taken:]
    return shown


@contextmanager
def open_folder(name: str) -> Iterator[Path]:
    """Make a folder for programs in this one, which all hosts should see, and remove it at the end."""
    try:
        folder = tempfile.TemporaryDirectory(prefix=f".lapwing-{name}-", dir=Path.cwd())
    except OSError as error:
        raise LapwingError(
            f"this folder cannot be written ({error.strerror})", "start in a folder that all hosts share"
        ) from error
    with folder as path:
        yield Path(path)


@contextmanager
def open_line(mpi: Mpi, arguments: Sequence[str], options: Sequence[str]) -> Iterator[LinePlace]:
    """Use the hosts of the user's line, all of them looked at before anything is measured."""
    with open_folder("bench") as folder:
        place = LinePlace(mpi, None, folder, options, arguments=arguments)
        program = build_program(mpi, "pingpong.c", place.folder)
        place.limit_s = LOOK_LIMIT_S
        place.views = look_around(place, [program, find_preload()])
        place.rank_count = len(place.views)
        if place.rank_count < 2:
            raise LapwingError("one rank has no messages", "let the launcher start at least two: -n 2")
        if place.rank_count % 2 == 0:
            place.rate = measure_rate(place, program)
        place.limit_s = None
        yield place
