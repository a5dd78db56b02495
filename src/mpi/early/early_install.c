/* SPDX-License-Identifier: MIT */
#include "mpi/early/early_install.h"

#include "mpi/early.h"
#include "mpi/early/early_engine.h"
#include "mpi/early/early_messages.h"
#include "mpi/early/early_receive.h"
#include "mpi/early/early_refuse.h"
#include "mpi/early/early_request.h"

/* One by one, in code (CMakeLists.txt): a table of pointers would be work for the dynamic linker in every process. */
void early_install_functions(void)
{
    early.poll = early_engine_poll;
    early.advance = early_messages_advance;
    early.pause = early_engine_pause;
    early.resume = early_engine_resume;
    early.awaits = early_receive_awaits;
    early.receive = early_receive_try;
    early.start = early_request_start;
    early.probe = early_receive_probe;
    early.close = early_refuse_matching;
    early.refuse_synchronous = early_refuse_synchronous_send;
    early.end_comm = early_engine_end_comm;
    early.unlearn = early_engine_unlearn;
    early.settle = early_messages_settle;
    early.finish = early_engine_finish;
    early.is_on = true;
}
