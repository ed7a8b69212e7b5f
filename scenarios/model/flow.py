# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flows: a flow is one message, on its own queue pair or on a persistent one between two hosts. Model units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_SIZE_BYTES = 10_000_000_000
"""The largest message, in bytes."""
MAX_TAG_CHARACTERS = 255
MAX_QUEUE_PAIRS = 10_000
"""The largest number of persistent queue pairs from one host to another."""


@dataclass(frozen=True, slots=True)
class FlowRequest:
    """A message that a workload requests. It is ready to be sent `start_ns` after the start of the run.

    A message that waits for others (`after`) is ready `delay_ns` after its source has seen the last of them end, but
    not before `start_ns`. With a delay for each of them, it is ready when every one of these delays has passed. A
    message ends at its destination when the destination has received all of it. It ends at its source when all of it is
    acknowledged. The waiting host therefore knows from its own events when to begin.
    """

    src: str
    dst: str
    size_bytes: int
    start_ns: int
    tag: str
    queue_pair: int = field(default=0, kw_only=True)
    """The number of the persistent queue pair between these hosts, from 1; its messages are sent one after another.
    0: the flow has its own queue pair."""
    after: tuple[int, ...] = field(default=(), kw_only=True)
    """The messages that this message waits for, as positions in the same list, from 1. The source of this message must
    be the source or the destination of each of them."""
    delay_ns: int | tuple[int, ...] = field(default=0, kw_only=True)
    """Time from the end of the last message in `after` until this message is ready, or a time for each of them."""
    job: int = field(default=0, kw_only=True)
    """The number of the job that the message belongs to, from 1; 0: none, and the next three fields are 0."""
    iteration: int = field(default=0, kw_only=True)
    """The number of the job's iteration, from 1."""
    step: int = field(default=0, kw_only=True)
    """The number of the step in the iteration, from 1."""
    rank: int = field(default=0, kw_only=True)
    """The rank of the source in the job, from 0."""

    @property
    def delays_ns(self) -> tuple[int, ...]:
        """The delay after each message in `after`."""
        return self.delay_ns if isinstance(self.delay_ns, tuple) else (self.delay_ns,) * len(self.after)


def joined_delay_ns(delays_ns: Sequence[int]) -> int | tuple[int, ...]:
    """Return a field `delay_ns` from the delay after each message in `after`: one number if they are equal."""
    return delays_ns[0] if len(set(delays_ns)) == 1 else tuple(delays_ns) or 0


@dataclass(frozen=True, slots=True)
class Flow(FlowRequest):
    """A request with its flow number (its position in the list) and the queue pair numbers at both ends."""

    flow_id: int
    source_qpn: int
    destination_qpn: int
