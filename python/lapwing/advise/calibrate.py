# SPDX-License-Identifier: MIT
"""How much longer the computation takes when each rank gives up a core: runs of the same program in turn."""

from pathlib import Path
from statistics import mean

from lapwing.advise.trial import Trial
from lapwing.errors import LapwingError
from lapwing.model.profile import Calibration, JobProfile
from lapwing.model.recorded import read_recorded
from lapwing.profile.job_file import write_profile_job

REDUCED = {"LAPWING_PROGRESS": "dedicated"}  # in a profile the core that is given up stays idle
REMEDY = "give each rank two cores or more of its own (mpirun --bind-to ..., srun -c); `lapwing run --show-binding on`"


def read_run(records: Path) -> JobProfile:
    """Return the profile of one run."""
    path = records / "job.record"
    write_profile_job(path, {}, records)
    return read_recorded(path)


def measure_computation_ns(profile: JobProfile) -> int:
    """Return the computation of the mean rank."""
    return round(mean(rank.computation_ns for rank in profile.ranks))


def calibrate(trial: Trial, rounds: int) -> Calibration:
    """Run the program on one core less and on all, so many times in turn; an error where no core is given up."""
    full_ns, reduced_ns = [], []
    cores = 0
    for _ in range(rounds):
        reduced = read_run(trial.run_profiled("one core less", REDUCED)[1])
        full = read_run(trial.run_profiled("all cores")[1])
        cores = full.cores_per_rank or 0
        if (reduced.cores_per_rank or 0) >= cores:
            raise LapwingError("the ranks gave up no core: nothing to calibrate with", REMEDY, 1)
        full_ns.append(measure_computation_ns(full))
        reduced_ns.append(measure_computation_ns(reduced))
    return Calibration(cores, tuple(full_ns), tuple(reduced_ns))
