#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetch and build what tests/packages/run.py needs beside Debian's packages (tools/setup.sh --tests --packages):
# MPICH's own tests from Debian's source package, and Python packages in an environment of their own.
#   tests/packages/fetch.sh FOLDER [WHEELS]
# WHEELS: environments with MPI wheels, else those of tools/setup.sh --tests.
# What cannot be had is left out; run.py then lists it as skipped.
set -u
folder=${1:?usage: tests/packages/fetch.sh FOLDER [WHEELS]}
wheels=${2:-$(dirname "$0")/../../.venv/mpi}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ ! -d "$wheels" ] || wheels=$(cd "$wheels" && pwd)

say() {
    printf '%s\n' "$*" >&2
}

# The system's own list of packages, turned into one of sources, in a place of its own.
fetch_source() {
    mkdir -p "$folder/apt" "$folder/lists/partial" "$folder/source"
    sed -n 's/^Types: deb$/Types: deb-src/; p' /etc/apt/sources.list.d/debian.sources >"$folder/apt/source.sources"
    set -- -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/apt" -o "Dir::State::lists=$folder/lists"
    apt-get "$@" update && cd "$folder/source" && apt-get "$@" source --download-only mpich && tar xf mpich_*.orig.tar.*
}

configure_tests() {
    mkdir -p "$folder/mpich-tests" && cd "$folder/mpich-tests" &&
        "$(echo "$folder"/source/mpich-*/test/mpi)/configure" --with-mpi=/usr --disable-cxx --disable-dtpools \
            CC=gcc MPICC=mpicc.mpich MPIF77=mpif77.mpich MPIFC=mpif90.mpich MPIEXEC=mpirun.mpich
}

# Only MPICH's own build makes this library of the Fortran 2008 tests; without it, it is empty.
build_fortran_2008_library() {
    cd "$folder/mpich-tests/util" && make -k libmtest_f08.la
    mpif90.mpich -O2 -c -o mtest_f08.o "$(echo "$folder"/source/mpich-*/test/mpi/util)/mtest_f08.f90" &&
        ar r .libs/libmtest_f08.a mtest_f08.o
}

# Some programs do not build with an MPI that is installed elsewhere: the others count.
build_tests() {
    build_fortran_2008_library
    cd "$folder/mpich-tests" || return 1
    groups="pt2pt threads/pt2pt threads/comm threads/init coll ft"
    for language in f77 f08; do
        for group in util pt2pt datatype coll attr comm topo; do
            groups="$groups $language/$group"
        done
    done
    for group in $groups f08/subarray f08/misc; do
        [ ! -d "$group" ] || make -k -j 2 -C "$group"
    done
}

# The programs whose ranks die, for the other MPI that survives it. It has these functions' names in a header of its
# own; what it lacks altogether does not build.
build_survivors() {
    tests=$(echo "$folder"/source/mpich-*/test/mpi)
    survivors=$folder/mpich-tests-openmpi5
    mkdir -p "$survivors/ft"
    for part in "$tests"/util/mtest.c "$tests"/util/mtest_common.c "$tests"/util/mtest_single.c; do
        compile_survivor -c "$part" -o "$survivors/$(basename "$part" .c).o" || return 1
    done
    for program in "$tests"/ft/*.c; do
        compile_survivor "$program" "$survivors"/*.o -o "$survivors/ft/$(basename "$program" .c)" || true
    done
}

compile_survivor() {
    PATH="$wheels/openmpi5/bin:$PATH" mpicc -O1 -w -DHAVE_MPITESTCONF_H -include mpi.h -include mpi-ext.h \
        -I"$tests/include" -I"$folder/mpich-tests/include" "$@"
}

make_python() {
    python3 -m venv "$folder/python" &&
        "$folder/python/bin/pip" install -q numpy mpi4py devito mpi4jax 'jax[cpu]'
}

if [ ! -e "$folder/mpich-tests/.complete" ]; then
    (fetch_source && configure_tests) >"$folder/mpich-tests.log" 2>&1 || say "not built: MPICH's tests (mpich-tests.log)"
    build_tests >>"$folder/mpich-tests.log" 2>&1
    [ ! -x "$wheels/openmpi5/bin/mpicc" ] || build_survivors >>"$folder/mpich-tests.log" 2>&1 ||
        say "not built: MPICH's tests of ranks that die, for Open MPI 5 (mpich-tests.log)"
    : >"$folder/mpich-tests/.complete"
fi
[ -x "$folder/python/bin/python" ] || make_python >"$folder/python.log" 2>&1 || say "not installed: Devito, mpi4jax"
