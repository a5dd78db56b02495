/* SPDX-License-Identifier: MIT */
/* Claim: memory that a GPU uses holds what was received as soon as a receive has returned, and after a send what the
 * GPU or the program writes then, in whatever way the GPU came to know it: by CUDA's runtime or its driver, from its
 * own allocation, by pages that nobody registered; and still when it no longer knows it. Messages go on while the GPU
 * copies from the same memory.
 *   cuda_memory WAY
 * Rank 0 has the GPU. The variable CUDART names the runtime to load, where it is not found by its name.
 * plugin: yes
 * flags: -ldl
 * defers: receive
 * passes: memory_device */
#define _GNU_SOURCE
#include "cuda.h"

#ifdef PLUGIN
/* Linked statically, as nvcc does by default: no name of the runtime's is asked for or undefined anywhere. */
extern int cudaFree(void *), cudaMalloc(void **, size_t), cudaMallocHost(void **, size_t);
extern int cudaHostAlloc(void **, size_t, unsigned), cudaHostRegister(void *, size_t, unsigned);
extern int cudaHostUnregister(void *), cudaHostGetDevicePointer(void **, void *, unsigned);
extern int cudaMemcpyAsync(void *, const void *, size_t, int, void *), cudaStreamCreate(void **);
extern int cudaStreamSynchronize(void *), cudaDeviceGetAttribute(int *, int, int);
extern const char *cudaGetErrorString(int);
cuda_fill_fn plugin_fill;

void plugin_fill(struct cuda *cuda)
{
    *cuda = (struct cuda){cudaFree,
                          cudaMalloc,
                          cudaMallocHost,
                          cudaHostAlloc,
                          cudaHostRegister,
                          cudaHostUnregister,
                          cudaHostGetDevicePointer,
                          cudaMemcpyAsync,
                          cudaStreamCreate,
                          cudaStreamSynchronize,
                          cudaDeviceGetAttribute,
                          cudaGetErrorString};
}
#else
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"

enum { LENGTH = 2 * CHECK_LARGE_BYTES, ROUNDS_BEFORE = 2, ROUNDS_KNOWN = 4, ROUNDS_AFTER = 3, SKIPPED = 77 };
enum { THREADS = 256, START_MS = 1500 }; /* a GPU is ready by then */

/* A kernel that copies words, so that the GPU itself follows the host's addresses; any driver compiles it. */
static const char *const kernel_text =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry copy_words(.param .u64 to, .param .u64 from, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %p;\n    .reg .u32 %i, %n, %c, %w;\n    .reg .u64 %a, %b, %o;\n"
    "    mov.u32 %i, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n    mov.u32 %c, %tid.x;\n"
    "    mad.lo.u32 %i, %i, %n, %c;\n"
    "    ld.param.u32 %n, [count];\n    setp.ge.u32 %p, %i, %n;\n    @%p ret;\n"
    "    ld.param.u64 %a, [to];\n    ld.param.u64 %b, [from];\n"
    "    mul.wide.u32 %o, %i, 4;\n    add.u64 %a, %a, %o;\n    add.u64 %b, %b, %o;\n"
    "    ld.u32 %w, [%b];\n    st.u32 [%a], %w;\n    ret;\n"
    "}\n";

/* How the GPU comes to know the buffer. */
static const struct way {
    const char *name;
    bool is_static, is_mapped, is_allocated, is_by_driver, by_kernel, is_registered, is_under_way;
} ways[] = {
    {.name = "register", .is_registered = true},
    {.name = "register_map", .is_registered = true, .is_mapped = true},
    {.name = "register_kernel", .is_registered = true, .by_kernel = true},
    {.name = "register_static", .is_registered = true, .is_static = true},
    {.name = "driver", .is_by_driver = true},
    {.name = "malloc_host", .is_allocated = true},
    {.name = "host_alloc", .is_allocated = true},
    {.name = "under_way", .is_registered = true, .is_under_way = true},
    {.name = "under_way_static", .is_registered = true, .is_under_way = true, .is_static = true},
    {.name = "beside"},
    {.name = "pageable_kernel", .by_kernel = true},
};

static struct cuda cuda;
static struct cuda_driver driver;
static void *stream, *device, *back, *kernel;
static bool is_ready;
static char missing[256];

static bool lacks(const char *what, const char *why)
{
    snprintf(missing, sizeof missing, "%s: %s", what, why);
    return false;
}

static bool done(int error, const char *what)
{
    return error == 0 || lacks(what, cuda.cudaGetErrorString != NULL ? cuda.cudaGetErrorString(error) : "an error");
}

static bool find(void *library, const char *name, void **function)
{
    *function = dlsym(library, name);
    return *function != NULL || lacks(name, "not in the library");
}

static void *open_runtime(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
    const char *given = getenv("CUDART");
    void *library = given != NULL ? dlopen(given, RTLD_NOW) : NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW);
    return library;
}

/* As programs do that load the runtime themselves: each function by its name. */
static bool load_dynamic(void)
{
    void *library = open_runtime();
    if (library == NULL)
        return lacks("CUDA's runtime", dlerror());
#define FIND(name) find(library, #name, (void **)&cuda.name)
    return FIND(cudaGetErrorString) && FIND(cudaFree) && FIND(cudaMalloc) && FIND(cudaMallocHost) &&
           FIND(cudaHostAlloc) && FIND(cudaHostRegister) && FIND(cudaHostUnregister) &&
           FIND(cudaHostGetDevicePointer) && FIND(cudaMemcpyAsync) && FIND(cudaStreamCreate) &&
           FIND(cudaStreamSynchronize) && FIND(cudaDeviceGetAttribute);
#undef FIND
}

static bool load_static(const char *program)
{
    char path[4096];
    snprintf(path, sizeof path, "%s_plugin.so", program);
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *fill = NULL;
    if (plugin == NULL || !find(plugin, "plugin_fill", &fill))
        return lacks("a plugin with CUDA's static runtime", "it was not built");
    ((cuda_fill_fn *)fill)(&cuda);
    return true;
}

static bool load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL)
        return lacks("CUDA's driver", dlerror());
#define FIND(name) find(library, #name, (void **)&driver.name)
    return FIND(cuMemHostRegister_v2) && FIND(cuModuleLoadData) && FIND(cuModuleGetFunction) && FIND(cuLaunchKernel);
#undef FIND
}

static bool load_kernel(void)
{
    void *module;
    return driver.cuModuleLoadData(&module, kernel_text) == 0 &&
                   driver.cuModuleGetFunction(&kernel, module, "copy_words") == 0
               ? true
               : lacks("a kernel", "the driver does not load it");
}

static bool start_gpu(void)
{
    return done(cuda.cudaFree(NULL), "a GPU") && done(cuda.cudaStreamCreate(&stream), "a stream") &&
           done(cuda.cudaMalloc(&device, LENGTH), "the GPU's memory") &&
           done(cuda.cudaMallocHost(&back, LENGTH), "memory that is locked");
}

static bool can_follow_pages(const struct way *way)
{
    int can = 0;
    if (!way->by_kernel || way->is_registered)
        return true;
    return (done(cuda.cudaDeviceGetAttribute(&can, CUDA_ATTRIBUTE_PAGEABLE, 0), "an attribute") && can != 0) ||
           lacks("pageable memory", "this GPU cannot follow the addresses of memory that nobody registered");
}

static bool make_known(const struct way *way, unsigned char **buffer)
{
    if (way->is_by_driver)
        return driver.cuMemHostRegister_v2(*buffer, LENGTH, 0) == 0 || lacks("cuMemHostRegister", "an error");
    if (way->is_registered)
        return done(cuda.cudaHostRegister(*buffer, LENGTH, way->by_kernel ? CUDA_HOST_MAPPED : CUDA_HOST_DEFAULT),
                    "cudaHostRegister");
    if (!way->is_allocated)
        return true;
    bool is_short = strcmp(way->name, "malloc_host") == 0;
    int error = is_short ? cuda.cudaMallocHost((void **)buffer, LENGTH)
                         : cuda.cudaHostAlloc((void **)buffer, LENGTH, CUDA_HOST_DEFAULT);
    return done(error, way->name);
}

/* The static runtime's first use comes with the registration itself, so that nothing is known of it before. */
static bool begin(const struct way *way, const char *program, unsigned char **buffer)
{
    bool is_loaded = way->is_static ? load_static(program) : load_dynamic();
    is_ready = is_loaded && make_known(way, buffer) && start_gpu() && can_follow_pages(way) &&
               (way->is_static || load_driver()) && (!way->by_kernel || load_kernel());
    return is_ready;
}

/* By the driver: it needs the runtime's context before. */
static bool begin_driver(const struct way *way, unsigned char **buffer)
{
    is_ready = load_dynamic() && load_driver() && start_gpu() && make_known(way, buffer);
    return is_ready;
}

static int copy_by_kernel(const struct way *way, unsigned char *buffer)
{
    void *seen = buffer;
    unsigned count = LENGTH / sizeof(unsigned);
    if (way->is_registered && cuda.cudaHostGetDevicePointer(&seen, buffer, 0) != 0)
        return 1;
    void *parameters[] = {&device, &seen, &count};
    return driver.cuLaunchKernel(kernel, count / THREADS, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL);
}

/* From the buffer to the GPU, and to other memory; goes on when this has returned. */
static int begin_look(const struct way *way, unsigned char *buffer)
{
    int error = way->by_kernel ? copy_by_kernel(way, buffer)
                               : cuda.cudaMemcpyAsync(device, buffer, LENGTH, CUDA_TO_DEVICE, stream);
    return error != 0 ? error : cuda.cudaMemcpyAsync(back, device, LENGTH, CUDA_FROM_DEVICE, stream);
}

static void check_look(unsigned seed, const char *claim)
{
    check(cuda.cudaStreamSynchronize(stream) == 0, "the stream ends");
    check(check_is_filled(back, LENGTH, seed), claim);
}

/* The GPU writes a pattern into the buffer. */
static void write_by_gpu(unsigned char *buffer, unsigned seed)
{
    check_fill(back, LENGTH, seed);
    check(cuda.cudaMemcpyAsync(device, back, LENGTH, CUDA_TO_DEVICE, stream) == 0, "to the GPU");
    check(cuda.cudaMemcpyAsync(buffer, device, LENGTH, CUDA_FROM_DEVICE, stream) == 0, "from the GPU");
    check(cuda.cudaStreamSynchronize(stream) == 0, "the stream ends");
}

/* The message is sent back while the GPU reads it. Then the program writes, and the GPU, each after a send. */
static void play_with_gpu(const struct way *way, unsigned char *buffer, unsigned seed)
{
    check_recv(buffer, LENGTH, 1, 0);
    check(begin_look(way, buffer) == 0, "the GPU reads");
    check_send(buffer, LENGTH, 1, 0);
    check_look(seed, "what was received is where the GPU reads");
    check(check_is_filled(buffer, LENGTH, seed), "the message");
    check_fill(buffer, LENGTH, seed + 1);
    check(begin_look(way, buffer) == 0, "the GPU reads");
    check_look(seed + 1, "what the program wrote after a send is where the GPU reads");
    check_send(buffer, LENGTH, 1, 0);
    write_by_gpu(buffer, seed + 2);
    check(check_is_filled(buffer, LENGTH, seed + 2), "what the GPU wrote after a send is in the buffer");
    check_send(buffer, LENGTH, 1, 0);
}

static void play_without(unsigned char *buffer, unsigned seed)
{
    check_recv(buffer, LENGTH, 1, 0);
    check(check_is_filled(buffer, LENGTH, seed), "the message");
    for (unsigned more = 0; more < 3; more++) {
        check_fill(buffer, LENGTH, seed + more);
        check_send(buffer, LENGTH, 1, 0);
    }
}

static void play_other(unsigned char *buffer, unsigned seed)
{
    check_send_late(buffer, LENGTH, seed, 0, 0);
    for (unsigned more = 0; more < 3; more++)
        check_recv_late(buffer, LENGTH, seed + more, 0, 0, "what was sent");
}

static void play_rounds(const struct way *way, unsigned char *buffer, unsigned first, unsigned count)
{
    for (unsigned seed = first; seed < first + count; seed++) {
        if (check_rank() != 0)
            play_other(buffer, 10 * seed);
        else if (is_ready)
            play_with_gpu(way, buffer, 10 * seed);
        else
            play_without(buffer, 10 * seed);
    }
}

static void sleep_ms(long duration_ms)
{
    struct timespec pause = {duration_ms / 1000, duration_ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* Known to the GPU while a receive that has returned is under way, whose message comes when a GPU could be ready. */
static bool begin_under_way(const struct way *way, const char *program, unsigned char **buffer)
{
    enum { SEED = 5 };
    if (check_rank() != 0) {
        sleep_ms(START_MS);
        check_send_late(*buffer, LENGTH, SEED, 0, 1);
        return true;
    }
    check_recv(*buffer, LENGTH, 1, 1);
    if (!begin(way, program, buffer))
        return false;
    check(begin_look(way, *buffer) == 0, "the GPU reads");
    check_look(SEED, "what was on its way when the memory became known is where the GPU reads");
    check(check_is_filled(*buffer, LENGTH, SEED), "the message");
    return true;
}

static bool begin_for(const struct way *way, const char *program, unsigned char **buffer)
{
    if (way->is_under_way)
        return begin_under_way(way, program, buffer);
    if (check_rank() != 0)
        return true;
    return way->is_by_driver ? begin_driver(way, buffer) : begin(way, program, buffer);
}

static const struct way *find_way(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    return NULL;
}

static unsigned char *new_buffer(const struct way *way)
{
    if (!way->is_mapped)
        return check_buffer_new(LENGTH);
    void *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "a mapping");
    return memset(memory, 0xEE, LENGTH);
}

/* The GPU no longer knows it, and is still there. */
static void forget(const struct way *way, unsigned char *buffer)
{
    if (check_rank() == 0 && way->is_registered)
        check(cuda.cudaHostUnregister(buffer) == 0, "cudaHostUnregister");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const struct way *way = argc > 1 ? find_way(argv[1]) : NULL;
    check(way != NULL, "a way");
    unsigned char *buffer = new_buffer(way);
    play_rounds(way, buffer, 1, ROUNDS_BEFORE);
    int can_begin = begin_for(way, argv[0], &buffer);
    MPI_Bcast(&can_begin, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!can_begin) {
        if (check_rank() == 0)
            puts(missing);
        MPI_Finalize();
        return SKIPPED;
    }
    play_rounds(way, buffer, 1 + ROUNDS_BEFORE, ROUNDS_KNOWN);
    if (way->is_registered && !way->by_kernel) {
        forget(way, buffer);
        play_rounds(way, buffer, 1 + ROUNDS_BEFORE + ROUNDS_KNOWN, ROUNDS_AFTER);
    }
    return check_end();
}
#endif
