# SPDX-License-Identifier: MIT
"""How much longer the computation takes when each rank gives up a core, or with other numbers of threads: runs of the
same program in turn."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from lapwing.advise.trial import Trial
from lapwing.errors import LapwingError
from lapwing.model.profile import Calibration, Sweep
from lapwing.model.recorded import estimate_cores, make_rank
from lapwing.profile.job_file import CAUSES_OF_NONE, Atlas, describe_damaged, list_profiles
from lapwing.profile.rank_file import decode_rank_file

REDUCED = {"LAPWING_PROGRESS": "dedicated"}  # in a profile the core that is given up stays idle
FULL = {"LAPWING_PROGRESS": "auto"}  # whatever the user has set
SWEEP_ROUNDS = 3
REMEDY = "give each rank two cores or more of its own (mpirun --bind-to ..., srun -c); `lapwing run --show-binding on`"


def measure_run(records: Path) -> tuple[int, int]:
    """Return the computation of the mean rank in nanoseconds, and the cores of a rank (0: not known)."""
    profiles, damaged = list_profiles(records)
    if not profiles:
        raise LapwingError(f"no rank left a profile{describe_damaged(damaged)}", CAUSES_OF_NONE, 1)
    ranks = [decode_rank_file(stored.read(header.length_bytes), stored.name) for header, stored in profiles]
    computation_ns = mean(make_rank(rank, Atlas(rank.modules, {})).computation_ns for rank in ranks)
    return round(computation_ns), estimate_cores([rank.header for rank in ranks]) or 0


def calibrate(trial: Trial, rounds: int) -> Calibration:
    """Run the program on one core less and on all, so many times in turn; an error where no core is given up."""
    full_ns, reduced_ns = [], []
    full_cores = 0
    for _ in range(rounds):
        reduced, reduced_cores = measure_run(trial.run_profiled("one core less", REDUCED)[1])
        full, full_cores = measure_run(trial.run_profiled("all cores", FULL)[1])
        if not full_cores:
            cause = "how many cores a rank has is not known: nothing to calibrate with"
            raise LapwingError(cause, "let all ranks of the job run with Lapwing", 1)
        if reduced_cores >= full_cores:
            raise LapwingError("the ranks gave up no core: nothing to calibrate with", REMEDY, 1)
        full_ns.append(full)
        reduced_ns.append(reduced)
    return Calibration(full_cores, tuple(full_ns), tuple(reduced_ns))


def sweep_threads(trial: Trial, threads: Sequence[int]) -> Sweep:
    """Run the program with each number of OpenMP threads, in turn."""
    times_ns: dict[int, list[int]] = {number: [] for number in threads}
    for _ in range(SWEEP_ROUNDS):
        for number in threads:
            records = trial.run_profiled(f"{number} threads", {"OMP_NUM_THREADS": str(number)})[1]
            times_ns[number].append(max(1, measure_run(records)[0]))
    return Sweep(tuple(threads), tuple(tuple(times_ns[number]) for number in threads))


def count_runs(asked: Sequence[int]) -> int:
    """Return how often the program runs for that."""
    return 2 * asked[0] if len(asked) == 1 else SWEEP_ROUNDS * len(asked)


def calibrate_as_asked(trial: Trial, asked: Sequence[int]) -> dict[str, Any]:
    """Return what a record says of it: runs on one core less for one number, a sweep over threads for several."""
    if len(asked) == 1:
        return {"calibration": asdict(calibrate(trial, asked[0]))}
    return {"scaling": asdict(sweep_threads(trial, asked))}
