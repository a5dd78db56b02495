# SPDX-License-Identifier: MIT
"""Makes the C and assembly that src/bind and src/mpi build from the MPI API table.

    generate.py FOLDER

writes into FOLDER
    mpi/real.h      struct real: MPI's own functions, per ABI
    mpi/entries.h   the entries that are written by hand
    mpi/entries.c   all other entries, per ABI
    mpi/collective_listed.h   calls of the collectives that go as the program gave them, and
    mpi/collective_listed.c   these calls, per ABI
    bind/names.h     number of names, and
    bind/names.c     the names, in the order of every table here
    bind/stubs_x86_64.S, bind/stubs_aarch64.S   the exported MPI_* jumps
    bind/exports.txt the exported names, one per line
    bind/fortran.h   number of names that Fortran programs use, and
    bind/fortran.c   these names
    bind/library_abis.c   the ABIs of abis.toml
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from abis import Abi, read_abis
from measures import body as measured_body
from measures import is_measured
from notation import functions
from table import BY_HAND, Buffer, Parameter, Row, problems
from uses import uses, wait_for_buffer

C_NOTICE = "/* SPDX-License-Identifier: MIT */\n/* Made by mpi/generate.py from mpi/functions.toml. */\n"
LINE_LENGTH = 120
# Functions of an MPI library that may have no row. MPI 4.1 added 60 to those of MPI 4.0, MPICH 4.2 has 50 MPIX_ ones.
UNKNOWN_COUNT = 256


def parameter_list(row: Row) -> str:
    """The parameters as C declares them."""
    return ", ".join(parameter.declaration for parameter in row.parameters) or "void"


def argument_names(row: Row) -> str:
    """Its parameters, as they are passed on."""
    return ", ".join(parameter.name for parameter in row.parameters)


def call(row: Row, replaced: dict[str, str] | None = None) -> str:
    """A call of MPI's own function with the entry's arguments."""
    names = (parameter.name for parameter in row.parameters)
    arguments = ", ".join((replaced or {}).get(name, name) for name in names)
    return f"real.{row.name}({arguments})"


def wrap(line: str, indent: int) -> str:
    """Breaks a long line after a comma, as often as needed."""
    if len(line) < LINE_LENGTH:  # room for a semicolon
        return line
    cut = line.rfind(", ", 0, LINE_LENGTH - 1) + 1
    return line[:cut] + "\n" + wrap(" " * indent + line[cut + 1 :], indent)


def signature(row: Row, storage: str = "", kind: str = "entry") -> str:
    """The first line of an entry."""
    head = f"{storage}{row.returns} {kind}_{row.name}("
    return wrap(f"{head}{parameter_list(row)})", len(head))


def wait_for_pointer(row: Row, parameter: Parameter) -> str:
    """Waits for the ops that hold the memory of a result, a request or an array."""
    return f"dispatch_wait_argument({parameter.name}, {row.size_of(parameter)});"


def waits_for_argument_buffers(row: Row) -> Iterator[str]:
    """What a drained call waits for besides the ops of its own thread."""
    lines = list(uses(row))
    if lines:
        yield "if (argument_buffers_may_be_held()) {"
        yield from (f"    {line}" for line in lines)
        yield "}"


def waits(row: Row) -> Iterator[str]:
    """What an entry waits for before it enters MPI."""
    if row.is_drained:
        requests = [parameter for parameter in row.parameters if parameter.type == "MPI_Request"]
        yield f"dispatch_wait_request({requests[0].name});" if requests else "transfer_wait_due();"
        yield from waits_for_argument_buffers(row)
        return
    if row.has("follows_all"):
        yield "transfer_wait_due();"
    op = row.of_role("op")
    if op is not None and row.buffers:
        # The program's own reduction function may touch any memory while MPI runs it.
        yield f"if (!abi_op_is_predefined({op.name}))"
        yield "    transfer_wait_due();"
    yield from (wait_for_buffer(buffer) for buffer in row.buffers)
    for parameter in row.plain_pointers():
        is_copied = row.treatment == "status" and parameter.base_type == "MPI_Status" and parameter.is_read_only
        if not is_copied:
            yield wait_for_pointer(row, parameter)


def waits_for_persistent_sends(row: Row) -> Iterator[str]:
    """Of a persistent send that is over for the program alone MPI would say that it is active."""
    if row.has("looks_at_requests"):
        requests = next(each for each in row.parameters if each.base_type == "MPI_Request")
        count = dict(row.sizes).get(requests.name, "1")
        yield f"persistent_await({count}, {'' if requests.is_pointer else '&'}{requests.name});"


def found_over(row: Row) -> str:
    """The result that says how many requests a call that completes none has found over; nothing for other calls."""
    if not row.has("looks_at_requests"):
        return ""
    return next((name for name in ("outcount", "flag") if row.has_parameter(name)), "")


def gated_call(row: Row, leave: str) -> str:
    """MPI's own function, and what is told by its result, out of the gate."""
    over = found_over(row)
    left = f"{leave}({plain_call(row)})"
    return f"freed_requests_await_if({left}, {over})" if over else left


def early_receives(row: Row) -> Iterator[str]:
    """What a call does about messages that were received early."""
    if row.closes:
        yield f'early_close({", ".join(row.closes)}, "{row.name}");'
    if row.has("is_synchronous"):
        yield f'early_refuse_synchronous(count, datatype, dest, comm, "{row.name}");'
    if row.has("ends_comm"):
        yield "if (early.is_on)"
        yield f"    return early_end_comm(comm, real.{row.name});"


def plain_call(row: Row) -> str:
    """MPI's own function, and what follows from its success."""
    return f"dispatch_end_unknown({call(row)})" if row.has("ends_use") else call(row)


def carried_block(row: Row) -> tuple[str, str]:
    """The count and type that every rank gives alike; none where there are lists. A root that works in place gives them
    with its other buffer."""
    if is_listed(row):
        return "0", "abi_handles.datatype_null"
    is_rooted = any(buffer.is_at_root for buffer in row.buffers)
    if not is_rooted or row.has_parameter("count"):
        return row.buffers[-1].count, row.buffers[-1].datatype_in_c
    own, other = sorted(row.buffers, key=lambda buffer: buffer.is_at_root)
    is_in_place = f"{own.address} == MPI_IN_PLACE"
    return (
        f"{is_in_place} ? {other.count} : {own.count}",
        f"{is_in_place} ? {other.datatype_in_c} : {own.datatype_in_c}",
    )


def carried_side(name: str, side: Buffer) -> Iterator[str]:
    """What a call gives of one of its buffers, as fields of struct collective_call_arguments."""
    yield f".{name} = {side.address},"
    if side.is_list:
        types = side.datatype if side.is_typed_each else "NULL"
        displacements = f"ARGUMENT_BUFFER_LIST({side.displacements})" if side.displacements else "{NULL, 0}"
        yield f".{name}_list = {{ARGUMENT_BUFFER_LIST({side.count}), {displacements}, {types}}},"
    else:
        yield f".{name}_count = {side.count},"
    if not side.is_typed_each:
        yield f".{name}_type = {side.datatype_in_c},"


def carried_function(row: Row) -> str:
    """Its number in C (src/mpi/collective/collective_work.h); a large-count twin has the same."""
    return "COLLECTIVE_" + row.name.removeprefix("MPI_").removesuffix("_c").upper()


def is_listed(row: Row) -> bool:
    """A collective that is begun as the program gave it, in one go: with counts block by block, or of neighbors."""
    return row.has("carried") and any(buffer.is_list or buffer.per in ("source", "target") for buffer in row.buffers)


CALLER = Parameter("const void *", "caller")  # a parameter of what carries out the calls that do not go straight
HAS_LARGE_COUNT = Parameter("bool", "has_large_count")  # of what carries out those of MPI_X and of MPI_X_c


def collective_question(row: Row) -> Iterator[str]:
    """Whether the blocking collective may have to be begun as a nonblocking one: what can be told of it at once."""
    count, datatype = carried_block(row)
    yield f"MPI_Count block_count = {count};"
    yield f"MPI_Datatype block_type = {datatype};"
    yield f"if (collective_begin_is_possible({carried_function(row)}, block_count, block_type, comm))"


def collective_body(row: Row) -> Iterator[str]:
    """A blocking collective. Most are small, and what these need not do is apart."""
    yield from collective_question(row)
    yield f"    return carried_{row.name}({argument_names(row)}, __builtin_return_address(0));"
    yield from passed_collective(row)


def passed_collective(row: Row) -> Iterator[str]:
    """One that is given to MPI: at once where nothing is pending."""
    yield "if (busy_is_clear())"
    yield f"    return {plain_call(row)};"
    yield f"return passed_{row.name}({argument_names(row)});"


def carried_collective_body(row: Row) -> Iterator[str]:
    """One that may be begun as a nonblocking one: asks for that."""
    function = carried_function(row)
    sent, received = row.buffers[0], row.buffers[-1]
    count, datatype = carried_block(row)
    op = "op" if row.has_parameter("op") else "abi_handles.no_op"
    root = "root" if row.has_parameter("root") else "MPI_PROC_NULL"
    yield "int result;"
    yield "const struct collective_call_arguments given = {"
    yield from (
        f"    {field}" for name, side in (("send", sent), ("receive", received)) for field in carried_side(name, side)
    )
    if row.name.endswith("_c"):
        yield "    .has_large_counts = true,"
    yield f"    .block_count = {count}, .block_type = {datatype}, .op = {op}, .root = {root}, .comm = comm,"
    yield f"    .caller = {CALLER.name}}};"
    yield f"if (collective_begin_run({function}, &given, &result))"
    yield "    return result;"
    yield from passed_collective(row)


def listed_arguments(row: Row) -> dict[str, str]:
    """What is given for each parameter of such a collective: C expressions of struct collective_work."""
    names = {"op": "work->op", "root": "work->root", "comm": "work->comm"}
    types = {parameter.name: parameter.type for parameter in row.parameters}
    for side, address, buffer in (("sent", "send", row.buffers[0]), ("received", "receive", row.buffers[-1])):
        part = f"work->{side}"
        names[buffer.address] = f"work->{address}"
        names[buffer.count] = f"{part}.list.counts.first" if buffer.is_list else f"({types[buffer.count]}){part}.count"
        names[buffer.displacements] = f"{part}.list.displacements.first"
        names[buffer.datatype] = f"{part}.list.types" if buffer.is_typed_each else f"{part}.type"
    return names


def listed_call(row: Row, is_started: bool) -> str:
    """A call of MPI's own function, or of its nonblocking twin."""
    names = listed_arguments(row)
    arguments = [names[parameter.name] for parameter in row.parameters] + (["request"] if is_started else [])
    bare = row.name.removeprefix("MPI_")
    name = f"MPI_I{bare[0].lower()}{bare[1:]}" if is_started else row.name
    return wrap(f"        return real.{name}({', '.join(arguments)});", 12)


def listed_switch(name: str, rows: list[Row], is_started: bool) -> str:
    """A function that calls one of these, by the number of its function."""
    cases = "\n".join(f"    case {carried_function(row)}:\n{listed_call(row, is_started)}" for row in rows)
    request = ", MPI_Request *request" if is_started else ""
    return f"""static int {name}(const struct collective_work *work{request})
{{
    switch (work->function) {{
{cases}
    default:
        return MPI_ERR_INTERN; /* no such function */
    }}
}}"""


def listed_header(rows: list[Row]) -> str:
    """mpi/collective_listed.h."""
    return f"""{C_NOTICE}#ifndef MPI_COLLECTIVE_LISTED_H
#define MPI_COLLECTIVE_LISTED_H

#include "mpi/collective/collective_work.h"

/* Calls MPI's own function of a work that goes as the program gave it: the nonblocking one; without a request, the
 * blocking one. */
int collective_listed_run(const struct collective_work *work, MPI_Request *request);

#endif
"""


def listed_source(rows: list[Row]) -> str:
    """mpi/collective_listed.c."""
    small = [row for row in rows if row.has("carried") and not row.name.endswith("_c")]
    large = [row for row in rows if row.has("carried") and row.name.endswith("_c")]
    switches = "\n\n".join(
        (
            listed_switch("small_run", small, False),
            listed_switch("small_start", small, True),
            listed_switch("large_run", large, False),
            listed_switch("large_start", large, True),
        )
    )
    return f"""{C_NOTICE}/* Compiled once per ABI. */
#include "mpi/collective_listed.h"

#include "mpi/real.h"

{switches}

int collective_listed_run(const struct collective_work *work, MPI_Request *request)
{{
    if (work->has_large_counts)
        return request != NULL ? large_start(work, request) : large_run(work);
    return request != NULL ? small_start(work, request) : small_run(work);
}}
"""


def enters_idle(row: Row) -> bool:
    """Whether it is one of the calls that programs with MPI_THREAD_MULTIPLE make again and again: their arguments are
    all that it uses."""
    is_simple = row.treatment in ("gated", "buffers") and row.returns == "int"
    return is_simple or (row.treatment == "drain" and row.chapter == "Collective Communication")


def tells_late_errors(row: Row) -> bool:
    """Whether it may return the error of another message, since it completes some itself and makes nothing."""
    return row.has("carried") or row.has("completes")


def gated_body(row: Row) -> Iterator[str]:
    """The classes gated, buffers and drain."""
    if row.has("carried"):
        yield from collective_body(row)
        return
    yield from early_receives(row)
    if row.has("adds_peers"):
        yield "session_expect_peers();"
    if row.has("meets_world"):
        yield "worlds_meet();"
    if row.has("joins_groups"):
        yield "collective_comm_expect_groups();"
    if row.has("gives_functions"):
        yield "begin_expect_callbacks();"
    if row.has("cancels"):
        yield "dispatch_forget_send(request);"
    yield f"if ({may_go_past_the_gate(row)})"
    yield f"    return {plain_call(row)};"
    yield from passed_body(row)


def may_go_past_the_gate(row: Row) -> str:
    """Whether a call may, as C. Where no op can begin, none begins in a function of the program's either."""
    unless = {"runs_functions": " && session_reason() != REASON_NONE", "begins_threads": " && !gate_gives_rights()"}
    return "busy_is_clear()" + "".join(text for mark, text in unless.items() if row.has(mark))


def reduces(row: Row) -> bool:
    """True for reductions among the ranks of a communicator, blocking or not."""
    return row.of_role("op") is not None and row.has_parameter("comm")


def passed_body(row: Row) -> Iterator[str]:
    """What is given to MPI while something may be pending."""
    if enters_idle(row):
        yield "if (dispatch_enter_idle())"
        yield f"    return {gated_call(row, 'dispatch_leave_idle')};"
    yield from waits(row)
    yield from waits_for_persistent_sends(row)
    if row.treatment == "buffers":
        yield "dispatch_wait_others();"
    if reduces(row):
        yield "begin_reduction();"
    yield "dispatch_enter();"
    if row.has("changes_comm"):
        yield "early_unlearn(comm);"
    if row.returns == "int":
        yield f"return {gated_call(row, 'dispatch_leave_and_tell' if tells_late_errors(row) else 'dispatch_leave')};"
        return
    # A converted handle, not an error code: no late error may take its place.
    yield f"{row.returns} result = {call(row)};"
    yield "gate_leave();"
    yield "return result;"


def is_persistent(row: Row) -> bool:
    """True for requests that only MPI_Start begins."""
    return row.name.removesuffix("_c").endswith("_init")


def assisted_block(row: Row) -> str:
    """What tells how much an operation with several buffers moves: only arguments that count on every rank, in place
    or not."""
    if not row.has_parameter("comm") or len(row.buffers) < 2:
        return ""
    first, last = row.buffers
    is_rooted = first.is_at_root or last.is_at_root
    counts_everywhere = first.count == last.count or not is_rooted
    return f"{last.count}, {last.datatype}" if counts_everywhere and not last.is_list else ""


def begins_small(row: Row) -> bool:
    """Whether it begins a nonblocking message of one buffer: most are small, and go straight to MPI."""
    is_message = row.treatment == "start" and row.chapter == "Point-to-Point Communication"
    return is_message and len(row.buffers) == 1 and not row.is_drained and not is_persistent(row)


def track_persistent(row: Row, request: str, uses: str, may_outlast: str) -> list[str]:
    """Remembers a request that only MPI_Start begins. uses: of its one buffer; empty for others."""
    is_send = bool(may_outlast)
    track_one = "dispatch_track_send" if is_send else "dispatch_track"
    if uses:
        return [f"{track_one}({uses}{may_outlast});", f"persistent_note(*{request}, {str(is_send).lower()});"]
    nothing = f"dispatch_track(*{request}, NULL, 0, abi_handles.byte);"
    tracked = f"dispatch_track_unknown(*{request});" if row.has_memory else nothing
    return [tracked, f"persistent_note_collective(*{request});"]


def track(row: Row) -> list[str]:
    """Remembers what MPI goes on using after the call, and lets the engine work for it."""
    request = row.of_role("request")
    caller = CALLER.name if begins_small(row) else "__builtin_return_address(0)"
    if request is None:
        return ["dispatch_begin_unknown();"]
    buffer = row.buffers[0] if len(row.buffers) == 1 and not row.is_drained else None
    uses = f"*{request.name}, {buffer.address}, {buffer.count}, {buffer.datatype_in_c}" if buffer else ""
    is_send = row.has("may_outlast") or row.has("is_synchronous")
    may_outlast = f", {str(row.has('may_outlast')).lower()}" if is_send else ""
    if is_persistent(row):
        return track_persistent(row, request.name, uses, may_outlast)
    if buffer and row.chapter == "Point-to-Point Communication":
        begin = "dispatch_begin_send" if is_send else "dispatch_begin_message"
        return [f"{begin}({uses}{may_outlast}, {caller});"]
    nothing = f"dispatch_track(*{request.name}, NULL, 0, abi_handles.byte);"
    track_unknown = "dispatch_track_file" if row.name.startswith("MPI_File_") else "dispatch_track_unknown"
    unknown = f"{track_unknown}(*{request.name});" if row.has_memory else nothing
    tracked = f"dispatch_track({uses});" if buffer else unknown
    if row.has("begins_duplicate"):
        return [tracked, "collective_comm_duplicate(comm);"]
    block = assisted_block(row)
    if block:
        return [tracked, f"dispatch_assist_blocks(*{request.name}, {block}, {caller});"]
    return [tracked, f"dispatch_assist(*{request.name}, {caller});"]


def start_body(row: Row) -> Iterator[str]:
    """The class start. A small message is counted, with as little around MPI's own function as can be."""
    yield from early_receives(row)
    if not begins_small(row):
        yield from carried_body(row)
        return
    [buffer] = row.buffers
    is_straight = "!early.is_on && " if row.has("finds_taken") else ""
    yield f"if ({is_straight}dispatch_begins_small({buffer.count}, {buffer.datatype_in_c}))"
    yield f"    return {call(row)};"
    yield f"return carried_{row.name}({argument_names(row)}, __builtin_return_address(0));"


def carried_body(row: Row) -> Iterator[str]:
    """The class start. Tracked on the direct way too: later holds must know what MPI goes on using."""
    if row.has("finds_taken"):
        yield "int ahead_result;"
        yield "struct message ahead = message_of(buf, count, datatype, source, tag, comm);"
        yield f"if (options.receive_waits && ahead_start(&ahead, request, {CALLER.name}, &ahead_result))"
        yield "    return ahead_result;"
    op = row.of_role("op")
    if reduces(row):
        yield "begin_reduction();"
    if op is not None:
        # From now on the engine must not run MPI while the program computes: MPI could run the
        # program's own reduction function, which only the program's threads may.
        yield f"if (!abi_op_is_predefined({op.name}))"
        yield "    begin_expect_callbacks();"
    yield f"bool is_direct = {may_go_past_the_gate(row)};"
    yield "if (!is_direct && !dispatch_enter_idle()) {"
    for line in waits(row):
        yield f"    {line}"
    yield "    dispatch_enter();"
    yield "}"
    if row.has("finds_taken"):
        yield "if (early.is_on) {"
        yield "    int early_result;"
        yield "    const struct message receive = message_of(buf, count, datatype, source, tag, comm);"
        yield "    if (early_start(&receive, request, &early_result))"
        yield "        return dispatch_leave(early_result);"
        yield "}"
    yield f"int result = {call(row)};"
    yield "if (result == MPI_SUCCESS) {"
    yield from (f"    {line}" for line in track(row))
    if row.has("finds_taken"):
        yield "    ahead_start_note_pass(&ahead, *request);"
    yield "}"
    yield "return is_direct ? result : dispatch_leave(result);"


def status_body(row: Row) -> Iterator[str]:
    """The class status. A status may outlive its op, so it is settled on the direct way too."""
    status = row.of_role("status")
    if status is None:
        raise ValueError(row.name)
    if not status.is_read_only:
        yield f"status_settle_in_place({status.name});"
        yield from gated_body(row)
        return
    own_call = call(row, {status.name: "settled"})
    yield "MPI_Status storage;"
    yield f"const MPI_Status *settled = status_settled({status.name}, &storage);"
    yield "if (busy_is_clear())"
    yield f"    return {own_call};"
    yield from waits(row)
    yield "dispatch_enter();"
    yield f"return dispatch_leave({own_call});"


def goes_straight(row: Row) -> str:
    """Whether a message goes to MPI at once, as C. Most are small, and nothing is pending."""
    blocks = [f"{buffer.count}, {buffer.datatype}" for buffer in row.buffers]
    if row.has_parameter("sendtag"):
        return f"exchange_goes_straight({blocks[0]}, {blocks[-1]})"
    if row.of_role("request"):
        return f"dispatch_begins_small({blocks[0]})"
    return f"message_goes_straight({blocks[0]})"


def written_once_body(row: Row) -> Iterator[str]:
    """A message whose way is written by hand, once it does not go straight."""
    is_large = "true" if row.name.endswith("_c") else "false"
    yield f"if ({goes_straight(row)})"
    yield f"    return {call(row)};"
    yield f"return carried_{small_name(row)}({argument_names(row)}, {is_large}, __builtin_return_address(0));"


def small_name(row: Row) -> str:
    """The name without that of a large-count twin."""
    return row.name.removesuffix("_c")


def for_both(large: Row, *more: Parameter) -> Row:
    """What does a function's work, and that of its large-count twin, with more parameters."""
    return replace(large, name=small_name(large), parameters=(*large.parameters, HAS_LARGE_COUNT, *more))


def sized_function(large: Row) -> str:
    """Calls one of both."""
    narrowed = {buffer.count: f"(int){buffer.count}" for buffer in large.buffers}
    small = call(replace(large, name=small_name(large)), narrowed)
    lines = ["if (has_large_count)", f"    return {call(large)};", f"return {small};"]
    head = signature(for_both(large), "static inline ", "real_sized")
    return "\n".join([head, "{", *(wrap("    " + line, 8) for line in lines), "}"])


def has_sized(row: Row) -> bool:
    """Whether it is the large-count twin of a function for messages."""
    return row.name.endswith("_c") and row.chapter == "Point-to-Point Communication" and bool(row.buffers)


BODIES = {
    "gated": gated_body,
    "buffers": gated_body,
    "drain": gated_body,
    "drain_start": start_body,
    "start": start_body,
    "status": status_body,
}


def entry(row: Row) -> str:
    """One entry as C."""
    if row.is_variadic or (row.returns != "int" and row.treatment != "gated"):
        raise ValueError(f"{row.name}: what it returns cannot be passed on")
    head = list(apart(row))
    first = ["requests_expect(REQUESTS_COLLECTIVE);"] if row.makes_collective_request else []
    body = written_once_body if row.has("written_once") else BODIES[row.treatment]
    lines = [wrap("    " + line, 8) for line in (*first, *body(row))]
    return "\n".join([*head, signature(row, "static "), "{", *lines, "}"])


def apart(row: Row) -> Iterator[str]:
    """What only some calls of an entry need, as C: out of line, so that the others need not save its registers."""
    with_caller = replace(row, parameters=(*row.parameters, CALLER))
    if begins_small(row):
        yield function_apart(with_caller, "carried", carried_body(row))
    if row.has("carried"):
        yield function_apart(row, "passed", passed_body(row))
        yield function_apart(with_caller, "carried", carried_collective_body(row))


def function_apart(row: Row, kind: str, body: Iterable[str]) -> str:
    """One of them."""
    lines = [wrap("    " + line, 8) for line in body]
    return "\n".join([signature(row, "__attribute__((noinline)) static ", kind), "{", *lines, "}", ""])


def measured(row: Row, index: int) -> str:
    """The wrapper that times an entry, as C."""
    lines = [wrap("    " + line, 8) for line in measured_body(row, index)]
    return "\n".join([signature(row, "static ", "measured"), "{", *lines, "}"])


def real_header(rows: list[Row]) -> str:
    """mpi/real.h."""
    members = (f"    {row.returns} (*{row.name})({parameter_list(row)});" for row in rows)
    text = "\n".join(wrap(member, 8) for member in members)
    sized = "\n\n".join(sized_function(row) for row in rows if has_sized(row))
    return f"""{C_NOTICE}/* MPI's own functions, filled at bind in the order of names_mpi;
 * NULL where the library lacks one. */
#ifndef MPI_REAL_H
#define MPI_REAL_H

#include <stdbool.h>

#include "abi.h"

struct real {{
{text}
}};

extern __attribute__((visibility("hidden"))) struct real real;

/* The function for large counts, or the other. */
{sized}

#endif
"""


def entries_header(rows: list[Row]) -> str:
    """mpi/entries.h."""
    written = (row for row in rows if row.treatment in (*BY_HAND, "told", "foreign") and not row.has("written_once"))
    declarations = "\n".join(f"{signature(row)};" for row in written)
    both = (for_both(row, CALLER) for row in rows if row.has("written_once") and row.name.endswith("_c"))
    carried = "\n".join(f"{signature(row, kind='carried')};" for row in both)
    return f"""{C_NOTICE}/* The entries that src/mpi writes by hand, and those in assembly. */
#ifndef MPI_ENTRIES_H
#define MPI_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "abi.h"

{declarations}

/* What becomes of a message that does not go straight to MPI. */
{carried}

/* The entry of the name with that index; NULL: the program reaches MPI's own function. */
void *entries_at(size_t index);

/* What stands before it while a profile is wanted; NULL: nothing. */
void *entries_measured_at(size_t index);

#endif
"""


def pointer_function(name: str, pointers: Iterable[tuple[int, str]]) -> str:
    """A function from a name's index to its pointer, NULL where there is none.

    A table of pointers would be written by the dynamic linker in every process that the preload is loaded into.
    """
    cases = "\n".join(f"    case {index}:\n        return {pointer};" for index, pointer in pointers)
    return f"""void *{name}(size_t index)
{{
    switch (index) {{
{cases}
    default:
        return NULL;
    }}
}}"""


def name_table(name: str, count: str, names: list[str]) -> str:
    """The names, each in as many bytes as the longest needs: pointers would be work for the dynamic linker."""
    lines = "\n".join(f'    "{each}",' for each in names)
    return f"const char {name}[{count}][{bytes_of(names)}] = {{\n{lines}\n}};"


def bytes_of(names: list[str]) -> int:
    """The bytes of the longest name, with the null byte."""
    return max(map(len, names)) + 1


def entries_source(rows: list[Row]) -> str:
    """mpi/entries.c."""
    generated = "\n\n".join(entry(row) for row in rows if row.treatment in BODIES or row.has("written_once"))
    wrappers = "\n\n".join(measured(row, index) for index, row in enumerate(rows) if is_measured(row))
    written = [(index, f"entry_{row.name}") for index, row in enumerate(rows) if row.treatment != "direct"]
    wrapped = [(index, f"measured_{row.name}") for index, row in enumerate(rows) if is_measured(row)]
    return f"""{C_NOTICE}/* Compiled once per ABI. */
#include "engine/gate.h"
#include "mpi/entries.h"
#include "mpi/dispatch.h"
#include "mpi/argument_buffers.h"
#include "mpi/collective/collective_begin.h"
#include "mpi/early.h"
#include "mpi/measure.h"
#include "mpi/message/ahead_start.h"
#include "mpi/message/exchange.h"
#include "mpi/message/message.h"
#include "mpi/process/worlds.h"
#include "mpi/request/freed.h"
#include "mpi/request/persistent.h"
#include "mpi/status.h"
#include "op/begin.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/transfer.h"

struct real real;

{generated}

{pointer_function("entries_at", written)}

{wrappers}

{pointer_function("entries_measured_at", wrapped)}
"""


def names_header(rows: list[Row]) -> str:
    """bind/names.h."""
    return f"""{C_NOTICE}#ifndef BIND_NAMES_H
#define BIND_NAMES_H

#include <stdbool.h>

enum {{ NAMES_COUNT = {len(rows)}, NAMES_UNKNOWN_COUNT = {UNKNOWN_COUNT} }};

/* Sorted as strcmp() sorts. */
extern const char names_mpi[NAMES_COUNT][{bytes_of([row.name for row in rows])}];

/* May Lapwing call others in place of this one, or this one in place of others? */
extern const bool names_are_replaced[NAMES_COUNT];

#endif
"""


def names_source(rows: list[Row]) -> str:
    """bind/names.c."""
    table = name_table("names_mpi", "NAMES_COUNT", [row.name for row in rows])
    replaced = "".join(f"    {'true' if is_replaced(row) else 'false'},\n" for row in rows)
    flags = f"const bool names_are_replaced[NAMES_COUNT] = {{\n{replaced}}};"
    return f'{C_NOTICE}#include "bind/names.h"\n\n{table}\n\n{flags}\n'


def is_replaced(row: Row) -> bool:
    """May a call of it become calls of others, or calls of others this one? Who stands behind the entry is misled."""
    return row.chapter in ("Point-to-Point Communication", "Collective Communication") or row.has("carried")


def fortran_names(rows: list[Row]) -> list[str]:
    """How Fortran programs name the functions: mpi_f08, then the manglings of compilers.

    `_f08ts` is MPI 4.1, 19.1.5 (MPI_SUBARRAYS_SUPPORTED). Libraries export a plain `mpi_send` too, but that could be
    somebody else's name.
    """
    lower = [row.name.lower() for row in rows]
    ends = ("_f08_", "_f08ts_", "_", "__")
    return sorted([name + end for name in lower for end in ends] + [row.name.upper() for row in rows])


def fortran_header(rows: list[Row]) -> str:
    """bind/fortran.h."""
    return f"""{C_NOTICE}#ifndef BIND_FORTRAN_H
#define BIND_FORTRAN_H

enum {{ FORTRAN_NAME_COUNT = {len(fortran_names(rows))} }};

/* Sorted as strcmp() sorts. */
extern const char fortran_names[FORTRAN_NAME_COUNT][{bytes_of(fortran_names(rows))}];

#endif
"""


def fortran_source(rows: list[Row]) -> str:
    """bind/fortran.c."""
    table = name_table("fortran_names", "FORTRAN_NAME_COUNT", fortran_names(rows))
    return f'{C_NOTICE}#include "bind/fortran.h"\n\n{table}\n'


def fortran_stubs(rows: list[Row], jump: str) -> str:
    """Jumps that note their caller, all of one length: `jump` with {target}, the place of its target's address."""
    count = len(fortran_names(rows))
    targets = (f"fortran_callers+{8 * index}" for index in range(count))
    jumps = "\n".join(f"    .balign 32\n{jump.format(target=target)}" for target in targets)
    return f"""
    .text
    .balign 32
    .globl fortran_stubs
    .hidden fortran_stubs
    .type fortran_stubs, %function
fortran_stubs:
    .cfi_startproc
{jumps}
    .balign 32
    .cfi_endproc
    .size fortran_stubs, . - fortran_stubs
"""


FORTRAN_JUMP_X86_64 = """    movq op_thread@gottpoff(%rip), %r11
    movq (%rsp), %r10
    movq %r10, %fs:(%r11)
    jmp *{target}(%rip)"""

FORTRAN_JUMP_AARCH64 = """    adrp x16, :gottprel:op_thread
    ldr x16, [x16, :gottprel_lo12:op_thread]
    mrs x17, tpidr_el0
    str x30, [x17, x16]
    adrp x16, {target}
    ldr x16, [x16, :lo12:{target}]
    br x16"""


def unknown_stubs(rows: list[Row], leave: Callable[[int, str], str]) -> str:
    """Entries for functions that have no row, all of one length; their numbers follow those of the rows."""
    leaves = (leave(len(rows) + index, "extension_stop") for index in range(UNKNOWN_COUNT))
    entries = "\n".join(f"    .balign 16\n{jump}" for jump in leaves)
    return f"""
    .balign 16
    .globl stubs_unknown
    .hidden stubs_unknown
    .type stubs_unknown, %function
stubs_unknown:
    .cfi_startproc
{entries}
    .balign 16
    .cfi_endproc
    .size stubs_unknown, . - stubs_unknown
"""


def slots(rows: list[Row]) -> str:
    """The table of jump targets; the same text on every machine. Null until the MPI is known: addresses would be work
    for the dynamic linker in every process."""
    return f"""
    .section .bss, "aw", %nobits
    .balign 8
    .globl stubs_slots
    .hidden stubs_slots
    .type stubs_slots, %object
    .size stubs_slots, {8 * len(rows)}
stubs_slots:
    .zero {8 * len(rows)}
    .section .note.GNU-stack, "", %progbits
"""


def mark(which: str) -> str:
    """The first or last byte of the exported jumps."""
    name = f"stubs_{which}"
    return f"    .globl {name}\n    .hidden {name}\n{name}:"


def function_symbol(name: str, body: str) -> str:
    """An exported function in assembly. On a boundary: a jump that lies across one took up to 0.7 ns longer."""
    return f"""    .balign 32
    .globl {name}
    .type {name}, %function
{name}:
    .cfi_startproc
{body}
    .cfi_endproc
    .size {name}, . - {name}
"""


def entry_symbol(name: str, body: str) -> str:
    """An entry in assembly, which the backends' tables name."""
    return f"    .hidden entry_{name}\n" + function_symbol(f"entry_{name}", body)


def assemble(
    rows: list[Row],
    jump: Callable[[int], str],
    leave: Callable[[int, str], str],
    detour: Callable[[str], str],
    fortran_jump: str,
) -> str:
    """The jumps for one machine. jump: through a slot; leave: to a detour, with the slot's number."""
    jumps = "".join(function_symbol(row.name, jump(index)) for index, row in enumerate(rows))
    firsts = "".join(f"stubs_first_{index}:\n{leave(index, 'bind_jump')}\n" for index in range(len(rows)))
    tellers = "".join(
        entry_symbol(row.name, leave(index, "pcontrol_tell"))
        for index, row in enumerate(rows)
        if row.treatment == "told"
    )
    stoppers = "".join(
        entry_symbol(row.name, leave(index, "extension_stop"))
        for index, row in enumerate(rows)
        if row.treatment == "foreign"
    )
    detours = [detour("bind_jump"), detour("pcontrol_tell"), detour("extension_stop")]
    stubs = [unknown_stubs(rows, leave), fortran_stubs(rows, fortran_jump)]
    text = C_NOTICE + "    .text"
    return "\n".join(
        [text, mark("begin"), jumps, mark("end"), firsts, tellers, stoppers, *detours, *stubs, slots(rows)]
    )


def jump_x86_64(index: int) -> str:
    """To where a slot points, or to the binder."""
    slot = f"stubs_slots+{8 * index}(%rip)"
    return f"    movq {slot}, %r11\n    testq %r11, %r11\n    je stubs_first_{index}\n    jmp *%r11"


def leave_x86_64(index: int, function: str) -> str:
    """To a detour: the index is pushed."""
    return f"    pushq ${index}\n    jmp stubs_to_{function}"


def stubs_x86_64(rows: list[Row]) -> str:
    """The jumps for x86-64 (System V ABI): rdi to r9, xmm0 to xmm7 and al carry arguments."""
    return assemble(rows, jump_x86_64, leave_x86_64, detour_x86_64, FORTRAN_JUMP_X86_64)


def detour_x86_64(function: str) -> str:
    """Asks `function`(index, first argument) where to jump, with every argument in its place."""
    integers = ("rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax")
    saves = [f"    movq %{name}, {8 * index}(%rsp)" for index, name in enumerate(integers)]
    saves += [f"    movups %xmm{index}, {64 + 16 * index}(%rsp)" for index in range(8)]
    loads = [f"    movq {8 * index}(%rsp), %{name}" for index, name in enumerate(integers)]
    loads += [f"    movups {64 + 16 * index}(%rsp), %xmm{index}" for index in range(8)]
    return "\n".join(
        [
            "/* On the stack: index, return address. 8 + 192 + 8 bytes keep calls 16-byte aligned. */",
            f"stubs_to_{function}:",
            "    .cfi_startproc",
            "    .cfi_def_cfa_offset 16",
            "    subq $192, %rsp",
            "    .cfi_adjust_cfa_offset 192",
            *saves,
            "    movl %edi, %esi",
            "    movq 192(%rsp), %rdi",
            f"    call {function}",
            "    movq %rax, %r11",
            *loads,
            "    addq $200, %rsp",
            "    .cfi_adjust_cfa_offset -200",
            "    jmp *%r11",
            "    .cfi_endproc",
        ]
    )


def jump_aarch64(index: int) -> str:
    """To where a slot points, or to the binder."""
    slot = f"stubs_slots+{8 * index}"
    load = f"    adrp x16, {slot}\n    ldr x16, [x16, :lo12:{slot}]"
    return f"{load}\n    cbz x16, stubs_first_{index}\n    br x16"


def leave_aarch64(index: int, function: str) -> str:
    """To a detour: the index is in x17."""
    return f"    mov x17, #{index}\n    b stubs_to_{function}"


def stubs_aarch64(rows: list[Row]) -> str:
    """The jumps for aarch64 (AAPCS64): x0 to x8 and q0 to q7 carry arguments; x16 and x17 are the linker's."""
    return assemble(rows, jump_aarch64, leave_aarch64, detour_aarch64, FORTRAN_JUMP_AARCH64)


def detour_aarch64(function: str) -> str:
    """As on x86-64; the index is in x17."""
    pairs = [(f"x{2 * index}", f"x{2 * index + 1}", 16 + 16 * index) for index in range(4)]
    pairs += [(f"q{2 * index}", f"q{2 * index + 1}", 96 + 32 * index) for index in range(4)]
    saves = [f"    stp {one}, {two}, [sp, #{offset}]" for one, two, offset in pairs]
    loads = [f"    ldp {one}, {two}, [sp, #{offset}]" for one, two, offset in pairs]
    return "\n".join(
        [
            f"stubs_to_{function}:",
            "    .cfi_startproc",
            "    stp x29, x30, [sp, #-224]!",
            "    .cfi_def_cfa_offset 224",
            "    .cfi_offset x29, -224",
            "    .cfi_offset x30, -216",
            "    mov x29, sp",
            *saves,
            "    str x8, [sp, #80]",
            "    mov w1, w0",
            "    mov x0, x17",
            f"    bl {function}",
            "    mov x16, x0",
            *loads,
            "    ldr x8, [sp, #80]",
            "    ldp x29, x30, [sp], #224",
            "    .cfi_restore x29",
            "    .cfi_restore x30",
            "    .cfi_def_cfa_offset 0",
            "    br x16",
            "    .cfi_endproc",
        ]
    )


def exports(rows: list[Row]) -> str:
    """bind/exports.txt."""
    return "".join(f"{row.name}\n" for row in rows)


def abi_row(abi: Abi) -> str:
    """One ABI as C."""
    begins, ends = abi.soname_parts
    calls = "true" if abi.fortran_calls_pmpi == "all" else "false"
    return f"""    {{
        .soname_begins = "{begins}",
        .soname_ends = "{ends}",
        .symbol = "{abi.symbol}",
        .all_fortran_calls_pmpi = {calls},
        .backend = &bind_backend_{abi.name},
    }},"""


def abis_source(abis: list[Abi]) -> str:
    """bind/library_abis.c."""
    declared = "\n".join(f"extern const struct bind_backend bind_backend_{abi.name};" for abi in abis)
    rows = "\n".join(abi_row(abi) for abi in abis)
    return f"""/* SPDX-License-Identifier: MIT */
/* Made by mpi/generate.py from mpi/abis.toml. */
#include "bind/bind.h"
#include "bind/library.h"

{declared}

const struct library_abi library_abis[] = {{
{rows}
}};

const size_t library_abis_count = {len(abis)};
"""


FILES = {
    "mpi/real.h": real_header,
    "mpi/entries.h": entries_header,
    "mpi/entries.c": entries_source,
    "mpi/collective_listed.h": listed_header,
    "mpi/collective_listed.c": listed_source,
    "bind/names.h": names_header,
    "bind/names.c": names_source,
    "bind/stubs_x86_64.S": stubs_x86_64,
    "bind/stubs_aarch64.S": stubs_aarch64,
    "bind/exports.txt": exports,
    "bind/fortran.h": fortran_header,
    "bind/fortran.c": fortran_source,
}


def write_if_changed(path: Path, text: str) -> None:
    """Keeps the time of a file that is as it was, so that nothing is built again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main() -> int:
    """Writes all files, or says what is wrong with the table."""
    rows = sorted(functions(), key=lambda row: row.name.encode())
    complaints = [complaint for row in rows for complaint in problems(row)]
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        return 1
    for name, make in FILES.items():
        write_if_changed(Path(sys.argv[1]) / name, make(rows))
    write_if_changed(Path(sys.argv[1]) / "bind/library_abis.c", abis_source(read_abis()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
