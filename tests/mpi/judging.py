# SPDX-License-Identifier: MIT
"""When a case passes: its program's own checks do, it ends and prints as with stock MPI, and ops were deferred."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cases import Case, Program
from launching import ALONE
from trial import Bench, RankRecord, RecordError, Run, read_records

SKIP = 77
ATTEMPTS_MAX = 4
STOCK_RUNS_TO_LOSE_A_CODE = 8
SHOWN_CHARACTERS = 1500
SEGMENTATION_FAULT = 128 + 11


def is_expected_exit(program: Program, exit_code: int | None) -> bool:
    """Compare an exit code with the program's directive."""
    expected = program.directives.get("exit", "0")
    return exit_code not in (None, 0, SKIP) if expected == "nonzero" else exit_code == int(expected)


def is_lost_exit(program: Program, exit_code: int | None) -> bool:
    """Hydra of MPICH 4.2.1 now and then ends with 0 although a rank was killed."""
    return program.directives.get("exit") == "nonzero" and exit_code == 0


def does_stock_lose_exits(bench: Bench, case: Case) -> bool:
    """Does the launcher do so without Lapwing, too?"""
    runs = (bench.run_stock_again(case) for _ in range(STOCK_RUNS_TO_LOSE_A_CODE))
    return any(is_lost_exit(case.program, run.exit_code) for run in runs)


def show_ends(text: str) -> str:
    """Leave out the middle: who fails first says why, and launchers say most at the end."""
    return text if len(text) <= 2 * SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}\n...\n{text[-SHOWN_CHARACTERS:]}"


def has_lost_folder(case: Case, run: Run) -> bool:
    """Has a launcher of Open MPI 4.1 that ended removed the folder in which a rank was making its own?"""
    return case.family.name == "openmpi4" and run.exit_code == 1 and "orte_session_dir failed" in run.errors


def is_crash_of_finalize(case: Case, run: Run, records: Sequence[RankRecord]) -> bool:
    """Has Open MPI 4.1 crashed when all ranks had left Lapwing (a rank's record is complete then)?

    MPI_Init leaves an event to a thread that may get no core before MPI_Finalize unloads the code for it
    (open-mpi/ompi #10117).
    """
    is_possible = case.family.name == "openmpi4" and run.exit_code == SEGMENTATION_FAULT
    return is_possible and len(records) == case.ranks and all(record.is_complete for record in records)


def judge_stock(case: Case, stock: Run) -> str:
    """What is wrong with the stock run; empty when nothing is."""
    if stock.exit_code is None:
        return "stock MPI hangs"
    if not is_expected_exit(case.program, stock.exit_code):
        return f"stock MPI gives exit code {stock.exit_code}"
    return ""


def count_ops(records: Sequence[RankRecord], direction: str) -> int:
    """How many ops of a direction ("send", "receive", "collective", or "any" of the first two) all ranks deferred."""
    directions = ("send", "receive") if direction == "any" else (direction,)
    return sum(record.counters[f"ops_{one}"] for record in records for one in directions)


def has_counted(records: Sequence[RankRecord], counter: str) -> bool:
    """Did any rank count this?"""
    return any(record.counters.get(counter, 0) for record in records)


def is_about_copies(case: Case) -> bool:
    """Is the case about sends with copies on touch, on a backend that can make them?"""
    return bool(case.program.words("copies")) and case.variant.startswith("userfaultfd")


def judge_copies(case: Case, records: Sequence[RankRecord]) -> str:
    """What is wrong with the sends' copies where the case is about those (and the backend can)."""
    if not is_about_copies(case):
        return ""
    is_whole = "only" in case.program.words("copies") and has_counted(records, "copies")
    return "a send went from a copy of all" if is_whole else ""


def is_wrong_agreement(case: Case, records: Sequence[RankRecord]) -> bool:
    """Did a rank find that all have the same Lapwing where they have not, or the contrary?"""
    if "agrees" not in case.program.directives or case.variant == "profile":
        return False
    is_seen = case.argument in case.program.words("agrees") and case.family.shows_ranks
    return any(record.counters["whole"] != is_seen for record in records)


def count_moved_bytes(records: Sequence[RankRecord]) -> int:
    """How much all ranks' messages moved, each counted where it was sent and where it was received."""
    passed = sum(p.bytes for record in records for p in record.passes.values())
    return passed + sum(record.counters["bytes_send"] + record.counters["bytes_receive"] for record in records)


def judge_moved(case: Case, records: Sequence[RankRecord]) -> str:
    """What is wrong with the sum of what was moved, where the program says it."""
    wanted, found = case.program.directives.get("moves"), count_moved_bytes(records)
    return f"{found} bytes were moved, not {wanted}" if wanted and found != int(wanted) else ""


def judge_records(case: Case, records: Sequence[RankRecord]) -> str:
    """What the record lacks that no timing explains."""
    is_recorded = case.program.directives.get("records") != "none"
    if is_recorded and is_expected_exit(case.program, 0) and len(records) < case.ranks:
        return f"{len(records)} of {case.ranks} ranks left a record"
    if case.program.directives.get("records") == "complete" and not all(record.is_complete for record in records):
        return "a record says that its rank ended without MPI_Finalize"
    if is_wrong_agreement(case, records):
        return f"the ranks' answers are {sorted(record.counters['whole'] for record in records)}"
    if case.variant in ("default", "profile") or has_too_many_threads_for_keys(case):
        return ""
    passes = list_passes(records)
    if case.program.words("passes") == ["nothing"]:
        return f"calls were passed: {passes}" if passes.keys() - {"finished_at_once"} else ""
    ops = count_ops(records, "any") + count_ops(records, "collective")
    if case.program.words("defers") == ["nothing"] and ops:
        return f"{ops} ops were deferred"
    if case.program.words("assists") and not has_counted(records, "assisted"):
        return "no nonblocking operation was assisted"
    return judge_moved(case, records) or judge_copies(case, records)


def list_passes(records: Sequence[RankRecord]) -> Mapping[str, int]:
    """How many calls were passed, for which reason."""
    return {name: p.calls for record in records for name, p in record.passes.items() if p.calls}


def has_too_many_threads_for_keys(case: Case) -> bool:
    """Is the case one by protection keys of a program that asks for MPI_THREAD_MULTIPLE, where they are not used?"""
    return case.variant.startswith("keys") and "check_start_multiple(" in case.program.source.read_text()


def find_undeferred(case: Case, records: Sequence[RankRecord]) -> str:
    """Say which of the ops that the case is about were none."""
    impossible = {"nothing"} if case.family.shows_ranks else {"nothing", "collective"}
    wanted = [word for word in case.program.words("defers") if word not in impossible]
    if case.variant in ("default", "profile") or has_too_many_threads_for_keys(case):
        return ""
    missing = [word for word in wanted if count_ops(records, word) == 0]
    return f"no {missing[0]} was deferred (passed: {list_passes(records)})" if missing else ""


def find_unpassed(case: Case, records: Sequence[RankRecord]) -> str:
    """Say which of the reasons to pass that the case is about there was not: a call that finished at once has none."""
    if case.variant in ("default", "profile"):
        return ""
    passes = list_passes(records)
    missing = [reason for reason in case.program.words("passes") if reason not in {"nothing", *passes}]
    return f"no call was passed for the reason {missing[0]} (passed: {passes})" if missing else ""


def is_uncopied(case: Case, records: Sequence[RankRecord]) -> bool:
    """Was no send's copy made on touch where the case is about those? What a send costs is learnt from times."""
    return is_about_copies(case) and not has_counted(records, "copies_touched")


def is_untaken(case: Case, records: Sequence[RankRecord]) -> bool:
    """Was no message received early where the case is about those?"""
    is_wanted = bool(case.program.words("takes")) and case.variant != "profile"
    return is_wanted and not has_counted(records, "taken")


def judge_refusal(run: Run, text: str) -> str:
    """What is wrong with a job that Lapwing is to end, saying this."""
    if run.exit_code is None:
        return "hangs"
    if run.exit_code == 0:
        return "exit code 0"
    return "" if text in run.errors else f"its errors do not say {text!r}"


def is_same_output(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Compare without the order of ranks."""
    return sorted(lines) == sorted(others)


def is_mixed_output(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Hydra passes on what has come so far, so a line may hold parts of two: the same letters, in other lines."""
    return not is_same_output(lines, others) and sorted("".join(lines)) == sorted("".join(others))


def judge_lapwing(case: Case, stock: Run, run: Run) -> str:
    """What differs from the stock run."""
    if run.exit_code is None:
        return "hangs"
    if not is_expected_exit(case.program, run.exit_code):
        return f"exit code {run.exit_code}"
    if case.program.directives.get("exit") != "nonzero" and not is_same_output(run.lines, stock.lines):
        return f"output {run.lines} instead of {stock.lines}"
    return ""


@dataclass(frozen=True)
class Verdict:
    """How a case ended."""

    result: str  # "pass", "skip" or "FAIL"
    reason: str = ""
    is_repeatable: bool = (
        False  # nothing is wrong for certain: messages came too early to be deferred, a launcher erred
    )


def describe(wrong: str, run: Run, is_repeatable: bool = False) -> Verdict:
    """A case's result, and why it failed."""
    return Verdict("FAIL", f"{wrong} {show_ends(run.errors)}", is_repeatable) if wrong else Verdict("pass")


def is_plainly_ok(case: Case, run: Run) -> bool:
    """Has the program found nothing wrong, and said no more? A stock run could only say the same."""
    is_to_end_well = is_expected_exit(case.program, 0) and "refused" not in case.program.directives
    return case.variant != "stock" and is_to_end_well and run.exit_code == 0 and list(run.lines) == ["ok"]


def judge_deeds(case: Case, run: Run, records: Sequence[RankRecord]) -> Verdict:
    """Judge by its record a run whose end and output are right."""
    wrong = judge_records(case, records)
    if not wrong and is_untaken(case, records):
        return describe("no message was received early", run, is_repeatable=True)
    if not wrong and is_uncopied(case, records):
        return describe("no send went with copies on touch", run, is_repeatable=True)
    undone = find_unpassed(case, records) or find_undeferred(case, records)
    is_repeatable = not wrong and "finished_at_once" in list_passes(records)
    return describe(wrong or undone, run, is_repeatable)


def judge_once(bench: Bench, case: Case) -> Verdict:
    """Run one case."""
    with tempfile.TemporaryDirectory(prefix="lapwing-test-") as folder:
        run = bench.run(case, Path(folder))
        try:
            records = read_records(Path(folder))
        except RecordError as error:
            return describe(error.message, run)
    if is_plainly_ok(case, run) and bench.trusts_ok(case):
        return judge_deeds(case, run, records)
    stock = bench.run_stock(case)
    if stock.exit_code == SKIP:
        return Verdict("skip", " ".join(dict.fromkeys(stock.lines)))
    wrong = judge_stock(case, stock)
    if run.exit_code is None and ALONE in run.errors:
        return describe(f"hangs {ALONE}", run, is_repeatable=True)
    if wrong:
        bench.forget_stock(case)  # a launcher may have erred: it does not always
    if wrong or case.variant == "stock":
        return describe(wrong, stock, is_repeatable=bool(wrong))
    if has_lost_folder(case, run):
        return describe("has not started", run, is_repeatable=True)
    refused = case.program.directives.get("refused")
    if refused and case.variant != "profile":
        # The message may have come too late to be received early.
        return describe(judge_refusal(run, refused), run, is_repeatable=run.exit_code == 0)
    wrong = judge_lapwing(case, stock, run)
    if is_lost_exit(case.program, run.exit_code):
        return describe(wrong, run, is_repeatable=does_stock_lose_exits(bench, case))
    if wrong and is_expected_exit(case.program, run.exit_code) and is_mixed_output(run.lines, stock.lines):
        bench.forget_stock(case)
        return describe(wrong, run, is_repeatable=True)
    if is_crash_of_finalize(case, run, records):
        return describe(wrong, run, is_repeatable=True)
    return describe(wrong, run) if wrong else judge_deeds(case, run, records)


def run_case(bench: Bench, case: Case) -> Verdict:
    """Run one case; again where what went wrong may be neither the program's fault nor Lapwing's."""
    for _ in range(ATTEMPTS_MAX):
        verdict = judge_once(bench, case)
        if verdict.result != "FAIL" or not verdict.is_repeatable:
            break
    return verdict
