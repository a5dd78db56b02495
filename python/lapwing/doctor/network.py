# SPDX-License-Identifier: MIT
"""RDMA devices and GPUs, as files of the kernel: where a process opens one, the preload moves no memory."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lapwing.doctor.finding import Finding, Level

NETWORK = "network"
GPU = "gpu"
# As in src/op/devices.c.
TRANSPORTS = ("/dev/infiniband/", "/dev/cxi", "/dev/hfi1", "/dev/efa", "/dev/knem")
GPUS = ("/dev/nvidia", "/dev/kfd", "/dev/dri/", "/dev/xpmem")
VARIABLES = ("UCX_TLS", "UCX_NET_DEVICES", "FI_PROVIDER", "OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl")
NO_HOLDS = "no memory is held: large receives are passed, sends return early from copies"


@dataclass(frozen=True)
class DeviceFacts:
    """RDMA devices by the kernel's names, GPUs and other devices by their files, and what users chose."""

    rdma: tuple[str, ...]
    gpus: tuple[str, ...]
    choices: tuple[str, ...]


def list_names(folder: Path) -> list[str]:
    """Return what a folder holds; nothing when it is not there."""
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def read_devices(environment: Mapping[str, str] = os.environ, root: Path = Path("/")) -> DeviceFacts:
    """Look at this host's devices, and at what the environment asks of UCX, libfabric and Open MPI."""
    device = root / "dev"
    others = [name for name in list_names(device) if f"/dev/{name}".startswith(TRANSPORTS[1:])]
    gpus = [f"/dev/{name}" for name in list_names(device) if f"/dev/{name}".startswith(GPUS)]
    gpus += [f"/dev/dri/{name}" for name in list_names(device / "dri") if name.startswith("render")]
    choices = [f"{name}={environment[name]}" for name in VARIABLES if environment.get(name)]
    return DeviceFacts((*list_names(root / "sys/class/infiniband"), *others), tuple(gpus), tuple(choices))


def judge_devices(facts: DeviceFacts) -> list[Finding]:
    """Say what is there; whether an MPI uses it, only a process of that MPI can tell."""
    findings = []
    if facts.rdma:
        text = (
            f"RDMA devices: {', '.join(facts.rdma)}; in a process whose MPI opens one, memory is held by protection "
            f"keys (kernel), and without them {NO_HOLDS}"
        )
        findings.append(Finding(NETWORK, Level.NOTE, text))
    if facts.choices:
        findings.append(Finding(NETWORK, Level.NOTE, f"the environment chooses {', '.join(facts.choices)}"))
    if facts.gpus:
        text = f"GPUs or kin: {', '.join(facts.gpus)}; in a process that opens one, {NO_HOLDS}"
        findings.append(Finding(GPU, Level.NOTE, text))
    return findings or [Finding(NETWORK, Level.WELL, "there is no RDMA device, and no GPU")]


def judge_transports(names: str, hold: str) -> Finding:
    """Say how memory is held beside RDMA devices. names: who uses which."""
    if hold == "keys":
        return Finding(NETWORK, Level.NOTE, f"{names}: memory is held where it is, by protection keys")
    text = f"{names}: {NO_HOLDS}, since registration caches remember where pages were"
    remedy = (
        "where protection keys are free (kernel), leave `hold` to auto, which takes them except under "
        "MPI_THREAD_MULTIPLE; or choose TCP where it is fast enough (UCX_TLS=tcp,self,sm or FI_PROVIDER=tcp); "
        "and measure"
    )
    return Finding(NETWORK, Level.REDUCES, text, remedy)


def judge_opened(opened: Iterable[str], who: str, hold: str) -> list[Finding]:
    """Say what an MPI library's own start has opened, by the files that its descriptors stand for.

    hold: how the preload holds memory there.
    """
    opened = sorted(set(opened))
    transports = [path for path in opened if path.startswith(TRANSPORTS)]
    gpus = [path for path in opened if path.startswith(GPUS)]
    findings = []
    if transports:
        findings.append(judge_transports(f"{who} uses {', '.join(transports)}", hold))
    if gpus:
        remedy = "where a program does not need the GPU, hide it (CUDA_VISIBLE_DEVICES=, UCX_TLS without cuda)"
        findings.append(Finding(GPU, Level.REDUCES, f"{who} opens {', '.join(gpus)}: {NO_HOLDS}", remedy))
    return findings
