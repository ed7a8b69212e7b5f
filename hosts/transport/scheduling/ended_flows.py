# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The flows that have ended at one NIC, and the messages that wait for them.

A flow has ended if it was completely received, or sent and completely acknowledged. Only flows that a message waits
for are remembered.
"""

from collections.abc import Iterable

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER


@mypyc_attr(allow_interpreted_subclasses=True)
class Waiter:
    """An object that waits for flows to end."""

    __slots__ = ("ready_ns", "remaining")

    def __init__(self) -> None:
        self.remaining = 0
        """Number of flows that have not ended."""
        self.ready_ns = 0
        """The latest end of a flow plus its delay."""

    def on_ended(self) -> None:
        """Handle the end of the last flow. `ready_ns` may be in the future."""
        raise NotImplementedError


class EndedFlows:
    """The ended flows of one NIC and their waiters. A flow is identified by its number and ends once."""

    __slots__ = ("_ends_ns", "_waiting")

    def __init__(self) -> None:
        self._ends_ns: dict[int, int] = {}
        """Times at which expected flows ended; NEVER for a flow that has not ended."""
        self._waiting: dict[int, list[tuple[Waiter, int]]] = {}
        """Waiters for each flow, with their delays after its end."""

    def expect(self, flow_ids: Iterable[int]) -> None:
        """Remember the ends of these flows, because a waiter for them will be added later."""
        for flow_id in flow_ids:
            self._ends_ns.setdefault(flow_id, NEVER)

    def wait(self, flow_ids: tuple[int, ...], delays_ns: tuple[int, ...], waiter: Waiter) -> None:
        """Call `waiter.on_ended` once all of these flows have ended, possibly immediately."""
        self.expect(flow_ids)
        for flow_id, delay_ns in zip(flow_ids, delays_ns, strict=True):
            end_ns = self._ends_ns[flow_id]
            if end_ns == NEVER:
                waiter.remaining += 1
                self._waiting.setdefault(flow_id, []).append((waiter, delay_ns))
            else:
                waiter.ready_ns = max(waiter.ready_ns, end_ns + delay_ns)
        if not waiter.remaining:
            waiter.on_ended()

    def record_end(self, flow_id: int, now_ns: int) -> None:
        """Record the end of a flow and call the waiters that it completes."""
        if flow_id not in self._ends_ns:
            return
        self._ends_ns[flow_id] = now_ns
        for waiter, delay_ns in self._waiting.pop(flow_id, ()):
            waiter.remaining -= 1
            waiter.ready_ns = max(waiter.ready_ns, now_ns + delay_ns)
            if not waiter.remaining:
                waiter.on_ended()
