# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hands messages to the NICs of a share as they start, so that a NIC keeps only messages that are in flight.

Both ends of a message know it before its first packet leaves. The order of events is the same as if all messages were
handed over at the beginning (`WireSchedule.start_at`). For this, some messages are indeed handed over at the beginning:
messages that wait for others, messages of NICs that stall, and the receiving side of persistent queue pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from sfc_testbed.hosts.build import incoming_message, outgoing_message
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.dilation import Dilation


class FlowStarts:
    """The messages of a run that have not started, for the NICs of a share. Flows are in order of start."""

    def __init__(
        self,
        topology: Topology,
        flows: FlowTable,
        nics: Sequence[Nic],
        dilation: Dilation,
        stalling: Collection[str] = (),
    ) -> None:
        """Hand over what must be known from the beginning; `stalling` names the hosts whose NICs stall."""
        self._topology = topology
        self._nics = {nic.address.name: (number, nic) for number, nic in enumerate(nics)}
        self._dilation = dilation
        is_here, stalls = (np.array([name in names for name in flows.hosts]) for names in (self._nics, stalling))
        is_early = stalls[flows.src]
        is_early[list(flows.waits)] = True
        is_ours = is_here[flows.src] | is_here[flows.dst]
        self._expect(flows.rows(np.flatnonzero(is_ours & (is_early | (flows.queue_pair != 0)))))
        for flow in flows.rows(np.flatnonzero(is_ours & is_early)):
            self._send(flow)
        self._later = flows.rows(np.flatnonzero(is_ours & ~is_early).astype(np.int32))
        self._next: Flow | None = None
        self.next_ns = NEVER
        """Wall time at which the next message starts; NEVER if there is none."""
        self._advance()

    def hand_over(self, until_ns: int) -> list[int]:
        """Hand over the messages that start up to and including an instant; return the numbers of their senders."""
        senders = []
        while self._next is not None and self.next_ns <= until_ns:
            if not self._next.queue_pair:
                self._expect([self._next])
            senders += self._send(self._next)
            self._advance()
        return senders

    def stop(self) -> None:
        """Hand over no further message."""
        self._next, self.next_ns = None, NEVER

    def _advance(self) -> None:
        self._next = next(self._later, None)
        self.next_ns = NEVER if self._next is None else self._dilation.wall_ns(self._next.start_ns)

    def _expect(self, flows: Iterable[Flow]) -> None:
        for flow in flows:
            if flow.dst in self._nics:
                self._nics[flow.dst][1].expect_message(incoming_message(flow, self._topology.host[flow.src].ip))

    def _send(self, flow: Flow) -> list[int]:
        if flow.src not in self._nics:
            return []
        number, nic = self._nics[flow.src]
        nic.send_message(outgoing_message(flow, self._topology.host[flow.dst].ip, self._dilation, 0))
        return [number]
