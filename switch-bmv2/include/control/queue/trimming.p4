// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// NDP's switch (SIGCOMM 2017, section 3.1; docs/sources.md#ndp). A packet that finds the short data queue full is cut to its
// headers and joins the queue of headers, ACKs and pulls, which has priority. If that queue is full, a header returns to its
// sender, and other packets are dropped.
//
// There are two deviations. The arriving packet is cut, never the packet at the queue's tail, which a P4 program cannot
// access. Priority is strict, as in htsim (100000 to 1); the paper has weights of 10 to 1.
#ifndef SFC_TRIMMING_P4
#define SFC_TRIMMING_P4

// Turns a header around that returns to its sender, on its second pass.
control TurnRound(inout headers_t hdr, inout metadata_t meta) {
    action turn_round() {
        ipv4_address_t receiver = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = hdr.ipv4.src_addr;
        hdr.ipv4.src_addr = receiver;
        hdr.ipv4.dscp = RETURNED_DSCP;
        hdr.ipv4.ttl = BTS_TTL;
        hdr.ipv4.total_len = TRIMMED_IPV4_BYTES;
        hdr.udp.length = TRIMMED_UDP_BYTES;
        meta.accounted_bytes = TRIMMED_FRAME_BYTES;
        truncate(TRIMMED_FRAME_BYTES);
    }

    apply {
        if (meta.own_signal == own_signal_t.returned) {
            turn_round();
        }
    }
}

control Trimming(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    Drop() drop;
    bytes_t header_limit_bytes = 0;
    bytes_t limit_bytes = 0;
    traffic_class_t class_of_headers = 0;

    action data_queue(bytes_t most_bytes, traffic_class_t header_class, bytes_t most_header_bytes) {
        limit_bytes = most_bytes;
        class_of_headers = header_class;
        header_limit_bytes = most_header_bytes;
    }

    action header_queue(bytes_t most_bytes) {
        limit_bytes = most_bytes;
    }

    action unbounded() { }

    table trimming {
        key = { meta.traffic_class: exact @name("class"); }
        actions = { data_queue; header_queue; @defaultonly unbounded; }
        const default_action = unbounded();
        size = TRAFFIC_CLASSES;
    }

    action trim() {
        hdr.ipv4.dscp = TRIMMED_DSCP;
        hdr.ipv4.total_len = TRIMMED_IPV4_BYTES;
        hdr.udp.length = TRIMMED_UDP_BYTES;
        meta.traffic_class = class_of_headers;
        std.priority = class_of_headers;
        meta.accounted_bytes = TRIMMED_FRAME_BYTES;
        truncate(TRIMMED_FRAME_BYTES);
        meta.queue = std.egress_spec ++ class_of_headers;
        queue_bytes.read(meta.queue_bytes, (bit<32>) meta.queue);
        limit_bytes = header_limit_bytes;
    }

    action return_to_sender() {
        meta.own_signal = own_signal_t.returned;
        meta.is_dropped = 1;  // this pass of the packet ends here
        resubmit_preserving_field_list(RECIRCULATE_FIELDS);
    }

    apply {
        bool is_full = false;
        switch (trimming.apply().action_run) {
            data_queue: {
                if (meta.queue_bytes + meta.accounted_bytes > limit_bytes) {
                    // A valid BTH implies the other two headers, but p4c cannot infer this.
                    if (hdr.ipv4.isValid() && hdr.udp.isValid() && hdr.bth.isValid() && !hdr.telemetry.isValid()
                        && meta.accounted_bytes > TRIMMED_FRAME_BYTES) {
                        trim();
                        trim_events.count((bit<32>) (bit<EVENT_BITS>) trim_event_t.trimmed);
                        is_full = meta.queue_bytes + meta.accounted_bytes > limit_bytes;
                    } else {
                        drop.apply(meta, std, std.egress_spec, drop_reason_t.data_queue_full);
                    }
                }
            }
            header_queue: {
                is_full = meta.queue_bytes + meta.accounted_bytes > limit_bytes;
            }
        }
        if (is_full) {
            if (hdr.ipv4.isValid() && hdr.udp.isValid() && hdr.bth.isValid() && hdr.ipv4.dscp == TRIMMED_DSCP) {
                return_to_sender();
                trim_events.count((bit<32>) (bit<EVENT_BITS>) trim_event_t.returned);
            } else {
                drop.apply(meta, std, std.egress_spec, drop_reason_t.header_queue_full);
            }
        }
    }
}

#endif
