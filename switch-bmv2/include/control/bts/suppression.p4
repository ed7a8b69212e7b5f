// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// BTS suppression (paper section 3.1, A.4): a Bloom filter of the flows that got a BTS in this period, so that a burst of
// one flow gets one BTS. A cell holds the number of the period in which it was set; a new period empties the filter
// at once, and its number changes the three hashes, so that a false positive does not last.
//
// By default periods follow the clock, as if a timer reset the filter (paper section 4). The number of a period is the time
// divided by the period, computed with a reciprocal from the control plane. Periods begin at the same time on all switches; a
// switch with its own clock gets its lag as a parameter. Alternatively a period begins with the first trigger after the last.
//
// The salt is a factor, not a prefix of the hashed bytes: a CRC is linear, so flows that collide with one prefix collide
// with all, and three prefixes would give the same hash (docs/decisions/0003-salted-hashes.md).
//
// Instead of this filter, the action `banks` selects the prototype's (suppression_banks.p4).
#ifndef SFC_SUPPRESSION_P4
#define SFC_SUPPRESSION_P4

// The three rows of the filter. A cell holds the number of the period in which it was set.
register<bit<32>>(SUPPRESSION_CELLS) suppression_row_0;
register<bit<32>>(SUPPRESSION_CELLS) suppression_row_1;
register<bit<32>>(SUPPRESSION_CELLS) suppression_row_2;

// End of a period that began with a trigger, in microseconds of the switch's clock.
register<time_us_t>(1) suppression_end_us;

control Suppression(in headers_t hdr, in metadata_t meta, out bit<1> is_suppressed) {
    SuppressionKey() find_key;
    BankFilter() bank_filter;
    bit<1> is_on = 0;
    bit<1> is_banked = 0;
    bit<32> key_crc32 = 0;
    bit<16> key_crc16 = 0;
    duration_us_t period_us = 0;
    bit<32> periods_q32 = 0;
    bit<8> tick_bits = 0;
    time_us_t lag_us = 0;
    bit<32> period;
    bit<32> number = 0;
    bit<32> flows;
    bit<32> most;
    bit<32> salt;
    bit<32> mixed;
    bit<32> place_0;
    bit<32> place_1;
    bit<32> place_2;
    bit<32> set_0;
    bit<32> set_1;
    bit<32> set_2;
    time_us_t end_us;

    // Periods per tick of 2^tick_bits microseconds, in 2^-32; lag of the clock in microseconds, modulo 2^48.
    action by_clock(bit<32> periods_per_tick_q32, bit<8> bits, time_us_t clock_lag_us) {
        is_on = 1;
        period_us = 0;
        periods_q32 = periods_per_tick_q32;
        tick_bits = bits;
        lag_us = clock_lag_us;
    }

    action filter(duration_us_t reset_period_us) {
        is_on = 1;
        period_us = reset_period_us;
    }

    action banks() {
        is_on = 1;
        is_banked = 1;
    }

    action off() {
        is_on = 0;
    }

    table suppression {
        actions = { @defaultonly by_clock; @defaultonly filter; @defaultonly banks; @defaultonly off; }
        default_action = off();
    }

    // Numbers begin at 1, since 0 marks unset cells. The product may lose bits above 64, which do not matter.
    action count_periods() {
        number = (bit<32>) (((bit<64>) ((meta.now_us + lag_us) >> tick_bits) * (bit<64>) periods_q32) >> 32) + 1;
    }

    action start_period() {
        period = number;
        flows = 0;
        suppression_end_us.write(0, meta.now_us + (time_us_t) period_us);
        suppression_state.write(0, period);
        suppression_state.write(1, 0);
    }

    action find_places() {
        salt = (period << 1) | 1;
        mixed = key_crc32 * (salt * 0x9E3779B1);
        place_0 = mixed >> (32 - SUPPRESSION_BITS);
        mixed = key_crc32 * (salt * 0x85EBCA77);
        place_1 = mixed >> (32 - SUPPRESSION_BITS);
        mixed = key_crc32 * (salt * 0xC2B2AE3D);
        place_2 = mixed >> (32 - SUPPRESSION_BITS);
        suppression_row_0.read(set_0, place_0);
        suppression_row_1.read(set_1, place_1);
        suppression_row_2.read(set_2, place_2);
    }

    action insert() {
        suppression_row_0.write(place_0, period);
        suppression_row_1.write(place_1, period);
        suppression_row_2.write(place_2, period);
        suppression_state.write(1, flows + 1);
    }

    apply {
        is_suppressed = 0;
        suppression.apply();
        if (is_on == 1) {
            find_key.apply(hdr, meta, is_banked, key_crc32, key_crc16);
        }
        if (is_banked == 1) {
            bank_filter.apply(key_crc32, key_crc16, is_suppressed);
        } else if (is_on == 1) {
            suppression_state.read(period, 0);
            suppression_state.read(flows, 1);
            if (period_us == 0) {
                count_periods();
            } else {
                suppression_end_us.read(end_us, 0);
                number = period;
                if (meta.now_us >= end_us) {
                    number = period + 1;
                }
            }
            if (number != period) {
                start_period();
            }
            find_places();
            if (set_0 == period && set_1 == period && set_2 == period) {
                is_suppressed = 1;
            } else {
                insert();
                suppression_state.read(most, 2);
                if (flows + 1 > most) {
                    suppression_state.write(2, flows + 1);
                }
            }
        }
    }
}

#endif
