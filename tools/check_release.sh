#!/bin/sh
# SPDX-License-Identifier: MIT
# Check what tools/release.sh has left in dist/, in clean chroots of Debian: install it, let `lapwing doctor` begin MPI
# under it, and run the demo's solver with and without it.
#   tools/check_release.sh                           Debian 11, 12 and 13
#   tools/check_release.sh bookworm                  this one alone
# Needs: root, debootstrap, and a network; the mirror is that of this machine's apt. Debian 11 has no Python 3.11: there
# only the package with the preload is installed. A table is printed at the end; exit code 1 when something failed.
# shellcheck disable=SC2016 # commands for a shell inside the chroot
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
# shellcheck source=tools/debian.sh
. tools/debian.sh
work=$root/build/release-check
results=$work/results
failed=0

say() {
    printf '%s\n' "$*" >&2
}

make_base() {
    [ -e "$work/$1.base/.complete" ] && return
    rm -rf "$work/$1.base"
    debootstrap --variant=minbase "$1" "$work/$1.base" "$mirror" >"$work/$1.log" 2>&1 &&
        touch "$work/$1.base/.complete"
}

# A fresh copy with what a network needs, and the release.
make_chroot() {
    rm -rf "${work:?}/$1"
    cp -a --reflink=auto "$work/$1.base" "$work/$1"
    cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
    mkdir -p "$work/$1/release"
    [ ! -e "$certificates" ] || cp "$certificates" "$work/$1/release/certificates"
    cp dist/*.whl dist/*.deb "$work/$1/release/"
    cp examples/heat3d.c "$work/$1/release/"
}

# inside SUITE COMMANDS: in mount and process namespaces of its own, so that nothing is left.
inside() {
    unshare --mount --pid --fork sh -c '
        mount --make-rprivate / && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" &&
        mount -t proc proc "$1/proc" &&
        exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin \
            DEBIAN_FRONTEND=noninteractive PIP_CERT=/release/certificates PIP_INDEX_URL="$PIP_INDEX_URL" \
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -euc "$2"' - "$work/$1" "$2"
}

# step SUITE NAME COMMANDS: run them, note how it went and how long it took.
step() {
    begin=$(date +%s)
    if inside "$1" "$3" >"$work/$1.$2.log" 2>&1; then outcome=ok; else outcome=FAILED failed=1; fi
    printf '%-10s %-28s %-7s %4d s\n' "$1" "$2" "$outcome" "$(($(date +%s) - begin))" | tee -a "$results"
    [ "$outcome" = ok ] || tail -n 15 "$work/$1.$2.log" >&2
}

install_mpi='apt-get update -qq && apt-get install -y -qq --no-install-recommends openmpi-bin openssh-client'
install_compiler='apt-get install -y -qq --no-install-recommends gcc libc6-dev libopenmpi-dev'
# Exit code 1: something reduces what is gained, as a container's rights do.
ask_doctor='{ $lapwing doctor || [ $? = 1 ]; }'
# The same checksum with and without the preload, whose ranks leave a record.
compare='mpicc -O2 -o /tmp/heat3d /release/heat3d.c -lm
    run="mpirun --oversubscribe -n 2"
    stock=$($run /tmp/heat3d 64 64 30 20)
    mkdir -m 700 /tmp/records
    under=$($run -x LD_PRELOAD=$preload -x LAPWING_RECORD_DIR=/tmp/records /tmp/heat3d 64 64 30 20)
    echo "$stock"; echo "$under"
    [ "${stock##*checksum}" = "${under##*checksum}" ]
    [ -s /tmp/records/*.ranks ]'

# Nothing but Python is there: an MPI and a compiler come with the wheel's extra.
check_alone() {
    step "$1" python "apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv"
    step "$1" demo_without_compiler "! command -v cc; ! command -v mpirun; python3 -m venv /opt/alone
        /opt/alone/bin/pip install -q \"\$(ls /release/lapwing-*x86_64.whl)[demo]\"
        /opt/alone/bin/lapwing demo --shared-memory --steps 10 --rounds 1; rm -rf /opt/alone"
}

check_wheel() {
    wheel="lapwing=/opt/lapwing/bin/lapwing"
    step "$1" prepare "$install_mpi python3-venv"
    step "$1" wheel_without_compiler "! command -v cc; python3 -m venv /opt/lapwing
        /opt/lapwing/bin/pip install -q /release/lapwing-*x86_64.whl; /opt/lapwing/bin/lapwing --version"
    step "$1" wheel_doctor "$wheel; $ask_doctor"
    step "$1" wheel_demo "$install_compiler; $wheel; \$lapwing demo --shared-memory --steps 10 --rounds 1"
}

check_packages() {
    step "$1" packages "apt-get install -y -qq --no-install-recommends /release/*_amd64.deb; lapwing --version"
    step "$1" packages_doctor "lapwing=lapwing; $ask_doctor"
    step "$1" packages_demo "lapwing demo --shared-memory --steps 10 --rounds 1"
    step "$1" packages_removed "apt-get purge -y -qq lapwing liblapwing; ! command -v lapwing"
}

check_preload() {
    step "$1" prepare "$install_mpi; $install_compiler"
    step "$1" preload_package "apt-get install -y -qq --no-install-recommends /release/liblapwing_*_amd64.deb"
    step "$1" preload_solver "preload=\$(ls /usr/lib/*/lapwing/liblapwing.so); $compare"
}

check_suite() {
    make_base "$1" || { say "$1: no chroot, see $work/$1.log"; failed=1; return; }
    make_chroot "$1"
    case $1 in
        bullseye) check_preload "$1" ;;
        *) check_alone "$1"; check_wheel "$1"; check_packages "$1" ;;
    esac
    rm -rf "${work:?}/$1"
}

[ "$(id -u)" = 0 ] || { say "chroots need root"; exit 77; }
command -v debootstrap >/dev/null || { say "debootstrap is not installed"; exit 77; }
[ -n "$(ls dist/*.whl 2>/dev/null)" ] || { say "dist/ is empty: tools/release.sh"; exit 2; }
mirror=$(find_mirror)
# Those that this machine trusts, which a network of its own may need.
certificates=${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}
PIP_INDEX_URL=${PIP_INDEX_URL:-}
export PIP_INDEX_URL
mkdir -p "$work"
: >"$results"
[ $# -gt 0 ] || set -- bullseye bookworm trixie
for suite in "$@"; do
    check_suite "$suite"
done
exit $failed
