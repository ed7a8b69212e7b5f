/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/meeting.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURNS 2u /* areas used in turn: a member is at most one round ahead of one that still reads */
#define STEPS 2u /* in a round: frames, note */
#define SHORTEST_NS                                                                                                    \
    2000 /* limits of the time of polling; to wake a sleeping member takes about as long as the longest */
#define LONGEST_NS 100000
#define POLLING_PART 10 /* of the time of a member, this part at most is for polling */
#define CHECKS 16u      /* between two looks at the clock */

/* What the others know of a member, on a cache line of its own. */
struct member_line {
    uint32_t steps;      /* the number of frames and notes sent; it wraps around */
    uint32_t is_awaited; /* whether a member sleeps until this one's next step */
    uint8_t padding[SW_LINE_BYTES - 2 * sizeof(uint32_t)];
};

/* The head of an area: records follow, then bytes. */
struct area {
    uint64_t count, n_bytes;
};

struct sw_meeting {
    struct member_line *lines;
    uint8_t *areas;
    uint64_t room_bytes;
    uint32_t n_members, mine;
    uint32_t round;
    int64_t patience_ns; /* the longest time to poll before sleeping, which adapts */
    int64_t credit_ns;   /* the time that polling may still take */
    int64_t settled_ns;  /* the end of the last wait */
    uint64_t polled, slept;
};

static uint64_t area_bytes(uint64_t room_bytes)
{
    uint64_t bytes = sizeof(struct area) + room_bytes;

    return (bytes + SW_LINE_BYTES - 1) / SW_LINE_BYTES * SW_LINE_BYTES;
}

uint64_t sw_meeting_bytes(uint32_t n_members, uint64_t room_bytes)
{
    /* For each turn and sender: frames for each receiver, and a note in the place of frames for itself. */
    return n_members * sizeof(struct member_line) + (uint64_t)TURNS * n_members * n_members * area_bytes(room_bytes);
}

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

struct sw_meeting *sw_meeting_join(void *memory, uint32_t n_members, uint64_t room_bytes, uint32_t mine)
{
    struct sw_meeting *meeting = malloc(sizeof(*meeting));

    if (!meeting)
        return NULL;
    *meeting = (struct sw_meeting){.lines = memory,
                                   .areas = (uint8_t *)memory + n_members * sizeof(struct member_line),
                                   .room_bytes = room_bytes,
                                   .n_members = n_members,
                                   .mine = mine,
                                   .patience_ns = LONGEST_NS,
                                   .settled_ns = now_ns()};
    return meeting;
}

void sw_meeting_leave(struct sw_meeting *meeting)
{
    free(meeting);
}

static struct area *area_of(const struct sw_meeting *meeting, uint32_t sender, uint32_t receiver)
{
    uint64_t index = ((uint64_t)(meeting->round % TURNS) * meeting->n_members + sender) * meeting->n_members + receiver;

    return (struct area *)(meeting->areas + index * area_bytes(meeting->room_bytes));
}

/* Makes the areas that this member has written visible to the others. `is_awaited` is cleared before the step: cleared
 * after it, a member that has seen the step and waits for the next one would not be woken. */
static void step(struct sw_meeting *meeting)
{
    struct member_line *line = &meeting->lines[meeting->mine];
    uint32_t was_awaited = __atomic_exchange_n(&line->is_awaited, 0, __ATOMIC_SEQ_CST);

    __atomic_add_fetch(&line->steps, 1, __ATOMIC_SEQ_CST);
    if (was_awaited || __atomic_load_n(&line->is_awaited, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &line->steps, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool has_come(const struct member_line *line, uint32_t steps)
{
    return (int32_t)(__atomic_load_n(&line->steps, __ATOMIC_ACQUIRE) - steps) >= 0;
}

/* Polls for as long as the credit and the patience last; returns whether the step has come. */
static bool poll(struct sw_meeting *meeting, const struct member_line *line, uint32_t steps, int64_t begin_ns)
{
    int64_t limit_ns = meeting->patience_ns < meeting->credit_ns ? meeting->patience_ns : meeting->credit_ns;
    int64_t spent_ns = 0;
    bool is_here = false;

    while (!is_here && spent_ns < limit_ns) {
        for (uint32_t check = 0; check < CHECKS && !is_here; check++) {
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
            is_here = has_come(line, steps);
        }
        spent_ns = now_ns() - begin_ns;
    }
    meeting->credit_ns -= spent_ns;
    return is_here;
}

static void sleep_until(struct member_line *line, uint32_t steps)
{
    for (;;) {
        uint32_t seen;

        __atomic_store_n(&line->is_awaited, 1, __ATOMIC_SEQ_CST);
        seen = __atomic_load_n(&line->steps, __ATOMIC_SEQ_CST);
        if ((int32_t)(seen - steps) >= 0)
            return;
        syscall(SYS_futex, &line->steps, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
}

/* Waits until a member has made so many steps. */
static void await(struct sw_meeting *meeting, uint32_t member, uint32_t steps)
{
    struct member_line *line = &meeting->lines[member];
    int64_t begin_ns;

    if (has_come(line, steps))
        return;
    begin_ns = now_ns();
    meeting->credit_ns += (begin_ns - meeting->settled_ns) / POLLING_PART;
    if (meeting->credit_ns > LONGEST_NS)
        meeting->credit_ns = LONGEST_NS;
    if (poll(meeting, line, steps, begin_ns)) {
        meeting->polled++;
    } else {
        meeting->slept++;
        sleep_until(line, steps);
    }
    meeting->settled_ns = now_ns();
    /* A short wait would have been shorter still without the time to wake up. */
    if (meeting->settled_ns - begin_ns < 2 * LONGEST_NS)
        meeting->patience_ns = 2 * meeting->patience_ns < LONGEST_NS ? 2 * meeting->patience_ns : LONGEST_NS;
    else
        meeting->patience_ns = meeting->patience_ns / 2 > SHORTEST_NS ? meeting->patience_ns / 2 : SHORTEST_NS;
}

static int write_area(struct sw_meeting *meeting, uint32_t receiver, const void *records, uint64_t count, size_t unit,
                      const void *bytes, uint64_t n_bytes)
{
    struct area *area = area_of(meeting, meeting->mine, receiver);
    uint8_t *at = (uint8_t *)(area + 1);

    if (count * unit + n_bytes > meeting->room_bytes)
        return -ENOSPC;
    area->count = count;
    area->n_bytes = n_bytes;
    if (count)
        memcpy(at, records, count * unit);
    if (n_bytes)
        memcpy(at + count * unit, bytes, n_bytes);
    return 0;
}

int sw_meeting_send_frames(struct sw_meeting *meeting, struct sw_fabric *fabric)
{
    static const struct sw_outbox empty;

    for (uint32_t member = 0; member < meeting->n_members; member++) {
        const struct sw_outbox *outgoing = sw_fabric_outgoing(fabric, member);
        int failed;

        if (!outgoing)
            outgoing = &empty;
        if (member == meeting->mine)
            continue;
        failed = write_area(meeting, member, outgoing->items, outgoing->count, sizeof(*outgoing->items),
                            outgoing->bytes, outgoing->n_bytes);
        if (failed)
            return failed;
    }
    step(meeting);
    return 0;
}

int sw_meeting_send_note(struct sw_meeting *meeting, const void *note, uint64_t n_bytes)
{
    int failed = write_area(meeting, meeting->mine, NULL, 0, 0, note, n_bytes);

    if (!failed)
        step(meeting);
    return failed;
}

int sw_meeting_receive_frames(struct sw_meeting *meeting, struct sw_fabric *fabric)
{
    sw_fabric_forget_outgoing(fabric);
    for (uint32_t member = 0; member < meeting->n_members; member++) {
        const struct area *area;
        const struct sw_departure *frames;
        int failed;

        if (member == meeting->mine)
            continue;
        await(meeting, member, STEPS * meeting->round + 1);
        area = area_of(meeting, member, meeting->mine);
        frames = (const struct sw_departure *)(area + 1);
        failed =
            sw_fabric_put_outgoing(fabric, frames, area->count, (const uint8_t *)(frames + area->count), area->n_bytes);
        if (failed)
            return failed;
    }
    return 0;
}

void sw_meeting_receive_notes(struct sw_meeting *meeting, struct sw_note *notes)
{
    for (uint32_t member = 0; member < meeting->n_members; member++) {
        const struct area *area = area_of(meeting, member, member);

        if (member != meeting->mine)
            await(meeting, member, STEPS * meeting->round + STEPS);
        notes[member] = (struct sw_note){(const uint8_t *)(area + 1), area->n_bytes};
    }
    meeting->round++;
}

void sw_meeting_waits(const struct sw_meeting *meeting, uint64_t *polled, uint64_t *slept)
{
    *polled = meeting->polled;
    *slept = meeting->slept;
}
