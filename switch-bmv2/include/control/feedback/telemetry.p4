// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// In-band telemetry (HPCC): at dequeue a packet with an INT header that is not an echo gets a record of this hop. Fields
// have wall microseconds and whole bytes, so that they suit any time dilation (docs/sources.md#hpcc).
#ifndef SFC_TELEMETRY_P4
#define SFC_TELEMETRY_P4

// Bytes that a port has sent. Index: port.
register<bytes_t>(PORTS) port_tx_bytes;

// Removes telemetry from a packet that becomes a signal.
control NoTelemetry(inout headers_t hdr) {
    const bool names_all = static_assert(INT_HOPS == 5, "NoTelemetry names each hop");

    apply {
        hdr.telemetry.setInvalid();
        hdr.hop[0].setInvalid();
        hdr.hop[1].setInvalid();
        hdr.hop[2].setInvalid();
        hdr.hop[3].setInvalid();
        hdr.hop[4].setInvalid();
    }
}

control Telemetry(inout headers_t hdr, in metadata_t meta, in standard_metadata_t std) {
    bit<32> rate = 0;
    bytes_t sent_bytes = 0;
    bytes_t length_bytes = 0;

    action port_rate(bit<32> rate_kbps) {
        rate = rate_kbps;
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

    action count_bytes() {
        port_tx_bytes.read(sent_bytes, (bit<32>) std.egress_port);
        port_tx_bytes.write((bit<32>) std.egress_port, sent_bytes + length_bytes);
    }

    apply {
        if (int_port.apply().hit) {
            length_bytes = meta.accounted_bytes;
            if (hdr.telemetry.isValid() && hdr.telemetry.flags & INT_ECHO == 0 && hdr.telemetry.hops < INT_MAX_HOPS) {
                push_record();
            }
            count_bytes();
            if (hdr.telemetry.isValid() && length_bytes != meta.accounted_bytes) {
                hdr.hop[0].tx_bytes = sent_bytes;
            }
        }
    }
}

#endif
