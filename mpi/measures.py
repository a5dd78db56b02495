# SPDX-License-Identifier: MIT
"""The wrappers that time MPI calls while a profile is wanted (src/mpi/measure.h).

A wrapper stands before an entry, and calls it (or MPI's own function where there is no entry). What a call moves
follows from the buffers of its row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from table import Buffer, Row, bare_name

MESSAGES, COLLECTIVES = "Point-to-Point Communication", "Collective Communication"
PEERS = "measure_size(comm)"
AT_ROOT = "measure_is_root(root, comm)"


def is_measured(row: Row) -> bool:
    """Error codes only: the rest converts handles, and has no time to speak of."""
    return row.returns == "int" and not row.is_variadic and not row.has("untimed")


def is_collective(row: Row) -> bool:
    """True for what moves data of all processes: not for MPI_Barrier, not for MPI_Reduce_local."""
    return row.chapter == COLLECTIVES and row.has_parameter("comm") and len(row.buffers) > 0


def is_request_start(row: Row) -> bool:
    """True for what makes a request."""
    request = row.of_role("request")
    makes = row.treatment in ("start", "drain", "drain_start")
    return makes and request is not None and request.type == "MPI_Request *"


# What a call uses: the watches on it end.


def use_buffer(row: Row, buffer: Buffer) -> str:
    """Ends the watches on a message buffer. What returns early may send bytes beside a hold (src/protect/beside.h)."""
    if row.treatment == "deferred" and not buffer.is_written:
        return f"measure_sends_buffer({buffer.address}, {buffer.count}, {buffer.datatype_in_c});"
    is_read = "false" if buffer.is_written else "true"
    return f"measure_uses_buffer({buffer.address}, {buffer.count}, {buffer.datatype_in_c}, {is_read});"


def uses(row: Row) -> Iterator[str]:
    """What a call is about to use. Where it waits for everything, or the table does not know how long it is: all."""
    pointers = list(row.plain_pointers())
    if (row.is_drained and row.has_memory) or any(row.size_of(each) is None for each in pointers):
        yield "observe_use_all();"
    else:
        yield from (use_buffer(row, buffer) for buffer in row.buffers)
        yield from (f"measure_uses_argument({each.name}, {row.size_of(each)});" for each in pointers)
    if row.has("uses_requests"):
        yield f"measure_uses_requests({requests_of(row)});"


def requests_of(row: Row) -> str:
    """How many requests a call names, and their address."""
    requests = next(each for each in row.parameters if each.base_type == "MPI_Request")
    return f"{'count' if requests.is_array else '1'}, {'' if requests.is_pointer else '&'}{requests.name}"


# What a call moves.


def amount(buffer: Buffer) -> str:
    """The bytes of a collective's buffer."""
    if buffer.is_list:
        kind = "_types" if buffer.is_typed_each else ""
        return f"measure_sum{kind}(ARGUMENT_BUFFER_LIST({buffer.count}), {PEERS}, {buffer.datatype})"
    each = f"measure_bytes({buffer.count}, {buffer.datatype})"
    return f"{each} * {PEERS}" if buffer.per or buffer.is_shared_out else each


def volumes(row: Row) -> Iterator[str]:
    """What a rank sends and receives in a collective, where one may be more than the other; the larger one counts."""
    first, last = row.buffers[0], row.buffers[-1]
    if first.count == last.count:
        yield amount(last)
        return
    is_rooted = first.is_at_root or last.is_at_root
    given_by_all = first if not first.is_at_root else last
    if is_rooted or first.is_list:
        yield f"{given_by_all.address} == MPI_IN_PLACE ? 0 : {amount(given_by_all)}"
    rest = first if given_by_all is last else last
    yield f"{AT_ROOT} ? {amount(rest)} : 0" if is_rooted else amount(rest)


def describe_collective(row: Row) -> Iterator[str]:
    """The bytes of a collective, and what it reduces."""
    yield "if (!measure_is_between_groups(comm)) {"
    yield from (f"    measure_volume(&call, {volume});" for volume in volumes(row))
    if row.has_parameter("op"):
        yield f"    measure_reduction(&call, op, {row.buffers[-1].datatype}, comm);"
    yield "}"


def describe_message(row: Row) -> Iterator[str]:
    """What a call moves, and with whom."""
    starts = row.of_role("request") is not None
    is_matched = row.of_role("message") is not None
    for buffer in row.buffers:
        described = f"{buffer.count}, {buffer.datatype}"
        if buffer.is_read:
            yield f"measure_message(&call, {described}, dest, comm);"
        if is_matched:
            bytes_moved = f"measure_volume(&call, measure_bytes({described}));"
            yield bytes_moved if starts else "measure_matched_receipt(&call, seen);"
        elif buffer.is_written and not starts:
            yield "measure_receipt(&call, seen, comm);"
        elif buffer.is_written and not buffer.is_read:
            yield f"measure_message(&call, {described}, source, comm);"


def describe(row: Row) -> Iterator[str]:
    """What is told of a call that went well, before its end."""
    name = bare_name(row)
    if is_collective(row):
        yield from describe_collective(row)
    elif row.chapter == MESSAGES:
        yield from describe_message(row)
    if name in COMPLETIONS:
        yield from COMPLETIONS[name](row)
        yield "measure_completion(&call, &completion);"
    if row.has("waits"):
        yield "profile_wait_slack(&call, &completion);"


# The buffers of a blocking call that may be watched: whose first touch is of interest.


def watched_count(row: Row, buffer: Buffer) -> str:
    """The elements that a buffer has in the end."""
    peer = "source" if buffer.is_written else "dest"
    if row.has_parameter(peer):
        return f"{peer} == MPI_PROC_NULL ? 0 : {buffer.count}"
    if buffer.is_shared_out:
        return watched_share(buffer)
    return f"{buffer.count} * (MPI_Count){PEERS}" if buffer.per else buffer.count


def watched_share(buffer: Buffer) -> str:
    """The sum of the counts is read, and one share written."""
    if not buffer.is_list:
        return buffer.count if buffer.is_written else f"{buffer.count} * (MPI_Count){PEERS}"
    which = "own" if buffer.is_written else "all"
    return f"measure_count_{which}(ARGUMENT_BUFFER_LIST({buffer.count}), comm)"


def watch_list(buffer: Buffer, is_written: str) -> str:
    """Watches a buffer with counts block by block."""
    types = buffer.datatype if buffer.is_typed_each else "NULL"
    lists = f"{{ARGUMENT_BUFFER_LIST({buffer.count}), ARGUMENT_BUFFER_LIST({buffer.displacements}), {types}}}"
    one_type = "" if buffer.is_typed_each else f".type = {buffer.datatype}, "
    side = f"&(struct block_lists_side){{{one_type}.list = {lists}, .blocks = {PEERS}}}"
    return f"measure_list(&buffers, {buffer.address}, {side}, {is_written});"


def watch(row: Row, buffer: Buffer) -> Iterator[str]:
    """Watches one buffer."""
    is_written = "true" if buffer.is_written else "false"
    if is_collective(row) and buffer.is_read and buffer.is_written:
        is_written = f"!{AT_ROOT}"
    if buffer.is_list and not buffer.is_shared_out:
        line = watch_list(buffer, is_written)
    else:
        described = f"{buffer.address}, {watched_count(row, buffer)}, {buffer.datatype}"
        line = f"measure_buffer(&buffers, {described}, {is_written});"
    if buffer.is_at_root:
        yield f"if ({AT_ROOT})"
    yield f"    {line}" if buffer.is_at_root else line


def watch_lines(row: Row) -> list[str]:
    """At most two buffers, what was received first."""
    is_blocking = row.of_role("request") is None
    if not (is_blocking and row.buffers and (is_collective(row) or row.chapter == MESSAGES)):
        return []
    received_first = sorted(row.buffers, key=lambda buffer: not buffer.is_written)
    lines = [line for buffer in received_first for line in watch(row, buffer)]
    # What is sent and received in one place is one buffer, and both ways have no two.
    are_messages = not any(buffer.is_read and buffer.is_written for buffer in row.buffers)
    kind = "{.are_one_op = true}" if is_collective(row) else "{.are_messages = true}" if are_messages else "{0}"
    inside = [f"struct observe_buffers buffers = {kind};", *lines, "measure_observe(&call, &buffers);"]
    return ["if (call.bytes >= OBSERVE_BYTES_MIN) {", *(f"    {line}" for line in inside), "}"]


# Requests: what completes, and what becomes of it.


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
    if needs_status(row):
        lines += ["MPI_Status own;", "MPI_Status *seen = measure_status(status, &own);"]
    if name in COMPLETIONS:
        requests = name_like(row, "request|requests|array_of_requests")
        count = "1" if name in ("Wait", "Test") else name_like(row, "count|incount|in_count")
        lines += ["struct measure_keys keys;", "struct profile_completion completion = {0};"]
        lines += [f"measure_keys_take(&keys, {count}, {requests});"]
    if name == "Request_free":
        lines += ["uint64_t key = request != NULL ? measure_key(*request) : 0;"]
    return lines


def needs_status(row: Row) -> bool:
    """True when the length of what arrived is told by a status."""
    return any("seen" in line for line in describe(row))


def request_lines(row: Row) -> list[str]:
    """What becomes of requests, after the call's end."""
    name = bare_name(row)
    bytes_moved = "call.bytes > 0 ? (uint64_t)call.bytes : 0"
    if row.has("restarts"):
        return [f"measure_restarted(&call, {requests_of(row)});"]
    if name == "Request_free":
        return ["profile_request_forget(key);"]
    if row.has("ends_comm"):
        return ["measure_forget_communicators();"]
    if not is_request_start(row):
        return []
    kind = "make" if name.endswith("_init") else "start"
    return [f"profile_request_{kind}(measure_key(*request), {bytes_moved});"]


def on_success(lines: list[str]) -> list[str]:
    """Lines for calls that went well."""
    if not lines:
        return []
    return ["if (returned == MPI_SUCCESS) {", *(f"    {line}" for line in lines), "}"]


def body(row: Row, index: int) -> list[str]:
    """All lines of a wrapper."""
    target = f"real.{row.name}" if row.treatment == "direct" else f"entry_{row.name}"
    names = [parameter.name for parameter in row.parameters]
    seen = ["seen" if name == "status" and needs_status(row) else name for name in names]
    used = list(uses(row))
    after = request_lines(row)
    # A start tells of its own time first: a restarted request must know when its call returned.
    restarts = row.has("restarts")
    lines = [
        "struct profile_call call;",
        f"if (!profile_call_begin(&call, {index}, __builtin_return_address(0)))",
        f"    return {target}({', '.join(names)});",
    ]
    if used:
        lines += ["if (protect_armed_is_any()) {", *(f"    {line}" for line in used), "}"]
    lines += [*before(row), f"int returned = {target}({', '.join(seen)});"]
    lines += ["int64_t over_ns = profile_call_over(&call);"]
    lines += on_success(after if restarts else list(describe(row)))
    lines += ["profile_call_end(&call, over_ns);"]
    lines += on_success([] if restarts else [*after, *watch_lines(row)])
    if bare_name(row) in COMPLETIONS:
        lines += ["measure_keys_free(&keys);"]
    return [*lines, "return returned;"]
