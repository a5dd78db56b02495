/* SPDX-License-Identifier: MIT */
/* Claim: memory that a runtime has made known to a device, by whichever function, is where the device looks as soon as
 * a receive, or a write after a send, has returned. The runtime, a stand-in, is loaded after messages have gone by, and
 * its function is asked for by name.
 * plugin: yes
 * flags: -ldl
 * arguments: cuda cuda_malloc hip hip_malloc hsa ze ze_malloc ze_extension verbs uring
 * defers: receive
 * passes: memory_device
 * quick: openmpi4 userfaultfd */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

/* The runtimes' functions: the parameters are theirs, handles are pointers, results ints. */
typedef int host_register_fn(void *memory, size_t length_bytes, unsigned flags); /* cudaHostRegister, hipHostRegister */
typedef int cuda_malloc_fn(void **memory, size_t length_bytes);                  /* cudaMallocHost */
typedef int hip_malloc_fn(void **memory, size_t length_bytes, unsigned flags);   /* hipHostMalloc */
typedef int hsa_lock_fn(void *memory, size_t length_bytes, void *agents, int count, void **for_agents);
typedef int ze_import_fn(void *driver, void *memory, size_t length_bytes);
typedef int ze_malloc_fn(void *context, const void *description, size_t length_bytes, size_t alignment, void **memory);
typedef int ze_extension_fn(void *driver, const char *name, void **function);
typedef void *verbs_fn(void *domain, void *memory, size_t length_bytes, int access);
typedef int uring_fn(void *ring, const struct iovec *parts, unsigned count);
typedef bool sees_fn(const unsigned char *expected);

#ifdef PLUGIN
#include "device.h"

host_register_fn cudaHostRegister, hipHostRegister;
cuda_malloc_fn cudaMallocHost;
hip_malloc_fn hipHostMalloc;
hsa_lock_fn hsa_amd_memory_lock;
ze_import_fn zexDriverImportExternalPointer;
ze_malloc_fn zeMemAllocHost;
ze_extension_fn zeDriverGetExtensionFunctionAddress;
verbs_fn ibv_reg_mr;
uring_fn io_uring_register_buffers;
sees_fn runtime_sees;

int cudaHostRegister(void *memory, size_t length_bytes, unsigned flags)
{
    return flags == 0 && device_know(memory, length_bytes) ? 0 : 1;
}

int hipHostRegister(void *memory, size_t length_bytes, unsigned flags)
{
    return cudaHostRegister(memory, length_bytes, flags);
}

int cudaMallocHost(void **memory, size_t length_bytes)
{
    *memory = device_allocate(length_bytes);
    return *memory != NULL ? 0 : 1;
}

int hipHostMalloc(void **memory, size_t length_bytes, unsigned flags)
{
    return flags == 0 ? cudaMallocHost(memory, length_bytes) : 1;
}

int hsa_amd_memory_lock(void *memory, size_t length_bytes, void *agents, int count, void **for_agents)
{
    *for_agents = memory;
    return agents == NULL && count == 0 && device_know(memory, length_bytes) ? 0 : 1;
}

int zexDriverImportExternalPointer(void *driver, void *memory, size_t length_bytes)
{
    return driver == NULL && device_know(memory, length_bytes) ? 0 : 1;
}

int zeMemAllocHost(void *context, const void *description, size_t length_bytes, size_t alignment, void **memory)
{
    return context == NULL && description == NULL && alignment == 0 ? cudaMallocHost(memory, length_bytes) : 1;
}

int zeDriverGetExtensionFunctionAddress(void *driver, const char *name, void **function)
{
    bool is_known = driver == NULL && strcmp(name, "zexDriverImportExternalPointer") == 0;
    *function = is_known ? (void *)zexDriverImportExternalPointer : NULL;
    return is_known ? 0 : 1;
}

void *ibv_reg_mr(void *domain, void *memory, size_t length_bytes, int access)
{
    return domain == NULL && access == 1 && device_know(memory, length_bytes) ? memory : NULL;
}

int io_uring_register_buffers(void *ring, const struct iovec *parts, unsigned count)
{
    return ring == NULL && count == 1 && device_know(parts->iov_base, parts->iov_len) ? 0 : 1;
}

bool runtime_sees(const unsigned char *expected)
{
    return device_sees(expected);
}
#else
#include "device_play.h"

enum { LENGTH = DEVICE_PLAY_BYTES, ROUNDS_BEFORE = 2, ROUNDS = 5 };

static void *runtime;
static sees_fn *sees;

static bool runtime_load(const char *program)
{
    char path[4096];
    snprintf(path, sizeof path, "%s_plugin.so", program);
    runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    sees = runtime != NULL ? (sees_fn *)dlsym(runtime, "runtime_sees") : NULL;
    return sees != NULL;
}

static bool registered(void *memory, const char *name)
{
    return ((host_register_fn *)dlsym(runtime, name))(memory, LENGTH, 0) == 0;
}

static bool imported(void *memory, const char *way)
{
    void *function = NULL;
    if (strcmp(way, "ze") == 0)
        function = dlsym(runtime, "zexDriverImportExternalPointer");
    else
        ((ze_extension_fn *)dlsym(runtime, "zeDriverGetExtensionFunctionAddress"))(
            NULL, "zexDriverImportExternalPointer", &function);
    return ((ze_import_fn *)function)(NULL, memory, LENGTH) == 0;
}

static bool locked(void *memory)
{
    void *for_agents = NULL;
    return ((hsa_lock_fn *)dlsym(runtime, "hsa_amd_memory_lock"))(memory, LENGTH, NULL, 0, &for_agents) == 0;
}

static bool given_to_ring(void *memory)
{
    struct iovec part = {memory, LENGTH};
    return ((uring_fn *)dlsym(runtime, "io_uring_register_buffers"))(NULL, &part, 1) == 0;
}

static void *allocated(const char *way)
{
    void *memory = NULL;
    if (strcmp(way, "cuda_malloc") == 0)
        ((cuda_malloc_fn *)dlsym(runtime, "cudaMallocHost"))(&memory, LENGTH);
    else if (strcmp(way, "hip_malloc") == 0)
        ((hip_malloc_fn *)dlsym(runtime, "hipHostMalloc"))(&memory, LENGTH, 0);
    else
        ((ze_malloc_fn *)dlsym(runtime, "zeMemAllocHost"))(NULL, NULL, LENGTH, 0, &memory);
    return memory;
}

static bool made_known(void *memory, const char *way)
{
    if (strcmp(way, "cuda") == 0)
        return registered(memory, "cudaHostRegister");
    if (strcmp(way, "hip") == 0)
        return registered(memory, "hipHostRegister");
    if (strcmp(way, "hsa") == 0)
        return locked(memory);
    if (strcmp(way, "verbs") == 0)
        return ((verbs_fn *)dlsym(runtime, "ibv_reg_mr"))(NULL, memory, LENGTH, 1) != NULL;
    return strcmp(way, "uring") == 0 ? given_to_ring(memory) : imported(memory, way);
}

/* The buffer from now on; NULL where the kernel gives no such pipe. */
static unsigned char *memory_known(unsigned char *buffer, const char *way)
{
    bool is_allocating = strstr(way, "malloc") != NULL;
    unsigned char *memory = is_allocating ? allocated(way) : buffer;
    return memory != NULL && (is_allocating || made_known(memory, way)) ? memory : NULL;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    unsigned char *expected = malloc(LENGTH);
    int can_know = 1;
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        if (check_rank() == 0 && seed == ROUNDS_BEFORE) {
            check(runtime_load(argv[0]), "the runtime");
            buffer = memory_known(buffer, argv[1]);
            can_know = buffer != NULL;
        }
        MPI_Bcast(&can_know, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!can_know)
            return device_play_skip();
        device_play_round(buffer, expected, seed, sees);
    }
    return check_end();
}
#endif
