#!/bin/sh
# SPDX-License-Identifier: MIT
# A Slurm cluster of three nodes, node1 to node3, on this machine, for as long as a command runs:
#   cluster.sh FOLDER COMMAND ...
# In namespaces of its own (files, network, processes): what is mounted and started here ends with the command. FOLDER
# holds logs and spools; see slurm.conf for what it is.
set -eu
if [ "${1:-}" != inside ]; then
    exec unshare --mount --net --pid --fork --mount-proc --kill-child "$0" inside "$@"
fi
here=$(cd "$(dirname "$0")" && pwd)
folder=$2
shift 2

# With the address of lo alone, slurmd finds none to listen at.
make_network() {
    ip link set lo up
    ip link add line0 type veth peer name line1
    ip link set line0 up
    ip link set line1 up
    for number in 1 2 3; do
        ip addr add "10.77.1.$number/24" dev line0
    done
}

mount_files() {
    mkdir -p "$folder/etc" "$folder/log"
    cp "$here/slurm.conf" "$folder/etc/slurm.conf"
    : >"$folder/etc/cgroup.conf"
    printf '127.0.0.1 localhost\n10.77.1.1 node1\n10.77.1.2 node2\n10.77.1.3 node3\n' >"$folder/hosts"
    mount --bind "$folder/hosts" /etc/hosts
    mount --bind "$folder/etc" /etc/slurm
    mount -t tmpfs run /run
    mkdir -p /run/munge /run/slurm/spool
    chmod 755 /run/munge
}

start_munge() {
    dd if=/dev/urandom of=/run/munge/key bs=1 count=1024 2>/dev/null
    chmod 600 /run/munge/key
    munged --force --foreground --key-file=/run/munge/key --seed-file=/run/munge/seed --pid-file=/run/munge/pid \
        --socket=/run/munge/munge.socket.2 >"$folder/log/munged" 2>&1 &
}

# Each with a host name of its own: so ranks on two nodes do not take each other for neighbours.
start_nodes() {
    unshare --uts sh -c "hostname node1 && exec slurmctld -D" >"$folder/log/slurmctld" 2>&1 &
    for node in node1 node2 node3; do
        mkdir -p "/run/slurm/spool/$node" "/run/slurm/tmp/$node"
        unshare --uts sh -c "hostname $node && exec slurmd -D -N $node" >"$folder/log/$node" 2>&1 &
    done
}

wait_for_nodes() {
    for _ in $(seq 120); do
        [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" != 3 ] || return 0
        sleep 0.5
    done
    echo "the nodes do not answer:"
    tail -n 5 "$folder"/log/*
    return 1
}

make_network
mount_files
start_munge
start_nodes
wait_for_nodes
# The place from which a user works: a login node.
unshare --uts sh -c 'hostname node1 && exec "$@"' sh "$@"
