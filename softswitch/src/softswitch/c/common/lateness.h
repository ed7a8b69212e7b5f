/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A histogram of lateness with sixteen buckets per octave of nanoseconds, as in hosts/io/lateness.py, and the exact
 * maximum. A percentile is at most 1/16 above the recorded value.
 */
#ifndef SW_LATENESS_H
#define SW_LATENESS_H

#include <stdint.h>

#define SW_LATENESS_SUB_BITS 4u
#define SW_LATENESS_SUBS (1u << SW_LATENESS_SUB_BITS)
#define SW_LATENESS_BUCKETS ((64u - SW_LATENESS_SUB_BITS) * SW_LATENESS_SUBS)

struct sw_lateness {
    uint64_t buckets[SW_LATENESS_BUCKETS]; /* [0]: on time or early; see sw_lateness_bucket */
    uint64_t count;
    int64_t max_ns;
};

/* Values below 32 have a bucket each; above, the four bits after the leading one choose within its octave. */
static inline uint32_t sw_lateness_bucket(int64_t late_ns)
{
    uint32_t shift;

    if (late_ns <= 0)
        return 0;
    if (late_ns < (int64_t)SW_LATENESS_SUBS)
        return (uint32_t)late_ns;
    shift = 63u - (uint32_t)__builtin_clzll((uint64_t)late_ns) - SW_LATENESS_SUB_BITS;
    return shift * SW_LATENESS_SUBS + (uint32_t)((uint64_t)late_ns >> shift);
}

/* The largest value of a bucket. */
static inline int64_t sw_lateness_bucket_end_ns(uint32_t bucket)
{
    uint32_t shift = bucket < 2 * SW_LATENESS_SUBS ? 0 : bucket / SW_LATENESS_SUBS - 1;

    return (int64_t)((((uint64_t)bucket - shift * SW_LATENESS_SUBS + 1) << shift) - 1);
}

static inline void sw_lateness_record(struct sw_lateness *lateness, int64_t late_ns)
{
    lateness->buckets[sw_lateness_bucket(late_ns)]++;
    lateness->count++;
    if (late_ns > lateness->max_ns)
        lateness->max_ns = late_ns;
}

/* An upper bound (end of the bucket, at most the greatest) of the given share of the records, 0 without records. */
static inline int64_t sw_lateness_percentile_ns(const struct sw_lateness *lateness, uint32_t percent)
{
    uint64_t wanted = (lateness->count * percent + 99) / 100, seen = 0;

    for (uint32_t i = 0; i < SW_LATENESS_BUCKETS && lateness->count; i++) {
        int64_t end_ns = sw_lateness_bucket_end_ns(i);

        seen += lateness->buckets[i];
        if (seen >= wanted)
            return end_ns < lateness->max_ns ? end_ns : lateness->max_ns;
    }
    return 0;
}

#endif /* SW_LATENESS_H */
