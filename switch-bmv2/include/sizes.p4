// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Sizes of all tables and registers. If an index is computed by masking or shifting, the constant is its number of bits,
// and the size follows from it. sfc_testbed/wire/constants.py repeats the sizes that the control plane needs; a test compares
// them.
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

// Highest number of telemetry records in a packet.
#define INT_HOPS 5

#define ROUTES 16384
#define NEXT_HOPS 16384

// Members of an ECMP group that load balancing can compare, and groups.
#define MEMBER_BITS 5
#define GROUPS 4096
#define GROUP_MEMBERS (GROUPS << MEMBER_BITS)

// Cells of the flowlet table, leaves that CONGA knows, and uplinks of a leaf.
#define FLOWLET_CELLS 65536
#define LEAVES 1024
#define UPLINK_BITS 4
#define UPLINKS (1 << UPLINK_BITS)
#define LEAF_UPLINKS (LEAVES << UPLINK_BITS)

// Bits of a load in CONGA, and the lowest bits of its fields in the IPv4 identification.
#define LOAD_BITS 3
#define FEEDBACK_LOAD_LOW 0
#define FEEDBACK_UPLINK_LOW LOAD_BITS
#define HAS_FEEDBACK_LOW (FEEDBACK_UPLINK_LOW + UPLINK_BITS)
#define LOAD_LOW (HAS_FEEDBACK_LOW + 1)
#define UPLINK_LOW (LOAD_LOW + LOAD_BITS)
#define HAS_CONGA_LOW (UPLINK_LOW + UPLINK_BITS)
#define WATCHED_DESTINATIONS 16384

// Cells of each of the three rows of the suppression filter.
#define SUPPRESSION_BITS 14
#define SUPPRESSION_CELLS (1 << SUPPRESSION_BITS)

// Cells of each of the two rows of the prototype's suppression filter.
#define BANK_BITS 16
#define BANK_CELLS (1 << BANK_BITS)

// Bits of QCN's feedback, and its upper bits that determine the interval to the next sample.
#define FEEDBACK_BITS 6
#define FEEDBACK_LEVEL_BITS 3
#define FEEDBACK_LEVELS (1 << FEEDBACK_LEVEL_BITS)

// Places of the pause cache (paper section 4, "Stateful Table Operations"), and of its ring of live entries.
#define CACHE_ENTRIES 32768
#define CACHE_RING_BITS 8
#define CACHE_RING (1 << CACHE_RING_BITS)

// Virtual flows of Backpressure Flow Control, the queues of a port and class, and the numbers that a data packet can carry
// for its queue at the previous hop: queues of a switch, or flows of a NIC.
#define FLOW_BITS 14
#define VIRTUAL_FLOWS (1 << FLOW_BITS)
#define FLOW_QUEUE_BITS 7
#define FLOW_QUEUES (1 << FLOW_QUEUE_BITS)
#define PORT_FLOW_QUEUES (1 << (PORT_BITS + FLOW_QUEUE_BITS))
#define FLOW_LIST_BITS (PORT_BITS + FLOW_QUEUE_BITS)
#define IDLE_TURNS_BITS 6
#define UPSTREAM_BITS 8
// Lowest bit of that number in the Ethernet source address: its second byte (docs/wire-format.md).
#define UPSTREAM_LOW 32
#define UPSTREAM_QUEUES (1 << (PORT_BITS + UPSTREAM_BITS))

#endif
