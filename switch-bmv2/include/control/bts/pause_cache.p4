// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Pause cache (paper section 3.3, A.3): stores, for a destination and DSCP, the time until which senders are paused. It
// learns from each BTS of another switch with the `cacheable` flag. Data packets to a cached destination get the remaining pause.
//
// Entries are addressed by hash and hold their key. While an entry is live, another key at its place is not learned
// (paper appendix B: on a collision the optimization is not applied). A ring lists the live entries. Each packet checks
// the entry at its head: an expired entry is removed, a live one moves to the tail. The length of the ring is therefore
// the number of live entries, with a delay of at most that many packets.
#ifndef SFC_PAUSE_CACHE_P4
#define SFC_PAUSE_CACHE_P4

// Key of an entry: IPv4 address ++ DSCP ++ 00. 0 marks a free place.
register<bit<40>>(CACHE_ENTRIES) cache_key;

// End of the pause of an entry, in microseconds of the switch's clock.
register<time_us_t>(CACHE_ENTRIES) cache_end_us;

// The ring of the places of live entries, and counters of its head [0] and tail [1], which only ever grow.
register<bit<32>>(CACHE_RING) cache_ring;
register<bit<32>>(2) cache_ring_ends;

// Highest number of live entries. The control plane reads it.
register<bit<32>>(1) cache_max_entries;

control PauseCachePlace(in bit<40> key, out bit<32> place) {
    apply {
        hash(place, HashAlgorithm.crc32, 32w0, { key }, (bit<32>) CACHE_ENTRIES);
    }
}

// Algorithm 1, lines 3 to 6.
control PauseCacheLearn(in headers_t hdr, in time_us_t now_us, in duration_us_t dilation) {
    PauseCachePlace() find;
    bit<40> key;
    bit<40> present;
    bit<32> place;
    time_us_t end_us;
    time_us_t new_end_us;
    bit<32> head;
    bit<32> tail;
    bit<32> most;

    action store() {
        cache_key.write(place, key);
        cache_end_us.write(place, new_end_us);
    }

    action append_to_ring() {
        cache_ring.write(tail & (CACHE_RING - 1), place);
        cache_ring_ends.write(1, tail + 1);
    }

    apply {
        key = hdr.ipv4.src_addr ++ hdr.bts.flow_dscp ++ 2w0;
        find.apply(key, place);
        cache_key.read(present, place);
        cache_end_us.read(end_us, place);
        new_end_us = now_us + wall_pause(hdr.bts.pause, dilation);
        cache_ring_ends.read(head, 0);
        cache_ring_ends.read(tail, 1);
        if (present == key) {
            if (new_end_us > end_us) {
                store();
            }
            bts_events.count((bit<32>) (bit<EVENT_BITS>) bts_event_t.cache_refreshed);
        } else if (present != 0 && end_us <= now_us) {
            // An expired entry is still in the ring: the new entry takes over its place.
            store();
            bts_events.count((bit<32>) (bit<EVENT_BITS>) bts_event_t.cache_learned);
        } else if (present == 0 && tail - head < CACHE_RING) {
            store();
            append_to_ring();
            cache_max_entries.read(most, 0);
            if (tail + 1 - head > most) {
                cache_max_entries.write(0, tail + 1 - head);
            }
            bts_events.count((bit<32>) (bit<EVENT_BITS>) bts_event_t.cache_learned);
        } else {
            bts_events.count((bit<32>) (bit<EVENT_BITS>) bts_event_t.cache_collision);
        }
    }
}

// Algorithm 1, line 8: the remaining pause of senders to this packet's destination, or 0 if there is no entry.
control PauseCacheLookup(in headers_t hdr, in time_us_t now_us, out duration_us_t cached_us) {
    PauseCachePlace() find;
    bit<40> key;
    bit<40> present;
    bit<32> place;
    time_us_t end_us;

    apply {
        cached_us = 0;
        key = hdr.ipv4.dst_addr ++ hdr.ipv4.dscp ++ 2w0;
        find.apply(key, place);
        cache_key.read(present, place);
        cache_end_us.read(end_us, place);
        if (present == key && end_us > now_us) {
            cached_us = as_duration(end_us - now_us);
        }
    }
}

control PauseCacheRetire(in time_us_t now_us) {
    bit<32> head;
    bit<32> tail;
    bit<32> place;
    time_us_t end_us;

    action move_to_tail() {
        cache_ring.write(tail & (CACHE_RING - 1), place);
        cache_ring_ends.write(1, tail + 1);
    }

    apply {
        cache_ring_ends.read(head, 0);
        cache_ring_ends.read(tail, 1);
        if (head != tail) {
            cache_ring.read(place, head & (CACHE_RING - 1));
            cache_end_us.read(end_us, place);
            cache_ring_ends.write(0, head + 1);
            if (end_us <= now_us) {
                cache_key.write(place, 0);
            } else {
                move_to_tail();
            }
        }
    }
}

#endif
