# SPDX-License-Identifier: MIT
"""System calls that Python has no function for, made as the preload makes them. Sizes in bytes.

Each is tried on memory or descriptors of this process alone, which are given back.
"""

import ctypes
import fcntl
import mmap
import os
import platform
import struct
from collections.abc import Callable
from contextlib import suppress

# Numbers of the system calls: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h.
NUMBERS = {
    "x86_64": {"mremap": 25, "userfaultfd": 323, "pkey_alloc": 330, "pkey_free": 331},
    "aarch64": {"mremap": 216, "userfaultfd": 282, "pkey_alloc": 289, "pkey_free": 290},
}
MREMAP_MAYMOVE, MREMAP_DONTUNMAP = 1, 4
USER_MODE_ONLY = 1  # UFFD_USER_MODE_ONLY, Linux 5.11
USERFAULT_DEVICE_NEW = 0xAA00  # _IO(0xAA, 0) of /dev/userfaultfd, Linux 6.1
USERFAULT_API, USERFAULT_API_REQUEST = 0xAA, 0xC018AA3F  # UFFD_API, UFFDIO_API
WRITE_PROTECT = 1 << 0  # UFFD_FEATURE_PAGEFAULT_FLAG_WP
PROCMAP_QUERY = 0xC0686611  # Linux 6.11
PROCMAP_QUERY_BYTES = 104
ADVICE_COLLAPSE = 25  # MADV_COLLAPSE, Linux 6.1
HUGE_BYTES = 2 << 20

libc = ctypes.CDLL(None, use_errno=True)


def call_system(name: str, *arguments: int) -> int:
    """Make a system call; -1 when it fails, or when this processor's number of it is not known."""
    number = NUMBERS.get(platform.machine(), {}).get(name)
    if number is None:
        return -1
    function = libc.syscall
    function.restype = ctypes.c_long
    return int(function(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments)))


def can_move_pages() -> bool:
    """Tell whether pages can be moved away from under a mapping (MREMAP_DONTUNMAP, Linux 5.7)."""
    length = mmap.PAGESIZE
    with mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[0] = 1
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        moved = call_system("mremap", address, length, length, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0)
        if moved != -1:
            libc.munmap(ctypes.c_void_p(moved), ctypes.c_size_t(length))
        return moved != -1


def offers_write_protection(descriptor: int) -> bool:
    """Tell whether a userfaultfd can hold what is sent; closes it."""
    request = bytearray(struct.pack("<QQQ", USERFAULT_API, 0, 0))
    try:
        fcntl.ioctl(descriptor, USERFAULT_API_REQUEST, request)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return bool(struct.unpack("<QQQ", request)[1] & WRITE_PROTECT)


def open_userfault_device() -> int:
    """Return a userfaultfd of /dev/userfaultfd; -1 when it gives none."""
    try:
        device = os.open("/dev/userfaultfd", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        return fcntl.ioctl(device, USERFAULT_DEVICE_NEW, os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return -1
    finally:
        os.close(device)


def can_watch_faults(is_user_only: bool) -> bool:
    """Tell whether this process gets a userfaultfd as the preload wants it: of all faults, or of user mode's only."""
    flags = os.O_CLOEXEC | os.O_NONBLOCK | (USER_MODE_ONLY if is_user_only else 0)
    descriptor = call_system("userfaultfd", flags)
    if descriptor < 0 and not is_user_only:
        descriptor = open_userfault_device()
    return descriptor >= 0 and offers_write_protection(descriptor)


def ask_apart(question: Callable[[], bool]) -> bool | None:
    """Let a child ask what a seccomp filter may kill for; None when it died of that.

    It answers by a pipe: where SIGCHLD is ignored its end says nothing.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, b"1" if question() else b"0")
        finally:
            os._exit(0)
    os.close(writer)
    answer = os.read(reader, 1)
    os.close(reader)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
    return answer == b"1" if answer else None


def can_query_mappings() -> bool:
    """Tell whether one mapping can be asked for (PROCMAP_QUERY, Linux 6.11)."""
    address = ctypes.addressof(ctypes.create_string_buffer(1))
    request = bytearray(struct.pack("<QQQ", PROCMAP_QUERY_BYTES, 0, address).ljust(PROCMAP_QUERY_BYTES, b"\0"))
    with open("/proc/self/maps", "rb") as maps, suppress(OSError):  # noqa: PTH123 # a descriptor is wanted
        fcntl.ioctl(maps.fileno(), PROCMAP_QUERY, request)
        return True
    return False


def can_collapse_pages() -> bool:
    """Tell whether memory becomes a huge page when asked to (MADV_COLLAPSE, Linux 6.1)."""
    with mmap.mmap(-1, 2 * HUGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        aligned = -(-begin // HUGE_BYTES) * HUGE_BYTES
        memory[aligned - begin] = 1
        return bool(libc.madvise(ctypes.c_void_p(aligned), ctypes.c_size_t(HUGE_BYTES), ADVICE_COLLAPSE) == 0)


def count_protection_keys() -> int:
    """Return how many protection keys this process can get, 0 where there are none."""
    keys: list[int] = []
    allocate: Callable[[], int] = lambda: call_system("pkey_alloc", 0, 0)  # noqa: E731
    key = allocate()
    while key >= 0:
        keys.append(key)
        key = allocate()
    for key in keys:
        call_system("pkey_free", key)
    return len(keys)
