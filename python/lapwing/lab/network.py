# SPDX-License-Identifier: MIT
"""Emulated hosts: network, UTS and mount namespaces, joined by shaped veth links.

Each host is held by a process that waits for the end of its standard input, a pipe from this process: when
this process ends, however it ends, the holders end, and the kernel takes namespaces and links away with them.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from lapwing.errors import LabError, LabRefusedError
from lapwing.lab.placement import Placement, name_variables

INTERFACE = "eth0"
SUBNET = "10.77.0"
# The largest packet before segmentation (64 KiB) with the headers of its segments: tbf would cut larger ones itself.
LARGEST_PACKET_BYTES = 69 * 1024
TIMER_LATENESS_S = 50e-6  # tokens that come in while tbf's timer is late must not be lost
RATE_UNITS = {"bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
RATE_LEAST, RATE_MOST = 1e3, 1e12
QUEUE_BYTES = 1024 * 1024
LINK_LIMIT_S = 10.0
RECEIVING_CORES = f"/sys/class/net/{INTERFACE}/queues/rx-0/rps_cpus"  # Documentation/networking/scaling.rst
# The same on every machine, and permitted on all. BBR, some machines' choice, paces by timers: it took 4 MiB at 5 Gb/s
# a quarter more processor time.
CONGESTION_CONTROL = "reno"
NESTED = "LAPWING_LAB_NESTED"
USER_NAMESPACE = ("unshare", "-Urnm")


@dataclass(frozen=True)
class Links:
    """What joins the hosts of a lab, and what they have."""

    rate: str  # as tc writes it; none: unshaped
    cores_per_host: int = 1
    # Otherwise packets are received on the core that sent them, and two cores that send for one host overtake each
    # other. A real network card interrupts a core of the receiver.
    receives_on_own_cores: bool = False

    def check(self) -> None:
        """Refuse what cannot be built."""
        if self.cores_per_host < 1:
            raise LabError("a host needs at least 1 core", "correct --cores-per-host")
        if self.rate != "none":
            parse_rate(self.rate)


@dataclass(frozen=True)
class Host:
    """One emulated host."""

    name: str
    address: str
    cores: tuple[int, ...]
    holder: "subprocess.Popen[bytes]"

    def enter(self, command: Sequence[str], folder: str) -> list[str]:
        """Return the command line that runs a command on this host, on its cores, in a folder."""
        cores = ",".join(str(core) for core in self.cores)
        # The folder must be looked up again: namespaces of mounts do not share a current directory.
        change = ["sh", "-c", 'cd "$0" && exec "$@"', folder]
        enter = ["nsenter", "-t", str(self.holder.pid), "-n", "-u", "-m", "--"]
        return [*enter, "taskset", "-c", cores, *change, *command]


def parse_rate(rate: str) -> float:
    """Return a link rate in bits per second."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?bit)", rate.lower())
    if not found or float(found[1]) == 0:
        raise LabError(f"{rate!r} is not a link rate", "write for example 1gbit, 500mbit or none")
    bits_per_s = float(found[1]) * RATE_UNITS[found[2]]
    if not RATE_LEAST <= bits_per_s <= RATE_MOST:
        raise LabError(f"{rate!r} is beyond what can be shaped", "give 1kbit to 1000gbit, or none")
    return bits_per_s


def burst_bytes(rate: str) -> int:
    """Return the smallest bucket that keeps the link at its rate: what fits into it travels unshaped."""
    return LARGEST_PACKET_BYTES + round(parse_rate(rate) / 8 * TIMER_LATENESS_S)


def share_cores(host_count: int, cores_per_host: int, available: Sequence[int]) -> list[tuple[int, ...]]:
    """Give each host its cores; when there are too few, hosts share them in turn."""
    numbers = [range(host * cores_per_host, (host + 1) * cores_per_host) for host in range(host_count)]
    return [tuple(sorted({available[number % len(available)] for number in row})) for row in numbers]


def mask_of(cores: Sequence[int]) -> str:
    """Return a set of cores as the kernel reads it: in hexadecimal words of 32, the highest first."""
    mask = sum(1 << core for core in cores)
    words = [mask >> (32 * word) & 0xFFFFFFFF for word in range(max(cores) // 32 + 1)]
    return ",".join(f"{word:08x}" for word in reversed(words))


def call(command: Sequence[str]) -> None:
    """Run a tool that prints only when it fails."""
    done = subprocess.run(command, capture_output=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise LabError(f"the lab could not be built: `{' '.join(command)}` said: {cause}", "run as root")


def may_build(prefix: Sequence[str] = ()) -> bool:
    """Tell whether namespaces and links can be made here."""
    command = [*prefix, "unshare", "-n", "-u", "-m", "ip", "link", "add", "end0", "type", "veth"]
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def check_tools() -> None:
    """Name a missing tool."""
    for tool, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")):
        if shutil.which(tool) is None:
            raise LabError(f"the lab needs the tool {tool}", f"install {package} (apt-get install {package})")


def choose_prefix() -> Sequence[str]:
    """Return what stands before a command that builds a lab: nothing, or a user namespace; refuse where none can."""
    check_tools()
    if may_build():
        return ()
    if NESTED in os.environ or not may_build(USER_NAMESPACE):
        remedy = "run as root, allow user namespaces, or use --shared-memory where the command offers it"
        raise LabRefusedError("network namespaces are not permitted here", remedy)
    return USER_NAMESPACE


def enter_user_namespace(argv: Sequence[str]) -> None:
    """Start this command again inside a user namespace when only there a lab can be built."""
    prefix = choose_prefix()
    if prefix:
        os.environ[NESTED] = "1"
        os.execvp(prefix[0], [*prefix, *argv])


class Network:
    """A set of emulated hosts; use it with `with`."""

    def __init__(self, host_count: int, links: Links) -> None:
        links.check()
        self.links = links
        self.hosts: list[Host] = []
        self._count = host_count
        self._cores = share_cores(host_count, links.cores_per_host, sorted(os.sched_getaffinity(0)))
        self._holders: list[subprocess.Popen[bytes]] = []
        self._folder = Path(tempfile.mkdtemp(prefix="lapwing-lab-"))
        self._placement = Placement(
            INTERFACE, self._folder / "agent", self._folder / "ranks", self._folder / "ranks-openmpi"
        )

    def __enter__(self) -> "Network":
        """Build hosts and links."""
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take everything away."""
        self.close()

    @property
    def agent(self) -> Path:
        """What a launcher calls instead of ssh."""
        return self._placement.agent

    def close(self) -> None:
        """End the holders; the kernel does the rest."""
        for holder in self._holders:
            if holder.stdin is not None:
                holder.stdin.close()
            holder.wait()
        self._holders = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def _build(self) -> None:
        """Make the namespaces, then the wires between them."""
        names = [f"h{number}" for number in range(self._count)]
        (self._folder / "hosts").write_text(make_hosts_file(names))
        self._placement.hosts_file.write_text("".join(f"{name}\n" for name in names))
        self._placement.slots_file.write_text("".join(f"{name} slots=1\n" for name in names))
        for number, name in enumerate(names):
            holder = self._hold(name)
            self.hosts.append(Host(name, f"{SUBNET}.{number + 1}", self._cores[number], holder))
        self._connect()
        for host in self.hosts:
            self._configure(host)
        for host in self.hosts:
            wait_running(host)
        self.agent.write_text(make_agent(self.hosts))
        self.agent.chmod(0o755)

    def _hold(self, name: str) -> "subprocess.Popen[bytes]":
        """Start a process that keeps a host's namespaces; it says when they are ready."""
        # /sys shows the interfaces of the namespace that it was mounted in, and UCX looks there.
        script = (
            'hostname "$0" && mount --bind "$1" /etc/hosts && mount -t sysfs sysfs /sys && ip link set lo up '
            "&& echo ready && exec cat"
        )
        command = ["unshare", "-n", "-u", "-m", "sh", "-c", script, name, str(self._folder / "hosts")]
        holder = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._holders.append(holder)
        if holder.stdout is None or holder.stdout.readline() != b"ready\n":
            raise LabError(f"the emulated host {name} did not start", "run as root")
        return holder

    def _connect(self) -> None:
        """Wire two hosts directly, more through a bridge that has a namespace of its own."""
        if self._count == 2:
            self._add_wire(self.hosts[0].holder.pid, INTERFACE, self.hosts[1].holder.pid)
            return
        switch = self._hold("switch").pid
        call(["nsenter", "-t", str(switch), "-n", "ip", "link", "add", "bridge", "type", "bridge"])
        call(["nsenter", "-t", str(switch), "-n", "ip", "link", "set", "bridge", "up"])
        for number, host in enumerate(self.hosts):
            self._add_wire(switch, f"port{number}", host.holder.pid)
            port = ["nsenter", "-t", str(switch), "-n", "ip", "link", "set", f"port{number}"]
            call([*port, "master", "bridge", "up"])

    def _add_wire(self, here_pid: int, here_name: str, there_pid: int) -> None:
        """Make a veth pair between two namespaces; the far end is always the host's interface."""
        wire = ["ip", "link", "add", here_name, "type", "veth", "peer", "name", INTERFACE, "netns", str(there_pid)]
        call(["nsenter", "-t", str(here_pid), "-n", *wire])

    def _configure(self, host: Host) -> None:
        """Give a host its address and the shape of its link."""
        inside = ["nsenter", "-t", str(host.holder.pid), "-n", "-m"]
        call([*inside, "ip", "address", "add", f"{host.address}/24", "dev", INTERFACE])
        call([*inside, "ip", "link", "set", INTERFACE, "up"])
        call([*inside, "sh", "-c", f"echo {CONGESTION_CONTROL} > /proc/sys/net/ipv4/tcp_congestion_control"])
        if self.links.receives_on_own_cores:
            call([*inside, "sh", "-c", f"echo {mask_of(host.cores)} > {RECEIVING_CORES}"])
        rate = self.links.rate
        if rate != "none":
            shape = ["rate", rate, "burst", str(burst_bytes(rate)), "limit", str(QUEUE_BYTES)]
            call([*inside, "tc", "qdisc", "add", "dev", INTERFACE, "root", "tbf", *shape])

    def command_on_first(self, command: Sequence[str]) -> list[str]:
        """Return the command line that runs a command on host 0."""
        return self.hosts[0].enter(command, str(Path.cwd()))

    def environment(self) -> Mapping[str, str]:
        """Return what spreads ranks over the hosts, and what commands in the lab may want to know."""
        names = ",".join(host.name for host in self.hosts)
        told = {"LAPWING_LAB_HOSTS": names, "LAPWING_LAB_AGENT": str(self.agent), **name_variables(self._placement)}
        # A user who is root here only must not meet the real root's session folders (Open MPI's /tmp/ompi.*).
        return told | ({"TMPDIR": str(self._folder)} if NESTED in os.environ else {})


def wait_running(host: Host) -> None:
    """Wait until the kernel calls a host's link running, up to a second after both ends are up: UCX looks at it."""
    command = ["nsenter", "-t", str(host.holder.pid), "-n", "ip", "-o", "link", "show", INTERFACE]
    limit_s = time.monotonic() + LINK_LIMIT_S
    while "state UP" not in subprocess.run(command, capture_output=True, errors="replace").stdout:
        if time.monotonic() > limit_s:
            raise LabError(f"the link of the emulated host {host.name} did not come up", "run again")
        time.sleep(0.02)


def make_hosts_file(names: Sequence[str]) -> str:
    """Make the /etc/hosts that all emulated hosts see."""
    rows = [f"{SUBNET}.{number + 1} {name}" for number, name in enumerate(names)]
    return "\n".join(["127.0.0.1 localhost", *rows, ""])


def make_agent(hosts: Sequence[Host]) -> str:
    """Make the script that stands in for ssh: it enters the named host and runs the rest as a shell would."""
    cases = [
        f"{host.name}|{host.address}) pid={host.holder.pid}; cores={','.join(map(str, host.cores))};;" for host in hosts
    ]
    lines = [
        "#!/bin/sh",
        'while [ "${1#-}" != "$1" ]; do shift; done',
        "host=$1; shift",
        'case "$host" in',
        *cases,
        '*) echo "lapwing lab: no host $host" >&2; exit 255;;',
        "esac",
        'exec nsenter -t $pid -n -u -m -- taskset -c $cores sh -c "$*"',
    ]
    return "\n".join(lines) + "\n"
