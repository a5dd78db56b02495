# SPDX-License-Identifier: MIT
"""Run the programs of this folder under `lapwing profile`'s preload and check what is recorded of them.

Options, MPIs and directives are those of tests/mpi. `cost: N` says how much of the time samples may take. `expect:
FUNCTION CALLS BYTES` gives sums over all ranks. In programs with marked lines the call at `CALL name` must be first
touched at `TOUCH name`.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))

import run as mpi_run  # noqa: E402
from families import Family, debian_tool  # noqa: E402
from judging import SKIP  # noqa: E402
from trial import Run, run_command  # noqa: E402

from lapwing.model.profile import JobProfile, SiteStatistics  # noqa: E402
from lapwing.model.recorded import read_recorded  # noqa: E402
from lapwing.model.study import study_profile  # noqa: E402
from lapwing.model.system import RENDEZVOUS, WITHIN, Estimate, Interval, Route, SizeParameters, System  # noqa: E402
from lapwing.model.waits import sum_causes  # noqa: E402
from lapwing.profile.job_file import write_profile_job  # noqa: E402
from lapwing.report.findings import find_in_profile  # noqa: E402

VARIABLES = {"LAPWING_PROFILE": "on"}
COST = "1000"
BINDINGS = ("mpif", "mpi", "f08")
FORTRAN_COMPILERS = {"openmpi4": "mpifort.openmpi", "mpich4": "mpifort.mpich"}
FORTRAN_FLAGS = ("-cpp", "-ffree-line-length-none", "-w", "-fallow-argument-mismatch")
C_FLAGS = ("-std=gnu17", "-Wall", "-Wno-stringop-overflow")


@dataclass(frozen=True)
class Case:
    """One run of one program."""

    source: Path
    family: Family
    argument: str = ""
    optimisation: str = "-O2"
    binding: str = ""

    @property
    def name(self) -> str:
        """The case's name in reports."""
        parts = (self.family.name, self.source.name, self.argument, self.optimisation, self.binding)
        return "/".join(part for part in parts if part)


def compile_case(case: Case, folder: Path) -> Path:
    """Compile a program."""
    output = folder / case.name.replace("/", "_")
    if case.binding:
        compiler = debian_tool(FORTRAN_COMPILERS[case.family.name])
        flags = [*FORTRAN_FLAGS, f"-DBINDING_{case.binding.upper()}"]
    else:
        compiler = case.family.compiler
        flags = [*C_FLAGS, *read_directives(case.source).get("flags", [""])[0].split()]
    command = [str(compiler), "-g", case.optimisation, *flags, str(case.source), "-o", str(output)]
    subprocess.run(command, check=True, cwd=folder, env={**os.environ, **case.family.environment})
    return output


def read_directives(source: Path) -> dict[str, list[str]]:
    """Read lines ` * word: value` of the first comments."""
    directives: dict[str, list[str]] = {}
    for word, value in re.findall(r"^ \* (\w+): (.*?)\s*$", source.read_text(), re.MULTILINE):
        directives.setdefault(word, []).append(value)
    return directives


def find_marks(source: Path) -> Iterator[tuple[str, int, int]]:
    """Yield name, line of the call and line of the touch of each pair of marks."""
    marks: dict[tuple[str, str], int] = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        found = re.search(r"(?:/\*|!) (CALL|TOUCH)\b ?(\w*)", line)
        if found:
            marks[found[1], found[2]] = number
    for (kind, name), line_number in marks.items():
        if kind == "CALL":
            yield name, line_number, marks["TOUCH", name]


def list_sites(profile: JobProfile) -> Iterator[SiteStatistics]:
    """Yield the sites of all ranks."""
    for rank in profile.ranks:
        yield from rank.sites


def check_expected(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Compare calls and bytes."""
    for text in read_directives(case.source).get("expect", []):
        function, count, size = text.split()
        found = [entry for rank in profile.ranks for entry in rank.functions if entry.function == function]
        sums = (sum(entry.time.count for entry in found), sum(entry.bytes.total for entry in found))
        if sums != (int(count), int(size)):
            yield f"{function}: {sums[0]} calls and {sums[1]} bytes instead of {count} and {size}"


def check_consistency(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Check what holds in every profile."""
    for site in list_sites(profile):
        if sum(bucket.count for bucket in site.sizes) != site.time.count:
            yield f"{site.function} at {site.place}: the sizes do not add up to its calls"
        if site.time.minimum * site.time.count > site.time.total or site.time.total < site.time.maximum:
            yield f"{site.function} at {site.place}: {site.time} contradicts itself"
    if len(profile.ranks) != 2:
        yield f"{len(profile.ranks)} ranks instead of 2"


def check_touches(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Compare the places of first touches."""
    for name, call_line, touch_line in find_marks(case.source):
        sites = [site for site in list_sites(profile) if site.line == call_line]
        touches = {(Path(touch.file).name, touch.line): touch.count for site in sites for touch in site.touches}
        if set(touches) != {(case.source.name, touch_line)}:
            refused = [dict(site.passes) for site in sites]
            yield f"{name}: the call at line {call_line} is touched at {touches}, not at line {touch_line} ({refused})"


def is_between(measured_ns: float, least_ns: float, most_ns: float) -> bool:
    """Allow a tenth, and what a busy machine adds between the program's clock and ours."""
    return 0.9 * least_ns <= measured_ns <= 1.1 * most_ns + 1e6


def check_slack(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Compare slack with what the program measured."""
    for line in lines:
        rank, *extremes_ns = map(int, line.split())
        blocking, nonblocking = extremes_ns[:2], extremes_ns[2:]
        expected = {"MPI_Send": blocking, "MPI_Recv": blocking, "MPI_Wait": nonblocking}
        sites = [site for site in profile.ranks[rank].sites if site.function in expected]
        if len(sites) != 2:
            yield f"rank {rank} has {len(sites)} sites with slack instead of 2"
        for site in sites:
            slack, (least_ns, most_ns) = site.slack, expected[site.function]
            count = slack.sampled_count if slack else 0
            computation = sum(bucket.computation_total_ns for bucket in slack.buckets) if slack else 0
            if count == 0 or not is_between(computation / count, least_ns, most_ns):
                mean_ns = computation / max(1, count)
                yield f"{site.function}: {count} samples of {mean_ns:.0f} ns, not from {least_ns} to {most_ns}"


def check_ends(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """A rank that did not finalize says so."""
    if any(rank.is_complete for rank in profile.ranks):
        yield "a rank claims to have finalized"


def check_matching(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Threads that receive are told from those that do not."""
    if profile.matches_first is not (case.argument == "multiple"):
        yield f"the record says {profile.matches_first}"


def make_system(length_bytes: int, time_ns: int) -> System:
    """Return a system whose messages take as long as the program has measured."""
    byte_ns, nothing = Estimate(time_ns / length_bytes, 0, 0), Estimate(0, 0, 0)
    lines = (Interval(RENDEZVOUS, 0, length_bytes, nothing, byte_ns),)
    route = Route(WITHIN, "", "", 0, nothing, (SizeParameters(0, nothing),), lines)
    return System("", "", "", "", "", "", (route,))


def check_waits(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """The cause is the one that the program was made for, at the calls that it was made of."""
    length_bytes, time_ns = map(int, lines[0].split())
    study = study_profile(profile, system=make_system(length_bytes, time_ns))
    functions = ("MPI_Send", "MPI_Recv", "MPI_Waitall")
    sites = [causes for by_site in study.waits.values() for key, causes in by_site.items() if key[0] in functions]
    causes = sum_causes(sites)
    known = {"progress": causes.missed_ns, "sender": causes.sender_ns, "receiver": causes.receiver_ns}
    if max(known, key=lambda name: known[name]) != case.argument:
        yield f"{case.argument} is not the main cause: {causes}"
    is_named_uneven = any(finding.kind == "imbalance" for finding in find_in_profile(study))
    if is_named_uneven != (case.argument != "progress"):
        yield f"the work is {'' if is_named_uneven else 'not '}called uneven: {causes}"


def check_reductions(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Compare how many calls of each reduction depend on the order."""
    for line in lines:
        function, expected = line.split()
        counts = [site.ordered_count for site in list_sites(profile) if site.function == function]
        if None in counts or sum(count or 0 for count in counts) != int(expected):
            yield f"{function}: {counts} calls depend on the order, not {expected}"


def check_held(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Compare, call by call, whether a run could return early, and the reason."""
    for number, line in enumerate(case.source.read_text().splitlines(), 1):
        mark = re.search(r"/\* HELD (\w+) \*/", line)
        sites = [site for site in list_sites(profile) if mark and site.line == number]
        held = sum(site.held_count or 0 for site in sites)
        unheld = sum((Counter(site.unheld) for site in sites), Counter())
        found = {"all": held} if held and not unheld else dict(unheld) if not held else {"some": held, **unheld}
        if mark and list(found) != [mark[1]]:
            yield f"line {number}: {found}, not {mark[1]}"


ROW_SHARES = {"all": (1.0, 1.0), "half": (0.3, 0.7), "none": (0.0, 0.0)}


def check_rows(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """Compare, call by call, what part of its messages would cross with those behind it."""
    for number, line in enumerate(case.source.read_text().splitlines(), 1):
        mark = re.search(r"/\* ROW (\w+) \*/", line)
        rows = [site.row for site in list_sites(profile) if mark and site.line == number and site.row]
        bytes_total, crossing = sum(row.bytes_total for row in rows), sum(row.crossing_bytes for row in rows)
        least, most = ROW_SHARES[mark[1]] if mark else (0.0, 0.0)
        if mark and (not bytes_total or not least <= crossing / bytes_total <= most):
            yield f"line {number}: {crossing} of {bytes_total} bytes cross, not {mark[1]}"


def find_sent_again(case: Case, profile: JobProfile) -> Iterator[tuple[str, SiteStatistics]]:
    """Yield each call that sends what has been sent before, and what becomes of the buffer."""
    for number, line in enumerate(case.source.read_text().splitlines(), 1):
        mark = re.search(r"/\* AGAIN (\w+) \*/", line)
        yield from ((mark[1], site) for site in list_sites(profile) if mark and site.line == number)


def check_sent_again(case: Case, profile: JobProfile, lines: Sequence[str]) -> Iterator[str]:
    """No send is a write, and none ends what is known of the sends before it."""
    writes = {number for number, line in enumerate(case.source.read_text().splitlines(), 1) if "/* WRITE */" in line}
    found = list(find_sent_again(case, profile))
    if len(found) != 3:
        yield f"{len(found)} sends instead of 3"
    for mark, site in found:
        slack, touches = site.slack, {touch.line for touch in site.touches}
        if touches != (writes if mark == "written" else set()):
            yield f"line {site.line} is touched at lines {touches}"
        computation = sum(bucket.computation_total_ns for bucket in slack.buckets) if slack else 0
        count, least_ns = slack.sampled_count if slack else 0, int(lines[0])
        if count == 0 or computation / count < 0.9 * least_ns:
            yield f"line {site.line}: {count} samples of {computation / max(1, count):.0f} ns, less than {least_ns}"


Check = Callable[[Case, JobProfile, Sequence[str]], Iterator[str]]
CHECKS: Mapping[str, Sequence[Check]] = {
    "slack": [check_slack],
    "sent_again": [check_sent_again],
    "ends": [check_ends],
    "matching": [check_matching],
    "waits": [check_waits],
    "reductions": [check_reductions],
    "held": [check_held],
    "held_rows": [check_held],
    "rows": [check_rows],
    "rows_sampled": [check_rows],
}


def judge(case: Case, profile: JobProfile, run: Run) -> list[str]:
    """Everything that is wrong."""
    checks = [check_expected, check_consistency, check_touches, *CHECKS.get(case.source.stem, [])]
    return [text for check in checks for text in check(case, profile, run.lines)]


def run_case(case: Case, preload: Path, folder: Path) -> list[str]:
    """Compile, run, gather, judge."""
    program = compile_case(case, folder)
    with tempfile.TemporaryDirectory(prefix="lapwing-profile-") as name:
        records = Path(name)
        cost = read_directives(case.source).get("cost", [COST])[0]
        variables = {**VARIABLES, "LD_PRELOAD": str(preload), "LAPWING_RECORD_DIR": str(records)}
        variables["LAPWING_PROFILE_COST"] = cost
        command = case.family.command(2, variables, [str(program), *([case.argument] if case.argument else [])])
        run = run_command(command, {**os.environ, **case.family.environment}, 120)
        if run.exit_code is None:
            return ["hangs"]
        is_any_exit = "any" in read_directives(case.source).get("exit", [])
        if run.exit_code != 0 and not is_any_exit:
            return [f"exit code {run.exit_code}: {run.errors[-600:]}"]
        damaged = write_profile_job(records / "job", {}, records)
        return [*damaged, *judge(case, read_recorded(records / "job"), run)]


def list_cases(family: Family, wanted: Sequence[str]) -> Iterator[Case]:
    """Yield the cases of an MPI."""
    for source in sorted((HERE / "programs").iterdir()):
        if wanted and source.stem not in wanted:
            continue
        case = Case(source, family)
        if source.suffix == ".F90":
            bindings = BINDINGS if family.name in FORTRAN_COMPILERS else ()
            yield from (replace(case, binding=b, optimisation=o) for b in bindings for o in ("-O0", "-O2"))
        elif list(find_marks(source)):
            yield from (replace(case, optimisation=level) for level in ("-O0", "-O2"))
        else:
            arguments = read_directives(source).get("arguments", [""])[0].split() or [""]
            yield from (replace(case, argument=argument) for argument in arguments)


def main() -> int:
    """Run all cases."""
    arguments = mpi_run.parse_arguments()
    families, skips = mpi_run.select_families(arguments.wheels, arguments.mpi)
    failures = passes = 0
    with tempfile.TemporaryDirectory(prefix="lapwing-profile-build-") as folder:
        for case in (case for family in families for case in list_cases(family, arguments.program)):
            begin_s = time.monotonic()
            wrong = run_case(case, arguments.preload.resolve(), Path(folder))
            failures += bool(wrong)
            passes += not wrong
            if wrong or arguments.verbose:
                text = "FAIL" if wrong else "pass"
                print(text, case.name, f"{time.monotonic() - begin_s:.2f} s", "; ".join(wrong), flush=True)
    print("\n".join(skips))
    print(f"{passes} passed, {failures} failed, {len(skips)} skipped")
    return 1 if failures else 0 if passes else SKIP


if __name__ == "__main__":
    sys.exit(main())
