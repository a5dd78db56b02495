# SPDX-License-Identifier: MIT
"""The MPI launchers: how each is recognised and how variables reach its ranks.

A launcher is a small class with a row of facts. Adding one means adding a class to LAUNCHERS.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from lapwing.errors import LapwingError
from lapwing.files import is_file, is_lapwing, split_preload
from lapwing.launch.program import refuse_folder
from lapwing.launch.scripts import give_to_shell

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


def name_set(names: str) -> frozenset[str]:
    """Return options that have something in common."""
    return frozenset(names.split())


def may_be_program(word: str) -> bool:
    """Tell whether a word of a launcher's line may name a program: it is one here, or a path of another host."""
    is_elsewhere = "/" in word and not os.access(word, os.F_OK)
    return is_elsewhere or any(shutil.which(name) for name in (word, f"./{word}"))


def name_option(word: str) -> str:
    """Return an option's name as the tables have it: one dash, no value."""
    return "-" + word.lstrip("-").split("=")[0]


@dataclass(frozen=True)
class Head:
    """The launcher's own words before a program.

    end: where they end. is_known: every option is, so that the program stands there. is_here: on this host, too.
    """

    end: int
    is_known: bool
    is_here: bool


class Launcher:
    """What all launchers share."""

    name = ""
    version_pattern = r"(?!)"
    separator = ":"
    searches_folder = False  # for a program without a folder, after PATH
    file_option = ""  # names a file that names the programs
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

    def find_settings(self, arguments: Sequence[str]) -> dict[str, str]:
        """Return the variables that the line sets for its ranks, each with the last words that do."""
        return dict(self.list_settings(arguments))

    def list_settings(self, arguments: Sequence[str]) -> list[tuple[str, str]]:
        """Return all that the line sets for its ranks, as variables with the words that do."""
        heads = [self.split_own(segment)[0] for segment in split_segments(arguments, self.separator)]
        path = find_file_of_programs([word for own in heads for word in own], self.file_option)
        heads += [self.split_own(segment)[0] for segment in read_segments(path)] if path else []
        return [setting for own in heads for setting in self.iterate_settings(own)]

    def iterate_settings(self, own: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the variables that the words before a program set, each with the words that do."""
        yield from ()

    def find_programs(self, arguments: Sequence[str]) -> list[str]:
        """Return the programs that are started, as far as they can be told for certain."""
        programs: list[str] = []
        for segment in split_segments(arguments, self.separator):
            position = self.find_program(segment)
            programs += [segment[position]] if position is not None else []
        return programs

    def find_program(self, segment: Sequence[str]) -> int | None:
        """Return where the program's name stands; None when an unknown option or a host list stands before it."""
        head = self.read_head(segment)
        return head.end if head.is_known and head.is_here and head.end < len(segment) else None

    def read_head(self, segment: Sequence[str]) -> Head:
        """Tell the launcher's own words from the program's: after an unknown option the first that may be it is."""
        position, is_known, is_here = 0, True, True
        while position < len(segment):
            word = segment[position]
            if word == "--":
                position += 1
                break
            follow = self.count_values(segment[position:]) if word.startswith("-") else 0
            if not word.startswith("-") and (is_known or may_be_program(word)):
                break
            is_known = is_known and follow is not None
            is_here = is_here and self.name_option(word) not in self.host_options
            position += 1 + (follow or 0)
        return Head(min(position, len(segment)), is_known, is_here)

    def split_own(self, segment: Sequence[str]) -> tuple[list[str], list[str]]:
        """Split a segment into the launcher's own words, and the program with its own."""
        end = self.read_head(segment).end
        return list(segment[:end]), list(segment[end:])

    def name_option(self, word: str) -> str:
        """Return an option's name as the tables have it."""
        return name_option(word)

    def count_values(self, words: Sequence[str]) -> int | None:
        """Return how many arguments follow the option that these words begin with; None when it is not known."""
        count = self.option_values.get(name_option(words[0]))
        if "=" in words[0]:  # the first value, also of a flag: -l=1
            return max((count or 1) - 1, 0)
        return count


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
TUNE_FILES = "mca_base_envar_file_prefix"  # what -tune sets


def read_parameter_file(path: Path, name: str) -> str | None:
    """Return what a file of MCA parameters says about one of them: lines of name = value."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return None
    found = re.findall(rf"^\s*{name}\s*=\s*(.*?)\s*$", text, re.MULTILINE)
    return found[-1].strip("\"'") if found else None


def read_tune_file(path: Path, name: str) -> str | None:
    """Return what a file of -tune says about an MCA parameter: its lines have -mca name value, or are name = value."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return None
    said = re.compile(rf'(?:^|\s)--?mca\s+{name}\s+(?:"([^"]*)"|(\S+))|^\s*{name}\s*=\s*(.*?)\s*$')
    found = [match for line in lines if not line.lstrip().startswith("#") for match in said.finditer(line)]
    return next(group for group in found[-1].groups() if group is not None) if found else None


def find_parameters(own: Sequence[str], name: str) -> Iterator[int]:
    """Yield where a launcher's words have the value of an MCA parameter."""
    for position in range(len(own) - 2):
        if own[position].lstrip("-") in ("mca", "gmca") and own[position + 1] == name:
            yield position + 2


def find_exports(own: Sequence[str]) -> Iterator[tuple[slice, str]]:
    """Yield where a launcher's words have -x, and the variable that each names: PRRTE takes -x=NAME=VALUE, too."""
    for position, word in enumerate(own):
        option, equals, variable = word.partition("=")
        if not word.startswith("-") or name_option(option) != "-x":
            continue
        if equals:
            yield slice(position, position + 1), variable
        elif position + 1 < len(own):
            yield slice(position, position + 2), own[position + 1]


def find_file_of_programs(own: Sequence[str], option: str) -> Path | None:
    """Return the file that names the programs, if there is one."""
    return next((Path(value) for word, value in pairwise(own) if name_option(word) == option), None)


def read_segments(path: Path) -> list[list[str]]:
    """Return a file's programs, each with what its line gives the launcher; none if it cannot be read."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return []
    return [line.split() for line in lines if not line.lstrip().startswith("#")]


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

    Beside the MCA parameter mca_base_env_list it refuses -x: then the parameter gets the variables. So it does where a
    file names the programs (--app): they get no -x of the line.
    """

    has_env_list = True

    name = "openmpi"
    searches_folder = True
    file_option = "-app"
    version_pattern = r"\((Open ?MPI|OpenRTE)\) [1-4]\."
    host_options = name_set(
        "-H -host -hostfile -machinefile -default-hostfile -nolocal -wdir -wd -path -set-cwd-to-session-dir"
    )
    option_values = (
        name_options(
            "-n -np -c -N -npernode -npersocket -ppr -x -bind-to -map-by -rank-by -cpu-list -cpu-set -cpus-per-proc "
            "-cpus-per-rank -rankfile -rf -cartofile -cf -prefix -timeout -stdin -output-filename -xml-file -app -am "
            "-tune -personality -launch-agent -max-restarts -max-vm-size -preload-files -debugger -xterm -hnp "
            "-ompi-server -report-events -report-pid -report-uri "
            "-H -host -hostfile -machinefile -default-hostfile -wdir -wd -path",
            1,
        )
        | name_options("-mca -gmca", 2)
        | name_options(
            "-oversubscribe -nooversubscribe -allow-run-as-root -q -quiet -v -verbose -bynode -byslot -bycore "
            "-bind-to-core -bind-to-socket -bind-to-none -report-bindings -tag-output -timestamp-output -xml "
            "-merge-stderr-to-stdout -display-map -display-allocation -display-devel-allocation -display-devel-map "
            "-display-diffable-map -display-topo -nolocal -pernode -use-hwthread-cpus -noprefix -novm -dvm -s "
            "-preload-binary -set-cwd-to-session-dir -index-argv-by-rank -enable-recovery -disable-recovery "
            "-continuous -do-not-launch -do-not-resolve -use-regexp -enable-instant-on-support -fwd-mpirun-port "
            "-get-stack-traces -report-state-on-timeout -report-child-jobs-separately -show-progress "
            "-output-proctable -d -debug -debug-devel -debug-daemons -debug-daemons-file -leave-session-attached -tv",
            0,
        )
    )

    def add_environment(self, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Set the variables for each program of the line."""
        segments = split_segments(arguments, self.separator)
        own = [word for segment in segments for word in self.split_own(segment)[0]]
        listed = self._find_parameter(own, ENV_LIST) if self.has_env_list else None
        if variables and (self._has_file_of_programs(own) or (listed and not any(find_exports(own)))):
            delimiter = self._find_parameter(own, f"{ENV_LIST}_delimiter") or ";"
            return self._replace_list(segments, merge_env_list(listed or "", variables, delimiter))
        return join_segments([self._prepend(segment, variables) for segment in segments], self.separator)

    def iterate_settings(self, own: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the variables of -x: those of a list of variables do not win over ours."""
        for words, variable in find_exports(own):
            yield variable.partition("=")[0], " ".join(own[words])

    def _has_file_of_programs(self, own: Sequence[str]) -> bool:
        """Tell whether a file names the programs; refuse one with -x, beside which the launcher takes no list."""
        path = find_file_of_programs(own, self.file_option) if self.has_env_list else None
        if path is None:
            return False
        if any(any(find_exports(self.split_own(segment)[0])) for segment in read_segments(path)):
            remedy = f"name the variables in --mca {ENV_LIST} instead"
            raise LapwingError(f"{path} has -x, beside which Open MPI 4 takes no variables of Lapwing's", remedy)
        return True

    def _find_parameter(self, own: Sequence[str], name: str) -> str | None:
        """Return an MCA parameter as the launcher will see it: of the line, the environment, or a file."""
        for place in find_parameters(own, name):
            return own[place]
        if f"OMPI_MCA_{name}" in os.environ:
            return os.environ[f"OMPI_MCA_{name}"]
        home = Path(os.environ.get("HOME", "/"))
        system = "openmpi-mca-params.conf"
        files = (
            home / ".openmpi/mca-params.conf",
            self._prefix / "etc" / system,
            Path("/etc/openmpi") / system,
        )
        named = (read_tune_file(path, name) for path in self._list_tune_files(own))
        usual = (read_parameter_file(path, name) for path in files)
        return next(filter(None, chain(named, usual)), None)

    @property
    def _prefix(self) -> Path:
        """Where this Open MPI is installed."""
        return Path(self.path).resolve().parent.parent

    def _list_tune_files(self, own: Sequence[str]) -> list[Path]:
        """Return the files of -tune, of which the first counts that says something."""
        named = [value for word, value in pairwise(own) if name_option(word) == "-tune"]
        named += [own[place] for place in find_parameters(own, TUNE_FILES)]
        value = named[-1] if named else os.environ.get(f"OMPI_MCA_{TUNE_FILES}", "")
        return [self._find_tune_file(name) for name in value.split(",")]

    def _find_tune_file(self, name: str) -> Path:
        """Return where the launcher finds it: in the folder of sets before the working folder."""
        installed = self._prefix / "share/openmpi/amca-param-sets" / name
        return installed if is_file(installed) else Path(name)

    def _replace_list(self, segments: Sequence[Sequence[str]], merged: str) -> list[str]:
        """Write the list of variables, in place of those in the line or before it."""
        changed: list[list[str]] = []
        is_replaced = False
        for segment in segments:
            own, rest = self.split_own(segment)
            for place in find_parameters(own, ENV_LIST):
                own[place], is_replaced = merged, True
            changed.append(own + rest)
        line = join_segments(changed, self.separator)
        return line if is_replaced else ["--mca", ENV_LIST, merged, *line]

    def _prepend(self, segment: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Write -x before a program's arguments; merge an LD_PRELOAD that the user set there, and leave the rest.

        Of two -x the later one wins in Open MPI 4, the first in PRRTE.
        """
        merged = dict(variables)
        own, program = self.split_own(segment)
        for words, variable in reversed(list(find_exports(own))):
            name, _, value = variable.partition("=")
            if name == "LD_PRELOAD" and name in variables:
                merged[name] = join_preload(merged[name], value)
                del own[words]
            else:
                merged.pop(name, None)
        flags = [word for name, value in merged.items() for word in ("-x", f"{name}={value}")]
        return flags + own + program


class Prrte(OpenMpi):
    """PRRTE's prterun and Open MPI 5's mpirun: the same syntax."""

    name = "prrte"
    has_env_list = False  # it takes both
    version_pattern = r"\(Open MPI\) ([5-9]|\d\d)\.|PRTE|PRRTE|prterun"
    option_values = (
        name_options(
            "-n -np -c -N -npernode -npersocket -ppr -x -bind-to -map-by -rank-by -mapby -rankby -bindto -cpu-list "
            "-cpu-set -cpus-per-proc -cpus-per-rank -rankfile -prefix -timeout -spawn-timeout -stdin -output "
            "-output-directory -output-filename -stream-buffering -display -display-topo -app -am -tune -personality "
            "-launch-agent -max-restarts -max-vm-size -preload-files -xterm -dvm -pset -tmpdir -forward-signals "
            "-report-pid -report-uri -rtos -runtime-options -with-ft -initial-errhandler -memory-alloc-kinds -arch "
            "-file -keepalive -H -host -hostfile -machinefile -default-hostfile -wdir -wd -path",
            1,
        )
        | name_options("-mca -gmca -omca -gomca -prtemca -pmixmca -gpmixmca", 2)
        | name_options(
            "-oversubscribe -nooversubscribe -allow-run-as-root -v -verbose -bynode -byslot -bycore -bind-to-core "
            "-report-bindings -tag-output -timestamp-output -xml -merge-stderr-to-stdout -display-map "
            "-display-allocation -display-devel-map -display-comm -display-comm-finalize -nolocal -pernode "
            "-use-hwthread-cpus -noprefix -s -preload-binary -set-cwd-to-session-dir -enable-recovery "
            "-disable-recovery -continuous -do-not-launch -get-stack-traces -report-state-on-timeout "
            "-report-child-jobs-separately -show-progress -output-proctable -fwd-environment -stop-on-exec "
            "-stop-in-init -stop-in-app -debug -debug-daemons -debug-daemons-file -leave-session-attached -soft -p "
            "-parsable -parseable",
            0,
        )
    )


SETTINGS = ("-env", "-genv")


class Hydra(Launcher):
    """MPICH's, Intel MPI's and MVAPICH's mpiexec and mpirun: -genv NAME VALUE, once per line."""

    name = "hydra"
    file_option = "-configfile"
    version_pattern = r"HYDRA|Hydra|Intel\(R\) MPI|MPICH|MVAPICH"
    host_options = name_set(
        "-hosts -host -hosts-group -f -hostfile -machinefile -machine -nolocal -skip-launch-node -wdir -gwdir -path "
        "-gpath -configfile"
    )
    option_values = (
        name_options(
            "-n -np -ppn -perhost -grr -genvlist -envlist -iface -launcher -bootstrap -rmk -launcher-exec "
            "-bootstrap-exec -bind-to -map-by -rankmap -prepend-pattern -outfile-pattern -errfile-pattern -usize -s "
            "-membind -topolib -demux -nameserver -order-nodes -localhost -gpus-per-proc -gpu-subdevs-per-proc "
            "-memory-alloc-kinds -tune -binding -cpu-bind -gtool -gtoolfile -gdb-args -tva -tmpdir -branch-count "
            "-pmi-connect -use-app-topology "
            "-hosts -host -hosts-group -f -hostfile -machinefile -machine -wdir -gwdir -path -gpath -configfile",
            1,
        )
        | name_options("-genv -env", 2)
        | name_options(
            "-l -prepend-rank -verbose -v -print-all-exitcodes -genvall -genvnone -envall -envnone -info -profile "
            "-disable-hostname-propagation -disable-auto-cleanup -enable-x -disable-x -print-rank-map -pmi-port "
            "-skip-launch-node -hybrid-hosts -rr -nolocal -silent-abort -prepend-timestamp -prot -ordered-output "
            "-aps -mps -gdb -tv -idb -trace-pt2pt -trace-collectives -trace-imbalance -noconf -ilp64 "
            "-pmi-aggregate -pmi-noaggregate",
            0,
        )
    )

    def count_values(self, words: Sequence[str]) -> int | None:
        """Return how many arguments follow: a variable may stand in one, as NAME=VALUE, and the first in the option."""
        inside_count = words[0].count("=")
        if name_option(words[0]) in SETTINGS and (inside_count or "=" in "".join(words[1:2])):
            return 0 if inside_count > 1 else 1
        return super().count_values(words)

    def add_environment(self, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Set the variables for all programs; a user's own LD_PRELOAD comes after ours."""
        segments = split_segments(arguments, self.separator)
        changed = join_segments([self._merge_preload(segment, variables) for segment in segments], self.separator)
        # -env wins over -genv, and of two -genv the later one wins: ours go first.
        return [word for name, value in variables.items() for word in ("-genv", name, value)] + changed

    def iterate_settings(self, own: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the variables of -genv and -env, and of -envlist, which wins in Intel MPI; that of -genvlist loses."""
        for position, word in enumerate(own):
            words = own[position : position + 1 + (self.count_values(own[position:]) or 0)]
            values = "=".join(words).split("=")[1:]
            if name_option(word) in SETTINGS and values:
                yield values[0], " ".join(words)
            elif name_option(word) == "-envlist" and values:
                yield from ((name, f"{word} {name}") for name in values[0].split(","))

    def _merge_preload(self, segment: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Put ours before the LD_PRELOAD of a user's settings, whichever way they are written."""
        own, program = self.split_own(segment)
        for position in range(len(own) - 1) if "LD_PRELOAD" in variables else ():
            name, equals, value = own[position + 1].partition("=")
            if name_option(own[position]) not in SETTINGS or name != "LD_PRELOAD":
                continue
            if equals:
                own[position + 1] = f"LD_PRELOAD={join_preload(variables['LD_PRELOAD'], value)}"
            elif position + 2 < len(own):
                own[position + 2] = join_preload(variables["LD_PRELOAD"], own[position + 2])
        return own + program


class Srun(Launcher):
    """Slurm's srun: --export, where a comma always separates, so that only LD_PRELOAD is set by value."""

    name = "srun"
    searches_folder = True  # its daemons do: what is not on PATH they start by its name alone
    host_options = name_set("-w -nodelist -F -nodefile -D -chdir -multi-prog -container -container-id")
    option_values = name_options(
        "-n -ntasks -N -nodes -c -cpus-per-task -p -partition -t -time -A -account -J -job-name -mpi -export "
        "-ntasks-per-node -ntasks-per-core -ntasks-per-socket -ntasks-per-gpu -ntasks-per-tres -distribution -m "
        "-output -o -error -e -input -i -open-mode -w -nodelist -F -nodefile -exclude -x -D -chdir -G -gpus "
        "-gpus-per-node -gpus-per-socket -gpus-per-task -gpu-bind -gpu-freq -cpus-per-gpu -cpu-bind -cpu_bind "
        "-cpu-freq -mem -mem-per-cpu -mem-per-gpu -mem-bind -accel-bind -gres -gres-flags -tres-bind -tres-per-task "
        "-hint -q -qos -C -constraint -cluster-constraint -prefer -reservation -L -licenses -M -clusters -d "
        "-dependency -jobid -r -relative -W -wait -S -core-spec -thread-spec -B -extra-node-info -sockets-per-node "
        "-cores-per-socket -threads-per-core -mincpus -tmp -T -threads -treewidth -segment -signal -time-min "
        "-deadline -delay-boot -b -begin -network -switches -acctg-freq -profile -power -priority -bb -bbf "
        "-bcast-exclude -comment -container -container-id -het-group -pack-group -mail-type -mail-user -mcs-label "
        "-wckey -uid -gid -prolog -epilog -task-prolog -task-epilog -slurmd-debug -msg-timeout",
        1,
    ) | name_options(
        "-exclusive -l -label -overlap -oversubscribe -s -O -overcommit -u -unbuffered -multi-prog -E -preserve-env "
        "-exact -whole -pty -Q -quiet -v -verbose -X -disable-status -Z -no-allocate -contiguous -spread-job "
        "-use-min-nodes -K -kill-on-bad-exit -k -no-kill -immediate -I -H -hold -bcast -compress -nice -propagate "
        "-send-libs -resv-ports -x11 -oom-kill-step -reboot -interactive -quit-on-interrupt -test-only -stepmgr "
        "-debugger-test",
        0,
    )
    values_behind = name_set("-I -K -k")  # or none: -K0

    def name_option(self, word: str) -> str:
        """Return an option's name: the first letter of a short one, which may have its value behind it."""
        return name_option(word) if word.startswith("--") else word[:2]

    def count_values(self, words: Sequence[str]) -> int | None:
        """Return how many arguments follow: none where a short option has its value behind it, as in -n4."""
        word = words[0]
        if word.startswith("--") or len(word) == 2:
            return super().count_values(words)
        follow = self.option_values.get(word[:2])
        if follow == 0 and word[:2] not in self.values_behind:  # -ln4 is -l -n4
            return self.count_values([f"-{word[2:]}", *words[1:]])
        return None if follow is None else 0

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
        said = {name for name, _ in self.iterate_settings(self.split_own(segment)[0])}
        names += [name for name in variables if name not in ("LD_PRELOAD", *said)]
        if "LD_PRELOAD" in variables:
            if "," in variables["LD_PRELOAD"]:
                raise LapwingError("srun cannot pass on an LD_PRELOAD with a comma", "rename that file or folder")
            names.append(f"LD_PRELOAD={variables['LD_PRELOAD']}")
        return [f"--export={','.join(names)}", *rest]

    def iterate_settings(self, own: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the variables whose values --export has: by their names alone the ranks get ours."""
        for entry in (self._split_export(own)[0] or "").split(","):
            name, equals, _ = entry.partition("=")
            if equals:
                yield name, f"--export={entry}"

    def _split_export(self, segment: Sequence[str]) -> tuple[str | None, list[str]]:
        """Take the user's --export out of the arguments of srun."""
        own, program = self.split_own(segment)
        for position, word in enumerate(own):
            if word.startswith("--export="):
                return word.partition("=")[2], [*own[:position], *own[position + 1 :], *program]
            if word == "--export" and position + 1 < len(own):
                return own[position + 1], [*own[:position], *own[position + 2 :], *program]
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
    if found is None and "/" in name and is_file(Path(name)):
        raise LapwingError(f"{name} is not executable", f"chmod +x {name}")
    if found is None:
        refuse_folder(name)
        remedy = "build it or correct the path" if "/" in name else "install it or correct the name"
        raise LapwingError(f"{name}: no such program", remedy)
    return found


def ask_version(path: str) -> str:
    """Return what a launcher says about itself."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def ask(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, capture_output=True, errors="replace", timeout=30, stdin=subprocess.DEVNULL, env=environment
        )

    try:
        try:
            answer = ask([path, "--version"])
        except OSError as error:
            answer = ask(give_to_shell([path, "--version"], error))
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
