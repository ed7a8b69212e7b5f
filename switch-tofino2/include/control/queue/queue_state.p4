// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Queue state at ingress. The traffic manager reports each change of a queue's depth to a ghost thread, which shares the
// register of ingress. The compiler makes two of it, which both use in turn, so that they never use the same one.
#ifndef SFC_T2_QUEUE_STATE_P4
#define SFC_T2_QUEUE_STATE_P4

#ifdef WITH_TRIGGER

// Cells in each queue.
Register<cells_t, bit<QUEUE_NUMBER_BITS>>(QUEUE_NUMBERS, 0) queue_cells;

control GhostQueues(in ghost_intrinsic_metadata_t ghost) {
    RegisterAction<cells_t, bit<QUEUE_NUMBER_BITS>, cells_t>(queue_cells) note = {
        void apply(inout cells_t cells) {
            cells = (cells_t) ghost.qlength;
        }
    };

    apply {
        note.execute(ghost.pipe_id ++ ghost.qid);
    }
}

control QueueRead(inout ingress_metadata_t meta, in PortId_t port) {
    RegisterAction<cells_t, bit<QUEUE_NUMBER_BITS>, cells_t>(queue_cells) read = {
        void apply(inout cells_t cells, out cells_t depth) {
            depth = cells;
        }
    };

    action set_queue(bit<QUEUE_NUMBER_BITS> number) {
        meta.queue_number = number;
    }

    // The traffic manager's number of a queue.
    table queue_number {
        key = {
            port: exact @name("port");
            meta.traffic_class: exact @name("class");
        }
        actions = { set_queue; }
        default_action = set_queue(QUEUE_NUMBERS - 1);
        size = WATCHED_QUEUES;
    }

    apply {
        queue_number.apply();
        meta.depth_cells = read.execute(meta.queue_number);
    }
}

#else

control GhostQueues(in ghost_intrinsic_metadata_t ghost) {
    apply { }
}

control QueueRead(inout ingress_metadata_t meta, in PortId_t port) {
    apply {
        meta.depth_cells = 0;
    }
}

#endif

#endif
