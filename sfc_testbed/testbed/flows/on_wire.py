# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The header fields by which the packets of a flow are recognised."""

from __future__ import annotations

from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.telemetry.captures.flow_packets import FlowOnWire
from sfc_testbed.topologies.model import Topology


def on_wire(flows: FlowTable, number: int, topology: Topology, payload_bytes: int) -> FlowOnWire:
    """Return how the packets of flow `number` are recognised.

    The PSNs of messages on one queue pair continue from message to message.
    """
    flow, earlier = flows[number - 1], slice(number - 1)
    is_on_same_pair = (flows.src[earlier] == flows.src[number - 1]) & (flows.source_qpn[earlier] == flow.source_qpn)
    sizes_bytes = flows.size_bytes[earlier][is_on_same_pair]
    return FlowOnWire(
        source_ip=topology.host[flow.src].ip.packed,
        destination_ip=topology.host[flow.dst].ip.packed,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        first_psn=int((-(-sizes_bytes // payload_bytes)).sum()),
        packets=-(-flow.size_bytes // payload_bytes),
    )
