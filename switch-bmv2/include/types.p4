// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Types named after their meaning.
#ifndef SFC_TYPES_P4
#define SFC_TYPES_P4

#include "sizes.p4"

typedef bit<48> mac_address_t;
typedef bit<32> ipv4_address_t;
typedef bit<PORT_BITS> port_t;
typedef bit<CLASS_BITS> traffic_class_t;
typedef bit<DSCP_BITS> dscp_t;
typedef bit<QUEUE_BITS> queue_index_t;   // port ++ class
typedef bit<48> time_us_t;       // microseconds of the switch's clock
typedef bit<32> duration_us_t;
typedef bit<32> bytes_t;
typedef bit<16> group_t;
typedef bit<FLOW_QUEUE_BITS> flow_queue_t;
typedef bit<FLOW_LIST_BITS> flow_list_t;     // egress port ++ queue
typedef bit<FLOW_QUEUES> flow_queue_set_t;   // a bit for each queue
typedef bit<UPSTREAM_BITS> upstream_queue_t;
typedef bit<UPLINKS> uplink_set_t;           // a bit for each uplink of a leaf

#endif
