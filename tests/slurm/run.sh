#!/bin/sh
# SPDX-License-Identifier: MIT
# Lapwing under Slurm: on three nodes that this machine emulates, with Debian's Slurm, Open MPI and MPICH.
#   tests/slurm/run.sh FOLDER [CLAIM...]
# Exit code 77: something that it needs is missing.
set -eu
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/needs.sh
. "$source_folder/tests/needs.sh"
needs="slurmctld slurmctld
slurmd slurmd
srun slurm-client
munged munge
ip iproute2
mpicc.openmpi libopenmpi-dev
mpirun.openmpi openmpi-bin
mpicc.mpich libmpich-dev
mpirun.mpich mpich"

[ "$(id -u)" = 0 ] || skip "only root can start a cluster"
unshare --mount --net true 2>/dev/null || skip "namespaces are not permitted here"
# Not installed: the packages add users and a key, and start daemons that stay.
check_needs "$needs"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
for mpi in openmpi mpich; do
    "mpicc.$mpi" -std=gnu17 -O1 -g "$source_folder/tests/slurm/exchange.c" -o "$folder/exchange.$mpi"
done
exec "$source_folder/tests/slurm/cluster.sh" "$folder" \
    "$source_folder/.venv/bin/python" "$source_folder/tests/slurm/claims.py" "$folder" "$@"
