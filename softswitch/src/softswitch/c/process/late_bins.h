/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Lateness over time: for each interval, the number of departures and the largest lateness. A record is written as soon
 * as its interval ends, so memory holds only one. Intervals start at the epoch; those without a departure have no
 * record.
 */
#ifndef SW_LATE_BINS_H
#define SW_LATE_BINS_H

#include "process/telemetry_writer.h"

#include <stdint.h>

struct sw_late_record {
    int64_t time_ns; /* end of the interval, since the epoch */
    uint64_t departures;
    int64_t max_ns;
};

_Static_assert(sizeof(struct sw_late_record) == 24, "file format, read by sfc_testbed/telemetry/late_bins.py");

struct sw_late_bins {
    struct sw_writer *writer; /* NULL: records are not written */
    int64_t epoch_ns, width_ns;
    struct sw_late_record running;
};

void sw_late_bins_close_bin(struct sw_late_bins *bins);

/* Records a departure at `sent_ns`; calls must be in order of time. */
static inline void sw_late_bins_record(struct sw_late_bins *bins, int64_t sent_ns, int64_t late_ns)
{
    int64_t since_ns = sent_ns - bins->epoch_ns;

    if (!bins->writer || since_ns < 0)
        return;
    if (since_ns >= bins->running.time_ns) {
        sw_late_bins_close_bin(bins);
        bins->running.time_ns = (since_ns / bins->width_ns + 1) * bins->width_ns;
    }
    bins->running.departures++;
    if (late_ns > bins->running.max_ns)
        bins->running.max_ns = late_ns;
}

#endif /* SW_LATE_BINS_H */
