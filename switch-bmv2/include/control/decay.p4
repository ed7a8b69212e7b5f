// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The decay of a discounting rate estimator: its register loses half of its value in each half-life.
#ifndef SFC_DECAY_P4
#define SFC_DECAY_P4

// Lets `value` decay for `halvings_q24` half-lives. 2^-f for f in [0, 1) is 1 - 0.69315 f + 0.23288 f^2 - 0.03973 f^3. Value and
// slope are correct at both ends, so that no error accumulates over packets in close succession.
control Decay(inout bit<32> value, in bit<64> halvings_q24) {
    bit<64> fraction_q16 = 0;
    bit<64> square_q16 = 0;
    bit<64> factor_q16 = 0;

    action decay() {
        fraction_q16 = (halvings_q24 >> 8) & 0xffff;
        square_q16 = (fraction_q16 * fraction_q16) >> 16;
        factor_q16 = 65536 - ((fraction_q16 * 45426) >> 16) + ((square_q16 * 15262) >> 16)
            - ((((square_q16 * fraction_q16) >> 16) * 2604) >> 16);
        value = value >> (bit<8>) (halvings_q24 >> 24);
        value = (bit<32>) (((bit<64>) value * factor_q16) >> 16);
    }

    apply {
        if (halvings_q24 >> 24 >= 32) {
            value = 0;
        } else {
            decay();
        }
    }
}

#endif
