/* SPDX-License-Identifier: MIT */
/* MPI_Wait, MPI_Waitall, MPI_Waitany, MPI_Waitsome (MPI 4.1, 3.7.3, 3.7.5). */
#include "completion.h"
#include "dispatch.h"
#include "errors.h"
#include "intercept/entries.h"
#include "intercept/requests.h"

static int wait_look_all(struct completion *c, int *is_over)
{
    return real.MPI_Testall(c->count, c->requests, is_over, c->statuses);
}

static int wait_look_any(struct completion *c, int *is_over)
{
    return real.MPI_Testany(c->count, c->requests, c->indices, is_over, c->statuses);
}

static int wait_look_some(struct completion *c, int *is_over)
{
    int result = real.MPI_Testsome(c->count, c->requests, c->out_count, c->indices, c->statuses);
    *is_over = *c->out_count != 0; /* MPI_UNDEFINED (none active) ends it too */
    return result;
}

int entry_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (completion_is_direct()) {
        int before = completion_count(1, request);
        int result = real.MPI_Wait(request, status);
        completion_uncount(before, 1, request);
        return result;
    }
    struct completion completion = {.count = 1, .requests = request, .statuses = status};
    int result;
    completion_begin(&completion);
    if (completion_must_loop()) {
        result = errors_or(completion_wait(&completion, completion_test_one));
    } else {
        dispatch_enter();
        result = dispatch_leave(real.MPI_Wait(request, status));
    }
    completion_end(&completion, result);
    return result;
}

int entry_MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (completion_is_direct()) {
        int before = completion_count(count, requests);
        int result = real.MPI_Waitall(count, requests, statuses);
        completion_uncount(before, count, requests);
        return result;
    }
    struct completion completion = {.count = count, .requests = requests, .statuses = statuses};
    int result;
    completion_begin(&completion);
    if (completion_must_loop()) {
        result = errors_or(completion_wait(&completion, wait_look_all));
    } else {
        dispatch_enter();
        result = dispatch_leave(real.MPI_Waitall(count, requests, statuses));
    }
    completion_end(&completion, result);
    return result;
}

int entry_MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    if (completion_is_direct()) {
        int result = real.MPI_Waitany(count, requests, index, status);
        if (result == MPI_SUCCESS)
            completion_uncount_named(1, index, count, requests);
        return result;
    }
    struct completion completion = {.count = count, .requests = requests, .indices = index, .statuses = status};
    int result;
    completion_begin(&completion);
    if (completion_must_loop()) {
        result = errors_or(completion_wait(&completion, wait_look_any));
    } else {
        dispatch_enter();
        result = dispatch_leave(real.MPI_Waitany(count, requests, index, status));
    }
    completion_end(&completion, result);
    return result;
}

int entry_MPI_Waitsome(int in_count, MPI_Request *requests, int *out_count, int *indices, MPI_Status *statuses)
{
    if (completion_is_direct()) {
        int result = real.MPI_Waitsome(in_count, requests, out_count, indices, statuses);
        if (result == MPI_SUCCESS)
            completion_uncount_named(*out_count, indices, in_count, requests);
        return result;
    }
    struct completion completion = {
        .count = in_count, .requests = requests, .out_count = out_count, .indices = indices, .statuses = statuses};
    int result;
    completion_begin(&completion);
    if (completion_must_loop()) {
        result = errors_or(completion_wait(&completion, wait_look_some));
    } else {
        dispatch_enter();
        result = dispatch_leave(real.MPI_Waitsome(in_count, requests, out_count, indices, statuses));
    }
    completion_end(&completion, result);
    return result;
}
