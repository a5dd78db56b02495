# SPDX-License-Identifier: MIT
"""NetPIPE (Debian packages netpipe-openmpi and netpipe-mpich2): messages of all sizes, checked byte by byte."""

import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

SUITE = "netpipe"
PACKAGES = {"openmpi4": ("NPopenmpi", "netpipe-openmpi"), "mpich4": ("NPmpich2", "netpipe-mpich2")}
# One after the other, and with receives that wait before anything comes.
WAYS = {"blocking": [], "asynchronous": ["-a"]}
LARGEST = 2000000
RESULT = re.compile(r"\d+ bytes +\d+ times|Integrity check passed|error|fail", re.IGNORECASE)


def summarize(output: Output) -> list[str]:
    """Sizes and verdicts; the launcher may join the lines of two ranks."""
    return sorted(" ".join(words.split()) for words in RESULT.findall(output.text))


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for both MPIs."""
    jobs: list[Job | Skip] = []
    for name, (program_name, package) in PACKAGES.items():
        family = find_family(name, wheels)
        program = shutil.which(program_name)
        reason = launcher_missing(family) or ("" if program else f"the package {package} is not installed")
        if program is None or reason:
            jobs.append(Skip(SUITE, reason, SUITE, name))
            continue
        words = [program, "-i", "-u", str(LARGEST), "-n", "10", "-o", "netpipe.out"]
        version = debian_version(package)
        jobs += [
            Job(f"{SUITE}-{way}", family, [*words, *options], summarize, suite=SUITE, version=version)
            for way, options in WAYS.items()
        ]
    return jobs
