/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Departures collected for a caller that reads them after the call instead of in a callback. They are fixed records and
 * one block of bytes, so that another language reads them with two copies. The next call that fills it clears it first.
 */
#ifndef SW_OUTBOX_H
#define SW_OUTBOX_H

#include "runtime/pipeline.h"

#include <stddef.h>
#include <stdint.h>

struct sw_departure {
    int64_t due_ns;
    uint32_t offset; /* of the frame in `bytes` */
    uint32_t length;
    int32_t port;
    int32_t index; /* of the switch in its fabric; 0 outside one */
    struct sw_tail tail;
};

_Static_assert(sizeof(struct sw_departure) == 32, "read by softswitch/engine.py");

struct sw_outbox {
    struct sw_departure *items;
    uint8_t *bytes;
    uint64_t count;
    uint64_t n_bytes;
    uint64_t items_capacity, bytes_capacity;
    uint64_t lost; /* departures lost for lack of memory, since creation */
};

void sw_outbox_free(struct sw_outbox *outbox);
void sw_outbox_clear(struct sw_outbox *outbox);
void sw_outbox_add(struct sw_outbox *outbox, int32_t index, int32_t port, int64_t due_ns, const uint8_t *frame,
                   uint32_t length, struct sw_tail tail);

#endif /* SW_OUTBOX_H */
