/* SPDX-License-Identifier: MIT */
/* Intel MPI 2021 hears of other worlds by the network. Where the ranks of a world share a host (I_MPI_FABRICS=shm:ofi)
 * MPI_Test rarely looks there: a receive of 700,000 bytes from a parent was not over after 9,750 tests. One that had
 * returned early was not over after minutes. Elsewhere (ofi) MPI_Comm_disconnect crashes after such a receive by
 * MPI_Mrecv, with which order is kept; without Lapwing, too. So all calls are passed there. */
#include "mpi/process/worlds.h"

#include "mpi/vendor.h"
#include "op/session.h"

void worlds_meet(void)
{
    if (vendor_is_intel())
        session_refuse(REASON_WORLDS);
}
