// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// In-band telemetry (HPCC): at dequeue a packet with an INT header that is not an echo gets a record of this hop. Fields
// have wall microseconds and whole bytes, so that they suit any time dilation (docs/sources.md#hpcc). In the compact layout,
// which the sender of the packet chooses, the hop fills a slot instead, so that the packet keeps its length. On request the hop
// also adds itself to the name of the packet's path, so that a sender with several paths knows which records to compare.
#ifndef SFC_TELEMETRY_P4
#define SFC_TELEMETRY_P4

// Bytes that a port has sent. Index: port.
register<bytes_t>(PORTS) port_tx_bytes;

// Removes telemetry from a packet that becomes a signal.
control NoTelemetry(inout headers_t hdr) {
    const bool names_all = static_assert(INT_HOPS == 5, "NoTelemetry names each hop");

    apply {
        hdr.telemetry.setInvalid();
        hdr.slots.setInvalid();
        hdr.hop[0].setInvalid();
        hdr.hop[1].setInvalid();
        hdr.hop[2].setInvalid();
        hdr.hop[3].setInvalid();
        hdr.hop[4].setInvalid();
    }
}

control Telemetry(inout headers_t hdr, in metadata_t meta, in standard_metadata_t std) {
    const bool shifts_all = static_assert(INT_HOPS == 5, "fill_slot names each slot");
    bit<32> rate = 0;
    bit<4> code_of_rate = 0;
    bit<8> shift_of_time = 0;
    bytes_t sent_bytes = 0;
    bytes_t length_bytes = 0;
    bit<64> queue_units = 0;

    // The rate code and the time shift are for the compact layout. Its times are in units of 2^shift microseconds.
    action port_rate(bit<32> rate_kbps, bit<4> rate_code, bit<8> time_shift) {
        rate = rate_kbps;
        code_of_rate = rate_code;
        shift_of_time = time_shift;
    }

    action no_telemetry() { }

    table int_port {
        key = { std.egress_port: exact @name("port"); }
        actions = { port_rate; @defaultonly no_telemetry; }
        const default_action = no_telemetry();
        size = PORTS;
    }

    action push_record() {
        hdr.hop.push_front(1);
        hdr.hop[0].setValid();
        hdr.hop[0].rate_kbps = rate;
        hdr.hop[0].time_us = (bit<32>) std.egress_global_timestamp;
        hdr.hop[0].queue_bytes = meta.port_bytes;
        hdr.telemetry.hops = hdr.telemetry.hops + 1;
        hdr.ipv4.total_len = hdr.ipv4.total_len + INT_RECORD_BYTES;
        hdr.udp.length = hdr.udp.length + INT_RECORD_BYTES;
        length_bytes = length_bytes + (bytes_t) INT_RECORD_BYTES;
    }

    // The older slots move back, and the last slot, which is empty, is lost.
    action fill_slot() {
        queue_units = ((bit<64>) meta.port_bytes * INT_QUEUE_RECIPROCAL) >> INT_QUEUE_SHIFT;
        queue_units = queue_units > INT_MOST_QUEUE ? INT_MOST_QUEUE : queue_units;
        hdr.slots.slot_4 = hdr.slots.slot_3;
        hdr.slots.slot_3 = hdr.slots.slot_2;
        hdr.slots.slot_2 = hdr.slots.slot_1;
        hdr.slots.slot_1 = hdr.slots.slot_0;
        hdr.slots.slot_0 = code_of_rate ++ (bit<24>) (std.egress_global_timestamp >> shift_of_time)
            ++ (bit<20>) (sent_bytes >> INT_SENT_SHIFT) ++ (bit<16>) queue_units;
        hdr.telemetry.hops = hdr.telemetry.hops + 1;
    }

    action name_path() {
        hdr.telemetry.path = hdr.telemetry.path * INT_PATH_FACTOR_SWITCH + meta.switch_id;
        hdr.telemetry.path = hdr.telemetry.path * INT_PATH_FACTOR_PORT + (bit<16>) std.egress_port;
    }

    action count_bytes() {
        port_tx_bytes.read(sent_bytes, (bit<32>) std.egress_port);
        port_tx_bytes.write((bit<32>) std.egress_port, sent_bytes + length_bytes);
    }

    apply {
        if (int_port.apply().hit) {
            length_bytes = meta.accounted_bytes;
            bool is_wanted = hdr.telemetry.isValid() && hdr.telemetry.flags & INT_ECHO == 0;
            bool is_full = hdr.telemetry.isValid() && hdr.telemetry.hops == INT_MAX_HOPS;
            if (is_wanted && !is_full && !hdr.slots.isValid()) {
                push_record();
            }
            count_bytes();
            if (is_wanted && !is_full && hdr.telemetry.flags & INT_PATH != 0) {
                name_path();
            }
            if (is_wanted && is_full) {
                int_events.count((bit<32>) (bit<EVENT_BITS>) int_event_t.full);
            } else if (is_wanted && hdr.slots.isValid()) {
                fill_slot();
            } else if (is_wanted) {
                hdr.hop[0].tx_bytes = sent_bytes;
            }
        }
    }
}

#endif
