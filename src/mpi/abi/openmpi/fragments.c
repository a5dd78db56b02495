/* SPDX-License-Identifier: MIT */
/* In what pieces Open MPI sends large messages over TCP.
 *
 * By default the receiver asks for all of a message at once, and all that the sender has to say afterwards goes behind
 * it, on the one connection that both use: its request for the message that it is to receive, too. So two messages that
 * cross take turns, unless both were announced before either was asked for. In fragments the request goes between
 * two of them, and both messages travel at once (docs/decisions.md has the figures).
 *
 * The price is work for each fragment, by both sides, and that the kernel no longer takes in the whole message while
 * its sender is away from MPI. So it is done only where the engine is there for that work, and where the network is not
 * so fast that the work would be seen. */
#include <stdio.h>
#include <stdlib.h>

#include "base/launch.h"
#include "base/network.h"
#include "mpi/abi/openmpi/abi.h"

static const char SIZE_VARIABLE[] = "OMPI_MCA_btl_tcp_rdma_pipeline_frag_size";
/* How many are asked for at a time. Each is asked for behind as much data as the peer has asked for: with four, Open
 * MPI's own number, messages of some MiB still took turns in every third job, and with two the engine loses time
 * between them (docs/decisions.md). */
static const char DEPTH_VARIABLE[] = "OMPI_MCA_pml_ob1_recv_pipeline_depth";
static const char DEPTH[] = "3";

/* 0: as Open MPI does it. */
static uint32_t fragments_fitting_bytes(void)
{
    enum { SLOW_MBIT = 1000, FAST_MBIT = 25000, SMALL_BYTES = 64 << 10, LARGE_BYTES = 128 << 10 };
    long fastest_mbit = base_network_fastest_mbit();
    if (fastest_mbit > FAST_MBIT)
        return 0;
    return fastest_mbit > 0 && fastest_mbit <= SLOW_MBIT ? SMALL_BYTES : LARGE_BYTES;
}

/* What is no number, or below 1 or above 4 GB, says nothing that the engine could use. */
static struct abi_fragments fragments_of_user(const char *size)
{
    long bytes = size != NULL ? strtol(size, NULL, 10) : 0;
    return (struct abi_fragments){.bytes = bytes > 0 && bytes < UINT32_MAX ? (uint32_t)bytes : 0};
}

struct abi_fragments abi_fragments_set(void)
{
    char text[16];
    const char *size = getenv(SIZE_VARIABLE);
    if (size != NULL || getenv(DEPTH_VARIABLE) != NULL)
        return fragments_of_user(size);
    /* Open MPI 4 starts its daemon from within MPI_Init then, and what the process spawns gets the daemon's environment
     * (ess_singleton_module.c). Alone, it has nobody to exchange messages with either. */
    if (!base_launch_is_of_job())
        return (struct abi_fragments){.bytes = 0};
    struct abi_fragments fragments = {.bytes = fragments_fitting_bytes()};
    snprintf(text, sizeof text, "%u", fragments.bytes);
    fragments.is_ours = fragments.bytes != 0 && setenv(SIZE_VARIABLE, text, 1) == 0;
    if (fragments.is_ours)
        (void)setenv(DEPTH_VARIABLE, DEPTH, 1); /* or else Open MPI's own number */
    return fragments;
}

void abi_fragments_unset(void)
{
    unsetenv(SIZE_VARIABLE);
    unsetenv(DEPTH_VARIABLE);
}
