#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetch and build what tests/packages/run.py needs beside Debian's packages (tools/setup.sh --tests --packages):
# MPICH's own tests, the examples of hypre and MUMPS and the tests of HDF5 and p4est from Debian's source packages,
# PETSc's examples, OpenFOAM's input, and Python packages in an environment of their own.
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

# apt-get with the system's own list of packages, turned into one of sources, in a place of its own.
apt_sources() {
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/apt" \
        -o "Dir::State::lists=$folder/lists" "$@"
}

list_sources() {
    [ ! -e "$folder/lists/.complete" ] || return 0
    mkdir -p "$folder/apt" "$folder/lists/partial" "$folder/source"
    sed -n 's/^Types: deb$/Types: deb-src/; p' /etc/apt/sources.list.d/debian.sources >"$folder/apt/source.sources"
    apt_sources update && : >"$folder/lists/.complete"
}

fetch_source() {
    list_sources && cd "$folder/source" && apt_sources source --download-only "$1" && tar xf "$1"_*.orig.tar.*
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

build_hypre() {
    fetch_source hypre || return 1
    for program in "$folder"/source/hypre-*/src/examples/ex*.c; do
        # Some are for a graphics processor, or for other libraries too.
        mpicc.openmpi -O1 -w -I/usr/include/hypre -o "$folder/hypre/$(basename "$program" .c)" "$program" -lHYPRE -lm || true
    done
}

build_mumps() {
    fetch_source mumps || return 1
    examples=$(echo "$folder"/source/*/examples/dsimpletest.F)
    examples=$(dirname "$examples")
    cp "$examples"/input_simpletest_* "$folder/mumps"
    for letter in s d c z; do
        mpif90.openmpi -w -I/usr/include -o "$folder/mumps/${letter}simpletest" "$examples/${letter}simpletest.F" \
            "-l${letter}mumps" -lmumps_common -lpord || return 1
    done
}

# The tests ask for the folder of the sources by this header, which configure makes.
build_hdf5() {
    fetch_source hdf5 || return 1
    cd "$(dirname "$(echo "$folder"/source/*/testpar/testphdf5.c)")" || return 1
    echo 'static const char *config_srcdir = ".";' >../test/H5srcdir_str.h
    build_hdf5_test testphdf5 t_dset.c t_file.c t_file_image.c t_mdset.c t_ph5basic.c t_coll_chunk.c t_span_tree.c \
        t_chunk_alloc.c t_filter_read.c t_prop.c t_coll_md_read.c
    for name in t_mpi t_pread t_shapesame t_pshutdown t_init_term; do
        build_hdf5_test "$name"
    done
}

build_hdf5_test() {
    program=$1
    shift
    h5pcc.openmpi -w -I../test -I../src -o "$folder/hdf5/$program" "$program.c" "$@" ../test/h5test.c ../test/testframe.c
}

build_p4est() {
    fetch_source p4est || return 1
    for program in "$folder"/source/p4est-*/test/test_*.c; do
        # Some are for a later version of the library.
        mpicc.openmpi -O1 -w -I"$(dirname "$program")/../src" -o "$folder/p4est/$(basename "$program" .c)" "$program" \
            -lp4est -lsc -lm || true
    done
}

build_petsc() {
    examples=$(echo /usr/share/petsc/3*/share/petsc/examples/src)
    PKG_CONFIG_PATH=$(echo /usr/lib/petscdir/petsc3*/*-real/lib/pkgconfig)
    export PKG_CONFIG_PATH
    flags=$(pkg-config --cflags --libs petsc) || return 1
    for name in vec/is/sf/ex1 ksp/ksp/ex2 ksp/ksp/ex34 ksp/ksp/ex45 ksp/ksp/ex5 snes/ex5 snes/ex19 snes/ex48; do
        program=$examples/$(dirname "$name")/tutorials/$(basename "$name").c
        # shellcheck disable=SC2086 # a list of words
        mpicc.openmpi -O1 -w -o "$folder/petsc/$(echo "$name" | tr / -)" "$program" $flags -lm || true
    done
}

# The box under a lid, with all digits, cut in two.
build_openfoam() {
    export WM_PROJECT_DIR=/usr/share/openfoam
    cp -r /usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity/. "$folder/openfoam" &&
        cd "$folder/openfoam" && gunzip -rf . && cat >system/decomposeParDict <<CUT || return 1
FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }
numberOfSubdomains 2;
method simple;
simpleCoeffs { n (2 1 1); delta 0.001; }
CUT
    foamDictionary -entry writePrecision -set 17 system/controlDict && blockMesh && decomposePar
}

make_python() {
    python3 -m venv "$folder/python" &&
        "$folder/python/bin/pip" install -q numpy mpi4py devito mpi4jax 'jax[cpu]'
}

if [ ! -e "$folder/mpich-tests/.complete" ]; then
    (fetch_source mpich && configure_tests) >"$folder/mpich-tests.log" 2>&1 || say "not built: MPICH's tests (mpich-tests.log)"
    build_tests >>"$folder/mpich-tests.log" 2>&1
    [ ! -x "$wheels/openmpi5/bin/mpicc" ] || build_survivors >>"$folder/mpich-tests.log" 2>&1 ||
        say "not built: MPICH's tests of ranks that die, for Open MPI 5 (mpich-tests.log)"
    : >"$folder/mpich-tests/.complete"
fi
for kind in hypre mumps hdf5 p4est petsc openfoam; do
    [ ! -e "$folder/$kind" ] || continue
    mkdir "$folder/$kind"
    ("build_$kind") >"$folder/$kind.log" 2>&1 || say "not made: what $kind needs ($kind.log)"
done
[ -x "$folder/python/bin/python" ] || make_python >"$folder/python.log" 2>&1 || say "not installed: Devito, mpi4jax"
