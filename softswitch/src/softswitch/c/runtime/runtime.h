/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The header for generated code: the internals of a pipeline and the functions that a program may call. The target
 * never includes it.
 */
#ifndef SW_RUNTIME_H
#define SW_RUNTIME_H

#include <stddef.h>

#include "arithmetic/bits.h"
#include "arithmetic/hash.h"
#include "arithmetic/wide.h"
#include "runtime/pipeline.h"
#include "runtime/stateful.h"
#include "runtime/table.h"
#include "runtime/value_set.h"

/* Inlines a function of the program into its pass. The compiler then keeps the fields of the pass in registers. */
#define SW_INLINE static inline __attribute__((always_inline))

struct sw_digest_queue {
    uint8_t *bytes; /* records: digest id u16, length u32, fields */
    size_t used, capacity;
    uint64_t lost;
};

struct sw_pipeline {
    const struct sw_program *program;
    struct sw_table *tables;
    struct sw_profile *profiles;
    struct sw_register *registers;
    struct sw_counters *counters;
    struct sw_meters *meters;
    struct sw_crc *crcs;
    struct sw_value_set *value_sets;
    struct sw_digest_queue digests;
    uint64_t now_us;
    uint64_t random_state;
#ifdef SW_PACKET_LOG
    struct sw_packet_log log;
#endif
    bool installing; /* const entries are being installed, so const tables accept them */
};

/* The result of a table's application for the control flow. */
struct sw_applied {
    int32_t action;
    bool hit;
};

/* A const entry of the program. */
struct sw_const_entry {
    uint16_t table;
    uint16_t action;
    int32_t priority;
    const struct sw_match *keys;
    const struct sw_value *args;
};

struct sw_const_default {
    uint16_t table;
    uint16_t action;
    const struct sw_value *args;
};

/* Installs the program's default actions and const entries; returns 0 or a negative errno. */
int sw_pipeline_install(struct sw_pipeline *p, const struct sw_const_default *defaults, size_t n_defaults,
                        const struct sw_const_entry *entries, size_t n_entries);

/* A random number from low to high, both included; low if high < low. */
uint64_t sw_random_between(struct sw_pipeline *p, uint64_t low, uint64_t high);

/* Counts a turn of a loop of the program. After SW_STEP_LIMIT turns in a pass it returns true, and the target drops the
 * packet. `where` is a place in the loop. */
static inline bool sw_is_endless(struct sw_packet *packet, const char *where)
{
    if (++packet->phv->requests.steps <= SW_STEP_LIMIT)
        return false;
    packet->phv->requests.endless = true;
    packet->phv->requests.dropped_at = where;
    packet->phv->requests.dropped_in = NULL;
    return true;
}

/* Ends the process with a line on stderr, as BMv2 does, because the program's results can no longer be trusted. */
_Noreturn void sw_assertion_failed(const char *what);

/* Queues a digest; it is lost if the queue is full because the control plane does not drain it. */
void sw_digest_push(struct sw_pipeline *p, uint16_t digest, const uint8_t *bytes, uint32_t n_bytes);

/* Moves the payload to the end of the buffer if fewer than `n` bytes precede it; false if the buffer is too small. */
bool sw_packet_make_room(struct sw_packet *packet, uint32_t n);

/* Reserves `n` bytes before the payload and returns their address; NULL if the buffer is too small. */
static inline uint8_t *sw_packet_prepend(struct sw_packet *packet, uint32_t n)
{
    if (packet->head < n && !sw_packet_make_room(packet, n))
        return NULL;
    packet->head -= n;
    packet->len += n;
    return packet->buffer + packet->head;
}

/* The number of payload bytes that remain after a truncation. */
static inline uint32_t sw_packet_payload_bytes(const struct sw_packet *packet)
{
    bool cut = packet->phv->requests.truncate && packet->phv->requests.truncate_bytes < packet->len;
    return cut ? packet->phv->requests.truncate_bytes : packet->len;
}

#endif /* SW_RUNTIME_H */
