/* SPDX-License-Identifier: MIT */
/* What the test of memory that CUDA knows calls of its runtime and its driver, declared here: no header of CUDA's is
 * needed to build it, and no library of CUDA's to start it. By cuda_runtime_api.h and cuda.h of CUDA 12 and 13. */
#ifndef CUDA_H
#define CUDA_H

#include <stddef.h>

enum { CUDA_TO_DEVICE = 1, CUDA_FROM_DEVICE = 2 };    /* cudaMemcpyKind */
enum { CUDA_HOST_DEFAULT = 0, CUDA_HOST_MAPPED = 2 }; /* cudaHostRegister, cudaHostAlloc */
enum { CUDA_ATTRIBUTE_PAGEABLE = 88 };                /* cudaDevAttrPageableMemoryAccess */

/* A runtime, linked by whatever way. Functions return 0 when all is well. */
struct cuda {
    int (*cudaFree)(void *memory);
    int (*cudaMalloc)(void **memory, size_t length_bytes);
    int (*cudaMallocHost)(void **memory, size_t length_bytes);
    int (*cudaHostAlloc)(void **memory, size_t length_bytes, unsigned flags);
    int (*cudaHostRegister)(void *memory, size_t length_bytes, unsigned flags);
    int (*cudaHostUnregister)(void *memory);
    int (*cudaHostGetDevicePointer)(void **device, void *host, unsigned flags);
    int (*cudaMemcpyAsync)(void *to, const void *from, size_t length_bytes, int kind, void *stream);
    int (*cudaStreamCreate)(void **stream);
    int (*cudaStreamSynchronize)(void *stream);
    int (*cudaDeviceGetAttribute)(int *value, int attribute, int device);
    const char *(*cudaGetErrorString)(int error);
};

/* Of the driver, by which a kernel is started without a compiler of CUDA's. */
struct cuda_driver {
    int (*cuMemHostRegister_v2)(void *memory, size_t length_bytes, unsigned flags);
    int (*cuModuleLoadData)(void **module, const void *image);
    int (*cuModuleGetFunction)(void **function, void *module, const char *name);
    int (*cuLaunchKernel)(void *function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x,
                          unsigned threads_y, unsigned threads_z, unsigned shared_bytes, void *stream,
                          void **parameters, void **extra);
};

/* What the plugin, with which the runtime is linked statically, exports. */
typedef void cuda_fill_fn(struct cuda *cuda);

#endif
