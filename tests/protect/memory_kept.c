/* SPDX-License-Identifier: MIT */
/* Claim: without the kernel's query for single mappings (before Linux 6.11) the list of mappings is read once for a
 * buffer, and what was found is never used for other memory that has come to its place since, however it came. */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "base/pages.h"
#include "hold_test.h"
#include "no_query.h"
#include "protect/memory.h"
#include "protect/memory_kept.h"

enum { PAGE = 4096, BYTES = 64 * PAGE, BLOCK_BYTES = 4 << 20, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS };

static enum reason check_of(const void *address, size_t length_bytes)
{
    return protect_memory_check(base_range_of(address, length_bytes));
}

/* Nothing can be opened meanwhile: not the list either. */
static enum reason check_unread(const void *address, size_t length_bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max});
    enum reason reason = check_of(address, length_bytes);
    setrlimit(RLIMIT_NOFILE, &limit);
    return reason;
}

static bool is_held_unread(const void *address, size_t length_bytes)
{
    return check_unread(address, length_bytes) == REASON_NONE;
}

static void keep(char *memory, size_t length_bytes)
{
    memset(memory, 1, length_bytes);
    memory_kept_note_change(); /* forget all */
    check(!is_held_unread(memory, length_bytes), "the first check reads");
    check(check_of(memory, length_bytes) == REASON_NONE, "anonymous memory");
    check(is_held_unread(memory, length_bytes), "the second check does not read");
}

static char *kept_memory(void)
{
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, PRIVATE, -1, 0);
    check(memory != MAP_FAILED, "mmap");
    keep(memory, BYTES);
    return memory;
}

static int file_of(size_t length_bytes)
{
    int file = memfd_create("file", 0);
    check(file >= 0 && ftruncate(file, (off_t)length_bytes) == 0, "a file");
    return file;
}

/* Straight to the kernel: no entry sees it. */
static void map_unseen(char *address, size_t length_bytes, int flags, int file)
{
    syscall(SYS_munmap, address, length_bytes);
    long mapped = syscall(SYS_mmap, address, length_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0L);
    check((char *)mapped == address, "a mapping at the same address");
}

static void check_kept(void)
{
    char *memory = kept_memory();
    check(!is_held_unread(memory, BYTES / 2), "other bytes are read for");
    for (int i = 0; i < 3; i++)
        check(is_held_unread(memory, BYTES), "further checks do not read");
    check(memory_is_heap(base_range_of(memory, BYTES)) == false, "no heap");
    check(is_held_unread(memory, BYTES), "nor after a look for the heap");
    munmap(memory, BYTES);
    check(check_of(memory, BYTES) != REASON_NONE, "nothing is there any more");
}

/* Alike in the lower parts of their addresses. */
static void check_many(void)
{
    enum { MANY = 100 };
    char *memory = mmap(NULL, MANY * (size_t)BLOCK_BYTES, PROT_READ | PROT_WRITE, PRIVATE, -1, 0);
    for (size_t i = 0; i < MANY; i++) {
        memset(memory + i * BLOCK_BYTES, 1, BYTES);
        check(check_of(memory + i * BLOCK_BYTES, BYTES) == REASON_NONE, "one of many buffers");
    }
    for (size_t i = 0; i < MANY; i++)
        check(is_held_unread(memory + i * BLOCK_BYTES, BYTES), "none is read for again");
    munmap(memory, MANY * (size_t)BLOCK_BYTES);
}

/* A refusal does no harm, but may be kept from what came to its place unseen: not for long. */
static void check_refusal(void)
{
    char *shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 1, BYTES);
    check(check_of(shared, BYTES) == REASON_MEMORY_SHARED, "shared memory");
    check(check_unread(shared, BYTES) == REASON_MEMORY_SHARED, "the second check does not read");
    map_unseen(shared, BYTES, PRIVATE, -1);
    check(check_unread(shared, BYTES) == REASON_MEMORY_SPECIAL, "pages that are not there are read for");
    memset(shared, 1, BYTES);
    int refusals = 0;
    while (check_of(shared, BYTES) != REASON_NONE)
        check(++refusals <= 100, "other memory is found out in the end");
    check(check_of(NULL, 0) == REASON_MEMORY_SPECIAL, "no bytes");
    munmap(shared, BYTES);
}

static void check_shared_unseen(void)
{
    int file = file_of(BYTES);
    char *memory = kept_memory();
    map_unseen(memory, BYTES, MAP_SHARED, file);
    check(check_of(memory, BYTES) == REASON_MEMORY_SHARED, "a shared file, untouched");
    memset(memory, 2, BYTES);
    check(check_of(memory, BYTES) == REASON_MEMORY_SHARED, "a shared file, written");
    for (size_t page = 0; page < BYTES; page += 21 * PAGE) {
        char *other = kept_memory();
        map_unseen(other + page, PAGE, MAP_SHARED, file);
        other[page] = 2;
        check(check_of(other, BYTES) == REASON_MEMORY_MAPPINGS || page == 0, "a shared page among others");
        check(check_of(other, BYTES) != REASON_NONE, "the first page is shared");
    }
    char *anonymous = kept_memory();
    map_unseen(anonymous, BYTES, MAP_SHARED | MAP_ANONYMOUS, -1);
    memset(anonymous, 2, BYTES);
    check(check_of(anonymous, BYTES) == REASON_MEMORY_SHARED, "shared memory without a file");
    close(file);
}

/* What pages do not show, entries of libc tell: here the test does in their stead. */
static void check_noted(void)
{
    int file = file_of(BYTES);
    char *memory = kept_memory();
    map_unseen(memory, BYTES, MAP_PRIVATE, file);
    memset(memory, 2, BYTES);
    memory_kept_note_change();
    check(check_of(memory, BYTES) == REASON_MEMORY_SHARED, "a private file, written");
    char *closed = kept_memory();
    mprotect(closed, BYTES, PROT_READ);
    memory_kept_note_change();
    check(check_of(closed, BYTES) == REASON_MEMORY_SPECIAL, "memory that became read-only");
    close(file);
}

/* A private file that is mapped past libc, and of which every page has been written, looks like other memory. */
static void check_private_file_unseen(void)
{
    struct hold *hold = NULL;
    int file = file_of(BYTES);
    char *memory = kept_memory();
    map_unseen(memory, BYTES, MAP_PRIVATE, file);
    memset(memory, 2, BYTES);
    check(is_held_unread(memory, BYTES), "a private file, written, that nobody told of");
    enum reason reason = protect_hold_arm(HOLD_NO_ACCESS, base_range_of(memory, BYTES), TEST_OP, &hold);
    check((reason == REASON_NONE) == protect_holds_in_place(), "it is not moved");
    if (hold != NULL)
        protect_hold_release(hold);
    for (int i = 0; i < BYTES; i++)
        check(memory[i] == 2, "and stays as it was");
    hold = hold_arm(HOLD_NO_WRITE, memory, BYTES, TEST_OP);
    protect_hold_release(hold);
    munmap(memory, BYTES);
    close(file);
}

static void check_holds(void)
{
    char *memory = kept_memory();
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP);
    check(is_held_unread(memory, BYTES), "nor is a held buffer read for");
    arrive(protect_hold_transfer_address(hold), 3, BYTES);
    protect_hold_release(hold);
    check(memory[0] == 3 && memory[BYTES - 1] == 3, "the message is there");
    check(is_held_unread(memory, BYTES), "and the next one is not read for");
    munmap(memory, BYTES);
}

/* libc maps, moves and unmaps blocks of this length past every entry. */
static char *block_new(void)
{
    char *block = malloc(BLOCK_BYTES);
    check(block != NULL, "malloc");
    keep(block, BLOCK_BYTES);
    return block;
}

static void check_freed(void)
{
    char *block = block_new();
    char *volatile place = block;
    free(block);
    check(check_of(place, BLOCK_BYTES) == REASON_MEMORY_SPECIAL, "the block is gone");
    char *again = malloc(BLOCK_BYTES);
    check(again == place, "libc maps the next block at the same address");
    memset(again, 1, BLOCK_BYTES);
    check(is_held_unread(again, BLOCK_BYTES), "which is as good");
    free(again);
}

static void check_freed_and_shared(void)
{
    int file = file_of(BLOCK_BYTES + PAGE);
    char *block = block_new();
    char *volatile place = block;
    free(block);
    char *first_page = place - (uintptr_t)place % PAGE;
    map_unseen(first_page, BLOCK_BYTES + PAGE, MAP_SHARED, file);
    memset(first_page, 2, BLOCK_BYTES + PAGE);
    check(check_of(place, BLOCK_BYTES) == REASON_MEMORY_SHARED, "a shared file where the block was");
    munmap(first_page, BLOCK_BYTES + PAGE);
    close(file);
}

static void check_resized(void)
{
    char *block = block_new();
    char *volatile place = block;
    char *moved = realloc(block, 4UL * BLOCK_BYTES);
    check(moved != NULL && (moved == place || check_of(place, BLOCK_BYTES) != REASON_NONE), "the block has moved");
    free(moved);
}

static void check_blocks(void)
{
    mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES / 2);
    check_freed();
    check_freed_and_shared();
    check_resized();
}

static void *check_own_stack(void *argument)
{
    char buffer[BYTES];
    memset(buffer, 1, sizeof(buffer));
    struct range pages = base_pages_of(base_range_of(buffer, sizeof(buffer)));
    (void)argument;
    memory_kept_add(pages, REASON_NONE, memory_kept_now()); /* as if other memory had been here */
    check(check_of(buffer, sizeof(buffer)) == REASON_MEMORY_STACK, "the stack of a thread");
    return NULL;
}

static ucontext_t outside;
static char *beside_stack;

static void check_coroutine(void)
{
    check(check_of(beside_stack, BYTES) == REASON_MEMORY_STACK, "memory that a coroutine's stack is part of");
    check(check_of(beside_stack, BYTES) == REASON_MEMORY_STACK, "and once more");
}

static void check_coroutines(void)
{
    ucontext_t inside;
    beside_stack = mmap(NULL, 2UL * BYTES, PROT_READ | PROT_WRITE, PRIVATE, -1, 0);
    keep(beside_stack, BYTES);
    getcontext(&inside);
    inside.uc_stack = (stack_t){.ss_sp = beside_stack + BYTES, .ss_size = BYTES};
    inside.uc_link = &outside;
    makecontext(&inside, check_coroutine, 0);
    swapcontext(&outside, &inside);
    check(is_held_unread(beside_stack, BYTES), "from outside it is a buffer");
    munmap(beside_stack, 2UL * BYTES);
}

static void *check_beside_stack(void *argument)
{
    char *memory = kept_memory();
    (void)argument;
    check(is_held_unread(memory, BYTES), "in a thread as well");
    munmap(memory, BYTES);
    return NULL;
}

static void check_forked(void)
{
    char *memory = kept_memory();
    pid_t child = fork();
    if (child == 0)
        pause();
    check(!is_held_unread(memory, BYTES), "pages that a child has, too, are read for");
    kill(child, SIGKILL);
    munmap(memory, BYTES);
}

static void check_loaded(void)
{
    char *memory = kept_memory();
    void *library = dlopen("libnss_files.so.2", RTLD_NOW);
    if (library == NULL)
        library = dlopen("libm.so.6", RTLD_NOW);
    check(library == NULL || !is_held_unread(memory, BYTES), "a library has been loaded");
}

int main(int argument_count, char **arguments)
{
    pthread_t thread;
    if (!no_query_install()) {
        printf("skipped: no filter for system calls\n");
        return EXIT_SKIPPED;
    }
    backend_start(argument_count, arguments);
    check_kept();
    check_many();
    check_refusal();
    check_shared_unseen();
    check_noted();
    check_private_file_unseen();
    check_holds();
    if (ALLOCATOR_IS_LIBCS)
        check_blocks();
    check_loaded();
    check_coroutines();
    check_forked();
    pthread_create(&thread, NULL, check_own_stack, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, check_beside_stack, NULL);
    pthread_join(thread, NULL);
    return 0;
}
