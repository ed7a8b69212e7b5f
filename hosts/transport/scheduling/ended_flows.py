# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which flows have ended at one NIC, received whole or sent and acknowledged to the end, and who waits for that.

It remembers only flows that somebody waits for, and does not know what a message is.
"""

from collections.abc import Iterable

from mypy_extensions import mypyc_attr

from hosts.transport.loss_recovery.base import NEVER


@mypyc_attr(allow_interpreted_subclasses=True)
class Waiter:
    """Something that waits for flows to end."""

    __slots__ = ("last_end_ns", "left")

    def __init__(self) -> None:
        self.left = 0
        """Flows that have not ended."""
        self.last_end_ns = 0

    def on_ended(self) -> None:
        """The last of them has, at `last_end_ns`."""
        raise NotImplementedError


class EndedFlows:
    """Of one NIC. A flow is known by its number and ends once."""

    __slots__ = ("_ends_ns", "_waiting")

    def __init__(self) -> None:
        self._ends_ns: dict[int, int] = {}
        """Of flows that somebody waits for, or will; NEVER: it has not ended."""
        self._waiting: dict[int, list[Waiter]] = {}

    def expect(self, flow_ids: Iterable[int]) -> None:
        """Somebody will wait for these: their ends are remembered, should they come first."""
        for flow_id in flow_ids:
            self._ends_ns.setdefault(flow_id, NEVER)

    def wait(self, flow_ids: tuple[int, ...], waiter: Waiter) -> None:
        """Tells it once all of these have ended, which may be now."""
        self.expect(flow_ids)
        for flow_id in flow_ids:
            end_ns = self._ends_ns[flow_id]
            if end_ns == NEVER:
                waiter.left += 1
                self._waiting.setdefault(flow_id, []).append(waiter)
            else:
                waiter.last_end_ns = max(waiter.last_end_ns, end_ns)
        if not waiter.left:
            waiter.on_ended()

    def note(self, flow_id: int, now_ns: int) -> None:
        """A flow has ended."""
        if flow_id not in self._ends_ns:
            return
        self._ends_ns[flow_id] = now_ns
        for waiter in self._waiting.pop(flow_id, ()):
            waiter.left -= 1
            waiter.last_end_ns = max(waiter.last_end_ns, now_ns)
            if not waiter.left:
                waiter.on_ended()
