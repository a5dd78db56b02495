# SPDX-License-Identifier: MIT
"""The MPI launchers: how each is recognised and how variables reach its ranks.

A launcher is a small class with a row of facts. Adding one means adding a class to LAUNCHERS.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lapwing.errors import LapwingError
from lapwing.files import is_lapwing, split_preload

LAUNCHER_NAME = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun)([._-].*)?")
OTHER_LAUNCHERS = {
    "jsrun",
    "aprun",
    "poe",
    "ibrun",
    "flux",
    "prun",
    "mpirun_rsh",
    "mpiexec.gforker",
    "yhrun",
    "ccc_mprun",
}
SUPPORTED = "mpirun or mpiexec of Open MPI, MPICH, Intel MPI or MVAPICH, prterun, or srun"


def join_preload(first: str, rest: str | None) -> str:
    """Put Lapwing's library before those that are to be preloaded anyway; of them no other copy of it is left."""
    own = split_preload(first)
    others = [path for path in split_preload(rest or "") if not is_lapwing(path) and path not in own]
    return ":".join([first, *others])


def name_options(names: str, value_count: int) -> dict[str, int]:
    """Say how many values each of these options takes."""
    return dict.fromkeys(names.split(), value_count)


def count_values(argument: str, values: Mapping[str, int]) -> int | None:
    """Return how many arguments follow a launcher's option; None when it is not known."""
    if "=" in argument and argument.startswith("--"):
        return 0
    return values.get("-" + argument.lstrip("-"))


class Launcher:
    """What all launchers share."""

    name = ""
    version_pattern = r"(?!)"
    separator = ":"
    host_options: frozenset[str] = frozenset()
    option_values: Mapping[str, int] = {}

    def __init__(self, path: str) -> None:
        self.path = path

    def add_environment(self, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Return the arguments with what brings the variables to every rank."""
        raise NotImplementedError

    def launcher_environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return what the launcher's own environment must have; never LD_PRELOAD."""
        return {}

    def find_programs(self, arguments: Sequence[str]) -> list[str]:
        """Return the programs that are started, as far as they can be told for certain."""
        programs: list[str] = []
        for segment in split_segments(arguments, self.separator):
            position = self.find_program(segment)
            programs += [segment[position]] if position is not None else []
        return programs

    def find_program(self, segment: Sequence[str]) -> int | None:
        """Return where the program's name stands; None when an unknown option or a host list stands before it."""
        position = 0
        while position < len(segment) and segment[position].startswith("-"):
            follow = count_values(segment[position], self.option_values)
            name = "-" + segment[position].lstrip("-").split("=")[0]
            if follow is None or name in self.host_options:
                return None
            position += 1 + follow
        return position if position < len(segment) else None


def split_segments(arguments: Sequence[str], separator: str) -> list[list[str]]:
    """Split an MPMD command line at its separators."""
    segments: list[list[str]] = [[]]
    for argument in arguments:
        if argument == separator:
            segments.append([])
        else:
            segments[-1].append(argument)
    return segments


def join_segments(segments: Sequence[Sequence[str]], separator: str) -> list[str]:
    """Undo split_segments."""
    joined: list[str] = list(segments[0])
    for segment in segments[1:]:
        joined += [separator, *segment]
    return joined


ENV_LIST = "mca_base_env_list"


def read_parameter_file(path: Path, name: str) -> str | None:
    """Return what a file of MCA parameters says about one of them: lines of name = value."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return None
    found = re.findall(rf"^\s*{name}\s*=\s*(.*?)\s*$", text, re.MULTILINE)
    return found[-1].strip("\"'") if found else None


def merge_env_list(listed: str, variables: Mapping[str, str], delimiter: str) -> str:
    """Add variables to a list of them; a library that it preloads comes after ours."""
    merged = dict(variables)
    rest: list[str] = []
    for entry in filter(None, listed.split(delimiter)):
        name, _, value = entry.partition("=")
        if name == "LD_PRELOAD" and name in merged:
            merged[name] = join_preload(merged[name], value)
        else:
            rest.append(entry)
    return delimiter.join([*rest, *(f"{name}={value}" for name, value in merged.items())])


class OpenMpi(Launcher):
    """Open MPI 4's mpirun, mpiexec and orterun: -x NAME=VALUE, once per program.

    Beside the MCA parameter mca_base_env_list it refuses -x: then the parameter gets the variables.
    """

    has_env_list = True

    name = "openmpi"
    version_pattern = r"\((Open ?MPI|OpenRTE)\) [1-4]\."
    host_options = frozenset(["-H", "-host", "-hostfile", "-machinefile", "-default-hostfile", "-wdir", "-wd"])
    option_values = (
        name_options(
            "-n -np -c -N -npernode -npersocket -x -bind-to -map-by -rank-by -prefix -timeout -stdin -output-filename "
            "-output -display -cpus-per-proc -cpus-per-rank -tune -rankfile -rf "
            "-H -host -hostfile -machinefile -default-hostfile -wdir -wd",
            1,
        )
        | name_options("-mca -gmca -prtemca -pmixmca", 2)
        | name_options(
            "-oversubscribe -nooversubscribe -allow-run-as-root -q -quiet -v -verbose -bynode -byslot -bind-to-core "
            "-bind-to-none -report-bindings -tag-output -timestamp-output -display-map -display-allocation -nolocal "
            "-pernode -use-hwthread-cpus",
            0,
        )
    )

    def add_environment(self, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Set the variables for each program of the line."""
        listed = self._find_parameter(arguments, ENV_LIST) if self.has_env_list else None
        if listed and variables and "-x" not in arguments:
            delimiter = self._find_parameter(arguments, f"{ENV_LIST}_delimiter") or ";"
            return self._replace_list(arguments, merge_env_list(listed, variables, delimiter))
        segments = split_segments(arguments, self.separator)
        return join_segments([self._prepend(segment, variables) for segment in segments], self.separator)

    def _find_parameter(self, arguments: Sequence[str], name: str) -> str | None:
        """Return an MCA parameter as the launcher will see it: of the line, the environment, or a file."""
        for position in range(len(arguments) - 2):
            if arguments[position].lstrip("-") in ("mca", "gmca") and arguments[position + 1] == name:
                return arguments[position + 2]
        if f"OMPI_MCA_{name}" in os.environ:
            return os.environ[f"OMPI_MCA_{name}"]
        home = Path(os.environ.get("HOME", "/"))
        system = "openmpi-mca-params.conf"
        files = (
            home / ".openmpi/mca-params.conf",
            Path(self.path).resolve().parent.parent / "etc" / system,
            Path("/etc/openmpi") / system,
        )
        return next(filter(None, (read_parameter_file(path, name) for path in files)), None)

    def _replace_list(self, arguments: Sequence[str], merged: str) -> list[str]:
        """Write the list of variables, in place of those in the line or before it."""
        changed = list(arguments)
        places = [position + 2 for position in range(len(changed) - 2) if changed[position + 1] == ENV_LIST]
        for place in places:
            changed[place] = merged
        return changed if places else ["--mca", ENV_LIST, merged, *changed]

    def _prepend(self, segment: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Write -x before a program's arguments, and merge an LD_PRELOAD that the user set there."""
        merged = dict(variables)
        rest: list[str] = []
        pending = list(segment)
        while pending:
            found = re.fullmatch(r"LD_PRELOAD(=(.*))?", pending[1]) if pending[0] == "-x" and len(pending) > 1 else None
            if found and "LD_PRELOAD" in variables:
                merged["LD_PRELOAD"] = join_preload(variables["LD_PRELOAD"], found[2])
                pending = pending[2:]
            else:
                rest.append(pending.pop(0))
        flags = [word for name, value in merged.items() for word in ("-x", f"{name}={value}")]
        return flags + rest


class Prrte(OpenMpi):
    """PRRTE's prterun and Open MPI 5's mpirun: the same syntax."""

    name = "prrte"
    has_env_list = False  # it takes both
    version_pattern = r"\(Open MPI\) ([5-9]|\d\d)\.|PRTE|PRRTE|prterun"


class Hydra(Launcher):
    """MPICH's, Intel MPI's and MVAPICH's mpiexec and mpirun: -genv NAME VALUE, once per line."""

    name = "hydra"
    version_pattern = r"HYDRA|Hydra|Intel\(R\) MPI|MPICH|MVAPICH"
    host_options = frozenset(["-hosts", "-host", "-f", "-hostfile", "-machinefile", "-machine", "-wdir", "-configfile"])
    option_values = (
        name_options(
            "-n -np -ppn -perhost -genvlist -envlist -iface -launcher -bootstrap -rmk -launcher-exec -bootstrap-exec "
            "-bind-to -map-by -outfile-pattern -errfile-pattern -usize -pmi-port -grr -rr -s -membind -topolib "
            "-hosts -host -f -hostfile -machinefile -machine -wdir -configfile",
            1,
        )
        | name_options("-genv -env", 2)
        | name_options(
            "-l -prepend-rank -verbose -v -print-all-exitcodes -genvall -genvnone -envall -envnone "
            "-disable-hostname-propagation -enable-x -disable-x -print-rank-map",
            0,
        )
    )

    def add_environment(self, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Set the variables for all programs; a user's own LD_PRELOAD comes after ours."""
        changed = list(arguments)
        for position in range(len(changed) - 2):
            is_setting = changed[position] in ("-env", "-genv", "--env", "--genv")
            if is_setting and changed[position + 1] == "LD_PRELOAD" and "LD_PRELOAD" in variables:
                changed[position + 2] = join_preload(variables["LD_PRELOAD"], changed[position + 2])
        # -env wins over -genv, and of two -genv the later one wins: ours go first.
        return [word for name, value in variables.items() for word in ("-genv", name, value)] + changed


class Srun(Launcher):
    """Slurm's srun: --export, where a comma always separates, so that only LD_PRELOAD is set by value."""

    name = "srun"
    host_options = frozenset(["-w", "-nodelist", "-D", "-chdir", "-multi-prog"])
    option_values = name_options(
        "-n -ntasks -N -nodes -c -cpus-per-task -p -partition -t -time -A -account -J -job-name -mpi -export "
        "-ntasks-per-node -distribution -m -o -e -w -nodelist -D -chdir -multi-prog",
        1,
    ) | name_options("-exclusive -l -label -overlap -oversubscribe -s -u -unbuffered", 0)

    def launcher_environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that srun takes over by name."""
        return {name: value for name, value in variables.items() if name != "LD_PRELOAD"}

    def add_environment(self, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Add to the user's --export, or to the default, which is everything."""
        segments = split_segments(arguments, self.separator)
        return join_segments([self._prepend(segment, variables) for segment in segments], self.separator)

    def _prepend(self, segment: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Merge our variables with a program's --export."""
        wanted, rest = self._split_export(segment)
        wanted = wanted or os.environ.get("SLURM_EXPORT_ENV") or "ALL"
        names = [] if wanted == "NONE" else [wanted]
        names += [name for name in variables if name != "LD_PRELOAD"]
        if "LD_PRELOAD" in variables:
            if "," in variables["LD_PRELOAD"]:
                raise LapwingError("srun cannot pass on an LD_PRELOAD with a comma", "rename that file or folder")
            names.append(f"LD_PRELOAD={variables['LD_PRELOAD']}")
        return [f"--export={','.join(names)}", *rest]

    def _split_export(self, segment: Sequence[str]) -> tuple[str | None, list[str]]:
        """Take the user's --export out of the arguments of srun."""
        program = self.find_program(segment)
        end = len(segment) if program is None else program
        for position in range(end):
            if segment[position].startswith("--export="):
                return segment[position].partition("=")[2], [*segment[:position], *segment[position + 1 :]]
            if segment[position] == "--export" and position + 1 < end:
                return segment[position + 1], [*segment[:position], *segment[position + 2 :]]
        return None, list(segment)


class Direct(Launcher):
    """No launcher: one process, or a script that starts a launcher itself."""

    name = "direct"
    separator = "\0"

    def add_environment(self, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Change nothing: the variables stand in the environment."""
        return list(arguments)

    def launcher_environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return all variables: the program is its own launcher."""
        return dict(variables)

    def find_programs(self, arguments: Sequence[str]) -> list[str]:
        """Return the command itself."""
        return [self.path]


LAUNCHERS: tuple[type[Launcher], ...] = (OpenMpi, Prrte, Hydra)


def find_command(name: str) -> str:
    """Return the command's path: on PATH, or beside the Python that runs Lapwing (an MPI from the same venv)."""
    beside = Path(sys.executable).parent / name
    found = shutil.which(name) or (str(beside) if "/" not in name and os.access(beside, os.X_OK) else None)
    if found is None:
        remedy = "build it or correct the path" if "/" in name else "install it or correct the name"
        raise LapwingError(f"{name}: no such program", remedy)
    return found


def ask_version(path: str) -> str:
    """Return what a launcher says about itself."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    try:
        answer = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LapwingError(f"{path} --version gave no answer ({error})", "check the MPI installation") from error
    return answer.stdout + answer.stderr


def recognise_version(version: str) -> type[Launcher] | None:
    """Return the kind of launcher that answers --version so."""
    return next((kind for kind in LAUNCHERS if re.search(kind.version_pattern, version)), None)


def find_launcher(name: str) -> Launcher:
    """Return the launcher of that name, or Direct when it is an ordinary program."""
    base = Path(name).name
    if base in OTHER_LAUNCHERS:
        raise LapwingError(f"the launcher {base} is not supported", f"use {SUPPORTED}")
    path = find_command(name)
    if base == "srun":
        return Srun(path)
    if not LAUNCHER_NAME.fullmatch(base):
        return Direct(path)
    version = ask_version(path)
    kind = recognise_version(version)
    if kind is None:
        first = (version.strip().splitlines() or ["nothing"])[0]
        raise LapwingError(f"{name} is no launcher that Lapwing knows (--version says: {first})", f"use {SUPPORTED}")
    return kind(path)
