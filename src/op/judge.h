/* SPDX-License-Identifier: MIT */
/* May an op begin? What is asked before a call may return early: may anything begin at all, does it pay at this site,
 * can the memory be held, and what must wait until it is matched? */
#ifndef OP_JUDGE_H
#define OP_JUDGE_H

#include <stdbool.h>

#include "base/range.h"
#include "base/reasons.h"
#include "op/session.h"
#include "policy/policy.h"

/* session_reason(), after a look whether a library that was loaded since reaches MPI past us. REASON_CALLBACK inside
 * the gate, in a function of the program's that MPI has called: a touch there would wait for the engine, which waits
 * for the gate. */
enum reason judge_session(void);

/* Could a thread that touches a buffer hinder another that the op depends on? With MPI alone a thread waits inside the
 * call. If it waits at the touch instead it may keep a lock (a mutex, Python's) which another thread takes before its
 * next call, and the peer may need that call first: below MPI_THREAD_MULTIPLE one past MPI (a pipe, a socket). Not of
 * receives: they are matched first then (session_order()), and their data come by themselves. */
bool judge_may_lock_out(void);

/* What memory it is matters to a send even where nothing is held: it may be copied (not from a device, to whose memory
 * only its own library has access). */
enum reason judge_memory(struct range bytes, bool is_sent);

/* Memory that cannot be held for this reason can be copied, if it is sent. */
bool judge_may_copy(enum reason reason);

/* For a profile, where nothing begins: could a run return early from a call with these bytes? memory: those of them
 * whose kind of memory can be asked. neighbours: what neighbours_check() says. */
struct judge_foreseen {
    struct range bytes;
    struct range memory;
    enum reason neighbours;
    bool is_sent;
};
enum reason judge_foresee(const struct judge_foreseen *call);

/* session_order() for a receive: with windows, whose memory others see without a call of this process, it is matched
 * first. */
enum session_order judge_order(void);

/* All of that but REASON_CALLBACK, and whether it pays, for a blocking call, whose time away from MPI ends (away.h).
 * Outside the gate. held: the bytes to be held, if any. policy: empty where nothing may begin. order: of a receive
 * that may begin. starts_apart: as the policy says, where that can be. */
struct judge_answer {
    struct policy_answer policy;
    enum session_order order;
    bool starts_apart;
};
enum reason judge_message(struct policy_call *call, const struct range *held, struct judge_answer *answer);

#endif
