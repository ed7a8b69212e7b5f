/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Digests on their way from the data path to the control plane: one bounded, ordered queue per pipeline.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/internal.h"

#define QUEUE_MOST_BYTES (1u << 20)

struct digest_record {
    uint32_t n_bytes;
    uint16_t digest;
    uint16_t unused;
};

void sw_digest_push(struct sw_pipeline *p, uint16_t digest, const uint8_t *bytes, uint32_t n_bytes)
{
    struct sw_digest_queue *queue = &p->digests;
    struct digest_record record = {n_bytes, digest, 0};
    if (queue->used + sizeof(record) + n_bytes > queue->capacity) {
        queue->lost++;
        return;
    }
    memcpy(queue->bytes + queue->used, &record, sizeof(record));
    memcpy(queue->bytes + queue->used + sizeof(record), bytes, n_bytes);
    queue->used += sizeof(record) + n_bytes;
}

void sw_digest_drain(struct sw_pipeline *p,
                     void (*emit)(void *ctx, uint16_t digest, const uint8_t *bytes, uint32_t n_bytes), void *ctx)
{
    struct sw_digest_queue *queue = &p->digests;
    for (size_t at = 0; at < queue->used;) {
        struct digest_record record;
        memcpy(&record, queue->bytes + at, sizeof(record));
        at += sizeof(record);
        emit(ctx, record.digest, queue->bytes + at, record.n_bytes);
        at += record.n_bytes;
    }
    queue->used = 0;
}

uint64_t sw_digest_lost(const struct sw_pipeline *p)
{
    return p->digests.lost;
}

int sw_digests_init(struct sw_digest_queue *queue, const struct sw_program *program)
{
    if (program->n_digests == 0)
        return 0;
    queue->bytes = malloc(QUEUE_MOST_BYTES);
    queue->capacity = queue->bytes ? QUEUE_MOST_BYTES : 0;
    return queue->bytes ? 0 : -ENOMEM;
}
