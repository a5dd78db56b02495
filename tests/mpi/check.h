/* SPDX-License-Identifier: MIT */
/* What the MPI test programs share. Plain MPI: nothing here knows of Lapwing. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far above every eager limit, so that a transfer needs both sides. */
enum { CHECK_LARGE_BYTES = 1 << 20 };

void check_start(int *argc, char ***argv);
/* As MPI_THREAD_MULTIPLE; an MPI that does not provide it ends the test as skipped. */
void check_start_multiple(int *argc, char ***argv);
/* One more process, of this program; an MPI that cannot spawn ends the test as skipped. Called by all ranks. */
MPI_Comm check_spawn(char *program);
/* On both sides of such a communicator, before any process leaves it: returns when all have it. */
void check_spawned(MPI_Comm between);
/* A whole program of processes and one more that they spawn: `play` gets a communicator of all, which keep their ranks;
 * the spawned one comes last. Returns what main() is to return. */
int check_with_spawned(int argc, char **argv, void (*play)(MPI_Comm all));
/* Says why the test does not suit this MPI or machine; what main() is to return then. */
int check_skip(const char *reason);
int check_end(void); /* MPI_Finalize; rank 0 prints "ok"; returns 0 */

int check_rank(void);
int check_size(void);

/* Ends the job with exit code 9 when the claim is false. */
void check(bool is_true, const char *claim);

/* The class of an error; and where a call has returned none, of the error that the next one returns, a late one. */
int check_class(int error);
int check_class_or_late(int error, MPI_Comm comm);

/* Byte `i` of pattern `seed`, and whole buffers of it. */
unsigned char check_byte(size_t i, unsigned seed);
void check_fill(void *buffer, size_t length_bytes, unsigned seed);
bool check_is_filled(const void *buffer, size_t length_bytes, unsigned seed);

/* A block that has its pages to itself, wherever it lies, so that receives into it are held; every byte is 0xEE. */
unsigned char *check_buffer_new(size_t length_bytes);

/* Long enough for the peer to return from its call first. */
void check_delay(void);

/* Has this process a thread whose name begins so? */
bool check_has_thread(const char *prefix);

/* Does the kernel use protection keys of this processor? */
bool check_has_keys(void);

/* What the kernel compares with RLIMIT_AS. */
unsigned long check_addresses_bytes(void);

/* One pipe of all ranks, which lie on one host: the descriptor of both its ends. Nobody else can open it. */
int check_pipe(void);

/* MPI_Send / MPI_Recv of bytes on MPI_COMM_WORLD, status ignored. */
void check_send(const void *buffer, size_t length_bytes, int peer, int tag);
void check_recv(void *buffer, size_t length_bytes, int peer, int tag);

/* Pattern `seed`, sent when the peer waits for it; received, and compared, when the peer's send may have returned. */
void check_send_late(void *buffer, size_t length_bytes, unsigned seed, int peer, int tag);
void check_recv_late(void *buffer, size_t length_bytes, unsigned seed, int peer, int tag, const char *claim);

/* Pattern `seed` from rank 1, which sends late, to rank 0, which has come first, and compares at once. */
void check_exchange_late(void *buffer, size_t length_bytes, unsigned seed, int tag);

/* Rank 0 sends the buffer, filled with pattern `seed`, and receives the next pattern into it; rank 1 answers. */
void check_echo(void *buffer, size_t length_bytes, unsigned seed);

/* Received from rank 1, on a communicator, by a handle of MPI's: `way` is mprobe, improbe or recv_init. False, with
 * nothing done, when it is none of these. */
bool check_recv_by_handle(const char *way, void *buffer, size_t length_bytes, int tag, MPI_Comm comm);

/* Rank 1 leaves something and then sends this message; rank 0 must find it (`claim`) when it has received. The message
 * is late, so that the receive may return before. Begins with a barrier. `way` is for the functions, and in the claim.
 */
void check_found_after_recv(const char *claim, int way, void (*leave)(int way), bool (*is_found)(int way),
                            unsigned char *message, size_t length_bytes);

#endif
