#!/bin/sh
# SPDX-License-Identifier: MIT
# The ways in which a site installs Lapwing from a release: RPM, EasyBuild, Spack, containers.
#   tests/sites/run.sh FOLDER [rpm|easybuild|spack|containers...]
# A way of which something is missing here is skipped, with the reason. Exit code 77: all were. dist/ must have what
# tools/release.sh leaves there.
set -u
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/needs.sh
. "$source_folder/tests/needs.sh"
job_needs="mpicc.openmpi libopenmpi-dev
mpirun.openmpi openmpi-bin
cc gcc
/usr/lib/python3*/ensurepip/__init__.py python3-venv"
# The system's own Python and tools, not those of this project's tests.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
passed=0
failed=0

needs_of() {
    echo "$job_needs"
    case $1 in
        rpm)
            echo "rpmbuild rpm
cmake cmake
/usr/lib/python3/dist-packages/rich python3-rich
/usr/lib/python3/dist-packages/matplotlib python3-matplotlib
/usr/lib/python3/dist-packages/elftools python3-pyelftools"
            ;;
        easybuild) echo "/usr/share/lmod/lmod/libexec/lmod lmod" ;;
        containers)
            echo "debootstrap debootstrap
podman podman
runc runc
ch-run charliecloud
/usr/lib/python3/dist-packages/rich python3-rich"
            ;;
    esac
}

try() {
    script=$source_folder/tests/sites/$1
    mkdir -p "$folder/$1"
    log=$folder/$1.log
    if ! reason=$(install_needs "$(needs_of "$1")"); then
        echo "skip $1: $reason"
        return
    fi
    begin=$(date +%s)
    case $1 in
        spack) python3 "$script.py" "$folder/$1" ;;
        *) "$script.sh" "$folder/$1" ;;
    esac >"$log" 2>&1
    code=$?
    took=$(($(date +%s) - begin))
    case $code in
        0) echo "pass $1 ($took s)"; passed=$((passed + 1)) ;;
        77) echo "skip $1: $(tail -n 1 "$log")" ;;
        *) echo "FAIL $1 ($took s), $log:"; tail -n 15 "$log"; failed=$((failed + 1)) ;;
    esac
}

mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ -n "$(ls "$source_folder"/dist/lapwing-*.tar.gz 2>/dev/null)" ] || skip "dist/ is empty: tools/release.sh"
[ $# -gt 0 ] || set -- rpm easybuild spack containers
for way in "$@"; do
    try "$way"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] || exit 1
[ $passed != 0 ] || exit 77
