// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// What this program counts. Made by `make p4` from wire/counters.py, where a counter is added.
#ifndef SFC_COUNTERS_P4
#define SFC_COUNTERS_P4

#include "sizes.p4"

#define EVENT_BITS 4

// Packets dropped. Index: port ++ event.
enum bit<EVENT_BITS> drop_reason_t {
    malformed = 0,          // a header, length or field was wrong
    no_route = 1,           // no route to the destination
    ttl_expired = 2,        // the time to live ran out
    dynamic_threshold = 3,  // the queue stood at alpha times the free buffer
    buffer_full = 4,        // the shared buffer was full
    untrusted_signal = 5,   // a BTS or trimmed packet entered on a server-facing port, where none can come from
    mac_control = 6,        // a MAC control frame reached the pipeline
    foreign_source = 7,     // a server's packet bore another source address than its own
    bts_no_route = 8,       // a BTS of this switch found no route to the source that it was for
    data_queue_full = 9,    // a packet that cannot be trimmed found its data queue full
    header_queue_full = 10  // an ACK, NACK, pull or returned header found the queue of headers full
}

counter(1 << (PORT_BITS + EVENT_BITS), CounterType.packets_and_bytes) drops;

// What happened to BTS. Index: event.
enum bit<EVENT_BITS> bts_event_t {
    sent_queue = 0,            // BTS sent because of this switch's queue
    sent_cache = 1,            // BTS sent because of the pause cache
    sent_estimator = 2,        // BTS sent because of the incast estimator
    suppressed_queue = 3,      // BTS for the first cause, held back by the Bloom filter
    suppressed_cache = 4,      // BTS for the second, held back likewise
    suppressed_estimator = 5,  // BTS for the third, held back likewise
    cache_learned = 6,         // a passing BTS made a cache entry
    cache_refreshed = 7,       // a passing BTS met the entry of its destination
    cache_collision = 8,       // a passing BTS found its place taken by another destination, or the ring full
    not_needed = 9,            // BTS not sent: its queue had drained to Q_tg before it was made, so it would pause for 0
    sent_feedback = 10         // QCN's feedback sent to the sender of a sampled packet
}

counter(1 << EVENT_BITS, CounterType.packets) bts_events;

// Pause frames sent. Index: event.
enum bit<EVENT_BITS> pfc_event_t {
    xoff = 0,     // a neighbour was paused
    xon = 1,      // a neighbour was resumed
    refresh = 2,  // a pause was sent anew before it ran out
    sfc_p = 3     // a BTS was turned into a pause frame
}

counter(1 << EVENT_BITS, CounterType.packets) pfc_events;

// What was odd about the queue state. Index: event.
enum bit<EVENT_BITS> queue_event_t {
    queue_underflow = 0,  // a packet left with more bytes than its queue, port or buffer was said to hold
    pfc_underflow = 1     // the same of the bytes held for PFC
}

counter(1 << EVENT_BITS, CounterType.packets) queue_events;

// What became of packets whose data queue was full. Index: event.
enum bit<EVENT_BITS> trim_event_t {
    trimmed = 0,  // a data packet was cut to its headers
    returned = 1  // a header that found the queue of headers full went back to its sender
}

counter(1 << EVENT_BITS, CounterType.packets) trim_events;

#endif
