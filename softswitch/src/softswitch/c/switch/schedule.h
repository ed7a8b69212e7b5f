/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands planned for known times, such as faults: lines of text in order of time, at equal times in the order in
 * which they were planned. Must know neither the meaning of commands nor packets.
 */
#ifndef SW_SCHEDULE_H
#define SW_SCHEDULE_H

#include "common/index_heap.h"

#include <stddef.h>
#include <stdint.h>

struct sw_switch;

/* Runs a line; returns < 0 if it is refused. */
typedef int (*sw_planned_fn)(struct sw_switch *sw, const char *line);

struct sw_planned {
    int64_t time_ns;
    sw_planned_fn run;
    char *line;
};

struct sw_schedule {
    struct sw_planned *items; /* from `first` on */
    size_t first, count, capacity;
    uint64_t failed;
};

void sw_schedule_free(struct sw_schedule *schedule);

/* Removes all lines that have not run. */
void sw_schedule_clear(struct sw_schedule *schedule);

/* Copies the line; returns 0 or -ENOMEM. */
int sw_schedule_add(struct sw_schedule *schedule, int64_t time_ns, sw_planned_fn run, const char *line);
/* Removes the first line and runs it; the schedule must not be empty. */
void sw_schedule_run_next(struct sw_schedule *schedule, struct sw_switch *sw);

static inline int64_t sw_schedule_next_ns(const struct sw_schedule *schedule)
{
    return schedule->first < schedule->count ? schedule->items[schedule->first].time_ns : SW_NEVER;
}

#endif /* SW_SCHEDULE_H */
