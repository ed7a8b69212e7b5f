# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The counters of the P4 program: one row for each cell of a counter, shared by data plane and control plane.

`make p4` writes switch-bmv2/include/counters.p4 from these tables, and `testbed` uses them to read the counters.
`result.json` and docs/data-plane.md take names and meanings from them. To add a counter, add a row here and the line
of P4 that counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum


class Role(Enum):
    """The effect of an event on the number of frames in flight. The frame balance of a run adds these effects up."""

    DROPPED = "dropped"
    """The switch discarded a frame; result.json lists it under `drops`."""
    GENERATED = "generated"
    """The switch created a frame."""
    ABSORBED = "absorbed"
    """A frame ended in the switch as intended."""
    NEUTRAL = "neutral"
    """The number of frames did not change: no frame was involved, or one frame became another."""


class CounterEvent(IntEnum):
    """Base class of the tables. A row holds the index in the P4 counter, the role, the meaning, and the fields of
    result.json that include the count."""

    role: Role
    meaning: str
    fields: tuple[str, ...]

    def __new__(cls, index: int, role: Role, meaning: str, *fields: str) -> CounterEvent:
        event = int.__new__(cls, index)
        event._value_ = index
        event.role = role
        event.meaning = meaning
        event.fields = fields
        return event

    @property
    def label(self) -> str:
        """The name of the event in P4, in result.json and at the prompt."""
        return self.name.lower()


class DropReason(CounterEvent):
    """The reasons for which a switch drops packets."""

    MALFORMED = 0, Role.DROPPED, "a header, length or field was wrong"
    NO_ROUTE = 1, Role.DROPPED, "no route to the destination"
    TTL_EXPIRED = 2, Role.DROPPED, "the time to live ran out"
    DYNAMIC_THRESHOLD = 3, Role.DROPPED, "the queue had reached alpha times the free buffer"
    BUFFER_FULL = 4, Role.DROPPED, "the shared buffer was full"
    UNTRUSTED_SIGNAL = 5, Role.DROPPED, "a server sent a BTS or a trimmed packet"
    MAC_CONTROL = 6, Role.DROPPED, "a MAC control frame reached the pipeline"
    FOREIGN_SOURCE = 7, Role.DROPPED, "a server sent a packet with another source address than its own"
    BTS_NO_ROUTE = 8, Role.DROPPED, "there was no route to the sender for a BTS of this switch"
    DATA_QUEUE_FULL = 9, Role.DROPPED, "the data queue was full for a packet that cannot be trimmed"
    HEADER_QUEUE_FULL = 10, Role.DROPPED, "the queue of headers was full for an ACK, NACK, pull or returned header"


class CopyEvent(CounterEvent):
    """The copies of packets that become the switch's own signals.

    A signal counts as a frame from the moment its copy is made, since a restart may lose the copy before that.
    """

    MADE = 0, Role.GENERATED, "a packet was copied to make a signal"
    UNUSED = 1, Role.ABSORBED, "a copy ended, since its BTS was no longer needed"


class BtsEvent(CounterEvent):
    """The events in the life of a BTS and of cache entries."""

    SENT_QUEUE = 0, Role.NEUTRAL, "BTS sent because of this switch's queue", "bts.sent"
    SENT_CACHE = 1, Role.NEUTRAL, "BTS sent because of the pause cache", "bts.sent", "bts.cache_hits"
    SENT_ESTIMATOR = 2, Role.NEUTRAL, "BTS sent because of the incast estimator", "bts.sent"
    SUPPRESSED_QUEUE = 3, Role.NEUTRAL, "BTS because of the queue, suppressed", "bts.suppressed"
    SUPPRESSED_CACHE = 4, Role.NEUTRAL, "BTS because of the cache, suppressed", "bts.suppressed", "bts.cache_hits"
    SUPPRESSED_ESTIMATOR = 5, Role.NEUTRAL, "BTS because of the estimator, suppressed", "bts.suppressed"
    CACHE_LEARNED = 6, Role.NEUTRAL, "a passing BTS created a cache entry"
    CACHE_REFRESHED = 7, Role.NEUTRAL, "a passing BTS found a cache entry of its destination"
    CACHE_COLLISION = 8, Role.NEUTRAL, "a BTS was not stored: its place has another key, or the ring is full"
    NOT_NEEDED = 9, Role.NEUTRAL, "BTS not sent, because its queue had drained and its pause would be 0"
    SENT_FEEDBACK = 10, Role.NEUTRAL, "QCN's feedback sent to the sender of a sampled packet", "bts.sent"
    SENT_SUB_RTT = 11, Role.NEUTRAL, "Bolt's request for a smaller window sent to a sender", "bts.sent"


class PfcEvent(CounterEvent):
    """The kinds of pause frames."""

    XOFF = 0, Role.NEUTRAL, "a neighbour was paused", "pfc.sent"
    XON = 1, Role.NEUTRAL, "a neighbour was resumed", "pfc.sent"
    REFRESH = 2, Role.NEUTRAL, "a pause was sent again before it ended", "pfc.sent"
    SFC_P = 3, Role.NEUTRAL, "a BTS was converted to a pause frame", "pfc.sent"


class BfcEvent(CounterEvent):
    """The events of Backpressure Flow Control."""

    PAUSE = 0, Role.NEUTRAL, "an upstream queue was paused", "bfc.sent", "bfc.pauses"
    RESUME = 1, Role.NEUTRAL, "an upstream queue was resumed", "bfc.sent"
    REFRESH = 2, Role.NEUTRAL, "a pause of an upstream queue was sent again before it ended", "bfc.sent"
    ASSIGNED = 3, Role.NEUTRAL, "a flow that was new to the switch got a queue", "bfc.assigned"
    QUEUE_SHARED = 4, Role.NEUTRAL, "no queue was free for such a flow, so it shares that of its hash", "bfc.collisions"
    ENTRY_SHARED = 5, Role.NEUTRAL, "a packet's entry belonged to another flow", "bfc.entries_shared"
    DEQUEUE_SIGNAL = 6, Role.NEUTRAL, "a dequeue that a Tofino would have to signal to ingress", "bfc.dequeue_signals"


class QueueEvent(CounterEvent):
    """The inconsistencies of the queue state."""

    QUEUE_UNDERFLOW = 0, Role.NEUTRAL, "a packet was larger than the bytes counted in its queue, port or buffer"
    PFC_UNDERFLOW = 1, Role.NEUTRAL, "a packet was larger than the bytes counted for PFC at its input port and class"


class TrimEvent(CounterEvent):
    """The treatment of packets whose data queue was full."""

    TRIMMED = 0, Role.NEUTRAL, "a data packet was cut to its headers"
    RETURNED = 1, Role.NEUTRAL, "a header returned to its sender, because the queue of headers was full"


class IntEvent(CounterEvent):
    """The exceptions of in-band telemetry."""

    FULL = 0, Role.NEUTRAL, "a packet had telemetry of five hops, so this hop's is missing"


class PathEvent(CounterEvent):
    """The flowlets of load balancing."""

    FLOWLET_BEGUN = 0, Role.NEUTRAL, "a flow began a flowlet, so that a path was chosen"
    FLOWLET_MOVED = 1, Role.NEUTRAL, "a flowlet took another port than the flow's flowlet before it"


@dataclass(frozen=True)
class Counter:
    """A counter of the P4 program: an array with a cell for each event, or for each port and event."""

    name: str
    enum: str
    """Name of the P4 enum of its events."""
    events: type[CounterEvent]
    meaning: str
    is_per_port: bool = False
    """Whether each port has its own cells; the index is then port x 16 + event."""
    counts_bytes: bool = False

    def index(self, event: CounterEvent, port: int = 0) -> int:
        """Return the index of the cell that counts an event."""
        return port << EVENT_BITS | event if self.is_per_port else int(event)


EVENT_BITS = 4
"""Width of every event enum: a counter has 16 cells, or 16 cells for each port."""

COUNTERS = (
    Counter("drops", "drop_reason_t", DropReason, "packets dropped", is_per_port=True, counts_bytes=True),
    Counter("copy_events", "copy_event_t", CopyEvent, "copies of packets that become signals"),
    Counter("bts_events", "bts_event_t", BtsEvent, "events of BTS and of the pause cache"),
    Counter("pfc_events", "pfc_event_t", PfcEvent, "pause frames sent"),
    Counter("bfc_events", "bfc_event_t", BfcEvent, "events of Backpressure Flow Control"),
    Counter("queue_events", "queue_event_t", QueueEvent, "inconsistencies of the queue state"),
    Counter("trim_events", "trim_event_t", TrimEvent, "packets whose data queue was full"),
    Counter("int_events", "int_event_t", IntEvent, "packets without space for telemetry"),
    Counter("path_events", "path_event_t", PathEvent, "flowlets of load balancing"),
)


@dataclass(frozen=True)
class Peak:
    """A register in which the P4 program keeps a maximum. The result of a run is the highest value of any switch."""

    register: str
    index: int
    meaning: str
    field: str
    """The field of result.json."""


PEAKS = (
    Peak("suppression_state", 2, "most flows in the suppression filter in any period", "bts.max_suppression_entries"),
    Peak("cache_max_entries", 0, "most live entries of the pause cache", "bts.max_cache_entries"),
)


def events() -> Iterator[tuple[Counter, CounterEvent]]:
    """Yield every event together with its counter."""
    for counter in COUNTERS:
        for event in counter.events:
            yield counter, event
