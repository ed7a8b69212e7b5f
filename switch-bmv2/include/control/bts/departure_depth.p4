// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The prototype's queue depth for a pause: each data packet notes at its departure how far its queue is above the target, in
// cells, and a BTS reads what the last one noted, in groups of eight cells.
#ifndef SFC_DEPARTURE_DEPTH_P4
#define SFC_DEPARTURE_DEPTH_P4

// Cells above the target after the last departure from each queue. Index: port ++ class.
register<bit<32>>(QUEUES) departure_cells;

control DepartureNote(in metadata_t meta) {
    CellsOfBytes() cells_of_depth;
    CellsOfBytes() cells_of_target;
    bit<32> depth_cells;
    bit<32> target_cells;

    apply {
        cells_of_depth.apply(meta.queue_bytes, depth_cells);
        cells_of_target.apply(meta.bts.q_tg_bytes, target_cells);
        departure_cells.write((bit<32>) meta.queue, depth_cells |-| target_cells);
    }
}

control DepartureRead(in metadata_t meta, out bytes_t excess_bytes) {
    bit<32> cells;

    apply {
        departure_cells.read(cells, (bit<32>) (meta.bts.port ++ meta.bts.traffic_class));
        excess_bytes = (cells >> CELL_GROUP_BITS) * CELL_GROUP_BYTES;
    }
}

#endif
