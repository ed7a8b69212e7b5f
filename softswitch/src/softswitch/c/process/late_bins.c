/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "process/late_bins.h"

void sw_late_bins_close_bin(struct sw_late_bins *bins)
{
    if (bins->writer && bins->running.departures)
        sw_writer_append(bins->writer, &bins->running, sizeof(bins->running));
    bins->running = (struct sw_late_record){.time_ns = bins->running.time_ns};
}
