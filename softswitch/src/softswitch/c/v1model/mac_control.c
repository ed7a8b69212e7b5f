/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Pause frames, decoded below the pipeline as a MAC does: IEEE 802.1Qbb priority-based flow control and 802.3x PAUSE
 * (docs/sources.md#pfc), and a pause of one queue of a class (docs/wire-format.md#pause-of-a-queue), which 802.3 allows
 * organizations to define (Annex 31C). A quantum is 512 bit times at the rate of the port that received the frame; a
 * port of unlimited rate has no bit time, so there a pause is only counted. The packet on the wire is always finished.
 */
#include "v1model/mac_control.h"

#include "arithmetic/bits.h"

#define ETHERTYPE_OFFSET 12u
#define OPCODE_OFFSET 14u
#define ETHERTYPE_MAC_CONTROL 0x8808u
#define OPCODE_PAUSE 0x0001u
#define OPCODE_PRIORITY_PAUSE 0x0101u
#define OPCODE_EXTENSION 0xFFFEu
#define ORGANIZATION 0x5AFCBFu /* of softswitch's extension: a CID that is not registered */
#define EXTENSION_BYTES 7u     /* organization, class, queue, time */
#define QUANTA_PER_UNIT 64u    /* of the time, so that it outlasts the wait of a packet in a paused queue */
#define BITS_PER_QUANTUM UINT64_C(512)
#define NS_PER_S UINT64_C(1000000000)

/* The end of a pause that begins now. */
static int64_t end_ns(const struct sw_target *target, uint32_t port, uint32_t quanta)
{
    uint64_t rate_bps = target->tm.ports[port].rate_bps;

    return target->now_ns + (int64_t)(rate_bps ? quanta * BITS_PER_QUANTUM * NS_PER_S / rate_bps : 0);
}

static void pause(struct sw_target *target, uint32_t port, uint32_t class_, uint32_t quanta)
{
    sw_tm_pause(&target->tm, port, class_, end_ns(target, port, quanta), target->now_ns);
}

/* Whether a MAC control frame is a pause of one queue. */
static bool names_queue(const uint8_t *bytes, uint32_t len)
{
    const uint8_t *fields = bytes + OPCODE_OFFSET + 2;

    return len >= OPCODE_OFFSET + 2 + EXTENSION_BYTES && sw_get16(bytes + OPCODE_OFFSET) == OPCODE_EXTENSION &&
           sw_get24(fields) == ORGANIZATION && fields[3] < SW_CLASS_COUNT;
}

/* Obeys a pause of one queue; false if the class has several queues, so that the program gets the frame as well. */
static bool pause_queue(struct sw_target *target, uint32_t port, const uint8_t *fields)
{
    sw_tm_pause_queue(&target->tm, port, fields[3], fields[4],
                      end_ns(target, port, QUANTA_PER_UNIT * (uint32_t)sw_get16(fields + 5)), target->now_ns);
    target->counters.ports[port].pause_frames++;
    return !target->tm.ports[port].queues[fields[3]].round;
}

bool sw_mac_control_receive(struct sw_target *target, struct sw_frame *frame)
{
    const uint8_t *bytes = sw_frame_bytes(frame);
    uint32_t len = frame->packet.len, port = frame->port, opcode;

    if (len < OPCODE_OFFSET || sw_get16(bytes + ETHERTYPE_OFFSET) != ETHERTYPE_MAC_CONTROL)
        return false;
    opcode = len >= OPCODE_OFFSET + 2 ? (uint32_t)sw_get16(bytes + OPCODE_OFFSET) : 0;
    if (opcode == OPCODE_PRIORITY_PAUSE && len >= OPCODE_OFFSET + 4 + 2 * SW_CLASS_COUNT) {
        uint64_t enabled = sw_get16(bytes + OPCODE_OFFSET + 2);

        for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++) {
            if (enabled >> class_ & 1)
                pause(target, port, class_, (uint32_t)sw_get16(bytes + OPCODE_OFFSET + 4 + 2 * class_));
        }
        target->counters.ports[port].pause_frames++;
    } else if (opcode == OPCODE_PAUSE && len >= OPCODE_OFFSET + 4) {
        for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++)
            pause(target, port, class_, (uint32_t)sw_get16(bytes + OPCODE_OFFSET + 2));
        target->counters.ports[port].pause_frames++;
    } else if (names_queue(bytes, len)) {
        if (!pause_queue(target, port, bytes + OPCODE_OFFSET + 2))
            return false;
    } else {
        target->counters.ports[port].mac_control_ignored++;
    }
    sw_pool_release(&target->pool, frame);
    return true;
}
