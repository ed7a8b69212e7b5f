# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Any frames to a NIC at any time, between timers and the host's own traffic.

Nothing is raised, every received frame is counted once, sent frames are counted and in order, timers are in the future,
and each message ends at most once.
"""

from collections import Counter
from dataclasses import asdict
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.messages import IncomingMessage, MessageReceived, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.dilation import Dilation
from tests.fuzz.budget import batches
from tests.fuzz.frames import Between, FrameMaker, damaged

_OWN = NicAddress("h1", 0x0200_0000_0001, 0x0A00_0001, 0x0200_0000_0002)
_PEER_MAC, _PEER_IP = 0x0200_0000_0002, 0x0A00_0002
_TO_US = Between(_PEER_MAC, _OWN.mac, _PEER_IP, _OWN.ip)
_FROM_US = Between(_OWN.mac, _PEER_MAC, _OWN.ip, _PEER_IP)
_STEPS = 400
_QPNS = 4
_OUTGOING = (1, 900, 60_000, 300_000)
_ENDS = (
    "data_received", "acks_received", "naks_received", "cnps_received", "pulls_received", "trimmed_received",
    "returned_received", "bts_received", "pfc_received", "malformed", "corrupted",
    "misdelivered", "unknown_queue_pair", "other", "programs_received",
    "late_acknowledgements", "acknowledgements_refused", "receiver_overruns",
)  # fmt: skip
"""Every received frame increments one of these counters."""


class _Sent:
    """The frames that a NIC has sent so far."""

    def __init__(self) -> None:
        self.frames = self.bytes = self._last_ns = 0

    def take(self, nic: Nic, now_ns: int) -> None:
        for end_ns, frame in nic.frames_to_send(now_ns):
            assert self._last_ns <= end_ns <= now_ns
            self._last_ns = end_ns
            self.frames += 1
            self.bytes += len(frame)
        due_ns = nic.next_timer_ns()
        assert due_ns is None or due_ns > now_ns


def _nic(settings: TransportSettings, *, has_programs: bool) -> Nic:
    nic = Nic(_OWN, Algorithms(settings, Dilation(1000)))
    if has_programs:
        nic.attach_programs()
    for number, size_bytes in enumerate(_OUTGOING, start=1):
        nic.send_message(OutgoingMessage(number, number, number, _PEER_IP, size_bytes, 1_000 * number))
        nic.expect_message(IncomingMessage(100 + number, number, number, _PEER_IP, 30_000))
    return nic


def _ends(nic: Nic) -> Counter[int]:
    """Take all events; return how often each flow has ended."""
    flow_ends = Counter[int]()
    while (event := nic.next_event()) is not None:
        if isinstance(event, Transmission):
            flow_ends[event.message.flow_id] += 1
        elif isinstance(event, MessageReceived):
            flow_ends[event.flow_id] += 1
    return flow_ends


@given(number=st.integers(0, 2**63 - 1))
@batches(25)
def test_a_nic_survives_any_frames(number: int) -> None:
    random = Random(number)
    to_us, from_us = FrameMaker(random, _TO_US, _QPNS), FrameMaker(random, _FROM_US, _QPNS)
    has_programs = random.random() < 0.3
    settings = TransportSettings(
        congestion=random.choice(tuple(CONGESTION_CONTROLS)),
        flow_control=random.choice(tuple(FLOW_CONTROLS)),
        loss_recovery=random.choice(tuple(LOSS_RECOVERIES)),
        load_balancing=random.choice(tuple(LOAD_BALANCINGS)),
        verify=random.random() < 0.7,
        receiver_rate_bps=random.choice((0, 0, 50_000_000_000)),
        receiver_buffer_bytes=random.choice((3_000, 500_000)),
    )
    nic, sent, flow_ends = _nic(settings, has_programs=has_programs), _Sent(), Counter[int]()
    now_ns, received, received_bytes = 0, 0, 0
    for _ in range(_STEPS):
        now_ns += random.choice((0, 0, 1, 1_000, 80_000, 80_000, 1_000_000, 30_000_000))
        sent.take(nic, now_ns + random.choice((0, 0, 0, 1, 100_000)))
        if has_programs and random.random() < 0.1:
            nic.send_program_frame(from_us.program(), now_ns)
        else:
            frame = damaged(to_us.frame(), random) if random.random() < 0.4 else to_us.frame()
            nic.receive(frame, now_ns)
            received += 1
            received_bytes += len(frame)
        flow_ends += _ends(nic)
    sent.take(nic, now_ns + 1_000_000)
    assert set(flow_ends.values()) <= {1}
    assert set(flow_ends) <= {*range(1, 1 + len(_OUTGOING)), *range(101, 101 + len(_OUTGOING))}
    counted = asdict(nic.statistics())
    ends = sum(counted[name] for name in _ENDS)
    assert ends == received or (ends < received and settings.receiver_rate_bps), "some may wait in the receiver"
    assert (counted["frames_received"], counted["bytes_received"]) == (received, received_bytes)
    assert (counted["frames_sent"], counted["bytes_sent"]) == (sent.frames, sent.bytes)
    assert counted["bts_received"] == sum(counted["bts_by_verdict"].values())
    nic.unfinished_messages()
