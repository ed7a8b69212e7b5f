// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Bolt's switch (NSDI 2023, docs/sources.md#bolt). A data packet that finds its queue at or above CC_THRESH causes a packet to
// its sender (sub-RTT control), unless an earlier switch did so (DEC). A packet that asks for a larger window (INC) keeps its
// request only if it finds a token: of a flow in its last window (proactive ramp-up), or of a link that had no work for the
// time of a full packet (supply matching).
//
// The packet to the sender is a BTS of cause `sub_rtt`, which is built, routed and trusted like any other BTS. It requests no
// pause, so it is neither cached nor turned into a pause frame. A packet that triggers a BTS of SFC causes no other BTS.
#ifndef SFC_BOLT_P4
#define SFC_BOLT_P4

// A target depth that no queue exceeds: the BTS then reports the depth at the data packet's arrival.
const bytes_t BOLT_NO_TARGET = 0xffffffff;

// The time at which the link would have finished all arrivals so far, in 2^-16 us, or the time of a packet ago if that is
// later. (now - this time) x rate is the paper's supply token. Index: port.
register<bit<64>>(PORTS) bolt_finish_q16;

// Tokens of flows in their last window. Index: port.
register<bit<32>>(PORTS) bolt_pru_tokens;

control Bolt(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t std) {
    bytes_t threshold_bytes = 0;
    bit<64> us_per_byte_q24 = 0;
    bit<64> units_per_byte_q24 = 0;
    bit<64> packet_time_q16 = 0;
    traffic_class_t data_class = 0;
    bit<64> now_q16 = 0;
    bit<64> finish_q16 = 0;
    bit<64> drain_units = 0;
    bit<32> tokens = 0;
    bit<32> tokens_limit = 0;
    bool has_supply = false;

    // `supply_us_q16` is the transmission time of a full data packet, `byte_units_q24` that of a byte in 4 ns of the model.
    action bolt_port(bytes_t cc_thresh_bytes, bit<32> byte_us_q24, bit<32> byte_units_q24, bit<64> supply_us_q16,
                     bit<32> most_tokens, traffic_class_t class_of_data) {
        threshold_bytes = cc_thresh_bytes;
        us_per_byte_q24 = (bit<64>) byte_us_q24;
        units_per_byte_q24 = (bit<64>) byte_units_q24;
        packet_time_q16 = supply_us_q16;
        tokens_limit = most_tokens;
        data_class = class_of_data;
    }

    action no_bolt() { }

    table bolt {
        key = { std.egress_spec: exact @name("port"); }
        actions = { bolt_port; @defaultonly no_bolt; }
        const default_action = no_bolt();
        size = PORTS;
    }

    // Packets of all classes use the link.
    action count_demand() {
        bolt_finish_q16.read(finish_q16, (bit<32>) std.egress_spec);
        now_q16 = (bit<64>) meta.now_us << 16;
        finish_q16 = finish_q16 + (((bit<64>) meta.accounted_bytes * us_per_byte_q24) >> 8);
        has_supply = finish_q16 + packet_time_q16 <= now_q16;
        finish_q16 = has_supply ? now_q16 - packet_time_q16 : finish_q16;
        bolt_finish_q16.write((bit<32>) std.egress_spec, finish_q16);
    }

    action take_supply() {
        bolt_finish_q16.write((bit<32>) std.egress_spec, now_q16);
    }

    action read_tokens() {
        bolt_pru_tokens.read(tokens, (bit<32>) std.egress_spec);
    }

    action write_tokens(bit<32> number) {
        bolt_pru_tokens.write((bit<32>) std.egress_spec, number);
    }

    action refuse_increase() {
        hdr.bth.reserved6 = hdr.bth.reserved6 & ~BOLT_INC;
    }

    action notify() {
        hdr.bth.reserved6 = hdr.bth.reserved6 | BOLT_DEC;
        drain_units = ((bit<64>) meta.queue_bytes * units_per_byte_q24 + 0xffffff) >> 24;
        drain_units = drain_units > (bit<64>) BTS_LONGEST_PAUSE ? (bit<64>) BTS_LONGEST_PAUSE : drain_units;
        meta.signal.wants_bts = 1;
        meta.bts.port = std.egress_spec;
        meta.bts.traffic_class = meta.traffic_class;
        meta.bts.cause = bts_cause_t.sub_rtt;
        meta.bts.cached_us = (duration_us_t) drain_units;
        meta.bts.q_tg_bytes = BOLT_NO_TARGET;
        meta.bts.triggered_us = meta.now_us;
        meta.bts.switch_id = meta.switch_id;
    }

    apply {
        if (bolt.apply().hit) {
            count_demand();
            if (hdr.bth.isValid() && hdr.bth.opcode != ROCE_ACKNOWLEDGE && meta.traffic_class == data_class) {
                read_tokens();
                if (meta.queue_bytes >= threshold_bytes) {
                    refuse_increase();
                    if (hdr.bth.reserved6 & BOLT_DEC == 0 && meta.signal.wants_bts == 0) {
                        notify();
                    }
                } else if (hdr.bth.reserved6 & BOLT_LAST != 0) {
                    // The end of a flow that is not longer than its first window frees nothing that others could miss.
                    if (hdr.bth.reserved6 & BOLT_FIRST == 0 && tokens < tokens_limit) {
                        write_tokens(tokens + 1);
                    }
                } else if (hdr.bth.reserved6 & BOLT_INC != 0) {
                    if (tokens > 0) {
                        write_tokens(tokens - 1);
                    } else if (has_supply) {
                        take_supply();
                    } else {
                        refuse_increase();
                    }
                }
            }
        }
    }
}

#endif
