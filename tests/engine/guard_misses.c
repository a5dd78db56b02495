/* SPDX-License-Identifier: MIT */
/* Claim: an engine that now and then wakes too late goes on waiting for events; one whose ops end without events polls.
 */
#include <sys/socket.h>

#include "../base/claim.h"
#include "engine/sockets.h"
#include "engine/strategy.h"

enum { OPS = 1000, LATE_ONE_IN = 20 };

int main(void)
{
    int ends[2];
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "sockets");
    claim(engine_sockets_open(), "the sets");
    engine_sockets_add(ends[0]);
    engine_strategy_configure(OPTION_PROGRESS_AUTO, false);
    engine_strategy_choose();
    claim(!engine_strategy_is_polling(), "peers behind sockets: by events");
    for (int op = 0; op < OPS; op++)
        engine_strategy_judge(op % LATE_ONE_IN == 0, 1);
    claim(!engine_strategy_is_polling(), "one op in twenty ended at the guard: by events still");
    for (int look = 0; look < OPS; look++)
        engine_strategy_judge(true, 0);
    claim(!engine_strategy_is_polling(), "looks that ended nothing say nothing");
    engine_strategy_judge(true, 1);
    engine_strategy_judge(true, 1);
    claim(engine_strategy_is_polling(), "ops end at the guard alone: what carries them is no socket");
    engine_sockets_discard();
    return 0;
}
