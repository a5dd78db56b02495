# SPDX-License-Identifier: MIT
"""Quantum ESPRESSO (Debian packages quantum-espresso and quantum-espresso-data): Fortran throughout.

Exact exchange in two groups of bands, which pass their wave functions around by MPI_Sendrecv_replace.
"""

import gzip
import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

from lapwing.bench.installed_inputs import SILICON_POTENTIAL, make_quantum_espresso_input

POTENTIAL = Path(SILICON_POTENTIAL)
EXACT_EXCHANGE = "  input_dft = 'pbe0', nqx1 = 1, nqx2 = 1, nqx3 = 1\n"
INPUT = make_quantum_espresso_input(cutoff=16.0, mesh="2 2 2 0 0 0", functional_lines=EXACT_EXCHANGE)
RESULT = re.compile(r"^!!? +total energy.*|.*highest occupied.*|.*est\. exchange err.*|.*JOB DONE.*", re.MULTILINE)


def summarize(output: Output) -> list[str]:
    """Energies of each outer iteration."""
    return [match.group().strip() for match in RESULT.finditer(output.text)]


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("pw.x")
    family = find_family("openmpi4", wheels)
    is_installed = program is not None and POTENTIAL.exists()
    reason = launcher_missing(family) or (
        "" if is_installed else "the packages quantum-espresso and quantum-espresso-data are not installed"
    )
    if program is None or reason:
        return [Skip("quantum-espresso", reason)]
    words = [program, "-nband", "2", "-in", "silicon.txt"]
    files = {"silicon.txt": INPUT, "Si.pz-vbc.UPF": gzip.decompress(POTENTIAL.read_bytes()).decode()}
    version = debian_version("quantum-espresso")
    return [Job("quantum-espresso", family, words, summarize, files=files, is_overlapping=True, version=version)]
