# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings of a NIC: what a person may choose, in model units, and their translation to wall units.

This module does not know what the parameters of an algorithm mean: it translates them by the unit in their names.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from hosts.transport.congestion import CONGESTION_CONTROLS
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from wire.constants import DEFAULT_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES
from wire.dilation import Dilation
from wire.input.nearest import nearest
from wire.input.validation import (
    Bytes,
    Nanoseconds,
    PositiveBytes,
    PositiveCount,
    PositiveNanoseconds,
    PositiveRate,
    Rate,
    RoundTrip,
    check_fields,
    check_values,
)
from wire.int_header import MOST_TELEMETRY_BYTES
from wire.roce.packets import data_frame_bytes

Record = TypeVar("Record")

PayloadBytes = Annotated[int, Field(ge=1, le=MAX_PAYLOAD_BYTES)]
Dscp = Annotated[int, Field(ge=0, le=63)]


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """How a NIC behaves. Durations and rates are model units; `dilated` gives the wall values the engine uses."""

    line_rate_bps: PositiveRate = 100_000_000_000
    """Rate of the NIC's one wire (bits/s). Ethernet frame bytes without preamble, gap and FCS count. In a network of
    mixed rates that of the fastest host: no NIC is faster than its own link."""

    base_rtt_ns: RoundTrip = 10_000
    """Round trip of the longest path with empty queues: the T of window and rate computations."""

    shortest_rtt_ns: Nanoseconds = 0
    """What no round trip in the network is shorter than, between near hosts: an acknowledgement that follows a resent
    packet sooner is for its first sending."""

    bdp_bytes: Bytes = 0
    """Bytes that fill the longest path, the W_init of windows; 0: line rate x base RTT. In a network of mixed rates
    those of the pair of hosts that has the most."""

    bdp_of_nics: Mapping[str, PositiveBytes] = field(default_factory=dict)
    """In a network of mixed rates: by the rate of a NIC (bits/s, as text) the bytes that fill the longest path at that
    rate, in place of bdp_bytes. A NIC whose rate is not named has bdp_bytes."""

    full_queue_ns: Nanoseconds = 310_000
    """How long the deepest queue of a switch takes to drain, for timeouts. The default makes IRN's RTO_high the 320 us
    of its paper."""

    payload_bytes: PayloadBytes = DEFAULT_PAYLOAD_BYTES
    """Message bytes in a full data packet (the MTU of the RDMA world)."""

    congestion: str = "none"
    """Row of CONGESTION_CONTROLS."""

    flow_control: str = "none"
    """Row of FLOW_CONTROLS."""

    loss_recovery: str = "go-back-n"
    """Row of LOSS_RECOVERIES."""

    congestion_parameters: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the chosen congestion control's Parameters that differ from their defaults."""

    flow_control_parameters: Mapping[str, Any] = field(default_factory=dict)
    """The same for the flow control."""

    loss_recovery_parameters: Mapping[str, Any] = field(default_factory=dict)
    """The same for the loss recovery."""

    rto_ns: PositiveNanoseconds = 4_000_000
    """Retransmission timeout of go-back-N. Keep it above RTT + Q_max / R (docs/sources.md#go-back-n)."""

    retry_limit: PositiveCount = 64
    """Timeouts in a row, nothing new acknowledged, that a queue pair lives through; at the next one it gives up all its
    messages. IBTA allows 7 at most, of a timeout that may be tens of ms; here timeouts are some round trips."""

    max_pause_ns: PositiveNanoseconds = 10_000_000
    """Longest pause one signal may ask for; a longer one is cut to this (the design's bounded obedience)."""

    ack_every: PositiveCount = 1
    """Ask for an acknowledgement on every n-th packet, and on the last of a message or window."""

    congestion_notice: Literal["acknowledgement", "cnp"] = "acknowledgement"
    """How a receiver tells of marked packets: "acknowledgement" in the packet's own ACK, as in the HPCC simulator, so
    that the sender hears of each; "cnp" by packets of their own, as RoCEv2's NICs do (docs/sources.md#dcqcn)."""

    ack_priority: Literal["control", "data"] = "control"
    """Class of ACKs, NAKs and pulls: "control" above the data, or "data" with it, so that they wait in its queues and
    pauses (ACK_HIGH_PRIO of the HPCC simulator, which differs by congestion control; docs/sources.md#priority-of-acks).
    A NIC sends those that wait before its own data in either."""

    cnp_interval_ns: Nanoseconds = 4_000
    """Shortest time between two CNPs of one queue pair (NVIDIA's min_time_between_cnps)."""

    receiver_rate_bps: Rate = 0
    """How fast the host takes data packets from the NIC (bits/s of frames); 0: as fast as they come."""

    receiver_buffer_bytes: PositiveBytes = 500_000
    """Room for data packets that a slow receiver has not taken yet. With a flow control that obeys 802.1Qbb the NIC
    asks for a pause above half of it and for more below a quarter."""

    program_dscp: Dscp | None = None
    """DSCP put on the packets of ordinary programs, so that they share a class with the flows; None leaves theirs."""

    program_queue_bytes: PositiveBytes = 250_000
    """Room for the packets of each 5-tuple of the host's ordinary programs: two BDP."""

    goodput_interval_ns: PositiveNanoseconds = 100_000
    """Interval of the goodput trace. At least 1. A run with flows derives it from their length."""

    cc_trace_ns: Nanoseconds = 0
    """Shortest time between two rows of a flow in the trace of congestion controls, cc.parquet; 0: there is none."""

    verify: bool = True
    """Check the invariant CRC of every packet and the CRC of every message."""

    @property
    def largest_frame_bytes(self) -> int:
        """Of a data packet at its end: full, its immediate data and all the telemetry that a packet can carry.

        Fewer switches write into it on most paths, and none without HPCC; but routes and schemes may change in a run.
        """
        return data_frame_bytes(self.payload_bytes, is_last=True) + MOST_TELEMETRY_BYTES

    def __post_init__(self) -> None:
        check_fields(self)
        congestion = row_of(CONGESTION_CONTROLS, self.congestion, "congestion control")
        flow_control = row_of(FLOW_CONTROLS, self.flow_control, "flow control")
        loss_recovery = row_of(LOSS_RECOVERIES, self.loss_recovery, "loss recovery")
        build_parameters(congestion.Parameters, self.congestion_parameters, Dilation())
        build_parameters(flow_control.Parameters, self.flow_control_parameters, Dilation())
        build_parameters(loss_recovery.Parameters, self.loss_recovery_parameters, Dilation())

    @classmethod
    def from_dict(cls, chosen: Mapping[str, Any]) -> "TransportSettings":
        """From names and values, as in a file. Raises ValueError for an unknown name, algorithm or parameter."""
        return build_parameters(cls, chosen, Dilation())

    def as_dict(self) -> dict[str, Any]:
        """Plain values that `from_dict` takes and JSON can hold."""
        return asdict(self)

    def of_nic(self, link_bps: int) -> "TransportSettings":
        """The same for one NIC, model units: no faster than its link, and with the BDP of its own rate."""
        own_bps = min(self.line_rate_bps, link_bps)
        bdp_bytes = self.bdp_of_nics.get(str(own_bps), self.bdp_bytes)
        return replace(self, line_rate_bps=own_bps, bdp_bytes=bdp_bytes, bdp_of_nics={})

    def dilated(self, dilation: Dilation) -> "TransportSettings":
        """The same settings in wall units, algorithm parameters left alone (see `build_parameters`)."""
        return dilate(self, dilation)


def dilate(record: Record, dilation: Dilation) -> Record:
    """A frozen dataclass with its `*_ns` fields multiplied and its `*_bps` fields divided by the dilation.

    0 and None mean "derive it" or "off" by convention and stay as they are. Bounds are of model units and are not asked
    of the result.
    """
    dilated = record.__new__(type(record))
    for item in fields(record):  # type: ignore[arg-type]
        value = getattr(record, item.name)
        if value and item.name.endswith("_ns"):
            value = dilation.wall_ns(value)
        elif value and item.name.endswith("_bps"):
            value = dilation.wall_bps(value)
        object.__setattr__(dilated, item.name, value)
    return dilated


def build_parameters(kind: type[Record], chosen: Mapping[str, Any], dilation: Dilation) -> Record:
    """The Parameters of an algorithm from what a person chose, in wall units. ValueError for a wrong name or value."""
    known = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(chosen) - known)
    if unknown:
        there_are = f"{', '.join(sorted(known)) or 'none'}{nearest(unknown[0], known)}"
        raise ValueError(f"unknown parameter {', '.join(unknown)}; known are: {there_are}")
    check_values(kind, chosen)
    return dilate(kind(**chosen), dilation)


def row_of(table: Mapping[str, Record], name: str, title: str) -> Record:
    """The row of an algorithm table. Raises ValueError that lists the known names."""
    if name not in table:
        raise ValueError(f"unknown {title} {name!r}; known are: {', '.join(table)}{nearest(name, table)}")
    return table[name]
