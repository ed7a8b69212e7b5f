/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The work that a sending kernel leaves to a network card, done on its frames: a checksum that is not computed yet, and
 * a frame that the card would cut into segments. On a veth there is no card, so such frames reach a packet socket as
 * they are. Must know neither sockets nor switches.
 */
#ifndef SW_OFFLOAD_H
#define SW_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum sw_segment_kind { SW_SEGMENTS_NONE, SW_SEGMENTS_TCP, SW_SEGMENTS_UDP, SW_SEGMENTS_UNKNOWN };

/* The work left on one frame. */
struct sw_offload {
    bool needs_checksum;
    uint8_t kind;            /* enum sw_segment_kind */
    uint16_t checksum_start; /* place of the first byte that the checksum covers; its field holds the sum of the rest */
    uint16_t checksum_offset; /* place of the field, from checksum_start on */
    uint16_t segment_bytes;   /* payload of each segment but the last */
};

/* Computes the checksum of a frame that is not to be cut. Returns false if its field is outside the frame. */
bool sw_offload_checksum(const struct sw_offload *offload, uint8_t *frame, uint32_t length);

/* A frame that is being cut into segments. */
struct sw_segments {
    const uint8_t *frame;
    struct sw_offload offload;
    uint32_t length;
    uint32_t network_start; /* place of the IP header */
    uint32_t header_bytes;  /* of the frame and of each segment */
    uint32_t payload_start; /* place of the next segment's payload in the frame */
    uint32_t count;         /* number of segments taken */
};

/* Returns false if the frame is neither TCP nor UDP over IP as the kernel cuts it, or damaged. */
bool sw_segments_begin(struct sw_segments *self, const uint8_t *frame, uint32_t length, struct sw_offload offload);
/* Length of the next segment; 0 after the last one. */
uint32_t sw_segments_next_bytes(const struct sw_segments *self);
/* Writes the next segment, a frame of its own with lengths, sequence number and checksums. */
void sw_segments_take(struct sw_segments *self, uint8_t *segment);

#endif /* SW_OFFLOAD_H */
