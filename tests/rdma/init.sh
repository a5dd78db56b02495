#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The first process of the emulated machine: makes RDMA devices, runs guest.py, and turns it off. Environment: run.sh.
# shellcheck shell=dash
# busybox only, until the host's files are there.
/bin/busybox mkdir -p /proc /sys /dev /host
/bin/busybox --install -s /bin
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TMPDIR=/run/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in /modules/*.ko; do
    insmod "$module" || echo "not loaded: $module"
done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=524288,cache=loose host /host
for kind in proc sysfs:sys devtmpfs:dev; do
    mount -t "${kind%:*}" "${kind#*:}" "/host/${kind#*:}"
done
mkdir -p /host/dev/pts /host/dev/shm
mount -t devpts devpts /host/dev/pts
mount -t tmpfs shm /host/dev/shm
mount -t tmpfs run /host/run
mkdir -p /host/run/tmp
case $SOURCE in
    /tmp/*) ;; # must stay to be seen
    *) mount -t tmpfs tmp /host/tmp ;;
esac
# Open MPI wants a name, and asks for its address.
hostname lapwing
echo "127.0.0.1 localhost lapwing" >/host/run/hosts
mount --bind /host/run/hosts /host/etc/hosts

# rxe0 and rxe1, at the two ends of one line. The host's tools by their paths: busybox would take itself for `ip`.
make_devices() {
    echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
    echo 100000 >/proc/sys/net/core/netdev_max_backlog # a packet that is dropped costs a second
    ip link set lo up
    chroot /host /bin/ip link add v0 type veth peer name v1
    for number in 0 1; do
        ip link set "v$number" mtu 9000 up
        ip addr add "10.77.0.$((number + 1))/24" dev "v$number"
    done
    for number in 0 1; do
        chroot /host /bin/rdma link add "rxe$number" type rxe netdev "v$number"
    done
}

# What goes from one to the other must take the line: with addresses of IPv4, both of this machine, it would go by lo,
# where rdma_rxe does not listen. UCX's link-local ones of IPv6 name their device. librdmacm, which libfabric uses, asks
# the routes: what this machine sends from one end to the other (iif lo) takes the line before rule 0 would keep it.
route_by_line() { # from an end to the other
    chroot /host /bin/ip rule add pref "$(($1 + 1))" iif lo from "10.77.0.$(($1 + 1))" to "10.77.0.$(($2 + 1))" \
        lookup "$((101 + $1))"
    chroot /host /bin/ip route add "10.77.0.$(($2 + 1))/32" dev "v$1" src "10.77.0.$(($1 + 1))" table "$((101 + $1))"
    echo 1 >"/proc/sys/net/ipv4/conf/v$1/accept_local" # it comes from an address of this machine
}

make_devices
route_by_line 0 1
route_by_line 1 0
chroot /host /bin/ip rule add pref 3 lookup local
chroot /host /bin/ip rule del pref 0
ulimit -l unlimited
echo
echo "rdma: begin, Linux $(uname -r), $(chroot /host /bin/rdma link | wc -l) devices"
chroot /host "$SOURCE/.venv/bin/python" "$SOURCE/tests/rdma/guest.py" run "$FOLDER" "$PART"
poweroff -f
sleep 60
