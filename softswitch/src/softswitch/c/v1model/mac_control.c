/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Pause frames, decoded below the pipeline as a MAC does: IEEE 802.1Qbb priority-based flow control and 802.3x PAUSE
 * (docs/sources.md#pfc). A quantum is 512 bit times at the rate of the port that received the frame; a port of
 * unlimited rate has no bit time, so there a pause is only counted. The packet on the wire is always finished.
 */
#include "v1model/mac_control.h"

#define ETHERTYPE_OFFSET 12u
#define OPCODE_OFFSET 14u
#define ETHERTYPE_MAC_CONTROL 0x8808u
#define OPCODE_PAUSE 0x0001u
#define OPCODE_PRIORITY_PAUSE 0x0101u
#define BITS_PER_QUANTUM UINT64_C(512)
#define NS_PER_S UINT64_C(1000000000)

static uint32_t read_u16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static void pause(struct sw_target *target, uint32_t port, uint32_t class_, uint32_t quanta)
{
    uint64_t rate_bps = target->tm.ports[port].rate_bps;
    uint64_t pause_ns = rate_bps ? quanta * BITS_PER_QUANTUM * NS_PER_S / rate_bps : 0;

    sw_tm_pause(&target->tm, port, class_, target->now_ns + (int64_t)pause_ns, target->now_ns);
}

bool sw_mac_control_receive(struct sw_target *target, struct sw_frame *frame)
{
    const uint8_t *bytes = sw_frame_bytes(frame);
    uint32_t len = frame->packet.len, port = frame->port, opcode;

    if (len < OPCODE_OFFSET || read_u16(bytes + ETHERTYPE_OFFSET) != ETHERTYPE_MAC_CONTROL)
        return false;
    opcode = len >= OPCODE_OFFSET + 2 ? read_u16(bytes + OPCODE_OFFSET) : 0;
    if (opcode == OPCODE_PRIORITY_PAUSE && len >= OPCODE_OFFSET + 4 + 2 * SW_CLASS_COUNT) {
        uint32_t enabled = read_u16(bytes + OPCODE_OFFSET + 2);

        for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++) {
            if (enabled >> class_ & 1)
                pause(target, port, class_, read_u16(bytes + OPCODE_OFFSET + 4 + 2 * class_));
        }
        target->counters.ports[port].pause_frames++;
    } else if (opcode == OPCODE_PAUSE && len >= OPCODE_OFFSET + 4) {
        for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++)
            pause(target, port, class_, read_u16(bytes + OPCODE_OFFSET + 2));
        target->counters.ports[port].pause_frames++;
    } else {
        target->counters.ports[port].mac_control_ignored++;
    }
    sw_pool_release(&target->pool, frame);
    return true;
}
