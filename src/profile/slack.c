/* SPDX-License-Identifier: MIT */
#include "profile/slack.h"

void slack_add(struct profile_format_site *site, int64_t start_ns, int64_t wall_ns, int64_t computation_ns)
{
    uint64_t computation = computation_ns > 0 ? (uint64_t)computation_ns : 0;
    profile_file_add(&site->sampled_count, 1);
    profile_file_add(&site->wall_total_ns, (uint64_t)wall_ns);
    profile_file_cell_add(site, PROFILE_SLACK, profile_file_bits(computation), PROFILE_BITS_MAX, computation, 0);
    struct profile_format_event event = {(uint64_t)start_ns, (uint64_t)wall_ns, profile_file_site_number(site),
                                         PROFILE_EVENT_SLACK, computation};
    profile_file_event_add(&event);
}
