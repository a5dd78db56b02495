# SPDX-License-Identifier: MIT
"""NEURON (Debian package neuron): a ring of nerve cells, whose ranks tell each other which have fired.

Each interval of the simulation ends with a gathering of small messages.
"""

import re
import shutil
from pathlib import Path

from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

INPUT = """
from neuron import h

CELLS = 64
context = h.ParallelContext()
rank, size = int(context.id()), int(context.nhost())
own = range(rank, CELLS, size)
sections = {number: h.Section(name=f"cell{number}") for number in own}
synapses, connections = {}, []
for number, section in sections.items():
    section.insert("hh")
    context.set_gid2node(number, rank)
    context.cell(number, h.NetCon(section(0.5)._ref_v, None, sec=section))
for number, section in sections.items():
    synapses[number] = h.ExpSyn(section(0.5))
    connection = context.gid_connect((number - 1) % CELLS, synapses[number])
    connection.weight[0], connection.delay = 0.05, 2
    connections.append(connection)
if 0 in sections:
    start = h.IClamp(sections[0](0.5))
    start.delay, start.dur, start.amp = 1, 1, 50
times, cells = h.Vector(), h.Vector()
context.spike_record(-1, times, cells)
context.set_maxstep(10)
h.finitialize(-65)
context.psolve(2000)
count = context.allreduce(len(times), 1)
total = context.allreduce(times.sum() if len(times) else 0, 1)
if rank == 0:
    print(f"fired {count:.0f} times, at {total:.9f} ms in all")
context.barrier()
h.quit()
"""


def summarize(output: Output) -> list[str]:
    """How often cells have fired, and when."""
    return re.findall(r"^fired .*", output.text, re.MULTILINE)


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("nrniv")
    family = find_family("openmpi4", wheels)
    missing = "the packages neuron and python3-neuron are not installed"
    is_there = program is not None and Path("/usr/lib/python3/dist-packages/neuron").exists()
    reason = launcher_missing(family) or ("" if is_there else missing)
    if program is None or reason:
        return [Skip("neuron", reason)]
    words, version = [program, "-mpi", "-python", "ring.py"], debian_version("neuron")
    environment = {**ONE_THREAD, "PATH": "/usr/bin:/bin"}  # it asks for Python there
    return [Job("neuron", family, words, summarize, {"ring.py": INPUT}, environment, version=version)]
