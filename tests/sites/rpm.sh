#!/bin/sh
# SPDX-License-Identifier: MIT
# Build the RPM from the release archive with rpmbuild, install it into a root of its own, and run it from there:
#   tests/sites/rpm.sh FOLDER
# rpm knows no packages of Debian: what the spec needs is looked for by tests/sites/run.sh (--nodeps).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
target=$folder/root

build() {
    rm -rf "$folder/top" "$target"
    rpmbuild -bb --nodeps --define "_topdir $folder/top" --define "_sourcedir $root/dist" \
        "$root/packaging/rpm/lapwing.spec"
    package=$(ls "$folder"/top/RPMS/*/lapwing-*.rpm)
}

# has PATTERN: is there such a file in the package?
has() {
    rpm -qlp "$package" | grep -q "$1" || { echo "no $1 in $package"; exit 1; }
}

check_files() {
    has '^/usr/bin/lapwing$'
    has '/lapwing/_preload/liblapwing.so$'
    has '/lapwing/_include/lapwing.h$'
    has '^/usr/share/man/man1/lapwing.1'
    has '^/usr/share/licenses/.*LICENSE$'
    ! rpm -qlp "$package" | grep "$folder\|/tests/" || { echo "what should not be in the package"; exit 1; }
    rpm -qp --requires "$package" | grep -q 'python3 >= 3.11'
}

# Its folders are the root's; Python, and what it needs of other packages, are this system's.
check_job() {
    mkdir -p "$target"
    rpm --install --nodeps --root "$target" --dbpath /rpm "$package"
    PYTHONPATH=$(dirname "$(ls -d "$target"/usr/lib/python3*/site-packages/lapwing)")
    export PYTHONPATH
    "$root/tests/sites/job.sh" "$folder" "$target/usr/bin/lapwing"
    rpm --erase --root "$target" --dbpath /rpm lapwing
    [ -z "$(find "$target/usr" -name '*lapwing*' ! -name '*.pyc')" ]
}

build
check_files
check_job
