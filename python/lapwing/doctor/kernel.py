# SPDX-License-Identifier: MIT
"""What the kernel lets a process do with memory, and which way to hold messages the preload takes there."""

import platform
import re
from dataclasses import dataclass
from pathlib import Path

from lapwing.doctor import system
from lapwing.doctor.finding import Finding, Level

TOPIC = "kernel"
MACHINES = ("x86_64", "aarch64")
SYSCTL = "/proc/sys/vm/unprivileged_userfaultfd"
AUTO = "auto"
# What the option `hold` costs where it is not auto, nor userfaultfd.
CHOSEN = {
    "userfaultfd-user": "system calls past libc fail on memory under way",
    "signal": "userfaultfd is not tried; mprotect and SIGSEGV cost more, and sends wait at touches",
    "keys": "memory stays where it is, and the program's threads lose the right to touch it",
    "none": "sends go from copies, and receives are passed",
}


@dataclass(frozen=True)
class KernelFacts:
    """What was asked of the kernel.

    is_filtered: a seccomp filter stands before it, as in containers; choice: of the option `hold`, and what that
    excludes was not asked; kills_who_asks: that filter ends a process that asks for userfaultfd.
    """

    system: str
    machine: str
    release: str
    moves_pages: bool
    faults_full: bool
    faults_user: bool
    queries_mappings: bool
    collapses_pages: bool
    key_count: int
    is_filtered: bool
    choice: str = AUTO
    kills_who_asks: bool = False


def ask_faults(choice: str, name: str) -> bool | None:
    """Tell whether a kind of userfaultfd is open, None when asking kills. What the choice excludes is not asked."""
    return choice in (AUTO, name) and system.ask_apart(lambda: system.can_watch_faults(name == "userfaultfd-user"))


def read_kernel(choice: str = AUTO) -> KernelFacts:
    """Ask this host's kernel. Like the preload it does not try what the hold excludes."""
    status = Path("/proc/self/status")
    text = status.read_text() if status.exists() else ""
    faults_full, faults_user = (ask_faults(choice, name) for name in ("userfaultfd", "userfaultfd-user"))
    return KernelFacts(
        platform.system(),
        platform.machine(),
        platform.release(),
        system.can_move_pages(),
        bool(faults_full),
        bool(faults_user),
        system.can_query_mappings(),
        system.can_collapse_pages(),
        system.count_protection_keys(),
        re.search(r"^Seccomp:\s*2", text, re.MULTILINE) is not None,
        choice,
        None in (faults_full, faults_user),
    )


def expect_hold(facts: KernelFacts) -> str:
    """Return the hold that the preload takes with this choice: protect_start() of src/protect/protect.c."""
    works = {
        "userfaultfd": facts.faults_full,
        "userfaultfd-user": facts.faults_user,
        "signal": True,
        "keys": facts.key_count > 0,
    }
    allowed = [name for name in works if facts.choice == name or (facts.choice == AUTO and name != "keys")]
    return next((name for name in allowed if facts.moves_pages and works[name]), "none")


def judge_choice(facts: KernelFacts) -> Finding:
    """Say what comes of a hold that was chosen."""
    remedy = "where it need not be so, leave `hold` to auto; `lapwing config` says where it is set"
    hold = expect_hold(facts)
    if hold != facts.choice:
        text = f"hold is {facts.choice}, which this kernel refuses: no memory is held"
        return Finding(TOPIC, Level.REDUCES, text, remedy)
    text = f"hold is {hold}: {CHOSEN[hold]}"
    return Finding(TOPIC, Level.NOTE, text) if hold == "keys" else Finding(TOPIC, Level.REDUCES, text, remedy)


def judge_faults(facts: KernelFacts) -> Finding:
    """Say how memory is held, and what would be better."""
    hold = expect_hold(facts)
    if hold == "userfaultfd":
        return Finding(TOPIC, Level.WELL, "userfaultfd is open to this user: touches of all kinds wait")
    if facts.kills_who_asks:
        text = "a seccomp filter kills who asks for userfaultfd, as the preload does in MPI_Init"
        return Finding(TOPIC, Level.FAILS, text, "set LAPWING_HOLD=signal; or let the container's profile allow it")
    if facts.choice != AUTO:
        return judge_choice(facts)
    remedy = f"as root: echo 1 > {SYSCTL}, or give the users' group /dev/userfaultfd (Linux 6.1)"
    if hold == "userfaultfd-user":
        text = "userfaultfd is open for faults of user mode only: system calls past libc fail on memory under way"
        return Finding(TOPIC, Level.REDUCES, text, remedy)
    if facts.is_filtered:
        remedy += "; a seccomp filter stands before the kernel: let the container's profile allow userfaultfd"
    text = "userfaultfd is refused: memory is held by mprotect and SIGSEGV, which costs more, and sends wait at touches"
    return Finding(TOPIC, Level.REDUCES, text, remedy)


def judge_kernel(facts: KernelFacts) -> list[Finding]:
    """Say what the kernel has and lacks."""
    if facts.system != "Linux" or facts.machine not in MACHINES:
        text = f"{facts.system} on {facts.machine} is not served"
        return [Finding(TOPIC, Level.FAILS, text, "use Linux on x86-64 or aarch64")]
    name = f"Linux {facts.release}"
    if not facts.moves_pages:
        text = f"{name} cannot move pages away from a mapping (MREMAP_DONTUNMAP): no memory is held"
        return [Finding(TOPIC, Level.FAILS, text, "use Linux 5.7 or newer")]
    findings = [Finding(TOPIC, Level.WELL, f"{name} moves pages away from a mapping"), judge_faults(facts)]
    if not facts.queries_mappings:
        text = f"{name} cannot be asked for one mapping (PROCMAP_QUERY): large messages take longer to judge"
        findings.append(Finding(TOPIC, Level.REDUCES, text, "use Linux 6.11 or newer"))
    if not facts.collapses_pages:
        text = f"{name} makes no huge pages when asked to (MADV_COLLAPSE): holding large sends costs more"
        findings.append(Finding(TOPIC, Level.REDUCES, text, "use Linux 6.1 or newer, with transparent huge pages"))
    keys = f"{facts.key_count} protection keys are free" if facts.key_count else "there are no protection keys"
    return [*findings, Finding(TOPIC, Level.NOTE, keys)]
