# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of forged answers with a correct ICRC: afterwards a flow completes or is given up in bounded time."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.contract.link import IP_B, MAC_B, FakeLink, bts
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.messages import MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire import int_header, pfc
from sfc_testbed.wire.constants import PSN_MASK, BtsCause
from sfc_testbed.wire.int_header import HopRecord, Telemetry
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import CNP_RESERVED, Opcode, pack_aeth, pack_psn_word, pack_selective
from tests.hosts.transport.cut_frames import sent_back
from tests.hosts.transport.test_receiving import framer, framer_back

PACKETS = 40
RETRY_LIMIT = 5
LAST_FORGERY_NS = 400_000
SETTINGS = TransportSettings(retry_limit=RETRY_LIMIT, max_pause_ns=1_000_000)
IRN, GO_BACK_N = (replace(SETTINGS, loss_recovery=name) for name in ("irn", "go-back-n"))
LONGEST_TIMEOUT_NS = 4_000_000
ACK, TRIMMED, NAK = 0x1F, 0x40, 0x60

Forgery = Callable[[FakeLink], bytes]


def pull(number: int) -> bytes:
    """Return a pull from QP 101 of NIC b for QP 1 of NIC a."""
    return _framer().frame(Opcode.PULL, bytes(4), number.to_bytes(4, "big"))


def returned(psn: int) -> bytes:
    return sent_back(framer().frame(Opcode.SEND_MIDDLE, pack_psn_word(psn & PSN_MASK), bytes(1_000)))


def answer(psn: int, syndrome: int, selective: int | None = None, *, msn: int = 0, shim: bytes = b"") -> bytes:
    """Return an acknowledgement from QP 101 of NIC b for QP 1 of NIC a."""
    body = pack_aeth(syndrome, msn) + (b"" if selective is None else pack_selective(selective & PSN_MASK))
    return _framer().frame(Opcode.ACKNOWLEDGE, pack_psn_word(psn & PSN_MASK), body, shim=shim)


def _framer() -> RoceFramer:
    return framer_back(tos=48 << 2)


class WatchedLink(FakeLink):
    """A link that checks the invariants of the sender after every step."""

    def _step(self) -> None:
        super()._step()
        pair = self.a._pairs.sender(1, IP_B)
        if pair is not None:
            recovery = pair._recovery
            assert 0 <= recovery.cumulative <= recovery.next_new <= pair._end
            assert 0 <= recovery.in_flight() <= recovery.next_new - recovery.cumulative
            assert recovery.next_packet() == -1 or recovery.cumulative <= recovery.next_packet() <= recovery.next_new


def outcome(link: FakeLink) -> tuple[int, int, int]:
    """Return the numbers of messages completed and given up at the sender, and received whole at the receiver."""
    whole = sum(not event.figures.corrupted for event in link.of(MessageReceived, "b"))
    gave_up = [report.gave_up for report in link.of(Transmission, "a")]
    return gave_up.count(False), gave_up.count(True), whole


@pytest.mark.parametrize("transport", [IRN, GO_BACK_N], ids=lambda settings: settings.loss_recovery)
def test_a_message_fails_after_the_retry_limit_without_answers(transport: TransportSettings) -> None:
    link = WatchedLink(transport, drop=lambda number, name, frame: name == "a")
    link.transfer(10_000)
    link.run()
    assert outcome(link) == (0, 1, 0)
    [failed] = link.of(Transmission, "a")
    assert failed.figures.timeouts == RETRY_LIMIT + 1
    assert link.a.statistics().messages_failed == 1
    assert link.a.unfinished_messages() == []


def test_an_answer_resets_the_number_of_consecutive_timeouts() -> None:
    """Every sixth data packet is delivered, so that each is acknowledged just within the limit."""
    count = {"a": 0}

    def drop(number: int, name: str, frame: bytes) -> bool:
        count["a"] += name == "a"
        return name == "a" and count["a"] % (RETRY_LIMIT + 1) != 0

    link = WatchedLink(replace(IRN, loss_recovery_parameters={"cap_packets": 1}), drop=drop)
    link.transfer(10_000)
    link.run()
    assert outcome(link) == (1, 0, 1)
    assert link.a.statistics().timeouts == 10 * RETRY_LIMIT


@pytest.mark.parametrize("transport", [IRN, GO_BACK_N], ids=lambda settings: settings.loss_recovery)
def test_a_forged_acknowledgement_of_lost_packets_does_not_hang_the_flow(transport: TransportSettings) -> None:
    """Packet 5 is lost but acknowledged by the forgery, so the flow is given up and counted."""
    link = WatchedLink(transport, drop=lambda number, name, frame: name == "a" and number == 5)
    link.transfer(PACKETS * 1_000)
    link.inject(3_000, link.a, answer(19, ACK))
    link.run(max_steps=50_000)
    assert outcome(link) == (0, 1, 0)


def test_a_forged_selective_acknowledgement_is_detected() -> None:
    """All selective acknowledgements are discarded when the receiver reports packet 5 as missing."""
    lost = {5, 6}
    link = WatchedLink(IRN, drop=lambda number, name, frame: name == "a" and number in lost)
    link.transfer(PACKETS * 1_000)
    for psn in lost:
        link.inject(3_000, link.a, answer(2, NAK, psn))
    link.run(max_steps=50_000)
    assert outcome(link) == (1, 0, 1)


def test_later_messages_of_a_failed_queue_pair_fail() -> None:
    """The numbering of the receiver is unknown after a failure. Messages of other queue pairs do not fail."""
    transport = replace(IRN, flow_control="sfc")
    link = WatchedLink(transport, drop=lambda number, name, frame: name == "a" and link.now_ns < 10_000_000)
    link.transfer(5_000, qpn=1)
    link.transfer(5_000, qpn=1)
    link.transfer(5_000, qpn=1, ready_ns=20_000_000)
    link.transfer(5_000, qpn=2, ready_ns=20_000_000)
    link.run()
    ends = [(report.message.flow_id, report.gave_up) for report in link.of(Transmission, "a")]
    assert sorted(ends) == [(1, True), (2, True), (3, True), (4, False)]
    assert link.a.statistics().messages_failed == 3
    link.inject(link.now_ns + 1, link.a, answer(1, ACK))
    link.inject(link.now_ns + 1, link.a, bts(1, 50))
    link.run()
    assert link.a.statistics().late_acknowledgements == 1
    assert link.a.statistics().bts_by_verdict["flow_idle"] == 1


IMPOSSIBLE_ANSWERS = {
    "ACK of the first unsent packet": answer(PACKETS, ACK),
    "ACK far after the last packet": answer(1 << 22, ACK),
    "ACK before the first packet": answer(-2, ACK),
    "ACK far before the first packet": answer(-(1 << 22), ACK),
    "NAK of an unsent packet": answer(PACKETS, NAK),
    "selective ACK of an unsent packet": answer(2, NAK, PACKETS),
    "selective ACK of the missing packet": answer(2, NAK, 2),
    "selective ACK before the missing packet": answer(2, NAK, 1),
    "selective ACK without a NAK": answer(2, ACK, 4),
    "NAK before the first packet": answer(-1, NAK, 3),
    "trimmed packet without pulls": answer(2, TRIMMED),
}


@pytest.mark.parametrize("name", IMPOSSIBLE_ANSWERS)
@pytest.mark.parametrize("transport", [IRN, GO_BACK_N], ids=lambda settings: settings.loss_recovery)
def test_an_impossible_answer_is_counted_and_changes_nothing(transport: TransportSettings, name: str) -> None:
    links = [WatchedLink(transport) for _ in range(2)]
    for link in links:
        link.transfer(PACKETS * 1_000)
    links[1].inject(12_000, links[1].a, IMPOSSIBLE_ANSWERS[name])
    for link in links:
        link.run()
    assert links[0].data_sent() == links[1].data_sent()
    assert links[1].a.statistics().acknowledgements_refused == 1
    assert links[0].a.statistics().acknowledgements_refused == 0


NEAR = st.integers(-3, PACKETS + 3)
PSNS = st.one_of(NEAR, st.integers(0, PSN_MASK))
WORDS = st.integers(0, (1 << 32) - 1)
RECORDS = st.builds(HopRecord, WORDS, WORDS, WORDS, WORDS)
SHIMS = st.one_of(
    st.just(b""),
    st.builds(
        lambda hops, stamp: int_header.pack(Telemetry(True, tuple(hops), stamp)),
        st.lists(RECORDS, max_size=4),
        st.one_of(st.none(), RECORDS),
    ),
)


def _bts(pause_us: int, cause: BtsCause) -> Forgery:
    return lambda _: bts(1, pause_us, cause=cause)


def _always(frame: bytes) -> Forgery:
    return lambda _: frame


FORGERIES: st.SearchStrategy[Forgery] = st.one_of(
    st.builds(lambda psn, msn, shim: _always(answer(psn, ACK, msn=msn, shim=shim)), PSNS, st.integers(0, 9), SHIMS),
    st.builds(lambda psn, sack, shim: _always(answer(psn, NAK, sack, shim=shim)), PSNS, PSNS | st.none(), SHIMS),
    PSNS.map(lambda psn: _always(answer(psn, TRIMMED))),
    PSNS.map(lambda psn: _always(returned(psn))),
    WORDS.map(lambda number: _always(pull(number))),
    st.just(_always(_framer().frame(Opcode.CNP, bytes(4), CNP_RESERVED, becn=True))),
    st.builds(_bts, st.one_of(st.integers(0, 100), st.integers(0, 0xFFFF)), st.sampled_from(BtsCause)),
    st.integers(0, 0xFFFF).map(lambda quanta: _always(pfc.pack_frame(MAC_B, {3: quanta}))),
)
TIMES = st.integers(0, LAST_FORGERY_NS)


@given(
    recovery=st.sampled_from(sorted(LOSS_RECOVERIES)),
    congestion=st.sampled_from(sorted(CONGESTION_CONTROLS)),
    flow_control=st.sampled_from(sorted(FLOW_CONTROLS)),
    forgeries=st.lists(st.tuples(TIMES, FORGERIES), min_size=1, max_size=25),
    loss=st.sampled_from([0.0, 0.05, 0.3]),
    seed=st.integers(0, 1 << 16),
)
@settings(max_examples=60, deadline=None)
def test_after_any_forgeries_a_flow_ends_in_bounded_time(
    recovery: str, congestion: str, flow_control: str, forgeries: list[tuple[int, Forgery]], loss: float, seed: int
) -> None:
    """The flow either completes or fails, at the latest a longest pause and all timeouts after the last progress."""
    transport = replace(SETTINGS, loss_recovery=recovery, congestion=congestion, flow_control=flow_control)
    link = WatchedLink(transport, loss=loss, seed=seed)
    link.transfer(PACKETS * 1_000)
    for time_ns, forgery in forgeries:
        link.inject(time_ns, link.a, forgery(link))
    link.run(max_steps=200_000)
    completed, failed, _ = outcome(link)
    assert completed + failed == 1
    assert link.a.unfinished_messages() == []
    counts = link.a.statistics()
    assert counts.timeouts <= (PACKETS + 1) * (RETRY_LIMIT + 1)
    ends_ns = LAST_FORGERY_NS + (PACKETS + 1) * (SETTINGS.max_pause_ns + (RETRY_LIMIT + 1) * LONGEST_TIMEOUT_NS)
    assert link.now_ns <= ends_ns


@given(forgeries=st.lists(st.tuples(TIMES, PSNS, PSNS), max_size=60), seed=st.integers(0, 1 << 16))
@settings(max_examples=30, deadline=None)
def test_forged_selective_acknowledgements_alone_do_not_stop_irn(
    forgeries: list[tuple[int, int, int]], seed: int
) -> None:
    link = WatchedLink(replace(IRN, retry_limit=1_000), loss=0.1, seed=seed)
    link.transfer(PACKETS * 1_000)
    for time_ns, _, selective in forgeries:
        link.inject(time_ns, link.a, answer(0, NAK, selective))
    link.run(max_steps=200_000)
    assert outcome(link) == (1, 0, 1)
