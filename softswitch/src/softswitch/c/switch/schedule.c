/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sw_schedule_clear(struct sw_schedule *schedule)
{
    for (size_t i = schedule->first; i < schedule->count; i++)
        free(schedule->items[i].line);
    schedule->first = schedule->count = 0;
}

void sw_schedule_free(struct sw_schedule *schedule)
{
    sw_schedule_clear(schedule);
    free(schedule->items);
    *schedule = (struct sw_schedule){0};
}

static int reserve(struct sw_schedule *schedule)
{
    size_t capacity = schedule->capacity ? 2 * schedule->capacity : 16;
    struct sw_planned *items;

    if (schedule->count < schedule->capacity)
        return 0;
    items = realloc(schedule->items, capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    schedule->items = items;
    schedule->capacity = capacity;
    return 0;
}

int sw_schedule_add(struct sw_schedule *schedule, int64_t time_ns, sw_planned_fn run, const char *line)
{
    struct sw_planned planned = {.time_ns = time_ns, .run = run, .line = strdup(line)};
    size_t at;

    if (!planned.line || reserve(schedule) < 0) {
        free(planned.line);
        return -ENOMEM;
    }
    for (at = schedule->count++; at > schedule->first && schedule->items[at - 1].time_ns > time_ns; at--)
        schedule->items[at] = schedule->items[at - 1];
    schedule->items[at] = planned;
    return 0;
}

void sw_schedule_run_next(struct sw_schedule *schedule, struct sw_switch *sw)
{
    struct sw_planned planned = schedule->items[schedule->first++];

    if (planned.run(sw, planned.line) < 0)
        schedule->failed++;
    free(planned.line);
}
