#!/bin/sh
# SPDX-License-Identifier: MIT
# Build a release into dist/: the archive of the sources, recipes for Spack and EasyBuild that build from it, a wheel and
# Debian packages for each processor.
#   tools/release.sh                    for x86-64, and for aarch64 where its compiler is installed
#   tools/release.sh x86_64             for this processor alone
#   tools/release.sh archive            the archive and the recipes alone
# The preload files need GLIBC 2.17, whatever this system has. Needs: a C compiler (for aarch64 Debian's
# gcc-aarch64-linux-gnu and libc6-dev-arm64-cross), Python with venv, dpkg-deb, and a network for the build's tools.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/release-work
python=$work/tools/bin/python
glibc=2.17
manylinux=manylinux_2_17

say() {
    printf '%s\n' "$*" >&2
}

make_tools() {
    [ -x "$python" ] || python3 -m venv "$work/tools"
    "$python" -m pip install -q build ziglang wheel auditwheel pyelftools
}

make_archive() {
    "$python" -m build -q --sdist --outdir dist .
    archive=$(ls dist/lapwing-*.tar.gz)
    version=${archive#dist/lapwing-}
    version=${version%.tar.gz}
}

# The archive cannot hold a recipe that has its checksum: the recipes get it here, and lie beside it.
make_recipes() {
    checksum=$(sha256sum "$archive")
    checksum=${checksum%% *}
    rm -rf dist/spack_repo
    cp -r packaging/spack/spack_repo dist/spack_repo
    sed -i "s/version(\"$version\").*/version(\"$version\", sha256=\"$checksum\")/" \
        dist/spack_repo/lapwing/packages/lapwing/package.py
    for recipe in packaging/easybuild/lapwing-"$version"-*.eb; do
        sed "s/'checksums': \[None\]/'checksums': ['$checksum']/" "$recipe" >"dist/$(basename "$recipe")"
    done
}

compiler_of() {
    if [ "$(uname -m)" = "$1" ]; then echo cc; else echo "$1-linux-gnu-gcc"; fi
}

# A processor's own tools are named in a file for CMake where they are not this machine's.
cmake_arguments() {
    [ "$(uname -m)" = "$1" ] || echo "--config-setting=cmake.define.CMAKE_TOOLCHAIN_FILE=$root/tests/$1/toolchain.cmake"
}

# From the archive, as everybody else would.
make_wheel() {
    machine=$1
    "$python" tools/make_libc_stubs.py "$machine" "$glibc" "$work/stubs/$machine"
    rm -rf "$work/wheel/$machine"
    # shellcheck disable=SC2046 # none or one word
    "$python" -m pip wheel -q --no-deps --wheel-dir "$work/wheel/$machine" $(cmake_arguments "$machine") \
        --config-setting=install.strip=true \
        "--config-setting=cmake.define.LAPWING_LIBC_STUBS=$work/stubs/$machine" "$archive"
    "$python" -m wheel tags --remove --platform-tag "${manylinux}_$machine.manylinux2014_$machine" \
        "$work/wheel/$machine"/lapwing-*.whl >/dev/null
    cp "$work/wheel/$machine"/lapwing-*.whl dist/
}

# That the tag is true: what the files need is there on every system that it stands for.
check_wheel() {
    "$python" -m auditwheel show "dist/lapwing-$version"-*"$1.whl" >"$work/auditwheel.$1.log" 2>&1
    grep -q "${manylinux}_$1\|manylinux2014_$1" "$work/auditwheel.$1.log" ||
        { say "the wheel for $1 is no ${manylinux}_$1: $work/auditwheel.$1.log"; exit 1; }
}

debian_name() {
    case $1 in x86_64) echo amd64 ;; aarch64) echo arm64 ;; esac
}

# control PACKAGE MACHINE DEPENDS DESCRIPTION
control() {
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: Lapwing developers <nobody@localhost>\n' \
        "$1" "$version" "$(debian_name "$2")"
    printf 'Section: science\nPriority: optional\nDepends: %s\nDescription: %s\n' "$3" "$4"
}

pack() {
    install -Dm644 LICENSE "$1/usr/share/doc/$(basename "$1")/copyright"
    dpkg-deb --root-owner-group -Zxz --build "$1" dist >/dev/null
}

# Two packages: the preload, which needs libc alone, and the command.
make_debian() {
    machine=$1
    tree=$work/debian/$machine
    folder=usr/lib/$machine-linux-gnu/lapwing
    rm -rf "$tree"
    mkdir -p "$tree/wheel" "$tree/liblapwing/DEBIAN" "$tree/lapwing/DEBIAN"
    "$python" -m zipfile -e "dist/lapwing-$version"-*"$machine.whl" "$tree/wheel"
    install -Dm644 "$tree/wheel/lapwing/_preload/liblapwing.so" "$tree/liblapwing/$folder/liblapwing.so"
    install -Dm644 "$tree/wheel/lapwing/_include/lapwing.h" "$tree/liblapwing/usr/include/lapwing.h"
    modules=$tree/lapwing/usr/lib/python3/dist-packages
    mkdir -p "$modules" "$tree/lapwing/usr/share/man"
    cp -r "$tree/wheel/lapwing" "$modules/lapwing"
    ln -sf "/$folder/liblapwing.so" "$modules/lapwing/_preload/liblapwing.so"
    cp -r "$tree/wheel/lapwing-$version.data/data/share/man/man1" "$tree/lapwing/usr/share/man/man1"
    gzip -9n "$tree/lapwing/usr/share/man/man1"/*.1
    install -Dm755 packaging/debian/lapwing "$tree/lapwing/usr/bin/lapwing"
    control liblapwing "$machine" "libc6 (>= $glibc)" \
        "MPI programs overlap communication with computation (preload)" >"$tree/liblapwing/DEBIAN/control"
    control lapwing "$machine" \
        "liblapwing (= $version), python3 (>= 3.11), python3-rich, python3-matplotlib, python3-pyelftools" \
        "MPI programs overlap communication with computation (command)" >"$tree/lapwing/DEBIAN/control"
    pack "$tree/liblapwing"
    pack "$tree/lapwing"
}

mkdir -p dist "$work"
[ "${1-}" = archive ] || rm -f dist/lapwing* dist/liblapwing*
make_tools
make_archive
make_recipes
[ $# -gt 0 ] || set -- x86_64 aarch64
[ "$1" != archive ] || shift
for wanted in "$@"; do
    if ! command -v "$(compiler_of "$wanted")" >/dev/null; then
        say "skipped: $wanted ($(compiler_of "$wanted") is not installed)"
        continue
    fi
    make_wheel "$wanted"
    make_debian "$wanted"
    check_wheel "$wanted"
done
ls -l dist >&2
