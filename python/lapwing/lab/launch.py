# SPDX-License-Identifier: MIT
"""What an MPI launcher must be told so that its ranks run on emulated hosts."""

from collections.abc import Sequence
from pathlib import Path

from lapwing.lab.network import INTERFACE
from lapwing.launch.launchers import Direct, Launcher, find_launcher


def place_openmpi(hosts: Sequence[str], agent: Path) -> list[str]:
    """Return the arguments for Open MPI 4. Without --bind-to none it binds both ranks to the same first core."""
    settings = {
        "plm_rsh_agent": str(agent),
        "oob_tcp_if_include": INTERFACE,
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": INTERFACE,
    }
    words = [word for name, value in settings.items() for word in ("--mca", name, value)]
    return [*words, *place_processes(hosts)]


def place_processes(hosts: Sequence[str]) -> list[str]:
    """Return how Open MPI spreads ranks: one for each host, then again from the first."""
    names = ",".join(f"{host}:1" for host in hosts)
    return ["--host", names, "--map-by", "node", "--oversubscribe", "--bind-to", "none"]


def place_prrte(hosts: Sequence[str], agent: Path) -> list[str]:
    """Return the arguments for Open MPI 5, whose launcher is PRRTE."""
    runtime = {"plm_ssh_agent": str(agent), "prte_if_include": INTERFACE}
    transport = {"pml": "ob1", "btl": "tcp,self", "btl_tcp_if_include": INTERFACE}
    words = [word for name, value in runtime.items() for word in ("--prtemca", name, value)]
    words += [word for name, value in transport.items() for word in ("--mca", name, value)]
    names = ",".join(f"{host}:1" for host in hosts)
    return [*words, "--host", names, "--map-by", "node:oversubscribe", "--bind-to", "none"]


def place_hydra(hosts: Sequence[str], agent: Path) -> list[str]:
    """Return the arguments for MPICH and its kin, over UCX or libfabric."""
    settings = {
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": INTERFACE,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": INTERFACE,
        "I_MPI_PIN": "0",
    }
    words = [word for name, value in settings.items() for word in ("-genv", name, value)]
    launch = ["-launcher", "ssh", "-launcher-exec", str(agent), "-iface", INTERFACE, "-bind-to", "none"]
    return [*launch, "-hosts", ",".join(hosts), *words]


PLACES = {"openmpi": place_openmpi, "prrte": place_prrte, "hydra": place_hydra}


def add_placement(line: Sequence[str], hosts: Sequence[str], agent: Path) -> list[str]:
    """Return a launcher's command line with its ranks placed on the hosts; other commands stay as they are."""
    launcher: Launcher = find_launcher(line[0])
    place = PLACES.get(launcher.name)
    if isinstance(launcher, Direct) or place is None:
        return [launcher.path, *line[1:]]
    return [launcher.path, *place(hosts, agent), *line[1:]]
