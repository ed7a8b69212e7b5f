# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A test bench for one switch of a network: frames enter at given instants, and all frames that leave are returned.

Time is virtual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.testbed.control_plane.commands import pipeline_commands, wire_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.targets.common.commands import build_engine
from sfc_testbed.testbed.targets.common.counters import SwitchCounts, read_counts
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire import tcp_signal
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.bts import BackToSender, pack_frame, unpack_frame
from sfc_testbed.wire.constants import (
    BTS_MIRROR_SESSION,
    BTS_UDP_PORT,
    DSCP_DATA,
    IP_PROTOCOL_TCP,
    IP_PROTOCOL_UDP,
    BtsCause,
)
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.queue_pause import with_queue
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import Opcode, pack_psn_word
from softswitch.engine import SwitchEngine

DILATION = Dilation(1000)
US = 1_000
MODEL_US = 1_000 * US
"""Wall ns in a microsecond of the model."""
FRAME_OVERHEAD = 58
"""Headers and ICRC of a data frame without immediate."""
FRAME = 1000 + FRAME_OVERHEAD
"""Length of the usual data frame, in bytes."""
STAR = shape("star", {"hosts": 4}).build()
CLOS = shape("clos", {"hosts_per_tor": 3, "spines": 2}).build()
UPLINK = 4
"""The first port of a ToR of CLOS that leads to a spine."""


@dataclass(frozen=True)
class Departure:
    """A frame that left a port. Its last bit reaches the other end of the link at `due_ns`."""

    port: int
    due_ns: int
    frame: bytes

    @property
    def is_bts(self) -> bool:
        if self.frame[23] == IP_PROTOCOL_TCP:
            return tcp_signal.is_signal(self.frame)
        return self.frame[23] == IP_PROTOCOL_UDP and int.from_bytes(self.frame[36:38], "big") == BTS_UDP_PORT

    @property
    def is_pause(self) -> bool:
        return self.frame[12:16] == b"\x88\x08\x01\x01"

    @property
    def pause(self) -> tuple[int, int]:
        """The class and the quanta of a pause frame for one class."""
        enabled = self.frame[17]
        traffic_class = enabled.bit_length() - 1
        assert enabled == 1 << traffic_class
        begin = 18 + 2 * traffic_class
        return traffic_class, int.from_bytes(self.frame[begin : begin + 2], "big")

    @property
    def bts(self) -> BackToSender:
        unpack = tcp_signal.unpack_frame if self.frame[23] == IP_PROTOCOL_TCP else unpack_frame
        bts = unpack(self.frame)
        assert bts is not None
        return bts


class SwitchOfTopology:
    """A switch of a topology, and the packets of its hosts."""

    def __init__(self, topology: Topology, name: str) -> None:
        self.topology = topology
        self.name = name

    def data(
        self,
        src: str,
        dst: str,
        *,
        qpn: int = 1,
        destination_qpn: int = 9,
        payload: int = 1000,
        ecn: int = 0,
        opcode: int = Opcode.SEND_MIDDLE,
        psn: int = 0,
        flags: int = 0,
        shim: bytes = b"",
        queue: int = 0,
    ) -> bytes:
        """Return a RoCEv2 data frame as the host's NIC builds it, 58 bytes longer than its payload and telemetry.

        `queue` is the number that the frame carries for its queue at the previous hop.
        """
        source = self.topology.host[src]
        framer = RoceFramer(
            destination_mac=parse_mac(source.gateway_mac),
            source_mac=with_queue(parse_mac(source.mac), queue),
            source_ip=int(source.ip),
            destination_ip=int(self.topology.host[dst].ip),
            source_qpn=qpn,
            destination_qpn=destination_qpn,
            tos=DSCP_DATA << 2 | ecn,
        )
        return framer.frame(opcode, pack_psn_word(psn), bytes(payload), flags=flags, shim=shim)

    def port_of(self, host: str) -> int:
        link = self.topology.host_link[host]
        return link.b.number if link.a.node == host else link.a.number


class BenchSwitch(SwitchOfTopology):
    """A switch of a topology on softswitch. Times are wall ns of a clock that starts at 0."""

    def __init__(self, topology: Topology, name: str, engine: SwitchEngine) -> None:
        super().__init__(topology, name)
        self.engine = engine

    def send(self, frame: bytes, port: int, at_ns: int) -> list[Departure]:
        """Deliver a frame at `at_ns` and return the frames whose transmission began up to that instant."""
        return [Departure(*departure) for departure in self.engine.step(port, frame, at_ns)]

    def burst(
        self, src: str, dst: str, frames: int, *, first_qpn: int = 1, at_ns: int = 0, ecn: int = 0
    ) -> list[Departure]:
        """Send frames of different flows at one instant. The first is on the wire at once, the others wait."""
        port = self.port_of(src)
        return [
            departure
            for qpn in range(first_qpn, first_qpn + frames)
            for departure in self.send(self.data(src, dst, qpn=qpn, ecn=ecn), port, at_ns)
        ]

    def run_to(self, until_ns: int) -> list[Departure]:
        return [Departure(*departure) for departure in self.engine.advance(until_ns)]

    def run_dry(self) -> list[Departure]:
        """Run until no timer is left and return all frames that left in the meantime."""
        departures: list[Departure] = []
        while (timer_ns := self.engine.next_timer_ns()) is not None:
            departures += self.run_to(timer_ns)
        return departures

    def register(self, name: str, index: int = 0) -> int:
        return int(self.engine.command(f"register_read {name} {index}").rpartition("=")[2])

    def counted(self, name: str, index: int) -> int:
        """Return the packets that a cell of a counter has counted."""
        return int(self.engine.command(f"counter_read {name} {index}").split(", ")[1].split()[0])

    def counts(self) -> SwitchCounts:
        return read_counts(self.engine.commands, (port.number for port in self.topology.ports[self.name]))


def signals(departures: Iterable[Departure]) -> list[Departure]:
    """Return the BTS among departures."""
    return [departure for departure in departures if departure.is_bts]


def arriving(bts: BackToSender, congested: str = "h6") -> bytes:
    """Return a BTS of another switch as it arrives at the ToR of h1 in CLOS, for h1 and about its flow to a host."""
    return pack_frame(
        bts,
        destination_mac=parse_mac("06:00:00:01:00:04"),
        source_mac=parse_mac("06:00:00:03:00:01"),
        congested_ip=int(CLOS.host[congested].ip),
        paused_ip=int(CLOS.host["h1"].ip),
    )


def arriving_pause(pause_us: int, *, congested: str = "h6") -> bytes:
    """Return the frame of a cacheable BTS of another switch for h1."""
    bts = BackToSender(BtsCause.QUEUE, True, pause_us, 17, DSCP_DATA, 0xC001, 4791, 9, 3, 300_000, 2, 0)
    return arriving(bts, congested)


@contextmanager
def bench_switch(
    topology: Topology,
    name: str,
    settings: SwitchSettings,
    extra: tuple[str, ...] = (),
    library: Path | None = None,
    dilation: Dilation = DILATION,
) -> Iterator[BenchSwitch]:
    """Provide a switch that is closed at the end. Its program is `library`, by default the committed program."""
    pipeline = pipeline_commands(topology, name, settings, dilation, seed=1)
    wires = wire_commands(topology, name, dilation)
    with SwitchEngine(library or build_engine()) as engine:
        engine.commands(map(str, (*pipeline, *wires, *_no_delays(topology, name), *extra)))
        yield BenchSwitch(topology, name, engine)


def _no_delays(topology: Topology, name: str) -> Iterator[str]:
    """Yield commands that set all delays to 0: a frame arrives when it is delivered, and a BTS is built at once."""
    yield f"mirroring_delay {BTS_MIRROR_SESSION} 0"
    for port in topology.ports[name]:
        yield f"port_delay {port.number} 0"
        yield f"port_ingress_delay {port.number} 0"
