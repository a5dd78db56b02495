# SPDX-License-Identifier: MIT
"""The wrappers that time MPI calls while a profile is wanted (src/mpi/measure.h).

A wrapper stands before an entry, and calls it (or MPI's own function where there is no entry). What a
call moves follows from its name and its row: the tables below say it for the collectives, whose counts
mean different things.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from table import Buffer, Parameter, Row, bare_name

# The profile begins and ends in these; the rest is asked in loops, or has no time of its own.
UNMEASURED = re.compile(
    r"MPI_(Init|Init_thread|Finalize|Abort|Initialized|Finalized|Wtime|Wtick|Pcontrol|\w+_toint|\w+_fromint)(_c)?$"
)

SENDS = {"Send", "Bsend", "Ssend", "Rsend"}
SEND_STARTS = {"Isend", "Ibsend", "Issend", "Irsend"}
SEND_INITS = {"Send_init", "Bsend_init", "Ssend_init", "Rsend_init", "Psend_init"}
WAITS = {"Wait", "Waitall", "Waitany", "Waitsome"}
TESTS = {"Test", "Testall", "Testany", "Testsome"}

REDUCTION = ("measure_bytes(count, datatype)",)
# What a rank sends and receives; the larger one counts. {sum}: with "_c" for large counts.
VOLUMES: dict[str, tuple[str, ...]] = {
    "Bcast": REDUCTION,
    "Reduce": REDUCTION,
    "Allreduce": REDUCTION,
    "Scan": REDUCTION,
    "Exscan": REDUCTION,
    "Gather": (
        "sendbuf == MPI_IN_PLACE ? 0 : measure_bytes(sendcount, sendtype)",
        "measure_is_root(root, comm) ? measure_bytes(recvcount, recvtype) * measure_size(comm) : 0",
    ),
    "Gatherv": (
        "sendbuf == MPI_IN_PLACE ? 0 : measure_bytes(sendcount, sendtype)",
        "measure_is_root(root, comm) ? measure_sum{c}(recvcounts, measure_size(comm), recvtype) : 0",
    ),
    "Scatter": (
        "recvbuf == MPI_IN_PLACE ? 0 : measure_bytes(recvcount, recvtype)",
        "measure_is_root(root, comm) ? measure_bytes(sendcount, sendtype) * measure_size(comm) : 0",
    ),
    "Scatterv": (
        "recvbuf == MPI_IN_PLACE ? 0 : measure_bytes(recvcount, recvtype)",
        "measure_is_root(root, comm) ? measure_sum{c}(sendcounts, measure_size(comm), sendtype) : 0",
    ),
    "Allgather": ("measure_bytes(recvcount, recvtype) * measure_size(comm)",),
    "Allgatherv": ("measure_sum{c}(recvcounts, measure_size(comm), recvtype)",),
    "Alltoall": ("measure_bytes(recvcount, recvtype) * measure_size(comm)",),
    "Alltoallv": (
        "sendbuf == MPI_IN_PLACE ? 0 : measure_sum{c}(sendcounts, measure_size(comm), sendtype)",
        "measure_sum{c}(recvcounts, measure_size(comm), recvtype)",
    ),
    "Alltoallw": (
        "sendbuf == MPI_IN_PLACE ? 0 : measure_sum_types{c}(sendcounts, measure_size(comm), sendtypes)",
        "measure_sum_types{c}(recvcounts, measure_size(comm), recvtypes)",
    ),
    "Reduce_scatter": ("measure_sum{c}(recvcounts, measure_size(comm), datatype)",),
    "Reduce_scatter_block": ("measure_bytes(recvcount, datatype) * measure_size(comm)",),
}

RESULT = "measure_buffer(&buffers, recvbuf, count, datatype, true);"
REDUCED = (RESULT, "measure_buffer(&buffers, sendbuf, count, datatype, false);")
SIZE = "(MPI_Count)measure_size(comm)"
# The buffers of a blocking call that may be watched, at most two: received ones, then sent ones.
WATCHED: dict[str, tuple[str, ...]] = {
    "Send": ("measure_buffer(&buffers, buf, dest == MPI_PROC_NULL ? 0 : count, datatype, false);",),
    "Recv": ("measure_buffer(&buffers, buf, source == MPI_PROC_NULL ? 0 : count, datatype, true);",),
    "Mrecv": ("measure_buffer(&buffers, buf, count, datatype, true);",),
    "Sendrecv": (
        "measure_buffer(&buffers, recvbuf, source == MPI_PROC_NULL ? 0 : recvcount, recvtype, true);",
        "measure_buffer(&buffers, sendbuf, dest == MPI_PROC_NULL ? 0 : sendcount, sendtype, false);",
    ),
    "Sendrecv_replace": ("measure_buffer(&buffers, buf, source == MPI_PROC_NULL ? 0 : count, datatype, true);",),
    "Bcast": ("measure_buffer(&buffers, buffer, count, datatype, !measure_is_root(root, comm));",),
    "Allreduce": REDUCED,
    "Scan": REDUCED,
    "Exscan": REDUCED,
    "Reduce": (
        "if (measure_is_root(root, comm))",
        f"    {RESULT}",
        "measure_buffer(&buffers, sendbuf, count, datatype, false);",
    ),
    "Allgather": (
        f"measure_buffer(&buffers, recvbuf, recvcount * {SIZE}, recvtype, true);",
        "measure_buffer(&buffers, sendbuf, sendcount, sendtype, false);",
    ),
    "Alltoall": (
        f"measure_buffer(&buffers, recvbuf, recvcount * {SIZE}, recvtype, true);",
        f"measure_buffer(&buffers, sendbuf, sendcount * {SIZE}, sendtype, false);",
    ),
    "Gather": (
        "if (measure_is_root(root, comm))",
        f"    measure_buffer(&buffers, recvbuf, recvcount * {SIZE}, recvtype, true);",
        "measure_buffer(&buffers, sendbuf, sendcount, sendtype, false);",
    ),
    "Scatter": (
        "measure_buffer(&buffers, recvbuf, recvcount, recvtype, true);",
        "if (measure_is_root(root, comm))",
        f"    measure_buffer(&buffers, sendbuf, sendcount * {SIZE}, sendtype, false);",
    ),
}
WATCHED |= dict.fromkeys(SENDS - {"Send"}, WATCHED["Send"])


def collective_name(row: Row) -> str:
    """The blocking collective that a function does: "Alltoall" of MPI_Ialltoall and MPI_Alltoall_init."""
    name = bare_name(row).removesuffix("_init")
    return name[1:2].upper() + name[2:] if name[:1] == "I" and name[1:2].upper() + name[2:] in VOLUMES else name


def is_measured(row: Row) -> bool:
    """Error codes only: the rest converts handles, and has no time to speak of."""
    return row.returns == "int" and not row.is_variadic and UNMEASURED.match(row.name) is None


def is_request_start(row: Row) -> bool:
    """True for what makes a request."""
    request = row.parameter_of_role("request")
    return row.treatment in ("start", "drain") and request is not None and request.type == "MPI_Request *"


def use_buffer(buffer: Buffer) -> str:
    """Ends the watches on a message buffer."""
    datatype = "abi_handles.byte" if buffer.datatype == "MPI_BYTE" else buffer.datatype
    is_read = "false" if buffer.is_written else "true"
    return f"measure_uses_buffer({buffer.address}, {buffer.count}, {datatype}, {is_read});"


def completion_size(row: Row, parameter: Parameter) -> str | None:
    """The bytes behind the arrays of waits and tests, which all have one length."""
    if bare_name(row) not in COMPLETIONS or not parameter.is_array:
        return row.size_of(parameter)
    return f"(size_t){name_like(row, 'count|incount')} * sizeof({parameter.name}[0])"


# They use the buffers of requests, which no argument names.
REQUEST_USES = {
    "Start": "measure_uses_requests(1, request);",
    "Startall": "measure_uses_requests(count, array_of_requests);",
    **dict.fromkeys(("Pready", "Pready_range", "Pready_list", "Parrived"), "measure_uses_requests(1, &request);"),
}


def uses(row: Row) -> list[str]:
    """What a call is about to use. Where the table does not know how long it is: everything."""
    return [*argument_uses(row), *([REQUEST_USES[name]] if (name := bare_name(row)) in REQUEST_USES else [])]


def argument_uses(row: Row) -> list[str]:
    """What the arguments point to."""
    addresses = {buffer.address for buffer in row.buffers}
    pointers = [parameter for parameter in row.plain_pointers() if parameter.name not in addresses]
    if any(completion_size(row, parameter) is None for parameter in pointers):
        return ["observe_use_all();"]
    lines = [use_buffer(buffer) for buffer in row.buffers]
    return lines + [f"measure_uses_argument({p.name}, {completion_size(row, p)});" for p in pointers]


def volume_lines(row: Row) -> Iterator[str]:
    """The bytes of a collective."""
    c = "_c" if row.name.endswith("_c") else ""
    yield "if (!measure_is_between_groups(comm)) {"
    for volume in VOLUMES[collective_name(row)]:
        yield f"    measure_volume(&call, {volume.replace('{c}', c)});"
    yield "}"


def describe_message(row: Row) -> Iterator[str]:
    """What a call moves, and with whom."""
    name = bare_name(row)
    if name in SENDS | SEND_STARTS | SEND_INITS - {"Psend_init"}:
        yield "measure_message(&call, count, datatype, dest, comm);"
    elif name in ("Irecv", "Recv_init"):
        yield "measure_message(&call, count, datatype, source, comm);"
    elif name == "Imrecv":
        yield "measure_volume(&call, measure_bytes(count, datatype));"
    elif name == "Recv":
        yield "measure_receipt(&call, seen, comm);"
    elif name == "Mrecv":
        yield "measure_matched_receipt(&call, seen);"
    elif name in ("Sendrecv", "Isendrecv"):
        yield "measure_message(&call, sendcount, sendtype, dest, comm);"
    elif name in ("Sendrecv_replace", "Isendrecv_replace"):
        yield "measure_message(&call, count, datatype, dest, comm);"
    if name in ("Sendrecv", "Sendrecv_replace"):
        yield "measure_receipt(&call, seen, comm);"
    if name == "Isendrecv":
        yield "measure_message(&call, recvcount, recvtype, source, comm);"


def describe(row: Row) -> list[str]:
    """What is told of a call that went well, before its end."""
    name = bare_name(row)
    if collective_name(row) in VOLUMES:
        return list(volume_lines(row))
    if name in COMPLETIONS:
        lines = COMPLETIONS[name](row)
        slack = ["profile_wait_slack(&call, &completion);"] if name in WAITS else []
        return [*lines, "measure_completion(&call, &completion);", *slack]
    if name == "Start":
        return []
    if row.buffers and not row.name.startswith(("MPI_File", "MPI_Pack", "MPI_Unpack")) and row.parameter_of_role("win"):
        buffer = row.buffers[0]
        return [f"measure_volume(&call, measure_bytes({buffer.count}, {buffer.datatype}));"]
    return list(describe_message(row))


def end_wait(row: Row) -> list[str]:
    """Wait."""
    return ["measure_ended(&completion, &keys, 0);"]


def end_all(row: Row) -> list[str]:
    """Waitall."""
    return ["measure_ended_all(&completion, &keys);"]


def end_if(condition: str, lines: list[str]) -> list[str]:
    """Completions under a condition."""
    return [f"if ({condition})", *(f"    {line}" for line in lines)]


def name_like(row: Row, pattern: str) -> str:
    """The name of the parameter that matches."""
    return next(parameter.name for parameter in row.parameters if re.fullmatch(pattern, parameter.name))


def end_any(row: Row) -> list[str]:
    """Waitany, Testany: MPI_UNDEFINED is negative."""
    index = name_like(row, "index|indx")
    line = f"measure_ended(&completion, &keys, *{index});"
    return end_if("*flag", [line]) if bare_name(row) == "Testany" else [line]


def end_some(row: Row) -> list[str]:
    """Waitsome, Testsome: the count may be MPI_UNDEFINED, too."""
    indices, count = name_like(row, r"\w*indices"), name_like(row, "outcount|out_count")
    return [f"measure_ended_some(&completion, &keys, *{count}, {indices});"]


COMPLETIONS: dict[str, Callable[[Row], list[str]]] = {
    "Wait": end_wait,
    "Waitall": end_all,
    "Waitany": end_any,
    "Waitsome": end_some,
    "Test": lambda row: end_if("*flag", end_wait(row)),
    "Testall": lambda row: end_if("*flag", end_all(row)),
    "Testany": end_any,
    "Testsome": end_some,
}


def before(row: Row) -> list[str]:
    """What must be known before the call changes it."""
    name = bare_name(row)
    lines = []
    if "seen" in describe_text(row):
        lines += ["MPI_Status own;", "MPI_Status *seen = measure_status(status, &own);"]
    if name in COMPLETIONS:
        requests = name_like(row, "request|requests|array_of_requests")
        count = "1" if name in ("Wait", "Test") else name_like(row, "count|incount|in_count")
        lines += ["struct measure_keys keys;", "struct profile_completion completion = {0};"]
        lines += [f"measure_keys_take(&keys, {count}, {requests});"]
    if name == "Request_free":
        lines += ["uint64_t key = measure_key(*request);"]
    return lines


def describe_text(row: Row) -> str:
    """All lines of describe_message()."""
    return "\n".join(describe_message(row))


def request_lines(row: Row) -> list[str]:
    """What becomes of requests, after the call's end."""
    name = bare_name(row)
    bytes_moved = "call.bytes > 0 ? (uint64_t)call.bytes : 0"
    if name == "Start":
        return ["measure_restarted(&call, 1, request);"]
    if name == "Startall":
        return ["measure_restarted(&call, count, array_of_requests);"]
    if name == "Request_free":
        return ["profile_request_forget(key);"]
    if name in ("Comm_free", "Comm_disconnect"):
        return ["measure_forget_communicators();"]
    if not is_request_start(row):
        return []
    kind = "make" if name.endswith("_init") else "start"
    return [f"profile_request_{kind}(measure_key(*request), {bytes_moved});"]


def watch_lines(row: Row) -> list[str]:
    """The buffers whose first touch is of interest."""
    lines = WATCHED.get(bare_name(row))
    if lines is None:
        return []
    inside = ["struct measure_buffers buffers = {0};", *lines, "measure_observe(&call, &buffers);"]
    return ["if (call.bytes >= OBSERVE_BYTES_MIN) {", *(f"    {line}" for line in inside), "}"]


def on_success(lines: list[str]) -> list[str]:
    """Lines for calls that went well."""
    if not lines:
        return []
    return ["if (returned == MPI_SUCCESS) {", *(f"    {line}" for line in lines), "}"]


def body(row: Row, index: int) -> list[str]:
    """All lines of a wrapper."""
    target = f"real.{row.name}" if row.treatment == "direct" else f"entry_{row.name}"
    names = [parameter.name for parameter in row.parameters]
    seen = ["seen" if name == "status" and "seen" in describe_text(row) else name for name in names]
    used = uses(row)
    after = request_lines(row)
    # A start tells of its own time first: a restarted request must know when its call returned.
    restarts = bare_name(row) in ("Start", "Startall")
    lines = [
        "struct profile_call call;",
        f"if (!profile_call_begin(&call, {index}, __builtin_return_address(0)))",
        f"    return {target}({', '.join(names)});",
    ]
    if used:
        lines += ["if (protect_is_armed()) {", *(f"    {line}" for line in used), "}"]
    lines += [*before(row), f"int returned = {target}({', '.join(seen)});"]
    lines += ["int64_t over_ns = profile_call_over(&call);"]
    lines += on_success(after if restarts else describe(row))
    lines += ["profile_call_end(&call, over_ns);"]
    lines += on_success([] if restarts else [*after, *watch_lines(row)])
    if bare_name(row) in COMPLETIONS:
        lines += ["measure_keys_free(&keys);"]
    return [*lines, "return returned;"]
