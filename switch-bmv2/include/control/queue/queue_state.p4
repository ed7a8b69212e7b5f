// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Queue state at ingress (paper section 3.1, A.1): bytes per (port, class), per port, and of the whole shared buffer.
// Ingress adds a packet that it admits; egress subtracts it when it starts on the wire. They share the registers.
#ifndef SFC_QUEUE_STATE_P4
#define SFC_QUEUE_STATE_P4

// Bytes in each queue. Index: port ++ class.
register<bytes_t>(QUEUES) queue_bytes;

// Bytes in all queues of a port. Index: port.
register<bytes_t>(PORTS) port_bytes;

// Bytes in all queues, one cell.
register<bytes_t>(1) buffer_bytes;

control QueueRead(inout metadata_t meta, in standard_metadata_t std) {
    apply {
        meta.queue = std.egress_spec ++ meta.traffic_class;
        queue_bytes.read(meta.queue_bytes, (bit<32>) meta.queue);
        buffer_bytes.read(meta.buffer_bytes, 0);
    }
}

// The two pipelines may run at once. They do on BMv2, which locks an action's registers while the action runs. Each read
// and its write are therefore in one action, so that no change by another packet since QueueRead is lost.
control QueueJoin(inout metadata_t meta) {
    bytes_t held;

    action join() {
        queue_bytes.read(held, (bit<32>) meta.queue);
        queue_bytes.write((bit<32>) meta.queue, held + meta.accounted_bytes);
        port_bytes.read(held, (bit<32>) (meta.queue >> CLASS_BITS));
        port_bytes.write((bit<32>) (meta.queue >> CLASS_BITS), held + meta.accounted_bytes);
        buffer_bytes.read(held, 0);
        buffer_bytes.write(0, held + meta.accounted_bytes);
    }

    apply {
        join();
    }
}

// Stores the depths without this packet in meta.queue_bytes, meta.port_bytes and meta.buffer_bytes. If a register was reset
// while the packet was queued, the subtraction stops at 0. Otherwise the depth would wrap to 4 GB, and all further packets
// would be dropped.
control QueueLeave(inout metadata_t meta) {
    bytes_t held = 0;
    bytes_t missing = 0;

    action leave() {
        queue_bytes.read(held, (bit<32>) meta.queue);
        missing = meta.accounted_bytes |-| held;
        meta.queue_bytes = held |-| meta.accounted_bytes;
        queue_bytes.write((bit<32>) meta.queue, meta.queue_bytes);
        port_bytes.read(held, (bit<32>) (meta.queue >> CLASS_BITS));
        missing = missing | (meta.accounted_bytes |-| held);
        meta.port_bytes = held |-| meta.accounted_bytes;
        port_bytes.write((bit<32>) (meta.queue >> CLASS_BITS), meta.port_bytes);
        buffer_bytes.read(held, 0);
        missing = missing | (meta.accounted_bytes |-| held);
        meta.buffer_bytes = held |-| meta.accounted_bytes;
        buffer_bytes.write(0, meta.buffer_bytes);
    }

    apply {
        leave();
        if (missing != 0) {
            queue_events.count((bit<32>) (bit<EVENT_BITS>) queue_event_t.queue_underflow);
        }
    }
}

#endif
