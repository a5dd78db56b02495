/* SPDX-License-Identifier: MIT */
/* Claim: a thread's touch is released when its data is there, even while another thread sits in a blocking call.
 * flags: -pthread
 * timeout: 30 */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static unsigned char *early;
static char path[64];

/* Touches the first message, then tells rank 1 through a file that it did. */
static void *toucher_run(void *unused)
{
    (void)unused;
    check(early[CHECK_LARGE_BYTES - 1] == check_byte(CHECK_LARGE_BYTES - 1, 1), "the touched byte");
    unlink(path);
    return NULL;
}

static void receiver_run(void)
{
    unsigned char *late = check_buffer_new(CHECK_LARGE_BYTES);
    pthread_t toucher;
    strcpy(path, "/tmp/touch_while_blocked_XXXXXX");
    close(mkstemp(path));
    check_send(path, sizeof path, 1, 0);
    check_recv(early, CHECK_LARGE_BYTES, 1, 1);
    pthread_create(&toucher, NULL, toucher_run, NULL);
    check_recv(late, CHECK_LARGE_BYTES, 1, 2); /* is sent only after the touch */
    check(check_is_filled(late, CHECK_LARGE_BYTES, 2), "the late message");
    pthread_join(toucher, NULL);
}

static void sender_run(void)
{
    check_recv(path, sizeof path, 0, 0);
    check_send_late(early, CHECK_LARGE_BYTES, 1, 0, 1);
    while (access(path, F_OK) == 0)
        check_delay();
    check_fill(early, CHECK_LARGE_BYTES, 2);
    check_send(early, CHECK_LARGE_BYTES, 0, 2);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    early = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        receiver_run();
    else
        sender_run();
    return check_end();
}
