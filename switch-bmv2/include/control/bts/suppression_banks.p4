// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The prototype's suppression filter: two banks of two rows of bits. A period ends with the first packet of any kind that
// comes later than its length. The banks then swap, and the one that was left is cleared, so the other one is empty as well.
//
// v1model cannot clear a register at once. A cell therefore holds the number of the period in which its bit was set, plus 1.
// The bit counts as set in this period only. The bank in use is the lowest bit of the period's number, and since each bank is
// empty when it is entered, one array per row is enough.
#ifndef SFC_SUPPRESSION_BANKS_P4
#define SFC_SUPPRESSION_BANKS_P4

register<bit<32>>(BANK_CELLS) suppression_bank_row_0;
register<bit<32>>(BANK_CELLS) suppression_bank_row_1;

// Time of the packet that began the period.
register<time_us_t>(1) suppression_start_us;

control BankPeriod(in metadata_t meta) {
    bit<1> is_banked = 0;
    time_us_t longest_us = 0;
    time_us_t start_us;
    bit<32> period;

    action swap_after(time_us_t period_us) {
        is_banked = 1;
        longest_us = period_us;
    }

    action no_banks() {
        is_banked = 0;
    }

    table suppression_period {
        actions = { @defaultonly swap_after; @defaultonly no_banks; }
        default_action = no_banks();
    }

    action swap_banks() {
        suppression_start_us.write(0, meta.now_us);
        suppression_state.read(period, 0);
        suppression_state.write(0, period + 1);
        suppression_state.write(1, 0);
    }

    apply {
        suppression_period.apply();
        if (is_banked == 1) {
            suppression_start_us.read(start_us, 0);
            if (meta.now_us > start_us + longest_us) {
                swap_banks();
            }
        }
    }
}

// Sets the key's bit in both rows. It is suppressed if both were set before.
control BankFilter(in bit<32> key_crc32, in bit<16> key_crc16, out bit<1> is_suppressed) {
    bit<32> mark;
    bit<32> place_0;
    bit<32> place_1;
    bit<32> set_0;
    bit<32> set_1;
    bit<32> keys;
    bit<32> most;

    // The upper half of a CRC-32 stands for Tofino's RANDOM hash, which is an unspecified linear function of the key, too.
    action test_and_set() {
        suppression_state.read(mark, 0);
        mark = mark + 1;
        place_0 = (bit<32>) key_crc16;
        place_1 = key_crc32 >> (32 - BANK_BITS);
        suppression_bank_row_0.read(set_0, place_0);
        suppression_bank_row_1.read(set_1, place_1);
        suppression_bank_row_0.write(place_0, mark);
        suppression_bank_row_1.write(place_1, mark);
    }

    action count_key() {
        suppression_state.read(keys, 1);
        keys = keys + 1;
        suppression_state.write(1, keys);
        suppression_state.read(most, 2);
    }

    apply {
        is_suppressed = 0;
        test_and_set();
        if (set_0 == mark && set_1 == mark) {
            is_suppressed = 1;
        } else {
            count_key();
            if (keys > most) {
                suppression_state.write(2, keys);
            }
        }
    }
}

#endif
