/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Exports the measures of common/ as functions that other languages can call.
 */
#include "common/lateness.h"
#include "common/spacing.h"

struct sw_lateness face_histogram;
struct sw_spacing face_spacing;
static struct sw_departed last;

void face_record(int64_t late_ns)
{
    sw_lateness_record(&face_histogram, late_ns);
}

int64_t face_percentile_ns(uint32_t percent)
{
    return sw_lateness_percentile_ns(&face_histogram, percent);
}

void face_depart(uint32_t bytes, int64_t due_ns, int64_t sent_ns, uint64_t rate_bps)
{
    struct sw_departed next = {.due_ns = due_ns, .sent_ns = sent_ns};

    sw_spacing_record(&face_spacing, &last, next, bytes, rate_bps);
}

uint64_t face_pairs(void)
{
    return face_spacing.deviation.count;
}

int64_t face_off_ns(uint32_t percent)
{
    return sw_lateness_percentile_ns(&face_spacing.deviation, percent);
}

uint64_t face_ideal_ns(void)
{
    return face_spacing.ideal_sum_ns;
}

void face_clear(void)
{
    face_histogram = (struct sw_lateness){0};
    face_spacing = (struct sw_spacing){0};
    last = (struct sw_departed){0};
}
