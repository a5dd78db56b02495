#!/bin/sh
# SPDX-License-Identifier: MIT
# The first process of the emulated machine: runs the tests, and turns it off. Environment: see run.sh.
export PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 PYTHONPATH="$SOURCE/python"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /tmp /root
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
ip link set lo up
hostname lapwing
echo "127.0.0.1 localhost lapwing" >/etc/hosts
ldconfig
ln -sf gcc /usr/bin/cc
uname -srm

# Not: tens of thousands of mappings, one by one; huge pages, which are given up where the kernel is as slow as here in
# making one; programs.py, which wants git, gdb and perl.
run_unit_tests() {
    ctest --test-dir "$BUILD" --no-tests=error --timeout 600 --output-on-failure -E 'map_count|protect_huge|libc_programs'
}

run_programs() { # of one MPI
    words=$(echo "$PROGRAMS" | sed 's/,/ --program /g')
    # shellcheck disable=SC2086 # a list of words
    python3 "$SOURCE/tests/mpi/run.py" --preload "$BUILD/liblapwing.so" --build /tmp/programs --jobs 2 --timeout 600 \
        --verbose --mpi "$1" --variant default --variant signal-1 --program $words
}

run_unit_tests && run_programs openmpi4 && run_programs mpich4 && echo "aarch64: all passed"
echo o >/proc/sysrq-trigger
sleep 60
