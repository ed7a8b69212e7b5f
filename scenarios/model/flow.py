# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A flow: one message, on a queue pair of its own or on one that stands between two hosts. Model units."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_SIZE_BYTES = 10_000_000_000
"""Of a message."""
MAX_TAG_CHARACTERS = 255
MAX_QUEUE_PAIRS = 10_000
"""That stand from one host to another."""


@dataclass(frozen=True, slots=True)
class FlowRequest:
    """What a workload asks for: `start_ns` is when the message is ready to be pushed, from the start of the run.

    One that waits for others (`after`) is ready `delay_ns` after the last of them has ended at its source, but not
    before `start_ns`. A message ends at its destination when that has all of it, and at its source when all of it is
    acknowledged; so the host that must begin knows by itself when to.
    """

    src: str
    dst: str
    size_bytes: int
    start_ns: int
    tag: str
    queue_pair: int = field(default=0, kw_only=True)
    """Which of the queue pairs that stand between these hosts, from 1: its messages go one after the other. 0: the
    flow has one of its own."""
    after: tuple[int, ...] = field(default=(), kw_only=True)
    """Messages that it waits for, by their places in the list that it is in, from 1. Each comes to its source, or goes
    from there."""
    delay_ns: int = field(default=0, kw_only=True)
    """From the end of the last of these until it is ready."""


@dataclass(frozen=True, slots=True)
class Flow(FlowRequest):
    """A request with its number, which is its place, and its queue pair's numbers at both ends."""

    flow_id: int
    source_qpn: int
    destination_qpn: int
