#!/bin/sh
# SPDX-License-Identifier: MIT
# Install what the tests need, and run them.
#   tools/test.sh            all that a change must pass (under 25 minutes on 2 cores)
#   tools/test.sh STEP...    only these steps, after tools/setup.sh --tests
#   tools/test.sh stress     300,000 random steps per variant (hold backend) and MPI
#   tools/test.sh fuzz_long  1,000,000 random operations per variant and MPI, or FUZZ_OPERATIONS (half a day; goes on
#                            where it was interrupted)
#   tools/test.sh docs       the documents as a site, in build/site, and no link that leads nowhere
#   tools/test.sh fortran    every Fortran program in the hold backends, in each binding (about 20 minutes)
#   tools/test.sh packages   programs that were not written for Lapwing (docs/tested.md): the outcomes of stock MPI (hours)
#   tools/test.sh faults     each place in Lapwing's code whose system call may fail, on two MPIs in each hold (10 minutes)
#   tools/test.sh ranks      64 to 512 ranks on this host, stock and under Lapwing: memory, time, files (some minutes)
#   tools/test.sh overlap    what IMB-NBC and Devito say of overlap on emulated hosts, stock and under Lapwing (minutes)
#   tools/test.sh predictions  predicted and measured times of the programs of packages (docs/predictions.md): hours
#   tools/test.sh cuda       messages in memory that a GPU uses, by CUDA itself (where there is an NVIDIA GPU; a minute)
#   tools/test.sh call       what a small call that is passed costs, in instructions
#   tools/test.sh harm       what programs without MPI pay: page faults, peak memory, instructions
#   tools/test.sh matrix     every MPI program in every variant on every MPI
#   tools/test.sh rdma       MPI over RDMA devices, in a machine that QEMU emulates with soft RoCE (as root; an hour)
#   tools/test.sh slurm      Lapwing under Slurm, on three emulated nodes (as root; 10 minutes)
#   tools/test.sh sites      RPM, EasyBuild and Spack recipe, containers, from a release made anew (as root; 15 minutes)
#   tools/test.sh release    builds a release into dist/, and tries it in clean chroots of Debian 11 to 13 (as root)
# A step that cannot run here is skipped, with the reason, and listed at the end.
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
build=$root/build/release
every_step="format layers lint shell build preload options docs unit python sanitize mpi profile fuzz fortran_quick harm claim"
failed=""
skipped=""

step_format() {
    .venv/bin/python tools/check_format.py
}

step_layers() {
    .venv/bin/python tools/check_layers.py && .venv/bin/python tools/check_names.py
}

step_lint() {
    .venv/bin/ruff check python tools tests mpi src &&
        .venv/bin/mypy python/lapwing tools tests/mpi tests/claim &&
        .venv/bin/mypy tests/fortran/run.py && .venv/bin/mypy tests/fuzz &&
        .venv/bin/mypy tests/faults tests/ranks/run.py &&
        .venv/bin/mypy tests/gpu/run.py &&
        .venv/bin/mypy tests/rdma/guest.py tests/slurm/claims.py tests/sites/spack.py
}

step_shell() {
    command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; return 77; }
    shellcheck -x tools/*.sh tests/needs.sh tests/packages/*.sh tests/aarch64/*.sh tests/rdma/*.sh tests/slurm/*.sh \
        tests/sites/*.sh \
        .ci/run
}

configure() {
    .venv/bin/cmake --preset "$1" -DCMAKE_MAKE_PROGRAM="$root/.venv/bin/ninja" \
        -DPython3_EXECUTABLE="$root/.venv/bin/python" -DLAPWING_WERROR=ON >/dev/null
}

step_build() {
    configure release && .venv/bin/cmake --build --preset release -j 2
}

step_preload() {
    .venv/bin/python tools/check_preload.py "$build/liblapwing.so" "$build/exports.txt" &&
        .venv/bin/python tools/check_state.py "$build"
}

# The pages that are made from tables are current.
step_options() {
    .venv/bin/lapwing options --markdown | diff -u docs/options.md - ||
        { echo "docs/options.md is not current: lapwing options --markdown > docs/options.md"; return 1; }
    .venv/bin/python mpi/document.py | diff -u docs/functions.md - ||
        { echo "docs/functions.md is not current: python3 mpi/document.py > docs/functions.md"; return 1; }
}

# The site, with no link that leads nowhere.
step_docs() {
    tools/docs.sh
}

step_unit() {
    .venv/bin/ctest --preset release -j 2
}

step_python() {
    LAPWING_PRELOAD=$build/liblapwing.so .venv/bin/python -m pytest -q -n 2 tests/python
}

# Only tests that link the layers: a sanitizer's runtime cannot be preloaded.
step_sanitize() {
    for preset in asan tsan; do
        configure "$preset" && .venv/bin/cmake --build --preset "$preset" -j 2 &&
            .venv/bin/ctest --preset "$preset" -L unit -j 2 || return 1
    done
}

run_mpi() {
    .venv/bin/python tests/mpi/run.py --preload "$build/liblapwing.so" "$@"
}

# Launchers and their daemons take longer to start and end than the programs to run.
run_mpi_widely() {
    run_mpi --jobs 4 "$@"
}

# What is enough for each MPI and program (tests/mpi/cases.py). That the programs themselves are right is seen with
# stock Open MPI.
step_mpi() {
    run_mpi_widely --quick --mpi openmpi4
    on_openmpi=$?
    run_mpi_widely --quick --trust-ok --mpi mpich4 --mpi openmpi5 --mpi mpich5 --mpi mpi5abi
    on_others=$?
    run_mpi --quick --trust-ok --mpi impi # two jobs of it at a time hang now and then, without Lapwing too
    on_intel=$?
    for code in $on_openmpi $on_others $on_intel; do
        [ "$code" = 0 ] || [ "$code" = 77 ] || return 1
    done
    [ $on_openmpi = 0 ] || [ $on_others = 0 ] || return 77
}

run_fortran() {
    .venv/bin/python tests/fortran/run.py --preload "$build/liblapwing.so" "$@"
}

# That each binding of each MPI is overlapped at all; under a minute.
step_fortran_quick() {
    run_fortran --variant userfaultfd --program sendrecv --program status_exact
}

step_profile() {
    .venv/bin/python tests/profile/run.py --preload "$build/liblapwing.so" --mpi openmpi4 --mpi mpich4 &&
        run_mpi --variant profile --mpi openmpi4 --mpi mpich4 --program persistent \
            --program thread_multiple_mixed --program nonblocking_waits --program fork_child \
            --program touch_system_call --program stress --program send_named_twice \
            --program collectives_lists_twice --program data_limited_send --program early_refused
}

step_fortran() {
    run_fortran --quick
}

run_fuzz() {
    .venv/bin/python tests/fuzz/run.py --preload "$build/liblapwing.so" "$@"
}

# Two minutes of random programs; the seeds begin with one thread here, with several there.
step_fuzz() {
    run_fuzz --mpi openmpi4 --seed 80 --seconds 28 --no-minimise \
        --variant userfaultfd-1 --variant signal-1 --variant touched-1 --variant waits-1 --variant default
    on_openmpi=$?
    run_fuzz --mpi mpich4 --seed 20 --seconds 28 --no-minimise \
        --variant userfaultfd-1 --variant signal-1 --variant touched-1 --variant waits-1 --variant default
    on_mpich=$?
    # The same where messages are received early. Stock MPICH 4.0 hangs in one of the programs from 20 on.
    run_fuzz --mpi openmpi4 --mpi mpich4 --seed 200 --seconds 12 --no-minimise --variant early --variant early-1
    early=$?
    for code in $on_openmpi $on_mpich $early; do
        [ "$code" = 0 ] || [ "$code" = 77 ] || return 1
    done
    [ $on_openmpi = 0 ] || [ $on_mpich = 0 ] || return 77
}

# Every variant but those of early receives, on every MPI that is installed; a table at its end. FUZZ_OPERATIONS:
# how many with each (1000000). What the same build has done before counts, so that it can be interrupted.
step_fuzz_long() {
    run_fuzz --operations "${FUZZ_OPERATIONS:-1000000}" --resume build/fuzz/long.json
}

# Every program on every MPI in every variant: about half an hour.
step_matrix() {
    run_mpi_widely
}

# The product's claim: the demo is faster and right. Measured, so not on a machine with one core.
step_claim() {
    [ "$(nproc)" -ge 2 ] || { echo "one core only"; return 77; }
    .venv/bin/python tests/claim/check_claim.py || return
    CHECK_TIMES=1 run_mpi --quick --jobs 1 --mpi openmpi4 --mpi mpich4 --program waits_of_receives_learnt \
        --program engine_cores
}

# What Lapwing costs programs without MPI, in what other work on the machine does not change.
step_harm() {
    LAPWING_PRELOAD=$build/liblapwing.so .venv/bin/lapwing bench harm --counts || return 1
    command -v valgrind >/dev/null || { echo "valgrind is not installed: page faults and memory only"; return 77; }
}

step_stress() {
    for seed in 1 2 3; do
        run_mpi --program stress --verbose --timeout 600 -- 100000 "$seed" || return 1
    done
}

# Another processor, emulated: a quarter of an hour.
step_aarch64() {
    tests/aarch64/run.sh build/aarch64
}

# RDMA devices, emulated: what holds memory, and what does not, beside registration caches.
step_rdma() {
    tests/rdma/run.sh build/rdma
}

# A GPU: what says that memory is known to one, and where it looks.
step_cuda() {
    .venv/bin/python tests/gpu/run.py --preload "$build/liblapwing.so" --jobs 2
}

step_slurm() {
    tests/slurm/run.sh build/slurm
}

# The release is made anew: what is tried is what stands here.
step_sites() {
    tools/release.sh "$(uname -m)" && tests/sites/run.sh build/sites
}

step_release() {
    tools/release.sh && tools/check_release.sh
}

step_call() {
    .venv/bin/python tools/measure_call.py "$build/liblapwing.so"
}

step_packages() {
    tools/setup.sh --tests --packages && tests/packages/fetch.sh build/packages &&
        .venv/bin/python tests/packages/run.py --preload "$build/liblapwing.so" --results build/packages/results.jsonl
}

step_faults() {
    .venv/bin/cmake --build --preset release -j 2 --target lapwing_faults &&
        .venv/bin/python tests/faults/run.py --once --results build/faults.jsonl
}

step_ranks() {
    .venv/bin/python tests/ranks/run.py
}

step_predictions() {
    tools/setup.sh --tests --packages && tests/packages/fetch.sh build/packages &&
        .venv/bin/python tests/packages/predictions.py --preload "$build/liblapwing.so"
}

run_overlap() {
    .venv/bin/python tests/packages/overlap.py "$@" --preload "$build/liblapwing.so"
}

step_overlap() {
    run_overlap imb
    on_imb=$?
    run_overlap devito
    on_devito=$?
    for code in $on_imb $on_devito; do
        [ "$code" = 0 ] || [ "$code" = 77 ] || return 1
    done
    [ $on_imb = 0 ] || [ $on_devito = 0 ] || return 77
}

# Which cases failed where the step names them; the end of the log where it does not.
show_failure() {
    if grep -q '^FAIL' "$1"; then
        awk '/^FAIL/ { left = 30 } /^(pass|skip|[0-9]+ passed)/ { left = 0 } left-- > 0' "$1"
    else
        tail -n 15 "$1"
    fi | cut -c 1-500 | head -n 80
}

run_step() {
    begin=$(date +%s)
    "step_$1" >"build/logs/$1.log" 2>&1
    code=$?
    took=$(($(date +%s) - begin))
    case $code in
        0) echo "ok    $1 (${took} s)" ;;
        77) echo "skip  $1: $(tail -n 1 "build/logs/$1.log")"; skipped="$skipped $1" ;;
        *) echo "FAIL  $1 (${took} s), build/logs/$1.log:"; show_failure "build/logs/$1.log"; failed="$failed $1" ;;
    esac
    grep -h '^skip ' "build/logs/$1.log" | sed 's/^/      /'
}

mkdir -p build/logs
tools/setup.sh --tests || exit 2
PATH=$root/.venv/bin:$PATH
export PATH
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $every_step
for step in "$@"; do
    run_step "$step"
done
[ -z "$skipped" ] || echo "skipped:$skipped"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
echo "all passed"
