/* SPDX-License-Identifier: MIT */
/* Claim: memory that cannot be held is refused with its reason; what can be held
 * is accepted, also while sends are held in it. With the kernel's query for
 * single mappings (Linux 6.11) and without it, from the text. */
#include <fcntl.h>

#include "hold_test.h"
#include "protect/memory.h"

enum { PAGE = 4096, BYTES = 16 * PAGE, ARENA_BYTES = 64 << 20 };

static char bss_memory[64 * PAGE];

static void expect(const void *address, size_t length_bytes, enum reason reason, const char *claim)
{
    enum reason found = protect_memory_check(base_range_of(address, length_bytes));
    if (found != reason)
        fprintf(stderr, "reason %d instead of %d\n", (int)found, (int)reason);
    check(found == reason, claim);
}

static char *map(int access, int flags, int descriptor)
{
    char *memory = mmap(NULL, BYTES, access, flags, descriptor, 0);
    check(memory != MAP_FAILED, "mmap");
    return memory;
}

/* Nothing lies where a heap of a thread would begin. */
static char *map_apart(void)
{
    char *area = mmap(NULL, 2 * ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(area != MAP_FAILED, "addresses");
    munmap(area, 2 * ARENA_BYTES);
    char *begin = (char *)(((uintptr_t)area + ARENA_BYTES - 1) & ~((uintptr_t)ARENA_BYTES - 1));
    char *memory = mmap(begin + ARENA_BYTES / 2, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check(memory != MAP_FAILED, "mmap");
    return memory;
}

static void *check_own_stack(void *argument)
{
    char buffer[BYTES] = {0};
    (void)argument;
    expect(buffer, sizeof(buffer), REASON_MEMORY_STACK, "the stack of a thread");
    return NULL;
}

static void check_refused(void)
{
    char buffer[BYTES] = {0};
    int file = open("/proc/self/exe", O_RDONLY);
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    expect(buffer, sizeof(buffer), REASON_MEMORY_STACK, "the stack of the first thread");
    expect(map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1), BYTES, REASON_MEMORY_SHARED, "shared memory");
    expect(map(PROT_READ | PROT_WRITE, MAP_PRIVATE, file), BYTES, REASON_MEMORY_SHARED, "memory of a file");
    expect(map(PROT_READ, anonymous, -1), BYTES, REASON_MEMORY_SPECIAL, "read-only memory");
    expect(map(PROT_NONE, anonymous, -1), BYTES, REASON_MEMORY_SPECIAL, "memory without access");
    expect((void *)4096, BYTES, REASON_MEMORY_SPECIAL, "no memory at all");
    expect(bss_memory, 0, REASON_MEMORY_SPECIAL, "no bytes");
    char *split = map(PROT_READ | PROT_WRITE, anonymous, -1);
    mprotect(split + 8 * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    expect(split, BYTES, REASON_MEMORY_MAPPINGS, "several mappings");
    munmap(split + 8 * PAGE, PAGE);
    expect(split, BYTES, REASON_MEMORY_SPECIAL, "a gap");
    close(file);
}

/* A GPU's driver reserves the addresses of device memory without access for the
 * processor, and maps managed and pinned memory from its device file: /dev/zero
 * stands in for it. */
static void check_devices(void)
{
    int device = open("/dev/zero", O_RDWR);
    char *reserved = map(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    expect(reserved + PAGE, PAGE, REASON_MEMORY_SPECIAL, "addresses of device memory");
    expect(map(PROT_READ | PROT_WRITE, MAP_SHARED, device), BYTES, REASON_MEMORY_SHARED, "memory shared with a device");
    expect(map(PROT_READ | PROT_WRITE, MAP_PRIVATE, device), BYTES, REASON_MEMORY_SHARED, "memory from a device");
    close(device);
}

static void check_huge_page_file(void)
{
    enum { HUGE = 2 << 20 };
    char *memory = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (memory == MAP_FAILED) {
        printf("no huge pages are reserved here\n");
        return;
    }
    check(protect_memory_check(base_range_of(memory, HUGE)) != REASON_NONE, "huge pages of hugetlbfs");
    munmap(memory, HUGE);
}

static void check_accepted(void)
{
    char *memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    expect(memory, BYTES, REASON_NONE, "anonymous memory");
    char *code = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    expect(code, BYTES, protect_sets_rights() ? REASON_MEMORY_SPECIAL : REASON_NONE, "memory that code may run in");
    char *block = malloc(1 << 20);
    expect(block, 1 << 20, REASON_NONE, "a large block of malloc");
    free(block);
    expect(bss_memory + PAGE, sizeof(bss_memory) - PAGE, REASON_NONE, "variables without initial value");
    char *heap = sbrk(BYTES);
    expect(heap, BYTES, REASON_NONE, "the heap");
    check(memory_is_heap(base_range_of(heap, BYTES)), "the heap is known as such");
    check(!memory_is_heap(base_range_of(map_apart(), BYTES)), "other memory is no heap");
    struct hold *first = hold_arm(HOLD_NO_WRITE, memory + 3 * PAGE, 2 * PAGE, 1);
    expect(memory, BYTES, REASON_NONE, "memory in which a send is held");
    struct hold *second = hold_arm(HOLD_NO_WRITE, memory + 4 * PAGE, 5 * PAGE, 2);
    expect(memory, BYTES, REASON_NONE, "memory in which several sends are held");
    protect_hold_release(first);
    expect(memory, BYTES, REASON_NONE, "memory in which one of them is left");
    protect_hold_release(second);
}

/* They do not show in the list of mappings. */
static void check_guards(void)
{
    enum { GUARD_INSTALL = 102 }; /* MADV_GUARD_INSTALL; newer than Debian 12's headers */
    char *memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    bool are_guarded = madvise(memory + PAGE, PAGE, GUARD_INSTALL) == 0;
    check(protect_may_hide_guards() == are_guarded, "whether the kernel knows guard regions is known");
    munmap(memory, BYTES);
}

static char large_variable[3 * ARENA_BYTES];

/* As glibc maps the heaps of threads: on a multiple of their greatest size. */
static void check_arena(void)
{
    char *reserved = mmap(NULL, 2 * ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *arena = (char *)(((uintptr_t)reserved + ARENA_BYTES - 1) & ~((uintptr_t)ARENA_BYTES - 1));
    mprotect(arena, BYTES, PROT_READ | PROT_WRITE);
    struct range last = base_range_of(arena + BYTES - 100, 100);
    check(!memory_is_heap(last), "other memory on such a multiple");
    /* glibc, malloc/arena.c, struct _heap_info: the arena, none before it, its length, how much of it is open. */
    memcpy(arena, (uintptr_t[]){(uintptr_t)arena + 64, 0, BYTES, BYTES}, 4 * sizeof(uintptr_t));
    check(memory_is_heap(last), "a thread's heap");
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, arena + PAGE, PAGE, 1);
    check(memory_is_heap(last), "a thread's heap behind a message under way");
    protect_hold_release(hold);
    struct range middle = base_range_of(large_variable + 2 * ARENA_BYTES, BYTES);
    check(!memory_is_heap(middle), "an array as large as a thread's heap");
    munmap(reserved, 2 * ARENA_BYTES);
}

int main(int argument_count, char **arguments)
{
    pthread_t thread;
    backend_start(argument_count, arguments);
    check_refused();
    check_devices();
    check_arena();
    check_huge_page_file();
    check_accepted();
    check_guards();
    memory_stop();
    check_refused();
    check_devices();
    check_huge_page_file();
    check_accepted();
    pthread_create(&thread, NULL, check_own_stack, NULL);
    pthread_join(thread, NULL);
    return 0;
}
