# SPDX-License-Identifier: MIT
"""Every C function of MPI that Lapwing knows, under the chapter titles of MPI 4.1; then what libraries add to them.

A function without a row does not exist: tests/api holds this table against the
symbols that MPI libraries export. table.py says how a row reads. The treatment
class, the first word of a row, is what an entry does before and after MPI's own
function:

    direct   nothing: the program reaches MPI's function itself
    gated    one thread at a time
    buffers  wait for the ops whose holds the buffers overlap, then as gated
    drain    wait for every op, then as gated; always correct
    start    as buffers (or drain), and remember the memory that the operation goes on using
    status   wait for the op of a provisional status, then as gated; one that MPI writes to is made true in its place
    told     src/bind is told of the first argument, an int; then the program reaches MPI's function itself
    written  written by hand in src/mpi
    foreign  wait for every op; from then on every call is passed (bind/extension.h). Needs no prototype

A class that keeps the gate must not touch a hold by surprise, so the size behind
every other pointer is given as well: `sizes="ranks = n"` counts elements, and
bytes behind `void *`. Where it is not known, the class is drain. `follows_all`: an
operation that keeps its class and starts after every op, as if drained. `adds_peers`:
afterwards more processes may speak with this one than MPI_COMM_WORLD has.

Five words tell what a call means to messages that were received early (mpi/unexpected.h): `finds_taken`, it
may receive one; `closes="source tag comm"`, it matches by these, and cannot be given one; `is_synchronous`, its message
must not be taken; `ends_comm`, its communicator is gone afterwards; `changes_comm`, the program may promise something
of its communicator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from table import SMALL_TYPES, Row, expand, foreign_row, make_row, with_types

direct: Callable[..., Row] = partial(make_row, "direct")
gated: Callable[..., Row] = partial(make_row, "gated")
buffers: Callable[..., Row] = partial(make_row, "buffers")
drain: Callable[..., Row] = partial(make_row, "drain")
start: Callable[..., Row] = partial(make_row, "start")
status: Callable[..., Row] = partial(make_row, "status")
told: Callable[..., Row] = partial(make_row, "told")
written: Callable[..., Row] = partial(make_row, "written")

CHAPTERS: dict[str, list[Row]] = {
    "Point-to-Point Communication": [
        buffers(
            "int MPI_Bsend(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)",
            reads="buf count datatype",
        ),
        start(
            "int MPI_Bsend_init(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
        ),
        written("int MPI_Buffer_attach(void *buffer, Count size)"),
        written("int MPI_Buffer_detach(void *buffer_addr, Count *size)"),
        drain("int MPI_Buffer_flush(void)"),
        start("int MPI_Buffer_iflush(MPI_Request *request)"),
        drain("int MPI_Cancel(MPI_Request *request)"),  # a receive that has returned may tell that it must fail
        start("int MPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, Count size)"),
        drain("int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, Count *size)"),
        drain("int MPI_Comm_flush_buffer(MPI_Comm comm)"),
        start("int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)"),
        status("int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, Count *count)"),
        status("int MPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, Count *count)"),
        status("int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)"),
        start(
            "int MPI_Ibsend(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
        ),
        written(
            "int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)",
        ),
        start(
            "int MPI_Imrecv(void *buf, Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)",
            writes="buf count datatype",
        ),
        written("int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)"),
        start(
            "int MPI_Irecv(void *buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            writes="buf count datatype",
            finds_taken=True,
        ),
        start(
            "int MPI_Irsend(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
            follows_all=True,  # a receive that has returned may tell that the receiver is ready
        ),
        start(
            "int MPI_Isend(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
        ),
        start(
            "int MPI_Isendrecv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, "
            "void *recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="sendbuf sendcount sendtype",
            writes="recvbuf recvcount recvtype",
            closes="source recvtag comm",
        ),
        start(
            "int MPI_Isendrecv_replace(void *buf, Count count, MPI_Datatype datatype, int dest, int sendtag, int "
            "source, int recvtag, MPI_Comm comm, MPI_Request *request)",
            writes="buf count datatype",
            closes="source recvtag comm",
        ),
        start(
            "int MPI_Issend(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
            is_synchronous=True,
        ),
        written("int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)"),
        written(
            "int MPI_Mrecv(void *buf, Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)",
            writes="buf count datatype",
        ),
        written("int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)"),
        written(
            "int MPI_Recv(void *buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, "
            "MPI_Status *status)",
            writes="buf count datatype",
        ),
        start(
            "int MPI_Recv_init(void *buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            writes="buf count datatype",
            closes="source tag comm",
        ),
        written("int MPI_Request_free(MPI_Request *request)"),
        gated("int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)"),
        gated(
            "int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag, "
            "MPI_Status array_of_statuses[])",
            sizes="array_of_requests = count; array_of_statuses = count",
        ),
        gated(
            "int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx, int *flag, "
            "MPI_Status *status)",
            sizes="array_of_requests = count",
        ),
        gated(
            "int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount, int "
            "array_of_indices[], MPI_Status array_of_statuses[])",
            sizes="array_of_requests = incount; array_of_indices = incount; array_of_statuses = incount",
        ),
        written(
            "int MPI_Rsend(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)",
            reads="buf count datatype",
        ),
        start(
            "int MPI_Rsend_init(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
        ),
        written(
            "int MPI_Send(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)",
            reads="buf count datatype",
        ),
        start(
            "int MPI_Send_init(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
        ),
        written(
            "int MPI_Sendrecv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void "
            "*recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status "
            "*status)",
            reads="sendbuf sendcount sendtype",
            writes="recvbuf recvcount recvtype",
        ),
        written(
            "int MPI_Sendrecv_replace(void *buf, Count count, MPI_Datatype datatype, int dest, int sendtag, int "
            "source, int recvtag, MPI_Comm comm, MPI_Status *status)",
            writes="buf count datatype",
        ),
        start("int MPI_Session_attach_buffer(MPI_Session session, void *buffer, Count size)"),
        drain("int MPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, Count *size)"),
        drain("int MPI_Session_flush_buffer(MPI_Session session)"),
        start("int MPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)"),
        written(
            "int MPI_Ssend(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)",
            reads="buf count datatype",
        ),
        start(
            "int MPI_Ssend_init(const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, "
            "MPI_Request *request)",
            reads="buf count datatype",
            is_synchronous=True,
        ),
        written("int MPI_Start(MPI_Request *request)"),
        written("int MPI_Startall(int count, MPI_Request array_of_requests[])", sizes="array_of_requests = count"),
        status("int MPI_Status_get_error(const MPI_Status *status, int *error)"),
        status("int MPI_Status_get_source(const MPI_Status *status, int *source)"),
        status("int MPI_Status_get_tag(const MPI_Status *status, int *tag)"),
        written("int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)"),
        status("int MPI_Test_cancelled(const MPI_Status *status, int *flag)"),
        written(
            "int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])",
        ),
        written(
            "int MPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)",
        ),
        written(
            "int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], "
            "MPI_Status array_of_statuses[])",
        ),
        written("int MPI_Wait(MPI_Request *request, MPI_Status *status)"),
        written("int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])"),
        written("int MPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)"),
        written(
            "int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], "
            "MPI_Status array_of_statuses[])",
        ),
    ],
    "Partitioned Point-to-Point Communication": [
        gated("int MPI_Parrived(MPI_Request request, int partition, int *flag)"),
        drain("int MPI_Pready(int partition, MPI_Request request)"),
        drain(
            "int MPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)",
            sizes="array_of_partitions = length",
        ),
        drain("int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request)"),
        start(
            "int MPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, "
            "MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        start(
            "int MPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int "
            "tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
    ],
    "Datatypes": [
        direct("MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp)"),
        direct("MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)"),
        gated("int MPI_Get_address(const void *location, MPI_Aint *address)"),
        buffers(
            "int MPI_Pack(const void *inbuf, Count incount, MPI_Datatype datatype, void *outbuf, Count outsize, Count "
            "*position, MPI_Comm comm)",
            reads="inbuf incount datatype",
            writes="outbuf outsize MPI_BYTE",
        ),
        drain(
            "int MPI_Pack_external(const char *datarep, const void *inbuf, Count incount, MPI_Datatype datatype, void "
            "*outbuf, Extent outsize, Extent *position)",
        ),
        drain("int MPI_Pack_external_size(const char *datarep, Count incount, MPI_Datatype datatype, Extent *size)"),
        gated("int MPI_Pack_size(Count incount, MPI_Datatype datatype, MPI_Comm comm, Count *size)"),
        gated("int MPI_Type_commit(MPI_Datatype *datatype)"),
        gated("int MPI_Type_contiguous(Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)"),
        gated(
            "int MPI_Type_create_darray(int size, int rank, int ndims, const Count array_of_gsizes[], const int "
            "array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype "
            "oldtype, MPI_Datatype *newtype)",
            sizes="array_of_gsizes = ndims; array_of_distribs = ndims; array_of_dargs = ndims; array_of_psizes = ndims",
        ),
        gated(
            "int MPI_Type_create_hindexed(Count count, const Count array_of_blocklengths[], const Extent "
            "array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)",
            sizes="array_of_blocklengths = count; array_of_displacements = count",
        ),
        gated(
            "int MPI_Type_create_hindexed_block(Count count, Count blocklength, const Extent array_of_displacements[], "
            "MPI_Datatype oldtype, MPI_Datatype *newtype)",
            sizes="array_of_displacements = count",
        ),
        gated(
            "int MPI_Type_create_hvector(Count count, Count blocklength, Extent stride, MPI_Datatype oldtype, "
            "MPI_Datatype *newtype)",
        ),
        gated(
            "int MPI_Type_create_indexed_block(Count count, Count blocklength, const Count array_of_displacements[], "
            "MPI_Datatype oldtype, MPI_Datatype *newtype)",
            sizes="array_of_displacements = count",
        ),
        gated("int MPI_Type_create_resized(MPI_Datatype oldtype, Extent lb, Extent extent, MPI_Datatype *newtype)"),
        gated(
            "int MPI_Type_create_struct(Count count, const Count array_of_blocklengths[], const Extent "
            "array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)",
            sizes="array_of_blocklengths = count; array_of_displacements = count; array_of_types = count",
        ),
        gated(
            "int MPI_Type_create_subarray(int ndims, const Count array_of_sizes[], const Count array_of_subsizes[], "
            "const Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)",
            sizes="array_of_sizes = ndims; array_of_subsizes = ndims; array_of_starts = ndims",
        ),
        drain("int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)"),
        written("int MPI_Type_free(MPI_Datatype *datatype)"),
        drain(
            "int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, "
            "int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])",
        ),
        drain(
            "int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, "
            "MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint "
            "array_of_addresses[], MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])",
        ),
        gated(
            "int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int "
            "*num_datatypes, int *combiner)",
        ),
        gated(
            "int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, "
            "MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)",
        ),
        gated("int MPI_Type_get_extent(MPI_Datatype datatype, Extent *lb, Extent *extent)"),
        gated("int MPI_Type_get_true_extent(MPI_Datatype datatype, Extent *true_lb, Extent *true_extent)"),
        gated(
            "int MPI_Type_indexed(Count count, const Count array_of_blocklengths[], const Count "
            "array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)",
            sizes="array_of_blocklengths = count; array_of_displacements = count",
        ),
        gated("int MPI_Type_size(MPI_Datatype datatype, Count *size)"),
        gated(
            "int MPI_Type_vector(Count count, Count blocklength, Count stride, MPI_Datatype oldtype, MPI_Datatype "
            "*newtype)",
        ),
        buffers(
            "int MPI_Unpack(const void *inbuf, Count insize, Count *position, void *outbuf, Count outcount, "
            "MPI_Datatype datatype, MPI_Comm comm)",
            reads="inbuf insize MPI_BYTE",
            writes="outbuf outcount datatype",
        ),
        drain(
            "int MPI_Unpack_external(const char datarep[], const void *inbuf, Extent insize, Extent *position, void "
            "*outbuf, Count outcount, MPI_Datatype datatype)",
        ),
    ],
    "Collective Communication": [
        drain(
            "int MPI_Allgather(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Allgather_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Allgatherv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const "
            "Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Allgatherv_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const "
            "Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, "
            "MPI_Request *request)",
        ),
        buffers(
            "int MPI_Allreduce(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "MPI_Comm comm)",
            reads="sendbuf count datatype",
            writes="recvbuf count datatype",
        ),
        start(
            "int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Alltoall(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Alltoall_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Alltoallv(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], "
            "MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], const Displacement rdispls[], "
            "MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Alltoallv_init(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], "
            "MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], const Displacement rdispls[], "
            "MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Alltoallw(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], const "
            "MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], const Displacement rdispls[], const "
            "MPI_Datatype recvtypes[], MPI_Comm comm)",
        ),
        start(
            "int MPI_Alltoallw_init(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], const "
            "MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], const Displacement rdispls[], const "
            "MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain("int MPI_Barrier(MPI_Comm comm)"),
        drain("int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)"),
        buffers(
            "int MPI_Bcast(void *buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm)",
            writes="buffer count datatype",
        ),
        start(
            "int MPI_Bcast_init(void *buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info "
            "info, MPI_Request *request)",
            writes="buffer count datatype",
        ),
        buffers(
            "int MPI_Exscan(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "MPI_Comm comm)",
            reads="sendbuf count datatype",
            writes="recvbuf count datatype",
        ),
        start(
            "int MPI_Exscan_init(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Gather(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)",
        ),
        start(
            "int MPI_Gather_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Gatherv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const Count "
            "recvcounts[], const Displacement displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)",
        ),
        start(
            "int MPI_Gatherv_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const "
            "Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info "
            "info, MPI_Request *request)",
        ),
        start(
            "int MPI_Iallgather(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Iallgatherv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const "
            "Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request "
            "*request)",
        ),
        start(
            "int MPI_Iallreduce(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ialltoall(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ialltoallv(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], "
            "MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], const Displacement rdispls[], "
            "MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ialltoallw(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], const "
            "MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], const Displacement rdispls[], const "
            "MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)",
        ),
        start("int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)"),
        start(
            "int MPI_Ibcast(void *buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request "
            "*request)",
            writes="buffer count datatype",
        ),
        start(
            "int MPI_Iexscan(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Igather(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Igatherv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const Count "
            "recvcounts[], const Displacement displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request "
            "*request)",
        ),
        start(
            "int MPI_Ireduce(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, int "
            "root, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const Count recvcounts[], MPI_Datatype "
            "datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, Count recvcount, MPI_Datatype datatype, "
            "MPI_Op op, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Iscan(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm "
            "comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Iscatter(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Iscatterv(const void *sendbuf, const Count sendcounts[], const Displacement displs[], "
            "MPI_Datatype sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, "
            "MPI_Request *request)",
        ),
        gated("int MPI_Op_commutative(MPI_Op op, int *commute)"),
        gated("int MPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)"),
        gated("int MPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)"),
        gated("int MPI_Op_free(MPI_Op *op)"),
        buffers(
            "int MPI_Reduce(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, int "
            "root, MPI_Comm comm)",
            reads="sendbuf count datatype",
            writes="recvbuf count datatype",
        ),
        start(
            "int MPI_Reduce_init(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        buffers(
            "int MPI_Reduce_local(const void *inbuf, void *inoutbuf, Count count, MPI_Datatype datatype, MPI_Op op)",
            reads="inbuf count datatype",
            writes="inoutbuf count datatype",
        ),
        drain(
            "int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const Count recvcounts[], MPI_Datatype "
            "datatype, MPI_Op op, MPI_Comm comm)",
        ),
        drain(
            "int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, Count recvcount, MPI_Datatype datatype, "
            "MPI_Op op, MPI_Comm comm)",
        ),
        start(
            "int MPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, Count recvcount, MPI_Datatype "
            "datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        start(
            "int MPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const Count recvcounts[], MPI_Datatype "
            "datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        buffers(
            "int MPI_Scan(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm "
            "comm)",
            reads="sendbuf count datatype",
            writes="recvbuf count datatype",
        ),
        start(
            "int MPI_Scan_init(const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, "
            "MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Scatter(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)",
        ),
        start(
            "int MPI_Scatter_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count "
            "recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Scatterv(const void *sendbuf, const Count sendcounts[], const Displacement displs[], MPI_Datatype "
            "sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)",
        ),
        start(
            "int MPI_Scatterv_init(const void *sendbuf, const Count sendcounts[], const Displacement displs[], "
            "MPI_Datatype sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, "
            "MPI_Info info, MPI_Request *request)",
        ),
    ],
    "Groups, Contexts, Communicators, and Caching": [
        gated("int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)"),
        drain("int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)"),
        drain(
            "int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler "
            "errhandler, MPI_Comm *newcomm)",
        ),
        drain("int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)"),
        gated(
            "int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn, MPI_Comm_delete_attr_function "
            "*comm_delete_attr_fn, int *comm_keyval, void *extra_state)",
        ),
        drain("int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)"),
        drain("int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)"),
        drain("int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)"),
        drain("int MPI_Comm_free(MPI_Comm *comm)", ends_comm=True),
        gated("int MPI_Comm_free_keyval(int *comm_keyval)"),
        gated(
            "int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)",
            sizes="attribute_val = sizeof(void *)",
        ),
        gated("int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)"),
        drain("int MPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)"),
        gated("int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)"),
        start("int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)"),
        start("int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)"),
        gated("int MPI_Comm_rank(MPI_Comm comm, int *rank)"),
        gated("int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)"),
        gated("int MPI_Comm_remote_size(MPI_Comm comm, int *size)"),
        drain("int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)"),
        drain("int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)", changes_comm=True),
        drain("int MPI_Comm_set_name(MPI_Comm comm, const char *comm_name)"),
        gated("int MPI_Comm_size(MPI_Comm comm, int *size)"),
        drain("int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)"),
        drain("int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)"),
        gated("int MPI_Comm_test_inter(MPI_Comm comm, int *flag)"),
        gated("int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)"),
        gated("int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)"),
        gated("int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)", sizes="ranks = n"),
        gated("int MPI_Group_free(MPI_Group *group)"),
        drain("int MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)"),
        gated("int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)", sizes="ranks = n"),
        gated("int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)"),
        gated(
            "int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)",
            sizes="ranges = n",
        ),
        gated(
            "int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)",
            sizes="ranges = n",
        ),
        gated("int MPI_Group_rank(MPI_Group group, int *rank)"),
        gated("int MPI_Group_size(MPI_Group group, int *size)"),
        gated(
            "int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, "
            "int ranks2[])",
            sizes="ranks1 = n; ranks2 = n",
        ),
        gated("int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)"),
        drain(
            "int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, "
            "int tag, MPI_Comm *newintercomm)",
            closes="remote_leader tag peer_comm",  # MPI may send messages with this tag there
        ),
        drain(
            "int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int "
            "remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm)",
        ),
        drain("int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)"),
        written(
            "int MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn, MPI_Type_delete_attr_function "
            "*type_delete_attr_fn, int *type_keyval, void *extra_state)",
        ),
        drain("int MPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)"),
        gated("int MPI_Type_free_keyval(int *type_keyval)"),
        gated(
            "int MPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)",
            sizes="attribute_val = sizeof(void *)",
        ),
        drain("int MPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)"),
        drain("int MPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)"),
        drain("int MPI_Type_set_name(MPI_Datatype datatype, const char *type_name)"),
        gated(
            "int MPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn, MPI_Win_delete_attr_function "
            "*win_delete_attr_fn, int *win_keyval, void *extra_state)",
        ),
        drain("int MPI_Win_delete_attr(MPI_Win win, int win_keyval)"),
        gated("int MPI_Win_free_keyval(int *win_keyval)"),
        drain("int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)"),
        drain("int MPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)"),
        drain("int MPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)"),
        drain("int MPI_Win_set_name(MPI_Win win, const char *win_name)"),
    ],
    "Virtual Topologies for MPI Processes": [
        gated("int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])", sizes="coords = maxdims"),
        drain(
            "int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, "
            "MPI_Comm *comm_cart)",
        ),
        gated(
            "int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])",
            sizes="dims = maxdims; periods = maxdims; coords = maxdims",
        ),
        drain("int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)"),
        drain("int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)"),
        gated("int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)"),
        drain("int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)"),
        gated("int MPI_Cartdim_get(MPI_Comm comm, int *ndims)"),
        gated("int MPI_Dims_create(int nnodes, int ndims, int dims[])", sizes="dims = ndims"),
        drain(
            "int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int "
            "destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)",
        ),
        drain(
            "int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int "
            "sourceweights[], int outdegree, const int destinations[], const int destweights[], MPI_Info info, int "
            "reorder, MPI_Comm *comm_dist_graph)",
        ),
        drain(
            "int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int "
            "maxoutdegree, int destinations[], int destweights[])",
        ),
        gated("int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)"),
        drain(
            "int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder, "
            "MPI_Comm *comm_graph)",
        ),
        drain("int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])"),
        drain("int MPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)"),
        drain("int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])"),
        gated("int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)"),
        gated("int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)"),
        start(
            "int MPI_Ineighbor_allgather(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, "
            "Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ineighbor_allgatherv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, "
            "const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request "
            "*request)",
        ),
        start(
            "int MPI_Ineighbor_alltoall(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, "
            "Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ineighbor_alltoallv(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], "
            "MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], const Displacement rdispls[], "
            "MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)",
        ),
        start(
            "int MPI_Ineighbor_alltoallw(const void *sendbuf, const Count sendcounts[], const MPI_Aint sdispls[], "
            "const MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], const MPI_Aint rdispls[], const "
            "MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)",
        ),
        drain(
            "int MPI_Neighbor_allgather(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, "
            "Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Neighbor_allgather_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void "
            "*recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Neighbor_allgatherv(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, "
            "const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Neighbor_allgatherv_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void "
            "*recvbuf, const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm, "
            "MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Neighbor_alltoall(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, "
            "Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Neighbor_alltoall_init(const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void "
            "*recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Neighbor_alltoallv(const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], "
            "MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], const Displacement rdispls[], "
            "MPI_Datatype recvtype, MPI_Comm comm)",
        ),
        start(
            "int MPI_Neighbor_alltoallv_init(const void *sendbuf, const Count sendcounts[], const Displacement "
            "sdispls[], MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], const Displacement rdispls[], "
            "MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        drain(
            "int MPI_Neighbor_alltoallw(const void *sendbuf, const Count sendcounts[], const MPI_Aint sdispls[], const "
            "MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], const MPI_Aint rdispls[], const "
            "MPI_Datatype recvtypes[], MPI_Comm comm)",
        ),
        start(
            "int MPI_Neighbor_alltoallw_init(const void *sendbuf, const Count sendcounts[], const MPI_Aint sdispls[], "
            "const MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], const MPI_Aint rdispls[], const "
            "MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)",
        ),
        gated("int MPI_Topo_test(MPI_Comm comm, int *status)"),
    ],
    "MPI Environmental Management": [
        gated("int MPI_Add_error_class(int *errorclass)"),
        gated("int MPI_Add_error_code(int errorclass, int *errorcode)"),
        drain("int MPI_Add_error_string(int errorcode, const char *string)"),
        gated("int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)", sizes="baseptr = sizeof(void *)"),
        drain("int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)"),
        written(
            "int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler "
            "*errhandler)",
        ),
        gated("int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)"),
        drain("int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)"),
        gated("int MPI_Errhandler_free(MPI_Errhandler *errhandler)"),
        gated("int MPI_Error_class(int errorcode, int *errorclass)"),
        drain("int MPI_Error_string(int errorcode, char *string, int *resultlen)"),
        drain("int MPI_File_call_errhandler(MPI_File fh, int errorcode)"),
        gated(
            "int MPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler "
            "*errhandler)",
        ),
        drain("int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)"),
        drain("int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)"),
        drain("int MPI_Free_mem(void *base)"),
        gated("int MPI_Get_hw_resource_info(MPI_Info *hw_info)"),
        direct("int MPI_Get_library_version(char *version, int *resultlen)"),
        drain("int MPI_Get_processor_name(char *name, int *resultlen)"),
        direct("int MPI_Get_version(int *version, int *subversion)"),
        gated("int MPI_Remove_error_class(int errorclass)"),
        gated("int MPI_Remove_error_code(int errorcode)"),
        gated("int MPI_Remove_error_string(int errorcode)"),
        drain("int MPI_Session_call_errhandler(MPI_Session session, int errorcode)"),
        gated(
            "int MPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler "
            "*errhandler)",
        ),
        gated("int MPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)"),
        drain("int MPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)"),
        drain("int MPI_Win_call_errhandler(MPI_Win win, int errorcode)"),
        gated(
            "int MPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler)",
        ),
        drain("int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)"),
        drain("int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)"),
        direct("double MPI_Wtick(void)"),
        direct("double MPI_Wtime(void)"),
    ],
    "The Info Object": [
        gated("int MPI_Info_create(MPI_Info *info)"),
        drain("int MPI_Info_create_env(int argc, char *argv[], MPI_Info *info)"),
        drain("int MPI_Info_delete(MPI_Info info, const char *key)"),
        gated("int MPI_Info_dup(MPI_Info info, MPI_Info *newinfo)"),
        gated("int MPI_Info_free(MPI_Info *info)"),
        gated("int MPI_Info_get_nkeys(MPI_Info info, int *nkeys)"),
        drain("int MPI_Info_get_nthkey(MPI_Info info, int n, char *key)"),
        drain("int MPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)"),
        drain("int MPI_Info_set(MPI_Info info, const char *key, const char *value)"),
    ],
    "Process Initialization, Creation, and Management": [
        written("int MPI_Abort(MPI_Comm comm, int errorcode)"),
        drain("int MPI_Close_port(const char *port_name)"),
        drain(
            "int MPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)",
            adds_peers=True,
        ),
        drain(
            "int MPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)",
            adds_peers=True,
        ),
        drain("int MPI_Comm_disconnect(MPI_Comm *comm)", ends_comm=True),
        gated("int MPI_Comm_get_parent(MPI_Comm *parent)"),
        drain("int MPI_Comm_join(int fd, MPI_Comm *intercomm)", adds_peers=True),
        drain(
            "int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm "
            "comm, MPI_Comm *intercomm, int array_of_errcodes[])",
            adds_peers=True,
        ),
        drain(
            "int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[], const int "
            "array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm, int "
            "array_of_errcodes[])",
            adds_peers=True,
        ),
        written("int MPI_Finalize(void)"),
        direct("int MPI_Finalized(int *flag)"),
        written("int MPI_Init(int *argc, char ***argv)"),
        written("int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)"),
        direct("int MPI_Initialized(int *flag)"),
        gated("int MPI_Is_thread_main(int *flag)"),
        drain("int MPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)"),
        drain("int MPI_Open_port(MPI_Info info, char *port_name)"),
        drain("int MPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)"),
        gated("int MPI_Query_thread(int *provided)"),
        drain("int MPI_Session_finalize(MPI_Session *session)"),
        drain("int MPI_Session_get_info(MPI_Session session, MPI_Info *info_used)"),
        drain(
            "int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)",
        ),
        drain("int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)"),
        drain("int MPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)"),
        written("int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)"),
        drain("int MPI_Session_set_info(MPI_Session session, MPI_Info info)"),
        drain("int MPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)"),
    ],
    "One-Sided Communications": [
        drain(
            "int MPI_Accumulate(const void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, int "
            "target_rank, MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win "
            "win)",
        ),
        drain(
            "int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, "
            "MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)",
        ),
        drain(
            "int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, "
            "MPI_Aint target_disp, MPI_Op op, MPI_Win win)",
        ),
        drain(
            "int MPI_Get(void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank, "
            "MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win)",
        ),
        drain(
            "int MPI_Get_accumulate(const void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, void "
            "*result_addr, Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, "
            "Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)",
        ),
        drain(
            "int MPI_Put(const void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank, "
            "MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win)",
        ),
        start(
            "int MPI_Raccumulate(const void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, int "
            "target_rank, MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win "
            "win, MPI_Request *request)",
        ),
        start(
            "int MPI_Rget(void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank, "
            "MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win, "
            "MPI_Request *request)",
        ),
        start(
            "int MPI_Rget_accumulate(const void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, void "
            "*result_addr, Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, "
            "Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)",
        ),
        start(
            "int MPI_Rput(const void *origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank, "
            "MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win, "
            "MPI_Request *request)",
        ),
        start(
            "int MPI_Win_allocate(MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, "
            "MPI_Win *win)",
        ),
        start(
            "int MPI_Win_allocate_shared(MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm, void "
            "*baseptr, MPI_Win *win)",
        ),
        start("int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)"),
        drain("int MPI_Win_complete(MPI_Win win)"),
        start(
            "int MPI_Win_create(void *base, MPI_Aint size, Displacement disp_unit, MPI_Info info, MPI_Comm comm, "
            "MPI_Win *win)",
        ),
        start("int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)"),
        drain("int MPI_Win_detach(MPI_Win win, const void *base)"),
        drain("int MPI_Win_fence(int assert, MPI_Win win)"),
        drain("int MPI_Win_flush(int rank, MPI_Win win)"),
        drain("int MPI_Win_flush_all(MPI_Win win)"),
        drain("int MPI_Win_flush_local(int rank, MPI_Win win)"),
        drain("int MPI_Win_flush_local_all(MPI_Win win)"),
        drain("int MPI_Win_free(MPI_Win *win)"),
        drain("int MPI_Win_get_group(MPI_Win win, MPI_Group *group)"),
        drain("int MPI_Win_get_info(MPI_Win win, MPI_Info *info_used)"),
        drain("int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)"),
        drain("int MPI_Win_lock_all(int assert, MPI_Win win)"),
        drain("int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)"),
        drain("int MPI_Win_set_info(MPI_Win win, MPI_Info info)"),
        drain(
            "int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, Displacement *disp_unit, void *baseptr)",
        ),
        drain("int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)"),
        drain("int MPI_Win_sync(MPI_Win win)"),
        drain("int MPI_Win_test(MPI_Win win, int *flag)"),
        drain("int MPI_Win_unlock(int rank, MPI_Win win)"),
        drain("int MPI_Win_unlock_all(MPI_Win win)"),
        drain("int MPI_Win_wait(MPI_Win win)"),
    ],
    "External Interfaces": [
        gated("int MPI_Grequest_complete(MPI_Request request)"),
        written(
            "int MPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn, "
            "MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)",
        ),
        status("int MPI_Status_set_cancelled(MPI_Status *status, int flag)"),
        status("int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, Count count)"),
        gated("int MPI_Status_set_error(MPI_Status *status, int error)"),
        gated("int MPI_Status_set_source(MPI_Status *status, int source)"),
        gated("int MPI_Status_set_tag(MPI_Status *status, int tag)"),
    ],
    "I/O": [
        drain("int MPI_File_close(MPI_File *fh)"),
        drain("int MPI_File_delete(const char *filename, MPI_Info info)"),
        drain("int MPI_File_get_amode(MPI_File fh, int *amode)"),
        drain("int MPI_File_get_atomicity(MPI_File fh, int *flag)"),
        drain("int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)"),
        drain("int MPI_File_get_group(MPI_File fh, MPI_Group *group)"),
        drain("int MPI_File_get_info(MPI_File fh, MPI_Info *info_used)"),
        drain("int MPI_File_get_position(MPI_File fh, MPI_Offset *offset)"),
        drain("int MPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)"),
        drain("int MPI_File_get_size(MPI_File fh, MPI_Offset *size)"),
        drain("int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, Extent *extent)"),
        drain(
            "int MPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char "
            "*datarep)",
        ),
        start("int MPI_File_iread(MPI_File fh, void *buf, Count count, MPI_Datatype datatype, MPI_Request *request)"),
        start(
            "int MPI_File_iread_all(MPI_File fh, void *buf, Count count, MPI_Datatype datatype, MPI_Request *request)",
        ),
        start(
            "int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, Count count, MPI_Datatype datatype, "
            "MPI_Request *request)",
        ),
        start(
            "int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, Count count, MPI_Datatype datatype, "
            "MPI_Request *request)",
        ),
        start(
            "int MPI_File_iread_shared(MPI_File fh, void *buf, Count count, MPI_Datatype datatype, MPI_Request "
            "*request)",
        ),
        start(
            "int MPI_File_iwrite(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype, MPI_Request "
            "*request)",
        ),
        start(
            "int MPI_File_iwrite_all(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype, MPI_Request "
            "*request)",
        ),
        start(
            "int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, Count count, MPI_Datatype "
            "datatype, MPI_Request *request)",
        ),
        start(
            "int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, Count count, MPI_Datatype "
            "datatype, MPI_Request *request)",
        ),
        start(
            "int MPI_File_iwrite_shared(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype, MPI_Request "
            "*request)",
        ),
        drain("int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)"),
        drain("int MPI_File_preallocate(MPI_File fh, MPI_Offset size)"),
        drain("int MPI_File_read(MPI_File fh, void *buf, Count count, MPI_Datatype datatype, MPI_Status *status)"),
        drain("int MPI_File_read_all(MPI_File fh, void *buf, Count count, MPI_Datatype datatype, MPI_Status *status)"),
        start("int MPI_File_read_all_begin(MPI_File fh, void *buf, Count count, MPI_Datatype datatype)"),
        drain("int MPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)"),
        drain(
            "int MPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, Count count, MPI_Datatype datatype, "
            "MPI_Status *status)",
        ),
        drain(
            "int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, Count count, MPI_Datatype datatype, "
            "MPI_Status *status)",
        ),
        start(
            "int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, Count count, MPI_Datatype "
            "datatype)",
        ),
        drain("int MPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)"),
        drain(
            "int MPI_File_read_ordered(MPI_File fh, void *buf, Count count, MPI_Datatype datatype, MPI_Status *status)",
        ),
        start("int MPI_File_read_ordered_begin(MPI_File fh, void *buf, Count count, MPI_Datatype datatype)"),
        drain("int MPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)"),
        drain(
            "int MPI_File_read_shared(MPI_File fh, void *buf, Count count, MPI_Datatype datatype, MPI_Status *status)",
        ),
        drain("int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)"),
        drain("int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)"),
        drain("int MPI_File_set_atomicity(MPI_File fh, int flag)"),
        drain("int MPI_File_set_info(MPI_File fh, MPI_Info info)"),
        drain("int MPI_File_set_size(MPI_File fh, MPI_Offset size)"),
        drain(
            "int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char "
            "*datarep, MPI_Info info)",
        ),
        drain("int MPI_File_sync(MPI_File fh)"),
        drain(
            "int MPI_File_write(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype, MPI_Status *status)",
        ),
        drain(
            "int MPI_File_write_all(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype, MPI_Status "
            "*status)",
        ),
        start("int MPI_File_write_all_begin(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype)"),
        drain("int MPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)"),
        drain(
            "int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, Count count, MPI_Datatype "
            "datatype, MPI_Status *status)",
        ),
        drain(
            "int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, Count count, MPI_Datatype "
            "datatype, MPI_Status *status)",
        ),
        start(
            "int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, Count count, "
            "MPI_Datatype datatype)",
        ),
        drain("int MPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)"),
        drain(
            "int MPI_File_write_ordered(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype, MPI_Status "
            "*status)",
        ),
        start("int MPI_File_write_ordered_begin(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype)"),
        drain("int MPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)"),
        drain(
            "int MPI_File_write_shared(MPI_File fh, const void *buf, Count count, MPI_Datatype datatype, MPI_Status "
            "*status)",
        ),
        drain(
            "int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn, "
            "MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn, "
            "void *extra_state)",
        ),
        drain(
            "int MPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn, "
            "MPI_Datarep_conversion_function_c *write_conversion_fn, MPI_Datarep_extent_function "
            "*dtype_file_extent_fn, void *extra_state)",
        ),
    ],
    "Tool Support": [
        told("int MPI_Pcontrol(const int level, ...)"),
        direct("int MPI_T_category_changed(int *update_number)"),
        direct("int MPI_T_category_get_categories(int cat_index, int len, int indices[])"),
        direct("int MPI_T_category_get_cvars(int cat_index, int len, int indices[])"),
        direct("int MPI_T_category_get_events(int cat_index, int len, int indices[])"),
        direct("int MPI_T_category_get_index(const char *name, int *cat_index)"),
        direct(
            "int MPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int "
            "*num_cvars, int *num_pvars, int *num_categories)",
        ),
        direct("int MPI_T_category_get_num(int *num_cat)"),
        direct("int MPI_T_category_get_num_events(int cat_index, int *num_events)"),
        direct("int MPI_T_category_get_pvars(int cat_index, int len, int indices[])"),
        direct("int MPI_T_cvar_get_index(const char *name, int *cvar_index)"),
        direct(
            "int MPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype "
            "*datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)",
        ),
        direct("int MPI_T_cvar_get_num(int *num_cvar)"),
        direct("int MPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)"),
        direct("int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)"),
        direct("int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)"),
        direct("int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)"),
        direct("int MPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)"),
        direct("int MPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)"),
        direct(
            "int MPI_T_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, "
            "MPI_Info *info_used)",
        ),
        direct(
            "int MPI_T_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, "
            "MPI_Info info)",
        ),
        direct("int MPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)"),
        direct("int MPI_T_event_get_index(const char *name, int *event_index)"),
        direct(
            "int MPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype "
            "array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, "
            "MPI_Info *info, char *desc, int *desc_len, int *bind)",
        ),
        direct("int MPI_T_event_get_num(int *num_events)"),
        direct("int MPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)"),
        direct("int MPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)"),
        direct(
            "int MPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration "
            "*event_registration)",
        ),
        direct(
            "int MPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data, "
            "MPI_T_event_free_cb_function free_cb_function)",
        ),
        direct("int MPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)"),
        direct("int MPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)"),
        direct("int MPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)"),
        direct(
            "int MPI_T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, "
            "MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function)",
        ),
        direct(
            "int MPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration, "
            "MPI_T_event_dropped_cb_function dropped_cb_function)",
        ),
        direct("int MPI_T_finalize(void)"),
        direct("int MPI_T_init_thread(int required, int *provided)"),
        direct("int MPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)"),
        direct(
            "int MPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class, "
            "MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int "
            "*continuous, int *atomic)",
        ),
        direct("int MPI_T_pvar_get_num(int *num_pvar)"),
        direct(
            "int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, "
            "MPI_T_pvar_handle *handle, int *count)",
        ),
        direct("int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)"),
        direct("int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)"),
        direct("int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)"),
        direct("int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)"),
        direct("int MPI_T_pvar_session_create(MPI_T_pvar_session *session)"),
        direct("int MPI_T_pvar_session_free(MPI_T_pvar_session *session)"),
        direct("int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)"),
        direct("int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)"),
        direct("int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)"),
        direct(
            "int MPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len, "
            "MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)",
        ),
        direct("int MPI_T_source_get_num(int *num_sources)"),
        direct("int MPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)"),
    ],
    "Deprecated and Removed Interfaces": [
        gated("int MPI_Address(void *location, MPI_Aint *address)"),
        drain("int MPI_Attr_delete(MPI_Comm comm, int keyval)"),
        gated(
            "int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)",
            sizes="attribute_val = sizeof(void *)",
        ),
        drain("int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)"),
        written(
            "int MPI_Errhandler_create(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)",
        ),
        gated("int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)"),
        drain("int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)"),
        drain("int MPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)"),
        drain("int MPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)"),
        gated(
            "int MPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void "
            "*extra_state)",
        ),
        gated("int MPI_Keyval_free(int *keyval)"),
        status("int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)"),
        gated("int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)"),
        gated("int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)"),
        gated("int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)"),
        gated(
            "int MPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], "
            "MPI_Datatype oldtype, MPI_Datatype *newtype)",
            sizes="array_of_blocklengths = count; array_of_displacements = count",
        ),
        gated(
            "int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype "
            "*newtype)",
        ),
        gated("int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)"),
        gated("int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)"),
        gated(
            "int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], "
            "MPI_Datatype array_of_types[], MPI_Datatype *newtype)",
            sizes="array_of_blocklengths = count; array_of_displacements = count; array_of_types = count",
        ),
        gated("int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)"),
    ],
    "Application Binary Interface (MPI 5.0) and Language Bindings": [
        direct(
            "int MPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)",
        ),
        direct("int MPI_Abi_get_fortran_info(MPI_Info *info)"),
        direct("int MPI_Abi_get_info(MPI_Info *info)"),
        direct("int MPI_Abi_get_version(int *abi_major, int *abi_minor)"),
        direct("int MPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)"),
        direct("int MPI_Abi_set_fortran_info(MPI_Info info)"),
        direct("MPI_Fint MPI_Comm_c2f(MPI_Comm comm)"),
        direct("MPI_Comm MPI_Comm_f2c(MPI_Fint comm)"),
        direct("MPI_Comm MPI_Comm_fromint(int comm)"),
        direct("int MPI_Comm_toint(MPI_Comm comm)"),
        direct("MPI_Fint MPI_Errhandler_c2f(MPI_Errhandler errhandler)"),
        direct("MPI_Errhandler MPI_Errhandler_f2c(MPI_Fint errhandler)"),
        direct("MPI_Errhandler MPI_Errhandler_fromint(int errhandler)"),
        direct("int MPI_Errhandler_toint(MPI_Errhandler errhandler)"),
        direct("MPI_Fint MPI_File_c2f(MPI_File file)"),
        direct("MPI_File MPI_File_f2c(MPI_Fint file)"),
        direct("MPI_File MPI_File_fromint(int file)"),
        direct("int MPI_File_toint(MPI_File file)"),
        direct("MPI_Fint MPI_Group_c2f(MPI_Group group)"),
        direct("MPI_Group MPI_Group_f2c(MPI_Fint group)"),
        direct("MPI_Group MPI_Group_fromint(int group)"),
        direct("int MPI_Group_toint(MPI_Group group)"),
        direct("MPI_Fint MPI_Info_c2f(MPI_Info info)"),
        direct("MPI_Info MPI_Info_f2c(MPI_Fint info)"),
        direct("MPI_Info MPI_Info_fromint(int info)"),
        direct("int MPI_Info_toint(MPI_Info info)"),
        direct("MPI_Fint MPI_Message_c2f(MPI_Message message)"),
        direct("MPI_Message MPI_Message_f2c(MPI_Fint message)"),
        direct("MPI_Message MPI_Message_fromint(int message)"),
        direct("int MPI_Message_toint(MPI_Message message)"),
        direct("MPI_Fint MPI_Op_c2f(MPI_Op op)"),
        direct("MPI_Op MPI_Op_f2c(MPI_Fint op)"),
        direct("MPI_Op MPI_Op_fromint(int op)"),
        direct("int MPI_Op_toint(MPI_Op op)"),
        # Open MPI enters the handle into a table here, and takes it out when the engine ends an operation whose
        # request or datatype was freed; without MPI_THREAD_MULTIPLE its lock does nothing.
        gated("MPI_Fint MPI_Request_c2f(MPI_Request request)"),
        direct("MPI_Request MPI_Request_f2c(MPI_Fint request)"),
        direct("MPI_Request MPI_Request_fromint(int request)"),
        direct("int MPI_Request_toint(MPI_Request request)"),
        direct("MPI_Fint MPI_Session_c2f(MPI_Session session)"),
        direct("MPI_Session MPI_Session_f2c(MPI_Fint session)"),
        direct("MPI_Session MPI_Session_fromint(int session)"),
        direct("int MPI_Session_toint(MPI_Session session)"),
        status(
            "int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)",
            sizes="f_status = sizeof(MPI_Status) / sizeof(MPI_Fint)",
        ),
        status("int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)"),
        gated("int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)"),
        gated(
            "int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)",
            sizes="f_status = sizeof(MPI_Status) / sizeof(MPI_Fint)",
        ),
        gated(
            "int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)",
            sizes="f_status = sizeof(MPI_Status) / sizeof(MPI_Fint)",
        ),
        gated(
            "int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)",
            sizes="f_status = sizeof(MPI_Status) / sizeof(MPI_Fint)",
        ),
        gated("MPI_Fint MPI_Type_c2f(MPI_Datatype datatype)"),
        gated("int MPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)"),
        gated("int MPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)"),
        gated("int MPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)"),
        direct("MPI_Datatype MPI_Type_f2c(MPI_Fint datatype)"),
        direct("MPI_Datatype MPI_Type_fromint(int datatype)"),
        gated(
            "int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)",
        ),
        gated("int MPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)"),
        direct("int MPI_Type_toint(MPI_Datatype datatype)"),
        direct("MPI_Fint MPI_Win_c2f(MPI_Win win)"),
        direct("MPI_Win MPI_Win_f2c(MPI_Fint win)"),
        direct("MPI_Win MPI_Win_fromint(int win)"),
        direct("int MPI_Win_toint(MPI_Win win)"),
    ],
}


def with_prefix(row: Row) -> Row:
    """MPIX_Bcast_init of Open MPI 4.1 is what MPI 4.0 calls MPI_Bcast_init, without large counts."""
    return replace(with_types(row, SMALL_TYPES), name=row.name.replace("MPI_", "MPIX_"))


def persistent_collectives() -> Iterator[Row]:
    """Open MPI's `pcollreq` extension."""
    for chapter in ("Collective Communication", "Virtual Topologies for MPI Processes"):
        yield from (with_prefix(row) for row in CHAPTERS[chapter] if row.name.endswith("_init"))


# Functions of which a prototype would not help. They have MPI run functions of the program's own (generalized requests
# that poll, error handlers and operators with state, asynchronous things), or make communicators that locks of MPI's
# no longer guard (streams, threads as ranks), or begin what a device or another process ends (enqueued operations,
# notified RMA), or change how MPI progresses.
FOREIGN_NAMES = (
    "MPIX_Allreduce_enqueue",
    "MPIX_Allreduce_enqueue_c",
    "MPIX_Async_get_state",
    "MPIX_Async_spawn",
    "MPIX_Async_start",
    "MPIX_Comm_create_errhandler_x",
    "MPIX_Comm_get_stream",
    "MPIX_File_create_errhandler_x",
    "MPIX_Get_notify",
    "MPIX_Get_notify_c",
    "MPIX_Grequest_class_allocate",
    "MPIX_Grequest_class_create",
    "MPIX_Grequest_start",
    "MPIX_Irecv_enqueue",
    "MPIX_Irecv_enqueue_c",
    "MPIX_Isend_enqueue",
    "MPIX_Isend_enqueue_c",
    "MPIX_Op_create_x",
    "MPIX_Put_notify",
    "MPIX_Put_notify_c",
    "MPIX_Recv_enqueue",
    "MPIX_Recv_enqueue_c",
    "MPIX_Send_enqueue",
    "MPIX_Send_enqueue_c",
    "MPIX_Session_create_errhandler_x",
    "MPIX_Start_progress_thread",
    "MPIX_Stop_progress_thread",
    "MPIX_Stream_comm_create",
    "MPIX_Stream_comm_create_multiplex",
    "MPIX_Stream_create",
    "MPIX_Stream_free",
    "MPIX_Stream_irecv",
    "MPIX_Stream_irecv_c",
    "MPIX_Stream_isend",
    "MPIX_Stream_isend_c",
    "MPIX_Stream_progress",
    "MPIX_Stream_recv",
    "MPIX_Stream_recv_c",
    "MPIX_Stream_send",
    "MPIX_Stream_send_c",
    "MPIX_Threadcomm_finish",
    "MPIX_Threadcomm_free",
    "MPIX_Threadcomm_init",
    "MPIX_Threadcomm_start",
    "MPIX_Wait_enqueue",
    "MPIX_Waitall_enqueue",
    "MPIX_Win_create_errhandler_x",
    "MPIX_Win_create_notify",
    "MPIX_Win_free_notify",
    "MPIX_Win_get_notify",
    "MPIX_Win_get_notify_request",
    "MPIX_Win_set_notify",
)

CHAPTERS["Extensions"] = [
    *persistent_collectives(),
    # fault tolerance (ULFM)
    drain("int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)"),
    drain("int MPIX_Comm_agree(MPI_Comm comm, int *flag)"),
    drain("int MPIX_Comm_failure_ack(MPI_Comm comm)"),
    drain("int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp)"),
    drain("int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp)"),
    start(
        "int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request)",
        writes="flag sizeof(int) MPI_BYTE",
        follows_all=True,
    ),
    gated("int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag)"),
    drain("int MPIX_Comm_revoke(MPI_Comm comm)"),
    drain("int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)"),
    # questions
    gated("int MPIX_Comm_test_threadcomm(MPI_Comm comm, int *flag)"),
    direct("int MPIX_GPU_query_support(int gpu_type, int *is_supported)"),
    direct("int MPIX_Query_cuda_support(void)"),
    direct("int MPIX_Query_hip_support(void)"),
    direct("int MPIX_Query_rocm_support(void)"),
    direct("int MPIX_Query_ze_support(void)"),
    gated("int MPIX_Request_is_complete(MPI_Request request)"),
    gated(
        "int MPIX_Type_iov(MPI_Datatype datatype, MPI_Count iov_offset, MPI_Aint iov[], MPI_Count max_iov_len, "
        "MPI_Count *actual_iov_len)",
        sizes="iov = 2 * max_iov_len",  # of an address and a length each
    ),
    gated(
        "int MPIX_Type_iov_len(MPI_Datatype datatype, MPI_Count max_iov_bytes, MPI_Count *iov_len, MPI_Count "
        "*actual_iov_bytes)",
    ),
    # what MPI 4.1 calls MPI_Remove_error_class and so on
    gated("int MPIX_Delete_error_class(int errorclass)"),
    gated("int MPIX_Delete_error_code(int errorcode)"),
    gated("int MPIX_Delete_error_string(int errorcode)"),
    drain("int MPIX_Info_set_hex(MPI_Info info, const char *key, const void *value, int valuesize)"),
    *(foreign_row(name) for name in FOREIGN_NAMES),
]

# Exported names that are no C calls of the standard, and why.
NOT_FUNCTIONS = {
    r"MPI_[A-Z0-9_]+": "Fortran: predefined callbacks and helpers that C reaches through macros",
}


def functions() -> Iterator[Row]:
    """Every function, large-count twins included, with its chapter."""
    for chapter, rows in CHAPTERS.items():
        for row in rows:
            yield from (replace(function, chapter=chapter) for function in expand(row))
