#!/bin/sh
# SPDX-License-Identifier: MIT
# Lapwing in containers of Podman, under its default seccomp profile, and of Charliecloud: the launcher inside, or
# outside with each rank in a container of its own. Each run has the checksum of the stock run, and a record of both
# ranks.
#   tests/sites/containers.sh FOLDER
# The image is Debian 12 with its Open MPI and the packages of dist/ (tools/release.sh).
# shellcheck disable=SC2016 # commands for a shell inside the image
set -eu
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tools/debian.sh
. "$source_folder/tools/debian.sh"
# shellcheck source=tests/needs.sh
. "$source_folder/tests/needs.sh"
folder=$1
image=$folder/image
name=lapwing-test
machine=$(dpkg --print-architecture)
[ -n "$(ls "$source_folder"/dist/*_"$machine".deb 2>/dev/null)" ] || skip "dist/ has no packages: tools/release.sh $(uname -m)"
size="256 256 32 10"
# What is bound into a container keeps its path, which an image may not have: /tmp is in each.
work=$(mktemp -d /tmp/lapwing-containers.XXXXXX)
trap 'rm -rf "$work"; podman rmi -f "$name" >/dev/null 2>&1 || true' EXIT

make_image() {
    rm -rf "$image"
    debootstrap --variant=minbase --include=openmpi-bin,python3-rich,python3-matplotlib,python3-pyelftools bookworm \
        "$image" "$(find_mirror)" >"$folder/debootstrap.log" 2>&1
    cp "$source_folder"/dist/lapwing_*_"$machine".deb "$source_folder"/dist/liblapwing_*_"$machine".deb "$image/tmp/"
    chroot "$image" sh -c 'dpkg -i /tmp/*.deb'
    mpicc.openmpi -O2 -o "$image/opt/heat3d" "$source_folder/examples/heat3d.c" -lm
    podman rmi -f "$name" >/dev/null 2>&1 || true
    tar -C "$image" -c . | podman import --quiet - "$name"
}

# The same packages outside, for the launcher there. Its preload lies where containers see it.
make_outside() {
    dpkg-deb -x "$(ls "$source_folder"/dist/lapwing_*_"$machine".deb)" "$folder/outside"
    dpkg-deb -x "$(ls "$source_folder"/dist/liblapwing_*_"$machine".deb)" "$folder/outside"
    cp "$folder"/outside/usr/lib/*/lapwing/liblapwing.so "$work/"
    export PYTHONPATH="$folder/outside/usr/lib/python3/dist-packages" LAPWING_PRELOAD="$work/liblapwing.so"
}

# runc: crun refuses a machine with both kinds of cgroups. Podman's own limits are above what root may set here.
podman_run="podman run --rm --runtime runc --ulimit nofile=1024:4096 --ulimit nproc=4096:4096"

# shellcheck disable=SC2086 # a list of words
inside_podman() {
    timeout -k 5 100 $podman_run --network none "$@" "$name" sh -c "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        lapwing run --learn off $launcher /opt/heat3d $size"
}

run_outside() {
    # shellcheck disable=SC2086 # a list of words
    timeout -k 5 100 "$folder/outside/usr/bin/lapwing" run --learn off $launcher "$@"
}

# As Open MPI's documents start ranks with Podman: with the host's namespaces, and its /tmp for the ranks to meet in.
# shellcheck disable=SC2086
ranks_in_podman() {
    run_outside $podman_run --env-host --network host --ipc host --pid host --volume /tmp:/tmp "$name" \
        /opt/heat3d $size
}

# Charliecloud binds the host's /tmp by itself.
# shellcheck disable=SC2086
ranks_in_charliecloud() {
    USER=root run_outside ch-run "$image" -- /opt/heat3d $size
}

fail() {
    cat "$folder/output"
    echo "FAILED $1"
    exit 1
}

# check NAME TEXT COMMAND...: it ends well, with the stock checksum, the records of both ranks, and this text.
check() {
    claim=$1
    text=$2
    shift 2
    "$@" >"$folder/output" 2>&1 || fail "$claim"
    for expected in "$checksum" '2 of 2 ranks reporting' "$text"; do
        grep -q "$expected" "$folder/output" || fail "$claim: no '$expected'"
    done
    echo "ok $claim"
}

# In a folder that the container does not show: the job's own result, and what is missing.
check_unseen() {
    (cd "$folder" && ranks_in_charliecloud) >"$folder/output" 2>&1 || fail "Charliecloud, records unseen"
    grep -q "$checksum" "$folder/output" || fail "Charliecloud, records unseen: no '$checksum'"
    grep -q 'the container (ch-run) does not show' "$folder/output" || fail "Charliecloud, records unseen: not told"
    echo "ok Charliecloud, records unseen"
}

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launcher="mpirun --oversubscribe -n 2"
make_image
make_outside
# shellcheck disable=SC2086
checksum=$(timeout -k 5 60 $launcher "$image/opt/heat3d" $size)
checksum="checksum${checksum##*checksum}"
cd "$work"
check "Podman, launcher inside" 'hold signal' inside_podman
check "Podman, launcher inside, user" 'hold signal' inside_podman --user 1000 --env HOME=/tmp --workdir /tmp
check "Podman, launcher inside, no seccomp" 'hold userfaultfd' inside_podman --security-opt seccomp=unconfined
check "Podman, ranks inside" 'hold signal' ranks_in_podman
check "Charliecloud, ranks inside" 'hold userfaultfd' ranks_in_charliecloud
check_unseen
