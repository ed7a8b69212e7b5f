// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Queue state at ingress (paper section 3.1, A.1): bytes per (port, class) and bytes of the whole shared buffer. Ingress
// adds when it lets a packet in, egress takes when the packet starts on the wire; both pipelines share the registers.
#ifndef SFC_QUEUE_STATE_P4
#define SFC_QUEUE_STATE_P4

// Bytes in each queue. Index: port ++ class. Written by QueueJoin and QueueLeave, read by QueueRead and BtsBuilder.
register<bytes_t>(QUEUES) queue_bytes;

// Bytes in all queues, one cell. Written by QueueJoin and QueueLeave, read by QueueRead.
register<bytes_t>(1) buffer_bytes;

control QueueRead(inout metadata_t meta, in standard_metadata_t std) {
    apply {
        meta.queue = std.egress_spec ++ meta.traffic_class;
        queue_bytes.read(meta.queue_bytes, (bit<32>) meta.queue);
        buffer_bytes.read(meta.buffer_bytes, 0);
    }
}

// The two pipelines may run at once (they do on BMv2, which locks an action's registers while the action runs), so each
// read and its write stand in one action: what another packet did to the queue since QueueRead must not be lost.
control QueueJoin(in metadata_t meta) {
    action join() {
        bytes_t depth;
        bytes_t used;
        queue_bytes.read(depth, (bit<32>) meta.queue);
        queue_bytes.write((bit<32>) meta.queue, depth + meta.accounted_bytes);
        buffer_bytes.read(used, 0);
        buffer_bytes.write(0, used + meta.accounted_bytes);
    }

    apply {
        join();
    }
}

control QueueLeave(in metadata_t meta) {
    action leave() {
        bytes_t depth;
        bytes_t used;
        queue_bytes.read(depth, (bit<32>) meta.queue);
        queue_bytes.write((bit<32>) meta.queue, depth - meta.accounted_bytes);
        buffer_bytes.read(used, 0);
        buffer_bytes.write(0, used - meta.accounted_bytes);
    }

    apply {
        leave();
    }
}

#endif
