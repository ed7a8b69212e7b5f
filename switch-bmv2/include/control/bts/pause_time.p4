// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Time in which a queue drains to its target, T_P = (qd - Q_tg) / R (paper section 3.2), rounded down to a microsecond.
// v1model cannot divide by the port's rate, so the control plane provides the transmission time of a byte.
#ifndef SFC_PAUSE_TIME_P4
#define SFC_PAUSE_TIME_P4

control PauseTime(in bytes_t excess_bytes, in bit<32> us_per_byte_q24, out duration_us_t pause_us) {
    bit<64> drain_us = 0;

    apply {
        drain_us = ((bit<64>) excess_bytes * (bit<64>) us_per_byte_q24) >> 24;
        if (drain_us > LONGEST_US) {
            drain_us = LONGEST_US;
        }
        pause_us = (duration_us_t) drain_us;
    }
}

// The prototype's time: eight cells are divided by a power of two that depends on the port's rate, instead of the cells that
// the port sends in a microsecond. The result is whole microseconds of the model, `model_us` of this clock each.
control PauseByShift(in bytes_t excess_bytes, in bit<8> group_shift, in bit<32> model_us, out duration_us_t pause_us) {
    CellsOfBytes() cells_of_excess;
    bit<32> cells;
    bit<64> long_us = 0;

    apply {
        cells_of_excess.apply(excess_bytes, cells);
        long_us = (bit<64>) (cells >> CELL_GROUP_BITS >> group_shift) * (bit<64>) model_us;
        if (long_us > LONGEST_US) {
            long_us = LONGEST_US;
        }
        pause_us = (duration_us_t) long_us;
    }
}

#endif
