// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// BTS suppression (paper section 3.1, A.4): a Bloom filter of the flows that got a BTS in this period, so that a burst of
// one flow gets one BTS. A cell holds a mark of the period in which it was set, a bit and the last 7 bits of the period's
// number; a new period empties the filter at once, and its number changes the three hashes, so that a false positive does not
// last. If all cells were set at some time, an old mark in all three rows would suppress one BTS in two million.
//
// Periods follow the clock and are powers of two of ticks. A CRC is linear, so that keys which collide with one number as
// its prefix collide with all (docs/decisions/0003-salted-hashes.md); the chip cannot multiply two fields. The key's hash is
// therefore added to a hash of the number, and the sum, whose carries are not linear, is hashed for each row.
#ifndef SFC_T2_SUPPRESSION_P4
#define SFC_T2_SUPPRESSION_P4

#ifdef WITH_FILTER

Register<bit<8>, bit<SUPPRESSION_BITS>>(SUPPRESSION_CELLS, 0) suppression_row_0;
Register<bit<8>, bit<SUPPRESSION_BITS>>(SUPPRESSION_CELLS, 0) suppression_row_1;
Register<bit<8>, bit<SUPPRESSION_BITS>>(SUPPRESSION_CELLS, 0) suppression_row_2;

// The flow's key in this period, computed beside forwarding.
control SuppressionKey(inout ingress_metadata_t meta) {
    CRCPolynomial<bit<32>>(0x814141AB, false, false, false, 0, 0) crc32q;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, crc32q) salt_of;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) narrow;  // only a hash moves bits to a container of another width
    bit<32> period = 0;
    bit<32> salt = 0;

    action by_clock_2us() {
        meta.is_suppressing = 1;
        period = meta.now >> 3;
    }

    action by_clock_4us() {
        meta.is_suppressing = 1;
        period = meta.now >> 4;
    }

    action by_clock_8us() {
        meta.is_suppressing = 1;
        period = meta.now >> 5;
    }

    action by_clock_16us() {
        meta.is_suppressing = 1;
        period = meta.now >> 6;
    }

    action off() {
    }

    table suppression {
        actions = { by_clock_2us; by_clock_4us; by_clock_8us; by_clock_16us; off; }
        default_action = off();
        size = 1;
    }

    action find_salt() {
        salt = salt_of.get({ period });
    }

    action find_mark() {
        meta.mark = narrow.get({ 1w1, period[6:0] });
    }

    action mix() {
        meta.suppression_key = meta.flow_hash + salt;
    }

    apply {
        suppression.apply();
        find_salt();
        find_mark();
        mix();
    }
}

control Suppression(in ingress_metadata_t meta, out bit<1> was_set_0, out bit<1> was_set_1, out bit<1> was_set_2) {
    CRCPolynomial<bit<32>>(0x1EDC6F41, true, false, false, 0xffffffff, 0xffffffff) crc32c;
    CRCPolynomial<bit<32>>(0xA833982B, true, false, false, 0xffffffff, 0xffffffff) crc32d;
    Hash<bit<SUPPRESSION_BITS>>(HashAlgorithm_t.CRC32) place_0_of;
    Hash<bit<SUPPRESSION_BITS>>(HashAlgorithm_t.CUSTOM, crc32c) place_1_of;
    Hash<bit<SUPPRESSION_BITS>>(HashAlgorithm_t.CUSTOM, crc32d) place_2_of;

    // Setting a cell that is set changes nothing, so looking up and inserting are one action.
    RegisterAction<bit<8>, bit<SUPPRESSION_BITS>, bit<1>>(suppression_row_0) set_0 = {
        void apply(inout bit<8> cell, out bit<1> was_set) {
            was_set = 0;
            if (cell == meta.mark) {
                was_set = 1;
            }
            cell = meta.mark;
        }
    };
    RegisterAction<bit<8>, bit<SUPPRESSION_BITS>, bit<1>>(suppression_row_1) set_1 = {
        void apply(inout bit<8> cell, out bit<1> was_set) {
            was_set = 0;
            if (cell == meta.mark) {
                was_set = 1;
            }
            cell = meta.mark;
        }
    };
    RegisterAction<bit<8>, bit<SUPPRESSION_BITS>, bit<1>>(suppression_row_2) set_2 = {
        void apply(inout bit<8> cell, out bit<1> was_set) {
            was_set = 0;
            if (cell == meta.mark) {
                was_set = 1;
            }
            cell = meta.mark;
        }
    };

    apply {
        was_set_0 = 0;
        was_set_1 = 0;
        was_set_2 = 0;
        if (meta.is_suppressing == 1) {
            was_set_0 = set_0.execute(place_0_of.get({ meta.suppression_key }));
            was_set_1 = set_1.execute(place_1_of.get({ meta.suppression_key }));
            was_set_2 = set_2.execute(place_2_of.get({ meta.suppression_key }));
        }
    }
}

#else

control SuppressionKey(inout ingress_metadata_t meta) {
    apply { }
}

control Suppression(in ingress_metadata_t meta, out bit<1> was_set_0, out bit<1> was_set_1, out bit<1> was_set_2) {
    apply {
        was_set_0 = 0;
        was_set_1 = 0;
        was_set_2 = 0;
    }
}

#endif

#endif
