#!/bin/sh
# SPDX-License-Identifier: MIT
# MPI over RDMA: in a machine that QEMU emulates, with soft RoCE devices and the files of this one, which it only reads.
#   tests/rdma/run.sh FOLDER [PART...]
# Each part (guest.py names them) starts the machine anew. Asked for must be `openmpi5_ofi`, since an hour is full without
# it, and `fuzz` and `fuzz_ofi`: there stock MPIs tell wrong counts, crash or fail in most programs (docs/limits-all.md).
# Keeps the kernel and what it compiles (600 MB) in FOLDER. Exit code 77: something that it needs is missing.
set -eu
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
python=$source_folder/.venv/bin/python
# shellcheck source=tests/needs.sh
. "$source_folder/tests/needs.sh"
needs="qemu-system-x86_64 qemu-system-x86
busybox busybox-static
modprobe kmod
cpio cpio
rdma iproute2
/usr/lib/*/libibverbs/librxe-rdmav*.so ibverbs-providers
/usr/lib/*/libfabric.so.1 libfabric1
/usr/lib/*/librdmacm.so.1 librdmacm1
mpicc.mpich libmpich-dev
mpirun.mpich mpich
mpicc.openmpi libopenmpi-dev
mpirun.openmpi openmpi-bin"
modules="virtio_pci 9pnet_virtio 9p veth crc32_generic rdma_rxe ib_uverbs rdma_ucm"
every_part="mpich4 openmpi4 mpich5_ofi openmpi4_ofi backends events tcp stress"
limit_s=1500 # of one part

check_machine() {
    [ "$(uname -m)" = x86_64 ] || skip "the machine is one of x86-64"
    [ "$(id -u)" = 0 ] || skip "only root can show the machine all files"
    install_needs "$needs"
}

# Unpacked, never installed: it is not this machine's kernel.
fetch_kernel() {
    [ ! -e "$folder/kernel/version" ] || return 0
    package=$(apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/.*Depends: *\(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$package" ] || skip "apt knows no linux-image-amd64: name a mirror of Debian in /etc/apt, then apt-get update"
    rm -rf "$folder/kernel"
    mkdir -p "$folder/kernel"
    (cd "$folder/kernel" && apt-get download -qq "$package" && dpkg -x ./*.deb . && rm ./*.deb)
    [ -e "$folder/kernel/lib" ] || ln -s usr/lib "$folder/kernel/lib"
    version=$(basename "$folder"/kernel/lib/modules/*)
    depmod -b "$folder/kernel" "$version"
    echo "$version" >"$folder/kernel/version"
}

# In the order in which they must be loaded.
list_modules() {
    for module in $modules; do
        modprobe -d "$folder/kernel" -S "$version" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

make_initrd() {
    version=$(cat "$folder/kernel/version")
    rm -rf "$folder/initrd.d"
    mkdir -p "$folder/initrd.d/bin" "$folder/initrd.d/modules"
    cp "$(command -v busybox)" "$folder/initrd.d/bin/busybox"
    cp "$source_folder/tests/rdma/init.sh" "$folder/initrd.d/init"
    number=100
    list_modules >"$folder/modules"
    while read -r path; do
        number=$((number + 1))
        case $path in
            *.xz) xz -dc "$path" >"$folder/initrd.d/modules/$number.ko" ;;
            *) cp "$path" "$folder/initrd.d/modules/$number.ko" ;;
        esac
    done <"$folder/modules"
    (cd "$folder/initrd.d" && find . | cpio --create --format=newc --quiet) >"$folder/initrd"
}

# As fast as the processor itself where it can run machines; else emulated.
find_accelerator() {
    if grep -qwE 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; then
        echo "-accel kvm -cpu host"
    else
        echo "-accel tcg,thread=multi -cpu max"
    fi
}

# What the kernel does not know it hands on to init as environment.
run_machine() { # of one part
    # shellcheck disable=SC2046 # a list of words
    timeout $limit_s qemu-system-x86_64 $(find_accelerator) -smp 2 -m 4G -nic none -nographic -no-reboot \
        -virtfs local,path=/,security_model=none,mount_tag=host,readonly=on,multidevs=remap \
        -kernel "$folder"/kernel/boot/vmlinuz-* -initrd "$folder/initrd" </dev/null -append \
        "console=ttyS0 loglevel=1 panic=-1 rdinit=/init SOURCE=$source_folder FOLDER=$folder PART=$1"
}

run_part() {
    echo "== $1"
    began_s=$(date +%s)
    run_machine "$1" | sed -u 's,\r$,,' | tee "$folder/$1.log" | sed -u -n '/^rdma: begin/,$p'
    grep -q '^rdma: all passed' "$folder/$1.log" || failed="$failed $1"
    took_s=$(($(date +%s) - began_s))
    total_s=$((total_s + took_s))
    echo "== $1 took $took_s s, the parts so far $total_s s"
}

check_machine
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
fetch_kernel
make_initrd
failed=""
total_s=0
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $every_part
for part in "$@"; do
    "$python" "$source_folder/tests/rdma/guest.py" compile "$folder" "$part"
    run_part "$part"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
