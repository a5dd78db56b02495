# SPDX-License-Identifier: MIT
"""What makes MPI launchers start their ranks on emulated hosts.

They are told by variables and not by arguments: so it does not matter who starts the launcher, a shell script or
Lapwing itself, and the user's own arguments come first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Placement:
    """Where ranks go: one to each host in turn."""

    interface: str
    agent: Path  # called instead of ssh
    hosts_file: Path  # a name per line
    slots_file: Path  # the same for Open MPI, a slot each


def name_openmpi(placement: Placement) -> dict[str, str]:
    """Return the variables of Open MPI 4. With binding, it would bind the ranks of all hosts to the same first core."""
    settings = {
        "plm_rsh_agent": str(placement.agent),
        "oob_tcp_if_include": placement.interface,
        "orte_default_hostfile": str(placement.slots_file),
        "rmaps_base_mapping_policy": "node",
        "rmaps_base_oversubscribe": "1",
        "hwloc_base_binding_policy": "none",
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": placement.interface,
    }
    return {f"OMPI_MCA_{name}": value for name, value in settings.items()}


def name_prrte(placement: Placement) -> dict[str, str]:
    """Return the variables of Open MPI 5's launcher; the library itself reads those of name_openmpi()."""
    settings = {
        "plm_ssh_agent": str(placement.agent),
        "prte_if_include": placement.interface,
        "prte_default_hostfile": str(placement.slots_file),
        "rmaps_default_mapping_policy": "node:oversubscribe",
        "hwloc_default_binding_policy": "none",
    }
    return {f"PRTE_MCA_{name}": value for name, value in settings.items()}


def name_hydra(placement: Placement) -> dict[str, str]:
    """Return the variables of MPICH's launcher."""
    return {
        "HYDRA_HOST_FILE": str(placement.hosts_file),
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(placement.agent),
        "HYDRA_IFACE": placement.interface,
        "HYDRA_BINDING": "none",
    }


def name_intel(placement: Placement) -> dict[str, str]:
    """Return the variables of Intel MPI's launcher and library."""
    return {
        "I_MPI_HYDRA_HOST_FILE": str(placement.hosts_file),
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": str(placement.agent),
        "I_MPI_HYDRA_IFACE": placement.interface,
        "I_MPI_PIN": "0",
    }


def name_transports(placement: Placement) -> dict[str, str]:
    """Return the variables of the libraries below MPICH and its kin."""
    return {
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": placement.interface,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": placement.interface,
    }


def name_variables(placement: Placement) -> Mapping[str, str]:
    """Return all that launchers and libraries read."""
    named = (name_openmpi, name_prrte, name_hydra, name_intel, name_transports)
    return {name: value for each in named for name, value in each(placement).items()}
