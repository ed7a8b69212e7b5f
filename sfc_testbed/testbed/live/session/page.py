# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Shows a session's network on a page: its messages, the signals of hosts, and the samples of its switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from sfc_testbed.hosts.protocol import FlowReceived, FlowSent, Record, Signal
from sfc_testbed.telemetry.flow_parts import PLANNED, RECEIVED, SENT
from sfc_testbed.telemetry.queue_samples import samples_file
from sfc_testbed.telemetry.schema import SIGNALS
from sfc_testbed.telemetry.writer import row_values
from sfc_testbed.testbed.live.run import LiveNetwork
from sfc_testbed.testbed.live.session.journal import Journal, Message
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.watch.watch import watching

_SCHEMAS = {Signal: SIGNALS, FlowSent: SENT, FlowReceived: RECEIVED}
_VALUES = {kind: row_values(schema) for kind, schema in _SCHEMAS.items()}


class SessionPage:
    """The page of one session, until `close`. The journal tells it about new messages and records."""

    def __init__(self, network: LiveNetwork) -> None:
        self._network = network
        self._samples = {switch.name: network.logs / samples_file(switch.name) for switch in network.switches}
        self._resources = ExitStack()
        self.watch = self._resources.enter_context(watching(self._samples))

    def begin(self, plan: RunPlan, start_ns: int, journal: Journal) -> None:
        """Show the network from model time 0 of its NICs, which is at `start_ns` on CLOCK_MONOTONIC."""
        config = plan.config
        title = f"{config.topology} network · {config.variant}"
        self.watch.feed.begin(plan, title, PLANNED.empty())
        self.watch.feed.start(self._samples, start_ns - self._network.epoch_ns, start_ns)
        journal.follow(self)

    def close(self, tell: Callable[[str], None]) -> None:
        """End the page. `tell` receives a line if it ended before."""
        if self.watch.trouble is not None:
            tell(f"the page of the network ended early: {self.watch.trouble}")
        self.watch.end("The network was removed.")
        self._resources.close()

    def messages(self, messages: Sequence[Message]) -> None:
        """Show new messages."""
        flows = [message.flow for message in messages]
        if flows:
            self.watch.feed.plan(
                {
                    "flow_id": [flow.flow_id for flow in flows],
                    "src": [flow.src for flow in flows],
                    "dst": [flow.dst for flow in flows],
                    "size_bytes": [flow.size_bytes for flow in flows],
                    "start_us": [flow.start_ns / 1000 for flow in flows],
                    "ideal_fct_us": [message.ideal_us for message in messages],
                }
            )

    def records(self, records: Sequence[Record]) -> None:
        """Show records of hosts."""
        for record in records:
            kind = type(record)
            if kind in _SCHEMAS:
                self.watch.feed.add(_SCHEMAS[kind].name, _VALUES[kind](record))
        self.watch.feed.flush()
