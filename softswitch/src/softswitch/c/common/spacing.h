/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The spacing error of a real wire: for frames back to back in the model, how far the measured time between their
 * departures differs from bytes / rate. hosts/io/spacing.py does the same and defines "back to back".
 */
#ifndef SW_SPACING_H
#define SW_SPACING_H

#include "common/lateness.h"

#include <stdlib.h>

struct sw_spacing {
    struct sw_lateness deviation; /* |measured - ideal| of each pair */
    uint64_t ideal_sum_ns;
};

/* The last departure of a port: the time in the model, and the time at which it was handed to the device. */
struct sw_departed {
    int64_t due_ns;
    int64_t sent_ns;
};

/* Records the port's next departure; at `rate_bps` 0 a frame takes no time, so there is no spacing. */
static inline void sw_spacing_record(struct sw_spacing *spacing, struct sw_departed *last, struct sw_departed next,
                                     uint32_t bytes, uint64_t rate_bps)
{
    int64_t ideal_ns = rate_bps ? (int64_t)((uint64_t)bytes * 8 * UINT64_C(1000000000) / rate_bps) : 0;
    int64_t gap_ns = next.due_ns - last->due_ns - ideal_ns;

    if (ideal_ns && (gap_ns == 0 || gap_ns == 1)) {
        sw_lateness_record(&spacing->deviation, llabs(next.sent_ns - last->sent_ns - ideal_ns));
        spacing->ideal_sum_ns += (uint64_t)ideal_ns;
    }
    *last = next;
}

#endif /* SW_SPACING_H */
