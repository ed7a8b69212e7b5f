// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Time in which a queue drains to its target, T_P = (qd - Q_tg) / R (paper section 3.2), in whole microseconds. The chip
// cannot multiply: a cell of 176 B takes 14.08 ns at 100 Gb/s, and 1/64 - 1/512 + 1/2048 - 1/16384 of a microsecond are
// 14.099. Other rates are powers of two of it. The pause is at most 0.14 % and one microsecond from the exact one.
#ifndef SFC_T2_PAUSE_TIME_P4
#define SFC_T2_PAUSE_TIME_P4

control PauseTime(in cells_t excess_cells, in rate_code_t rate, out bit<32> pause_us) {
    bit<32> sum = 0;
    bit<32> part = 0;
    bit<32> low = 0;

    // In 1/4096 of a microsecond at 100 Gb/s. The traffic manager's depths have 18 bits, so nothing is lost.
    action first() {
        sum = excess_cells << 6;
        part = excess_cells << 3;
        low = excess_cells << 1;
    }

    action second() {
        sum = sum - part;
        part = excess_cells >> 2;
    }

    action third() {
        sum = sum + low;
    }

    action fourth() {
        sum = sum - part;
    }

    action at_25g() {
        pause_us = sum >> 10;
    }

    action at_50g() {
        pause_us = sum >> 11;
    }

    action at_100g() {
        pause_us = sum >> 12;
    }

    action at_200g() {
        pause_us = sum >> 13;
    }

    action at_400g() {
        pause_us = sum >> 14;
    }

    action unknown() {
        pause_us = 0;
    }

    table pause_of_rate {
        key = { rate: exact @name("rate"); }
        actions = { at_25g; at_50g; at_100g; at_200g; at_400g; @defaultonly unknown; }
        const entries = {
            RATE_25G: at_25g();
            RATE_50G: at_50g();
            RATE_100G: at_100g();
            RATE_200G: at_200g();
            RATE_400G: at_400g();
        }
        const default_action = unknown();
    }

    apply {
        first();
        second();
        third();
        fourth();
        pause_of_rate.apply();
    }
}

// A pause in ticks. A microsecond has 3.90625 ticks: 4 - 1/16 - 1/32. What is subtracted is rounded down, so that the result
// is less than two ticks too long.
control PauseTicks(in bit<32> pause_us, out ticks_t ticks) {
    bit<32> small = 0;
    bit<32> smaller = 0;

    action split() {
        ticks = pause_us << 2;
        small = pause_us >> 4;
        smaller = pause_us >> 5;
    }

    action subtract_small() {
        ticks = ticks - small;
    }

    action subtract_smaller() {
        ticks = ticks - smaller;
    }

    apply {
        split();
        subtract_small();
        subtract_smaller();
    }
}

// Bytes of a depth: 176 is 128 + 32 + 16.
control DepthBytes(in cells_t depth_cells, out bytes_t depth_bytes) {
    bytes_t middle = 0;
    bytes_t low = 0;

    action split() {
        depth_bytes = depth_cells << 7;
        middle = depth_cells << 5;
        low = depth_cells << 4;
    }

    action add_middle() {
        depth_bytes = depth_bytes + middle;
    }

    action add_low() {
        depth_bytes = depth_bytes + low;
    }

    apply {
        split();
        add_middle();
        add_low();
    }
}

// Bytes of a packet in 1/256 of a cell: a byte has 1.4545 of them, and 1 + 1/2 - 1/32 - 1/64 are 1.4531.
control PacketLength(in bytes_t packet_bytes, out cells_t cells_q8) {
    bytes_t half = 0;
    bytes_t small = 0;
    bytes_t smaller = 0;

    action split() {
        half = packet_bytes >> 1;
        small = packet_bytes >> 5;
        smaller = packet_bytes >> 6;
    }

    action add_half() {
        cells_q8 = packet_bytes + half;
    }

    action subtract_small() {
        cells_q8 = cells_q8 - small;
    }

    action subtract_smaller() {
        cells_q8 = cells_q8 - smaller;
    }

    apply {
        split();
        add_half();
        subtract_small();
        subtract_smaller();
    }
}

#endif
