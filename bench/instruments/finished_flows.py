# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Synthetic records of hosts and switches for a run whose flows all finished, generated without moving a packet.

The random numbers come from one fixed seed. The records come flow by flow, ordered by the flows' finish times. They are
generated in batches, so that they never fill the memory and the caller can time only their use.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfc_testbed.hosts.protocol import FlowReceived, FlowSent, Goodput, Record, Signal
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from sfc_testbed.telemetry.queue_samples import SAMPLE_DTYPE, Samples
from sfc_testbed.telemetry.schema import WHOLE_BUFFER
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.targets.common.commands import SAMPLE_NS

_SEED = 1
_BATCH_FLOWS = 10_000
_BUSY_PORTS_SHARE = 0.5
_DATA_CLASS = 0
_LARGEST_DEPTH_BYTES = 300_000


def record_batches(plan: RunPlan) -> Iterator[list[Record]]:
    """Yield batches of records: for each flow its goodput, one BTS, and the final records of receiver and sender."""
    starts_us = np.array([flow.start_ns for flow in plan.flows]) / 1000
    sizes = np.array([flow.size_bytes for flow in plan.flows])
    rates_bps = np.array([plan.topology.host[flow.src].rate_bps for flow in plan.flows])
    slowdowns = 1 + np.random.default_rng(_SEED).exponential(1.0, sizes.size)
    finishes_us = starts_us + slowdowns * (plan.transport.base_rtt_ns / 1000 + 8e6 * sizes / rates_bps)
    order = np.argsort(finishes_us, kind="stable")
    for begin in range(0, order.size, _BATCH_FLOWS):
        batch = order[begin : begin + _BATCH_FLOWS]
        pairs = zip(batch.tolist(), finishes_us[batch].tolist(), strict=True)
        yield [record for index, finish_us in pairs for record in _records(plan, plan.flows[index], finish_us)]


def queue_samples(plan: RunPlan, intervals: int) -> Iterator[tuple[str, Samples]]:
    """Yield each switch's name and samples: its whole buffer and half of its ports' data queues in every interval."""
    random = np.random.default_rng(_SEED)
    for switch in plan.topology.switches:
        ports = [port.number for port in plan.topology.ports[switch.name]]
        busy = [WHOLE_BUFFER, *ports[: int(len(ports) * _BUSY_PORTS_SHARE)]]
        samples = np.zeros(intervals * len(busy), dtype=SAMPLE_DTYPE)
        samples["time_ns"] = np.repeat(plan.dilation.wall_ns(SAMPLE_NS) * np.arange(1, intervals + 1), len(busy))
        samples["port"] = np.tile(busy, intervals)
        samples["class"] = np.where(samples["port"] == WHOLE_BUFFER, WHOLE_BUFFER, _DATA_CLASS)
        samples["depth_bytes"] = random.integers(0, _LARGEST_DEPTH_BYTES, samples.size)
        samples["high_water_bytes"] = samples["depth_bytes"] + plan.transport.payload_bytes
        yield switch.name, samples


def _records(plan: RunPlan, flow: Flow, finish_us: float) -> Iterator[Record]:
    interval_us = plan.transport.goodput_interval_ns / 1000
    first, last = int(flow.start_ns / 1000 // interval_us), int(finish_us // interval_us)
    share_bytes = flow.size_bytes // (last - first + 1) + 1
    for number in range(first, last + 1):
        yield Goodput(number * interval_us, (number + 1) * interval_us, flow.flow_id, share_bytes)
    switch = plan.topology.host[flow.dst].switch
    yield Signal(finish_us - 4, finish_us - 2, flow.src, flow.flow_id, switch, "queue", 5.0, 0, True, True, finish_us)
    yield FlowReceived(flow.flow_id, ReceiverFigures(corrupted=False))
    packets = -(-flow.size_bytes // plan.transport.payload_bytes)
    yield FlowSent(flow.flow_id, finish_us, SenderFigures(packets_sent=packets, paused_us=2.0))
