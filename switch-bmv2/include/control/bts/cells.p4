// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Cells of the shared buffer, the unit in which the prototype measures queues (docs/decisions/0013-the-prototypes-program.md).
#ifndef SFC_CELLS_P4
#define SFC_CELLS_P4

#define CELL_BYTES 176
#define CELL_GROUP_BITS 3     // the prototype reads a depth in groups of eight cells
#define CELL_GROUP_BYTES (CELL_BYTES << CELL_GROUP_BITS)
#define MOST_CELLS 0x7ffff    // Tofino 2 reports a depth in 19 bits

// Whole cells of a number of bytes. 176 is 16 x 11, and the product divides by 11, exactly for 32 bits.
control CellsOfBytes(in bytes_t depth_bytes, out bit<32> cells) {
    apply {
        cells = (bit<32>) (((bit<64>) (depth_bytes >> 4) * 64w0xBA2E8BA3) >> 35);
        if (cells > MOST_CELLS) {
            cells = MOST_CELLS;
        }
    }
}

#endif
