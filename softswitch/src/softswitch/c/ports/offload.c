/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "ports/offload.h"

#include <string.h>

#include "arithmetic/bits.h"

#define ETHERTYPE_PLACE 12u
#define ETHERTYPE_BYTES 2u
#define TAG_BYTES 4u
#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86DDu
#define TYPE_VLAN 0x8100u
#define TYPE_OUTER_VLAN 0x88A8u
#define IPV4_BYTES 20u
#define IPV4_LENGTH 2u
#define IPV4_ID 4u
#define IPV4_CHECKSUM 10u
#define IPV6_BYTES 40u
#define IPV6_LENGTH 4u
#define TCP_BYTES 20u
#define TCP_SEQUENCE 4u
#define TCP_DATA_OFFSET 12u
#define TCP_FLAGS 13u
#define TCP_FIN 0x01u
#define TCP_PUSH 0x08u
#define TCP_WINDOW_REDUCED 0x80u
#define UDP_BYTES 8u
#define UDP_LENGTH 4u

/* The Internet checksum (RFC 1071) of bytes and a sum so far. The value 0 is sent as 0xFFFF, because in UDP 0 means
 * that there is no checksum; both are the same number. */
static uint16_t checksum(const uint8_t *bytes, uint32_t length, uint64_t sum)
{
    uint32_t i = 0;

    for (; i + 1 < length; i += 2)
        sum += sw_get16(bytes + i);
    if (i < length)
        sum += (uint64_t)bytes[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return sum == 0xFFFF ? 0xFFFF : (uint16_t)~sum;
}

bool sw_offload_checksum(const struct sw_offload *offload, uint8_t *frame, uint32_t length)
{
    uint32_t start = offload->checksum_start, field = start + offload->checksum_offset;

    if (field + 2 > length)
        return false;
    /* The field holds the sum of the pseudo-header, and so is summed like every other byte. */
    sw_put16(frame + field, checksum(frame + start, length - start, 0));
    return true;
}

/* Returns the place of the IP header behind any VLAN tags, or 0. */
static uint32_t network_start(const uint8_t *frame, uint32_t length)
{
    uint32_t at = ETHERTYPE_PLACE;

    while (at + TAG_BYTES + ETHERTYPE_BYTES <= length &&
           (sw_get16(frame + at) == TYPE_VLAN || sw_get16(frame + at) == TYPE_OUTER_VLAN))
        at += TAG_BYTES;
    if (at + ETHERTYPE_BYTES + IPV4_BYTES > length)
        return 0;
    return sw_get16(frame + at) == TYPE_IPV4 || sw_get16(frame + at) == TYPE_IPV6 ? at + ETHERTYPE_BYTES : 0;
}

static bool is_ipv4(const struct sw_segments *self)
{
    return self->frame[self->network_start] >> 4 == 4;
}

static uint32_t ipv4_header_bytes(const uint8_t *header)
{
    return (header[0] & 0xFu) * 4u;
}

/* Returns the length of the transport header, or 0 if it is damaged. */
static uint32_t transport_bytes(const struct sw_segments *self)
{
    uint32_t start = self->offload.checksum_start, bytes = UDP_BYTES;

    if (self->offload.kind == SW_SEGMENTS_TCP) {
        if (start + TCP_BYTES > self->length)
            return 0;
        bytes = (self->frame[start + TCP_DATA_OFFSET] >> 4) * 4u;
        if (bytes < TCP_BYTES)
            return 0;
    }
    return start + bytes <= self->length ? bytes : 0;
}

bool sw_segments_begin(struct sw_segments *self, const uint8_t *frame, uint32_t length, struct sw_offload offload)
{
    uint32_t transport, network_bytes;

    *self = (struct sw_segments){.frame = frame, .offload = offload, .length = length};
    self->network_start = network_start(frame, length);
    if ((offload.kind != SW_SEGMENTS_TCP && offload.kind != SW_SEGMENTS_UDP) || !offload.needs_checksum ||
        !offload.segment_bytes || !self->network_start)
        return false;
    network_bytes = is_ipv4(self) ? ipv4_header_bytes(frame + self->network_start) : IPV6_BYTES;
    transport = transport_bytes(self);
    if (!transport || network_bytes < IPV4_BYTES || self->network_start + network_bytes > offload.checksum_start ||
        offload.checksum_offset + 2u > transport)
        return false;
    self->header_bytes = offload.checksum_start + transport;
    self->payload_start = self->header_bytes;
    return true;
}

static uint32_t next_payload_bytes(const struct sw_segments *self)
{
    uint32_t left = self->length - self->payload_start;

    return left < self->offload.segment_bytes ? left : self->offload.segment_bytes;
}

uint32_t sw_segments_next_bytes(const struct sw_segments *self)
{
    uint32_t payload = next_payload_bytes(self);

    return payload ? self->header_bytes + payload : 0;
}

static void set_network_header(const struct sw_segments *self, uint8_t *segment, uint32_t length)
{
    uint8_t *header = segment + self->network_start;
    uint32_t bytes = length - self->network_start;

    if (!is_ipv4(self)) {
        sw_put16(header + IPV6_LENGTH, bytes - IPV6_BYTES);
        return;
    }
    sw_put16(header + IPV4_LENGTH, bytes);
    sw_put16(header + IPV4_ID, sw_get16(header + IPV4_ID) + self->count);
    sw_put16(header + IPV4_CHECKSUM, 0);
    sw_put16(header + IPV4_CHECKSUM, checksum(header, ipv4_header_bytes(header), 0));
}

static void set_transport_header(const struct sw_segments *self, uint8_t *segment, uint32_t length)
{
    uint8_t *header = segment + self->offload.checksum_start, *field = header + self->offload.checksum_offset;
    uint32_t bytes = length - self->offload.checksum_start;
    /* The field holds the sum of the whole frame's pseudo-header, of which only the length is another. */
    uint64_t sum = sw_get16(field) + bytes + (uint16_t)~(self->length - self->offload.checksum_start);

    if (self->offload.kind == SW_SEGMENTS_UDP) {
        sw_put16(header + UDP_LENGTH, bytes);
    } else {
        bool is_last = self->payload_start + next_payload_bytes(self) == self->length;

        sw_put32(header + TCP_SEQUENCE, sw_get32(header + TCP_SEQUENCE) + self->count * self->offload.segment_bytes);
        if (!is_last)
            header[TCP_FLAGS] &= (uint8_t)~(TCP_FIN | TCP_PUSH);
        if (self->count)
            header[TCP_FLAGS] &= (uint8_t)~TCP_WINDOW_REDUCED;
    }
    sw_put16(field, 0);
    sw_put16(field, checksum(header, bytes, sum));
}

void sw_segments_take(struct sw_segments *self, uint8_t *segment)
{
    uint32_t payload = next_payload_bytes(self), length = self->header_bytes + payload;

    memcpy(segment, self->frame, self->header_bytes);
    memcpy(segment + self->header_bytes, self->frame + self->payload_start, payload);
    set_network_header(self, segment, length);
    set_transport_header(self, segment, length);
    self->payload_start += payload;
    self->count++;
}
