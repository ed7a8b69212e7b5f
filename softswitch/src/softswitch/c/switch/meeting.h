/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The exchange between the fabrics of several processes, through memory that the processes share. In each round, every
 * member sends every other one the frames that its fabric has collected, and a note: bytes that only the caller
 * understands. A member may work between the two, and between sending and receiving, so that it seldom waits.
 *
 * A waiting member polls for a short time and then sleeps (futex). Polling takes at most a tenth of the time between
 * waits, and it becomes shorter while waits are long.
 */
#ifndef SW_MEETING_H
#define SW_MEETING_H

#include "switch/fabric.h"

struct sw_meeting;

struct sw_note {
    const uint8_t *bytes;
    uint64_t n_bytes;
};

/* The size of the shared memory for members that each send another one at most `room_bytes` in a round. */
uint64_t sw_meeting_bytes(uint32_t n_members, uint64_t room_bytes);

/* Joins as the member `mine`. The memory is zero before the first member joins, and aligned to a cache line. Returns
 * NULL when out of memory. */
struct sw_meeting *sw_meeting_join(void *memory, uint32_t n_members, uint64_t room_bytes, uint32_t mine);
void sw_meeting_leave(struct sw_meeting *meeting);

/* Sends all members the frames collected for them, which the fabric then forgets. -ENOSPC if they exceed the room. */
int sw_meeting_send_frames(struct sw_meeting *meeting, struct sw_fabric *fabric);
/* Then: sends all members a note. -ENOSPC if it exceeds the room. */
int sw_meeting_send_note(struct sw_meeting *meeting, const void *note, uint64_t n_bytes);
/* Then: waits for the frames of all members and hands them to the fabric. -EINVAL for frames that do not fit it. */
int sw_meeting_receive_frames(struct sw_meeting *meeting, struct sw_fabric *fabric);
/* Ends the round: waits for the notes of all members and stores where they are. They remain until the next note. */
void sw_meeting_receive_notes(struct sw_meeting *meeting, struct sw_note *notes);

/* How often this member has waited by polling, and by sleeping, since it joined. */
void sw_meeting_waits(const struct sw_meeting *meeting, uint64_t *polled, uint64_t *slept);

#endif /* SW_MEETING_H */
