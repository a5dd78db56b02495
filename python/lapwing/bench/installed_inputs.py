# SPDX-License-Identifier: MIT
"""Inputs of programs that distributions package.

The harm suite (harm_installed.py) and the tests of real programs (tests/packages) run the same cases, for times and for
results: they differ in length, and in what the programs print.
"""

from collections.abc import Sequence

SILICON_POTENTIAL = "/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz"
GROMACS_TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
# What GROMACS's own tool (gmx) makes of topol.top and grompp.mdp, step by step: conf.gro, topol.tpr.
GROMACS_STEPS: Sequence[Sequence[str]] = (
    ("solvate", "-cs", "spc216.gro", "-box", "4", "4", "4", "-o", "conf.gro", "-p", "topol.top"),
    ("grompp", "-maxwarn", "2"),
)


def make_hpcc_input(remark: str, size: int) -> str:
    """HPC Challenge: a linear system of this size, on two ranks."""
    # The program reads by line number; what follows the value is a remark.
    return f"""HPL input
{remark}
HPL.out  output file
8        to a file
1        number of problem sizes
{size:<8} sizes
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


def make_lammps_input(neighbour_steps: int, printed_steps: int, step_count: int, print_lines: str = "") -> str:
    """LAMMPS: a crystal that melts. Neighbours are listed, and a line is printed, every so many steps."""
    return f"""units lj
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
neigh_modify every {neighbour_steps} delay 0 check no
fix 1 all nve
thermo {printed_steps}
{print_lines}run {step_count}
"""


def make_gromacs_parameters(step_count: int, print_lines: str = "") -> str:
    """GROMACS: the dynamics of a box of water."""
    return f"""integrator = md
dt = 0.002
nsteps = {step_count}
{print_lines}coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = no
gen-vel = yes
gen-seed = 1993
"""


def make_quantum_espresso_input(cutoff: float, mesh: str, functional_lines: str = "") -> str:
    """Quantum ESPRESSO: silicon, with a cutoff for wave functions in Ry and a mesh of k points."""
    return f"""&control
  calculation = 'scf', prefix = 'silicon', pseudo_dir = '.', outdir = '.'
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = {cutoff}
{functional_lines}/
&electrons
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 {mesh}
"""
