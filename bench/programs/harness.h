/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Helpers of the programs that drive a compiled switch from C: exit with an error, look up symbols of a shared object,
 * and read the CPU time of the calling thread.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

_Noreturn static inline void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(EXIT_FAILURE);
}

static inline void *open_library(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        die(dlerror());
    return handle;
}

static inline void *find(void *handle, const char *name)
{
    void *symbol = dlsym(handle, name);

    if (!symbol)
        die(dlerror());
    return symbol;
}

static inline int64_t cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

#endif /* BENCH_HARNESS_H */
