#!/bin/sh
# SPDX-License-Identifier: MIT
# Build for aarch64, and run the tests there: in a machine that QEMU emulates, with Debian 13's kernel, libc and MPIs.
#   tests/aarch64/run.sh FOLDER
# Keeps what it makes (2 GB) in FOLDER. Exit code 77: something that it needs is missing.
set -eu
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
python=$source_folder/.venv/bin/python
programs="alternate_stack child_command derived_types fork_child handler_touch jump_out_of_wait persistent pmpi_by_name
    ring send_order sendrecv_both thread_multiple_mixed touch_system_call"
packages="base-files,base-passwd,bash,binutils,cmake,coreutils,dash,findutils,gcc,grep,hostname,iproute2,libc-bin
    libc6-dev,libmpich-dev,libopenmpi-dev,linux-image-arm64,mawk,mount,mpich,openmpi-bin,procps,python3,sed,util-linux"

join() {
    printf %s "$1" | tr -s ' \n' ','
}

skip() {
    echo "$1"
    exit 77
}

check_tools() {
    [ "$(id -u)" = 0 ] || skip "only root can make the machine's files"
    for tool in aarch64-linux-gnu-gcc qemu-system-aarch64 mmdebstrap cpio; do
        command -v "$tool" >/dev/null || skip "no $tool: apt-get install --no-install-recommends gcc-aarch64-linux-gnu \
libc6-dev-arm64-cross qemu-system-arm ipxe-qemu mmdebstrap cpio"
    done
}

build() {
    cmake -G Ninja -S "$source_folder" -B "$folder/build" -DPython3_EXECUTABLE="$python" -DLAPWING_WERROR=ON \
        -DCMAKE_TOOLCHAIN_FILE="$source_folder/tests/aarch64/toolchain.cmake" -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS="-O2 -g" && cmake --build "$folder/build"
}

# Where this machine's own packages of Debian come from.
find_mirror() {
    # shellcheck disable=SC2016 # apt-get puts the value in
    apt-get indextargets --format '$(SITE)' 'Label: Debian' 'Created-By: Packages' 2>/dev/null | head -n 1
}

# Extracted, not configured: so nothing of aarch64 has to run here.
make_root() {
    [ "$(cat "$folder/root.packages" 2>/dev/null)" != "$packages" ] || return 0
    mirror=$(find_mirror)
    [ -n "$mirror" ] || skip "apt knows no mirror of Debian here: name one in /etc/apt, then apt-get update"
    rm -rf "$folder/root"
    mmdebstrap --quiet --mode=root --arch=arm64 --variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
        --include="$(join "$packages")" trixie "$folder/root" "$mirror"
    cp "$folder/root/usr/share/base-passwd/passwd.master" "$folder/root/etc/passwd"
    cp "$folder/root/usr/share/base-passwd/group.master" "$folder/root/etc/group"
    rm -rf "$folder/root/usr/share/doc" "$folder/root/usr/share/locale" "$folder/root/usr/lib/modules"
    mv "$folder"/root/boot/vmlinuz-* "$folder/kernel"
    printf '%s\n' "$packages" >"$folder/root.packages"
}

# At the same paths as here, so that what the build has written down is true there.
fill_root() {
    rm -rf "$folder/root$source_folder" "$folder/root$folder/build"
    mkdir -p "$folder/root$source_folder/.venv/bin" "$folder/root$folder"
    tar -C "$source_folder" -c CMakeLists.txt README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md \
        bench docs mpi python src tests tools | tar -C "$folder/root$source_folder" -x
    ln -s /usr/bin/python3 "$folder/root$python"
    cp -a "$folder/build" "$folder/root$folder/build"
    cp "$source_folder/tests/aarch64/init.sh" "$folder/root/init"
    (cd "$folder/root" && find . -xdev -path ./boot -prune -o -print | cpio --create --format=newc --quiet) \
        >"$folder/initrd"
}

# What the kernel does not know it hands on to init as environment.
run_machine() {
    timeout 5000 qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp 2 -m 6G -accel tcg,thread=multi \
        -nic none -nographic -no-reboot -kernel "$folder/kernel" -initrd "$folder/initrd" </dev/null -append \
        "console=ttyAMA0 quiet rdinit=/init SOURCE=$source_folder BUILD=$folder/build PROGRAMS=$(join "$programs")"
}

check_tools
mkdir -p "$1"
folder=$(cd "$1" && pwd)
build
make_root
fill_root
run_machine | sed -u 's,\r$,,' | tee "$folder/machine.log"
grep -q "^aarch64: all passed" "$folder/machine.log"
