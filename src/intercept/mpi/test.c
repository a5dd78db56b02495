/* SPDX-License-Identifier: MIT */
/* MPI_Test, MPI_Testall, MPI_Testany, MPI_Testsome: passed inside the gate; what
 * they complete is no longer tracked. */
#include "completion.h"
#include "dispatch.h"
#include "intercept/entries.h"
#include "intercept/requests.h"

static bool test_is_direct(void)
{
    return dispatch_is_direct() && !requests_are_tracked();
}

int entry_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct completion completion = {.count = 1, .requests = request, .out_count = flag, .statuses = status};
    if (test_is_direct())
        return real.MPI_Test(request, flag, status);
    completion_begin(&completion);
    dispatch_enter();
    int result = dispatch_leave(real.MPI_Test(request, flag, status));
    completion_end(&completion, result);
    return result;
}

int entry_MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct completion completion = {.count = count, .requests = requests, .out_count = flag, .statuses = statuses};
    if (test_is_direct())
        return real.MPI_Testall(count, requests, flag, statuses);
    completion_begin(&completion);
    dispatch_enter();
    int result = dispatch_leave(real.MPI_Testall(count, requests, flag, statuses));
    completion_end(&completion, result);
    return result;
}

int entry_MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct completion completion = {
        .count = count, .requests = requests, .out_count = flag, .indices = index, .statuses = status};
    if (test_is_direct())
        return real.MPI_Testany(count, requests, index, flag, status);
    completion_begin(&completion);
    dispatch_enter();
    int result = dispatch_leave(real.MPI_Testany(count, requests, index, flag, status));
    completion_end(&completion, result);
    return result;
}

int entry_MPI_Testsome(int in_count, MPI_Request *requests, int *out_count, int *indices, MPI_Status *statuses)
{
    struct completion completion = {
        .count = in_count, .requests = requests, .out_count = out_count, .indices = indices, .statuses = statuses};
    if (test_is_direct())
        return real.MPI_Testsome(in_count, requests, out_count, indices, statuses);
    completion_begin(&completion);
    dispatch_enter();
    int result = dispatch_leave(real.MPI_Testsome(in_count, requests, out_count, indices, statuses));
    completion_end(&completion, result);
    return result;
}
