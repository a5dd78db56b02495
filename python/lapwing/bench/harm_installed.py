# SPDX-License-Identifier: MIT
"""Programs of the harm suite that distributions package: their inputs, and where they print the time that they took.

All time themselves, after MPI_Init: the launcher's start is not in it.
"""

import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lapwing.bench.contenders import Contender
from lapwing.bench.place import ROOT_ALLOWED, Place, check_exit
from lapwing.errors import LapwingError
from lapwing.files import find_preload

PREPARE_LIMIT_S, RUN_LIMIT_S = 300.0, 300.0
# Linear algebra with threads of its own would fight with the ranks for the cores.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Installed:
    """How one of them is run."""

    words: Sequence[str]
    packages: str  # Debian's names
    times: str  # finds the seconds that it took, several to be added
    output: str = ""  # the file that has them; none: standard output
    files: Mapping[str, str] = field(default_factory=dict)
    unpacked: Mapping[str, str] = field(default_factory=dict)  # name: what it is unpacked from
    steps: Sequence[Sequence[str]] = ()  # make its input
    mpi: str = "openmpi"  # for which Debian builds it


MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run 600
"""
WATER = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
DYNAMICS = """integrator = md
dt = 0.002
nsteps = 1200
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = no
gen-vel = yes
gen-seed = 1993
"""
SILICON = """&control
  calculation = 'scf', prefix = 'silicon', pseudo_dir = '.', outdir = '.'
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 30.0
/
&electrons
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 12 12 12 1 1 1
"""
# The program reads by line number; what follows the value is a remark.
CHALLENGE = """HPL input
Lapwing's harm suite
HPL.out  output file
8        to a file
1        number of problem sizes
3000     sizes
1        number of blocks
80       block sizes
0        row-major mapping
1        number of grids
1        P
2        Q
16.0     threshold
1        number of panel factorisations
2        right
1        number of recursive stops
4        smallest columns
1        number of panels
2        divisions
1        number of recursive factorisations
1        Crout
1        number of broadcasts
1        increasing ring, modified
1        number of depths
1        lookahead
2        swap by mix
64       swapping threshold
0        L1 transposed
0        U transposed
1        equilibration
8        alignment
separator
0        more sizes for PTRANS
1200     sizes
0        more blocks for PTRANS
40       blocks
"""

LAMMPS = Installed(
    ["lmp", "-in", "melt.txt", "-log", "none"],
    "lammps",
    r"^Loop time of (\S+) on 2 procs",
    files={"melt.txt": MELT},
)
GROMACS = Installed(
    ["gmx_mpi", "mdrun", "-reprod", "-ntomp", "1", "-pin", "off", "-s", "topol.tpr", "-g", "md.log"],
    "gromacs",
    r"^ +Time: +\S+ +(\S+) +\S+$",
    output="md.log",
    files={"topol.top": WATER, "grompp.mdp": DYNAMICS},
    steps=[
        ["gmx", "solvate", "-cs", "spc216.gro", "-box", "4", "4", "4", "-o", "conf.gro", "-p", "topol.top"],
        ["gmx", "grompp", "-maxwarn", "2"],
    ],
)
QUANTUM_ESPRESSO = Installed(
    ["pw.x", "-in", "silicon.txt"],
    "quantum-espresso quantum-espresso-data",
    r"^ +electrons +: .* CPU +([\d.]+)s WALL",
    files={"silicon.txt": SILICON},
    unpacked={"Si.pz-vbc.UPF": "/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz"},
)
HPCC = Installed(
    ["hpcc"],
    "hpcc",
    r"^(?:HPL|PTRANS|MPIRandomAccess_LCG|MPIRandomAccess|MPIFFT)_time\d?=(\S+)",
    output="hpccoutf.txt",
    files={"hpccinf.txt": CHALLENGE},
)


def check_installed(installed: Installed, mpi_name: str) -> None:
    """Say what is to be typed where a program is not here."""
    if mpi_name != installed.mpi:
        raise LapwingError(f"Debian builds it for {installed.mpi}", "run it with that MPI")
    programs = {installed.words[0], *(step[0] for step in installed.steps)}
    missing = [name for name in sorted(programs) if shutil.which(name) is None]
    missing += [path for path in installed.unpacked.values() if not Path(path).exists()]
    if missing:
        remedy = f"apt-get install {installed.packages}"
        raise LapwingError(f"there is no {', '.join(missing)}: {remedy}", remedy)


def prepare_installed(installed: Installed, folder: Path) -> None:
    """Write and make a program's input."""
    for name, text in installed.files.items():
        (folder / name).write_text(text)
    for name, packed in installed.unpacked.items():
        (folder / name).write_bytes(gzip.decompress(Path(packed).read_bytes()))
    try:
        for step in installed.steps:
            subprocess.run(step, cwd=folder, check=True, capture_output=True, timeout=PREPARE_LIMIT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise LapwingError(f"its input cannot be made: {error}", "run that by hand") from error


def remove_output(installed: Installed, folder: Path) -> None:
    """Forget the last run: some programs append."""
    if installed.output:
        (folder / installed.output).unlink(missing_ok=True)


def read_time_us(installed: Installed, folder: Path, printed: str) -> float:
    """Return the time that a run says it took."""
    path = folder / installed.output
    text = path.read_text(errors="replace") if installed.output and path.exists() else printed
    seconds = [float(found) for found in re.findall(installed.times, text, re.MULTILINE)]
    if not seconds:
        raise LapwingError("it printed no time", "run it by hand", 1)
    return 1e6 * sum(seconds)


def run_installed(installed: Installed, place: Place, contender: Contender) -> float:
    """Run one of them, two ranks over shared memory; return the microseconds that it says it took."""
    remove_output(installed, place.folder)
    variables = {**os.environ, **place.mpi.environment, **ONE_THREAD, **(ROOT_ALLOWED if os.geteuid() == 0 else {})}
    variables["LAPWING_PRELOAD"] = str(find_preload().resolve())  # it runs in another folder
    line = place.command(contender, installed.words)
    try:
        done = subprocess.run(
            line,
            cwd=place.folder,
            env=variables,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=RUN_LIMIT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise LapwingError(f"it took longer than {RUN_LIMIT_S:.0f} s", "run it by hand", 1) from error
    check_exit(line, done.returncode, done.stderr)
    return read_time_us(installed, place.folder, done.stdout)
