/* SPDX-License-Identifier: MIT */
/* Data of libraries that lives in the program's own .bss: copy relocations
 * (System V gABI, R_*_COPY). Open MPI's predefined handles are such objects:
 * `ompi_mpi_comm_world` may stand on the same page as the program's arrays, and
 * MPI reads it at every call. */
#ifndef OP_COPIED_H
#define OP_COPIED_H

/* Tells requests.h of them, so that no hold shares a page with them. Once. */
void copied_objects_track(void);

#endif
