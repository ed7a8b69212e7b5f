/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/outbox.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void sw_outbox_free(struct sw_outbox *outbox)
{
    free(outbox->items);
    free(outbox->bytes);
    *outbox = (struct sw_outbox){0};
}

void sw_outbox_clear(struct sw_outbox *outbox)
{
    outbox->count = 0;
    outbox->n_bytes = 0;
}

static bool reserve(void **memory, uint64_t *capacity, uint64_t needed, size_t unit, uint64_t first)
{
    uint64_t grown = *capacity ? *capacity : first;
    void *moved;

    if (needed <= *capacity)
        return true;
    while (grown < needed)
        grown *= 2;
    moved = realloc(*memory, grown * unit);
    if (!moved)
        return false;
    *memory = moved;
    *capacity = grown;
    return true;
}

void sw_outbox_add(struct sw_outbox *outbox, int32_t index, int32_t port, int64_t due_ns, const uint8_t *frame,
                   uint32_t length, struct sw_tail tail)
{
    void *items = outbox->items, *bytes = outbox->bytes;
    bool fits = outbox->n_bytes + length <= UINT32_MAX &&
                reserve(&items, &outbox->items_capacity, outbox->count + 1, sizeof(*outbox->items), 64) &&
                reserve(&bytes, &outbox->bytes_capacity, outbox->n_bytes + length, 1, 65536);

    outbox->items = items;
    outbox->bytes = bytes;
    if (!fits) {
        outbox->lost++;
        return;
    }
    outbox->items[outbox->count++] = (struct sw_departure){.due_ns = due_ns,
                                                           .offset = (uint32_t)outbox->n_bytes,
                                                           .length = length,
                                                           .port = port,
                                                           .index = index,
                                                           .tail = tail};
    memcpy(outbox->bytes + outbox->n_bytes, frame, length);
    outbox->n_bytes += length;
}
