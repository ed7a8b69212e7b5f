// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Pause cache (paper section 3.3, A.3): stores, for a destination and DSCP, the time until which senders are paused. It
// learns from each BTS of another switch with the `cacheable` flag. Data packets to a cached destination get the remaining pause.
//
// An entry is a pair in one register: a 32-bit fingerprint of the key, and the end of the pause. Of two keys with one place
// the one whose pause ends later stays, because a stateful ALU gets two numbers only: the fingerprint and the new end.
#ifndef SFC_T2_PAUSE_CACHE_P4
#define SFC_T2_PAUSE_CACHE_P4

#ifdef WITH_PAUSE_CACHE

struct cache_entry_t {
    bit<32> key;
    ticks_t end;
}

Register<cache_entry_t, bit<CACHE_BITS>>(T2_CACHE_ENTRIES, { 0, 0 }) pause_cache_entries;

// What the cache needs of a packet, computed beside forwarding: place, fingerprint, and the end of the pause that it teaches.
control PauseCacheKey(in t2_headers_t hdr, inout ingress_metadata_t meta) {
    PauseTicks() in_ticks;
    CRCPolynomial<bit<32>>(0x1EDC6F41, true, false, false, 0xffffffff, 0xffffffff) crc32c;
    Hash<bit<CACHE_BITS>>(HashAlgorithm_t.CRC32) place_of;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, crc32c) fingerprint_of;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) widen;  // only a hash moves bits to a container of another width
    bit<32> address = 0;
    bit<8> dscp = 0;
    bit<16> pause_us = 0;
    bit<32> wide_us = 0;

    action of_bts() {
        address = hdr.ipv4.src_addr;
        dscp = 2w0 ++ hdr.bts.flow_dscp;
        pause_us = hdr.bts.pause;
        meta.is_learning = hdr.bts.cacheable;
    }

    action of_tcp_signal() {
        address = hdr.ipv4.src_addr;
        dscp = 2w0 ++ hdr.tcp_bts.flow_dscp;
        pause_us = hdr.tcp.sequence_low;
        meta.is_learning = hdr.tcp_bts.cacheable;
    }

    action of_packet() {
        address = hdr.ipv4.dst_addr;
        dscp = 2w0 ++ hdr.ipv4.dscp;
    }

    action find_place() {
        meta.cache_place = place_of.get({ address, dscp });
    }

    action find_fingerprint() {
        meta.cache_key = fingerprint_of.get({ address, dscp });
    }

    action widen_pause() {
        wide_us = widen.get({ pause_us });
    }

    action add_now() {
        meta.cache_end = meta.cache_end + meta.now;
    }

    apply {
        if (hdr.bts.isValid()) {
            of_bts();
        } else if (hdr.tcp_bts.isValid()) {
            of_tcp_signal();
        } else {
            of_packet();
        }
        find_place();
        find_fingerprint();
        widen_pause();
        in_ticks.apply(wide_us, meta.cache_end);
        add_now();
    }
}

// Learning and looking up are one control, because a register has one place in the pipeline.
control PauseCache(inout ingress_metadata_t meta) {
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) low_bits;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) high_bits;
    ticks_t end = 0;
    ticks_t rest = 0;

    RegisterAction<cache_entry_t, bit<CACHE_BITS>, ticks_t>(pause_cache_entries) learn = {
        void apply(inout cache_entry_t entry) {
            if (entry.end < meta.cache_end) {
                entry.key = meta.cache_key;
                entry.end = meta.cache_end;
            }
        }
    };
    RegisterAction<cache_entry_t, bit<CACHE_BITS>, ticks_t>(pause_cache_entries) look_up = {
        void apply(inout cache_entry_t entry, out ticks_t found) {
            found = 0;
            if (entry.key == meta.cache_key) {
                found = entry.end;
            }
        }
    };

    action subtract_now() {
        rest = end |-| meta.now;
    }

    // 4 ticks are 1.024 us, so the rest of a pause is at most 2.4 % too short. No pause has more than 18 bits of ticks: an
    // entry that seems to is left from before the clock began again.
    action count_microseconds() {
        meta.cached_us = low_bits.get({ rest[17:2] });
    }

    action find_stale() {
        meta.stale = high_bits.get({ rest[31:18] });
    }

    apply {
        if (meta.is_learning == 1) {
            learn.execute(meta.cache_place);
        } else {
            end = look_up.execute(meta.cache_place);
            subtract_now();
            count_microseconds();
            find_stale();
        }
    }
}

#else

control PauseCacheKey(in t2_headers_t hdr, inout ingress_metadata_t meta) {
    apply { }
}

control PauseCache(inout ingress_metadata_t meta) {
    apply { }
}

#endif

#endif
