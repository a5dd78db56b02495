/* SPDX-License-Identifier: MIT */
/* What all ABIs have in common. Included by each abi.h after its handle
 * types and MPI_Status; the code in src/mpi is one text for all,
 * so every name here means the same under each. */
#ifndef MPI_ABI_COMMON_H
#define MPI_ABI_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 64-bit in every build of the supported libraries (x86-64 and aarch64). */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

/* The mpi_f08 status has the layout of the C status plus, under MPICH, nothing. */
typedef MPI_Status MPI_F08_status;

/* The tools interface goes straight to MPI: its handles are never looked at. */
typedef struct abi_tool_enum *MPI_T_enum;
typedef struct abi_tool_cvar_handle *MPI_T_cvar_handle;
typedef struct abi_tool_pvar_handle *MPI_T_pvar_handle;
typedef struct abi_tool_pvar_session *MPI_T_pvar_session;
typedef struct abi_tool_event_registration *MPI_T_event_registration;
typedef struct abi_tool_event_instance *MPI_T_event_instance;
typedef int MPI_T_cb_safety;
typedef int MPI_T_source_order;

typedef void MPI_User_function(void *in, void *inout, int *count, MPI_Datatype *datatype);
typedef void MPI_User_function_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *datatype);

typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *session, int *error_code, ...);

typedef int MPI_Copy_function(MPI_Comm comm, int keyval, void *extra_state, void *value_in, void *value_out, int *flag);
typedef int MPI_Delete_function(MPI_Comm comm, int keyval, void *value, void *extra_state);
typedef MPI_Copy_function MPI_Comm_copy_attr_function;
typedef MPI_Delete_function MPI_Comm_delete_attr_function;
typedef int MPI_Type_copy_attr_function(MPI_Datatype datatype, int keyval, void *extra_state, void *value_in,
                                        void *value_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int keyval, void *value, void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win win, int keyval, void *extra_state, void *value_in, void *value_out,
                                       int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int keyval, void *value, void *extra_state);

typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int is_complete);

typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int MPI_Datarep_conversion_function(void *user_buffer, MPI_Datatype datatype, int count, void *file_buffer,
                                            MPI_Offset position, void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *user_buffer, MPI_Datatype datatype, MPI_Count count,
                                              void *file_buffer, MPI_Offset position, void *extra_state);

typedef void MPI_T_event_cb_function(MPI_T_event_instance event, MPI_T_event_registration registration,
                                     MPI_T_cb_safety safety, void *user_data);
typedef void MPI_T_event_free_cb_function(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                          void *user_data);
typedef void MPI_T_event_dropped_cb_function(MPI_Count count, MPI_T_event_registration registration, int source_index,
                                             MPI_T_cb_safety safety, void *user_data);

/* Predefined handles. Addresses of library symbols under Open MPI, so filled at
 * bind; constants elsewhere. A handle that an older library lacks stays zero. */
struct abi_handles {
    MPI_Comm comm_world;
    MPI_Comm comm_self;
    MPI_Comm comm_null;
    MPI_Datatype byte;
    MPI_Datatype packed;
    MPI_Datatype int64;
    MPI_Datatype datatype_null;
    MPI_Request request_null;
    MPI_Message message_null;
    MPI_Message message_no_proc;
    MPI_Op no_op;
    MPI_Op sum;
    MPI_Op prod;
    MPI_Errhandler errors_are_fatal;
    MPI_Errhandler errors_return;
    MPI_Errhandler errors_abort;
};

/* Owner: abi_prepare() writes it once, before the first entry of the backend runs. */
extern __attribute__((visibility("hidden"))) struct abi_handles abi_handles;

/* Fills abi_handles from the library. False when it lacks what every library of this ABI has. */
bool abi_prepare(void *library);

/* False for what MPI refuses at sight where it expects a datatype. */
bool abi_may_be_datatype(MPI_Datatype datatype);

/* MPI's own reduction operations run no code of the program. */
bool abi_op_is_predefined(MPI_Op op);

/* Is a handle whose value is a constant one of these? */
static inline bool abi_value_is_among(uint64_t value, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (value == values[i])
            return true;
    return false;
}

/* Is it one of the predefined integer types of C or Fortran? What it does not know is not. */
bool abi_datatype_is_integer(MPI_Datatype datatype);

/* Is it one of the predefined floating-point types of 4 or 8 bytes? */
bool abi_datatype_is_real(MPI_Datatype datatype);

/* Does this library end the program at an MPI_Test that finds a request unfinished, as its settings are now? */
bool abi_forbids_tests(void);

/* Does MPI pack what a type with gaps describes, although it is one block? */
bool abi_packs_gaps(void);

/* Does MPI_Finalize need peers that are in it, too, for what was sent over TCP (mpi/quiet_end.c)? */
bool abi_ends_deaf(void);

/* How MPI sends large messages over TCP, as a variable of its own tells that it reads in MPI_Init. */
struct abi_fragments {
    uint32_t bytes; /* asked for at a time; 0: MPI's own size */
    bool is_ours;   /* the user has not set the variable, so it is to go again */
};

/* Before and after MPI_Init: lets large messages travel in fragments where those that cross would take turns. */
struct abi_fragments abi_fragments_set(void);
void abi_fragments_unset(void);

/* May the job go on when a rank has died, or a communicator been revoked? Known once MPI has been initialised. */
bool abi_survives_ranks(void);

/* A thread level as 0 (single) to 3 (multiple): the standard ABI numbers them otherwise. */
int abi_thread_ordinal(int level);

/* 64 bits of a status that the program cannot read directly, and that every MPI
 * call which fills a status writes. Two exceptions under MPICH: a wait for a send
 * leaves all of them alone; probes and operations on files leave bit 32 alone, the
 * mark of a cancelled message. Setting these bits also clears that mark where the
 * library keeps it in a word of its own (Open MPI). */
uint64_t abi_status_hidden_get(const MPI_Status *status);
void abi_status_hidden_set(MPI_Status *status, uint64_t value);

#endif
