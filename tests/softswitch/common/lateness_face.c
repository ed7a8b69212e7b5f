/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * common/lateness.h as functions that another language can call.
 */
#include "common/lateness.h"

struct sw_lateness face_histogram;

void face_record(int64_t late_ns)
{
    sw_lateness_record(&face_histogram, late_ns);
}

int64_t face_percentile_ns(uint32_t percent)
{
    return sw_lateness_percentile_ns(&face_histogram, percent);
}

void face_clear(void)
{
    face_histogram = (struct sw_lateness){0};
}
