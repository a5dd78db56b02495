#!/bin/sh
# SPDX-License-Identifier: MIT
# An installed Lapwing works: it tells its version, and a job of two ranks has the result of the stock job, with a
# summary of both ranks.
#   tests/sites/job.sh FOLDER LAPWING...        LAPWING...: the command, as it is typed
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
shift
program=$folder/heat3d
job="mpirun.openmpi --oversubscribe -n 2 $program 256 256 32 10"
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
unset LAPWING_PRELOAD PYTHONHOME

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/pyproject.toml")
"$@" --version | grep -q "$version"
mpicc.openmpi -O2 -o "$program" "$root/examples/heat3d.c" -lm
# shellcheck disable=SC2086 # a list of words
stock=$(timeout -k 5 60 $job)
# shellcheck disable=SC2086
timeout -k 5 60 "$@" run $job >"$folder/output" 2>"$folder/summary"
under=$(cat "$folder/output")
echo "$under"
cat "$folder/summary"
[ -n "${stock##*checksum}" ] && [ "${stock##*checksum}" = "${under##*checksum}" ]
grep -q '2 of 2 ranks reporting' "$folder/summary"
