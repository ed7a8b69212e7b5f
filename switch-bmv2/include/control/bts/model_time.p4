// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The unit of a pause in a BTS is a microsecond of the model, whereas clocks and durations of a switch are in wall time. The
// control plane provides the dilation, and factors with which v1model can divide by it.
#ifndef SFC_MODEL_TIME_P4
#define SFC_MODEL_TIME_P4

#define LONGEST_US 0xffffffff  // maximum of duration_us_t

// Limits a time until an event to the longest duration.
duration_us_t as_duration(in time_us_t us) {
    return us > LONGEST_US ? LONGEST_US : (duration_us_t) us;
}

// Converts the pause of a BTS to wall time.
time_us_t wall_pause(in bit<16> pause, in duration_us_t dilation) {
    return (time_us_t) pause * (time_us_t) dilation;
}

// Converts a pause from wall time to whole microseconds of the model. A pause that the field of a BTS cannot hold becomes the
// longest one. `reciprocal` is 2^shift / dilation, rounded up, so the quotient may be one too much and is corrected.
// `almost_us` is dilation - 1 to round up, and 0 to round down.
control ModelPause(inout duration_us_t pause_us) {
    bit<64> model_us = 0;

    action divide(duration_us_t dilation, bit<32> reciprocal, bit<8> shift, duration_us_t almost_us) {
        pause_us = pause_us |+| almost_us;
        model_us = ((bit<64>) pause_us * (bit<64>) reciprocal) >> shift;
        model_us = model_us * (bit<64>) dilation > (bit<64>) pause_us ? model_us - 1 : model_us;
        pause_us = (duration_us_t) model_us;
    }

    action keep() {
    }

    table dilation {
        actions = { @defaultonly divide; @defaultonly keep; }
        default_action = keep();
    }

    apply {
        dilation.apply();
        if (pause_us > BTS_LONGEST_PAUSE) {
            pause_us = BTS_LONGEST_PAUSE;
        }
    }
}

#endif
