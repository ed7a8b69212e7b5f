/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * How late things happened: counts in powers of two of nanoseconds, with the exact greatest.
 */
#ifndef SW_LATENESS_H
#define SW_LATENESS_H

#include <stdint.h>

#define SW_LATENESS_BUCKETS 64u

struct sw_lateness {
    uint64_t buckets[SW_LATENESS_BUCKETS]; /* [0]: on time or early; [i]: [2^(i-1), 2^i) ns */
    uint64_t count;
    int64_t max_ns;
};

static inline void sw_lateness_record(struct sw_lateness *lateness, int64_t late_ns)
{
    lateness->buckets[late_ns <= 0 ? 0 : 64 - __builtin_clzll((uint64_t)late_ns)]++;
    lateness->count++;
    if (late_ns > lateness->max_ns)
        lateness->max_ns = late_ns;
}

/* An upper bound (end of the bucket, at most the greatest) of the given share of the records, 0 without records. */
static inline int64_t sw_lateness_percentile_ns(const struct sw_lateness *lateness, uint32_t percent)
{
    uint64_t wanted = (lateness->count * percent + 99) / 100, seen = 0;

    for (uint32_t i = 0; i < SW_LATENESS_BUCKETS && lateness->count; i++) {
        int64_t end_ns = i ? (int64_t)((UINT64_C(1) << i) - 1) : 0;

        seen += lateness->buckets[i];
        if (seen >= wanted)
            return end_ns < lateness->max_ns ? end_ns : lateness->max_ns;
    }
    return 0;
}

#endif /* SW_LATENESS_H */
