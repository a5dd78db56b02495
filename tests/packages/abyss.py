# SPDX-License-Identifier: MIT
"""ABySS (Debian package abyss): a genome put together from 4000 reads.

Ranks ask each other about words of the genome, in small messages that they wait for in any order.
"""

import hashlib
import random
import re
from collections.abc import Iterator
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

PROGRAM = Path("/usr/lib/abyss/ABYSS-P")
BASES = "ACGT"
GENOME_LENGTH = 12000
READ_LENGTH = 100
READ_COUNT = 4000
# What all ranks did together. Lines of one rank begin with its number.
TOTAL = re.compile(r"^(?:Loaded|Added|Eroded|Pruned|Removed|Split|Marked|Assembled) .*", re.MULTILINE)


def make_reads() -> str:
    """Reads of a genome, both made up. Without errors: which rank meets one first would change what is removed."""
    source = random.Random(7)
    genome = "".join(source.choice(BASES) for _ in range(GENOME_LENGTH))
    begins = [source.randrange(GENOME_LENGTH - READ_LENGTH) for _ in range(READ_COUNT)]
    return "".join(f">read{number}\n{genome[b : b + READ_LENGTH]}\n" for number, b in enumerate(begins))


def list_contigs(text: str) -> Iterator[str]:
    """Length, and all bases in short, of each piece that was put together."""
    for bases in text.splitlines():
        if not bases.startswith(">"):
            yield f"contig of {len(bases)} bases, {hashlib.sha256(bases.encode()).hexdigest()}"


def summarize(output: Output) -> list[str]:
    """The counts of each step, and the contigs."""
    contigs = output.folder / "contigs.fa"
    text = contigs.read_text() if contigs.exists() else ""
    # The launcher passes on errors and output in any order.
    return sorted([*TOTAL.findall(output.text), *list_contigs(text)])


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if PROGRAM.exists() else "the package abyss is not installed")
    if reason:
        return [Skip("abyss", reason)]
    words = [str(PROGRAM), *["-k25", "-q3", "-e2", "-E0", "-c2", "-b1000", "-o", "contigs.fa", "reads.fa"]]
    files = {"reads.fa": make_reads()}
    version = debian_version("abyss")
    return [Job("abyss", family, words, summarize, files, is_overlapping=True, version=version)]
