# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The reports of a NIC to its caller: events and its state. Times are wall ns, except those of figures."""

from dataclasses import dataclass

from sfc_testbed.hosts.transport.congestion.trace import CongestionState
from sfc_testbed.hosts.transport.messages import BtsReceived, Goodput, MessageReceived, ProgramFlowState
from sfc_testbed.hosts.transport.transmission import Transmission

Event = Transmission | MessageReceived | Goodput | BtsReceived | CongestionState


@dataclass(frozen=True, slots=True)
class SendingState:
    """The state of an unfinished message at its sender, with the limits of its queue pair."""

    transmission: Transmission
    acknowledged_bytes: int
    """Acknowledged bytes of the message, from its start; full packets, so it may exceed the message's size."""
    in_flight_bytes: int
    """Bytes of the queue pair that were sent and are neither acknowledged nor considered lost."""
    paused_until_ns: int
    """End of the queue pair's pause; may be in the past. 0: all packets of the message were sent."""
    window_bytes: int
    """Maximum number of bytes that the queue pair may have in flight."""
    rate_bps: int


@dataclass(frozen=True, slots=True)
class NicState:
    """The state of a NIC."""

    messages: list[SendingState]
    """Messages that have begun but are not completely acknowledged."""
    programs: list[ProgramFlowState]
    """5-tuples of programs that have queued frames or are paused."""
    class_paused_until_ns: int
    """End of the 802.1Qbb pause of the data class; may be in the past."""
