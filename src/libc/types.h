/* SPDX-License-Identifier: MIT */
/* The types in the prototypes of functions.toml. */
#ifndef LIBC_TYPES_H
#define LIBC_TYPES_H

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#include "base/range.h"

/* Newer than Debian 12's headers: a system call that programs make by its number. */
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

/* stat and stat64 are one layout, so one row serves both. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "64-bit Linux");
_Static_assert(sizeof(off_t) == sizeof(off64_t), "64-bit Linux");

#endif
