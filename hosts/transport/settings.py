# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings of a NIC in model units, and their conversion to wall units.

Parameters of algorithms are converted by the unit in their names; this module does not know their meaning.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.request.checks import (
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
from sfc_testbed.request.shown import nearest
from sfc_testbed.wire.constants import DEFAULT_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import MOST_TELEMETRY_BYTES
from sfc_testbed.wire.roce.packets import data_frame_bytes

Record = TypeVar("Record")

PayloadBytes = Annotated[int, Field(ge=1, le=MAX_PAYLOAD_BYTES)]
Dscp = Annotated[int, Field(ge=0, le=63)]


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Settings of a NIC. Durations and rates are in model units; `dilate` returns the wall values of the engine."""

    line_rate_bps: PositiveRate = 100_000_000_000
    """Line rate of the NIC (bits/s), for Ethernet frames without preamble, gap and FCS. In a network of mixed rates it
    is the rate of the fastest host; no NIC sends faster than its own link."""
    base_rtt_ns: RoundTrip = 10_000
    """Round-trip time of the longest path with empty queues, the T of window and rate computations."""
    shortest_rtt_ns: Nanoseconds = 0
    """Shortest possible round-trip time in the network. An acknowledgement that follows a resent packet sooner is for
    the packet's first transmission."""
    bdp_bytes: Bytes = 0
    """Bandwidth-delay product (BDP) of the longest path, the W_init of windows; 0: line rate x base RTT. In a network
    of mixed rates it is the largest of all pairs of hosts."""
    bdp_of_nics: Mapping[str, PositiveBytes] = field(default_factory=dict)
    """BDP of NICs in a network of mixed rates, which replaces bdp_bytes. Keys are NIC rates (bits/s, as text). A NIC
    whose rate is not listed uses bdp_bytes."""
    full_queue_ns: Nanoseconds = 310_000
    """Time to drain the deepest queue of a switch, from which timeouts are derived. The default yields an IRN RTO_high
    of 320 us, as in the IRN paper."""
    payload_bytes: PayloadBytes = DEFAULT_PAYLOAD_BYTES
    """Message bytes in a full data packet (the path MTU in RDMA terms)."""
    congestion: str = "none"
    """Name of the congestion control (a key of CONGESTION_CONTROLS)."""
    flow_control: str = "none"
    """Name of the flow control (a key of FLOW_CONTROLS)."""
    loss_recovery: str = "go-back-n"
    """Name of the loss recovery (a key of LOSS_RECOVERIES)."""
    load_balancing: str = "flow"
    """Name of the hosts' load balancing (a key of LOAD_BALANCINGS), which chooses the entropy of each data packet."""
    congestion_parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the congestion control that differ from their defaults."""
    flow_control_parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the flow control that differ from their defaults."""
    loss_recovery_parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the loss recovery that differ from their defaults."""
    load_balancing_parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the hosts' load balancing that differ from their defaults."""
    rto_ns: PositiveNanoseconds = 4_000_000
    """Retransmission timeout of go-back-N. Keep it above RTT + Q_max / R (docs/sources.md#go-back-n)."""
    retry_limit: PositiveCount = 64
    """Number of consecutive timeouts without new acknowledgements after which a queue pair still retries. At the next
    timeout it gives up all its messages. IBTA allows 7 at most, but with timeouts of up to tens of ms; here a timeout
    is a few round trips."""
    max_pause_ns: PositiveNanoseconds = 10_000_000
    """Longest pause that one signal can cause; longer pauses are shortened to this."""
    ack_every: PositiveCount = 1
    """Request an acknowledgement on every n-th packet, and on the last packet of a message or window."""
    congestion_notice: Literal["acknowledgement", "cnp"] = "acknowledgement"
    """How a receiver reports ECN marks. "acknowledgement": in the packet's ACK, as in the HPCC simulator, so that the
    sender learns of every mark. "cnp": in separate CNPs, as RoCEv2 NICs do (docs/sources.md#dcqcn)."""
    ack_priority: Literal["control", "data"] = "control"
    """Traffic class of ACKs, NAKs and pulls. "control": above the data. "data": the data class, so that they share its
    queues and pauses. This is ACK_HIGH_PRIO of the HPCC simulator, which depends on the congestion control
    (docs/sources.md#priority-of-acks). In both cases a NIC sends waiting ACKs before its own data."""
    int_layout: Literal["growing", "compact"] = "growing"
    """Layout of in-band telemetry. "growing": each switch adds a record of 16 bytes. "compact": the sender writes five
    empty slots of 8 bytes with the fields of the HPCC paper, and each switch fills one, so that all packets have one
    length (docs/sources.md#hpcc). Not used unless the congestion control needs telemetry."""
    int_path: bool = False
    """Whether in-band telemetry names the path of each packet, so that HPCC and PowerTCP do not compare the telemetry
    of different links if the packets of a flow take different paths. A load balancing that changes paths sets it."""
    link_rates_bps: Annotated[tuple[PositiveRate, ...], Field(strict=False)] = ()
    """The different rates of the network's links, from the lowest, to which the rate codes of the compact layout refer.
    It cannot be set."""
    cnp_interval_ns: Nanoseconds = 4_000
    """Shortest time between two CNPs of one queue pair (NVIDIA's min_time_between_cnps)."""
    receiver_rate_bps: Rate = 0
    """Rate at which the host takes data packets from the NIC (bits/s of frames); 0: as fast as they arrive."""
    receiver_buffer_bytes: PositiveBytes = 500_000
    """Buffer for data packets that a slow receiver has not processed yet. With a flow control that obeys 802.1Qbb, the
    NIC pauses its switch port when more than half is used and resumes it below a quarter."""
    program_dscp: Dscp | None = None
    """DSCP for the packets of ordinary programs, so that they share a class with the flows; None keeps their DSCP."""
    program_queue_bytes: PositiveBytes = 250_000
    """Queue size for each 5-tuple of the host's ordinary programs; the default is two BDP."""
    goodput_interval_ns: PositiveNanoseconds = 100_000
    """Interval of the goodput trace, at least 1 ns. A run with flows derives it from the length of the flows."""
    cc_trace_ns: Nanoseconds = 0
    """Shortest time between two rows of a flow in the congestion control trace, cc.parquet; 0: no trace."""
    verify: bool = True
    """Check the invariant CRC of every packet and the CRC of every message."""

    @property
    def largest_frame_bytes(self) -> int:
        """Size of the largest possible data frame: full payload, immediate data and the maximum telemetry.

        On most paths fewer switches add telemetry, and none without HPCC, but routes and schemes may change in a run.
        """
        return data_frame_bytes(self.payload_bytes, is_last=True) + MOST_TELEMETRY_BYTES

    def __post_init__(self) -> None:
        check_fields(self)
        for name, algorithm in algorithms_of(self).items():
            build_parameters(algorithm.Parameters, getattr(self, f"{name}_parameters"), Dilation())

    @classmethod
    def from_dict(cls, chosen: Mapping[str, Any]) -> "TransportSettings":
        """Return settings from names and values. Raises ValueError for an unknown name, algorithm or parameter."""
        rates = {name: tuple(value) for name, value in chosen.items() if name == "link_rates_bps"}  # JSON has lists
        return build_parameters(cls, {**chosen, **rates}, Dilation())

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-compatible values, which `from_dict` accepts."""
        return {**asdict(self), "link_rates_bps": list(self.link_rates_bps)}

    def of_nic(self, link_bps: int) -> "TransportSettings":
        """Return the settings of one NIC (model units), with a rate limited by its link and the BDP of that rate."""
        nic_rate_bps = min(self.line_rate_bps, link_bps)
        bdp_bytes = self.bdp_of_nics.get(str(nic_rate_bps), self.bdp_bytes)
        return replace(self, line_rate_bps=nic_rate_bps, bdp_bytes=bdp_bytes, bdp_of_nics={})

    def at_rate(self, link_bps: int) -> "TransportSettings":
        """Return the settings of a NIC (model units) whose link has negotiated another rate; the BDP follows."""
        nic_rate_bps = min(self.line_rate_bps, link_bps)
        bdp_bytes = self.bdp_bytes * nic_rate_bps // self.line_rate_bps
        return replace(self, line_rate_bps=nic_rate_bps, bdp_bytes=max(bdp_bytes, min(1, self.bdp_bytes)))


def dilate(record: Record, dilation: Dilation) -> Record:
    """Return a frozen dataclass with its `*_ns` fields multiplied and its `*_bps` fields divided by the dilation.

    The values 0 and None, which mean "derive it" or "off", are unchanged. The result is not validated, because the
    bounds of fields are in model units.
    """
    dilated = record.__new__(type(record))
    for item in fields(record):  # type: ignore[arg-type]
        value = getattr(record, item.name)
        if value and item.name.endswith("_ns"):
            value = dilation.wall_ns(value)
        elif value and item.name.endswith("_bps"):
            several = isinstance(value, (tuple, list))
            value = tuple(map(dilation.wall_bps, value)) if several else dilation.wall_bps(value)
        object.__setattr__(dilated, item.name, value)
    return dilated


def build_parameters(kind: type[Record], chosen: Mapping[str, Any], dilation: Dilation) -> Record:
    """Return the parameters of an algorithm in wall units, from the values that the user set.

    Raises ValueError for an unknown name or an invalid value.
    """
    names = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(chosen) - names)
    if unknown:
        choices = f"{', '.join(sorted(names)) or 'none'}{nearest(unknown[0], names)}"
        raise ValueError(f"unknown parameter {', '.join(unknown)}; choose from {choices}")
    check_values(kind, chosen)
    return dilate(kind(**chosen), dilation)


def algorithms_of(settings: TransportSettings) -> dict[str, Any]:
    """Return the chosen algorithms by the names of their settings. Raises ValueError for an unknown one."""
    return {
        "congestion": algorithm_of(CONGESTION_CONTROLS, settings.congestion, "congestion control"),
        "flow_control": algorithm_of(FLOW_CONTROLS, settings.flow_control, "flow control"),
        "loss_recovery": algorithm_of(LOSS_RECOVERIES, settings.loss_recovery, "loss recovery"),
        "load_balancing": algorithm_of(LOAD_BALANCINGS, settings.load_balancing, "load balancing"),
    }


def algorithm_of(table: Mapping[str, Record], name: str, title: str) -> Record:
    """Return the algorithm with this name from a table. Raises a ValueError that lists the known names."""
    if name not in table:
        raise ValueError(f"unknown {title} {name!r}; choose from {', '.join(table)}{nearest(name, table)}")
    return table[name]
