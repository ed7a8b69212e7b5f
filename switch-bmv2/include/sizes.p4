// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Sizes of all tables and registers. Where a value is made to fit an index by masking or shifting, the number of its bits
// is the constant and the size follows from it. What the control plane needs to know stands in wire/constants.py as
// well; a test compares.
#ifndef SFC_SIZES_P4
#define SFC_SIZES_P4

#define PORT_BITS 9
#define CLASS_BITS 3
#define DSCP_BITS 6
#define PORTS (1 << PORT_BITS)
#define TRAFFIC_CLASSES (1 << CLASS_BITS)
#define DSCPS (1 << DSCP_BITS)
#define QUEUE_BITS (PORT_BITS + CLASS_BITS)
#define QUEUES (1 << QUEUE_BITS)

// Records of in-band telemetry that a packet has room for.
#define INT_HOPS 5

#define ROUTES 4096
#define NEXT_HOPS 1024
#define WATCHED_DESTINATIONS 1024

// Cells of each of the three rows of the suppression filter.
#define SUPPRESSION_BITS 14
#define SUPPRESSION_CELLS (1 << SUPPRESSION_BITS)

// Bits of what QCN tells a sender, and of the part of it that decides when the next sample comes.
#define FEEDBACK_BITS 6
#define FEEDBACK_LEVEL_BITS 3
#define FEEDBACK_LEVELS (1 << FEEDBACK_LEVEL_BITS)

// Entries of the pause cache (paper section 4, "Stateful Table Operations"), and the live ones that its ring can hold.
#define CACHE_ENTRIES 32768
#define CACHE_RING_BITS 8
#define CACHE_RING (1 << CACHE_RING_BITS)

#endif
