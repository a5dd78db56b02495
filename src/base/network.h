/* SPDX-License-Identifier: MIT */
/* How fast this host's networks are, as the kernel tells. */
#ifndef BASE_NETWORK_H
#define BASE_NETWORK_H

/* Of the fastest one, in megabits a second; 0: none tells. It reads /sys, and takes no memory. */
long base_network_fastest_mbit(void);

#endif
