# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packet tests of trigger and suppression in `sfc-prototype`. Expectations are computed from facts about the program.

Each docstring begins with the case of the public test file `switch_sfc_trigger.py` to which it corresponds, if any.
"""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.constants import DSCP_DATA
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.roce.packets import Opcode
from softswitch_tests.pipeline.harness import crc16
from tests.switch_bmv2.bench_switch import FRAME, US, BenchSwitch, bench_switch, signals
from tests.switch_bmv2.prototype.one_switch import (
    CELL_BYTES,
    OVER,
    QUEUE,
    SENDER,
    SENDER_PORT,
    prototype,
    set_depth,
    star,
    tcp_packet,
)

STAR = star()
PERIOD_US = 5_000
"""Period of the suppression filter: 5 us of the model at dilation 1000."""
LATER_US = 1_000
ROW_CELLS = 65_536


def _triggers(switch: BenchSwitch, at_us: int, *, src: str = SENDER, dst: str = "h4", **packet: Any) -> bool:
    """Send a packet that finds a long queue, and return whether it triggers a BTS."""
    switch.run_to(at_us * US)
    set_depth(switch, OVER, dst)
    switch.engine.command(f"register_write departure_cells {switch.port_of(dst) << 3 | 3} 100000")
    return _triggers_now(switch, at_us, src=src, dst=dst, **packet)


def _triggers_now(switch: BenchSwitch, at_us: int, *, src: str = SENDER, dst: str = "h4", **packet: Any) -> bool:
    before = switch.counts().bts_sent
    switch.send(switch.data(src, dst, **packet), switch.port_of(src), at_us * US)
    return switch.counts().bts_sent > before


def _marks(switch: BenchSwitch) -> list[set[int]]:
    """Return the places of the bits that are set in the period, in each of the two rows."""
    mark = switch.register("suppression_state", 0) + 1
    rows = []
    for row in (0, 1):
        answer = switch.engine.command(f"register_read suppression_bank_row_{row}")
        cells = [int(cell) for cell in answer.partition("=")[2].split(",")]
        assert len(cells) == ROW_CELLS
        rows.append({place for place, cell in enumerate(cells) if cell == mark})
    return rows


def test_a_packet_of_another_kind_is_routed_and_triggers_nothing() -> None:
    """BasicL3Test: a TCP packet outside the class of data leaves with a lower TTL, whatever the queues are."""
    with bench_switch(STAR, "s1", prototype()) as switch:
        set_depth(switch, OVER)
        switch.engine.command(f"register_write queue_bytes {QUEUE & ~7} {OVER}")
        [packet] = switch.send(tcp_packet(switch), SENDER_PORT, LATER_US * US)
        assert packet.port == 4
        received, h4 = Ether(packet.frame), STAR.host["h4"]
        assert (received.dst, received.src, received[IP].ttl) == (h4.mac, h4.gateway_mac, 63)
        assert _marks(switch) == [set(), set()]


def test_a_queue_under_its_threshold_never_triggers() -> None:
    """BasicNeverTriggerTest: data pass, and neither a BTS nor a bit of the filter results."""
    with bench_switch(STAR, "s1", prototype()) as switch:
        set_depth(switch, 0)
        departures = switch.send(switch.data(SENDER, "h4"), SENDER_PORT, LATER_US * US)
        assert [departure.port for departure in departures] == [4]
        assert _marks(switch) == [set(), set()]


def test_without_suppression_every_packet_over_the_threshold_triggers() -> None:
    """BasicAlwaysTriggerTest: the data pass, too."""
    with bench_switch(STAR, "s1", prototype(suppression_ns=0)) as switch:
        for turn in range(3):
            assert _triggers(switch, LATER_US + 20 * turn)
        data = [departure for departure in switch.run_dry() if departure.port == 4]
        assert len(data) == 2  # the first was on the wire at once


@pytest.mark.parametrize("q_th_cells", [200, 203, 207])
@pytest.mark.parametrize(("depth_cells", "is_over"), [(199, False), (200, True), (207, True), (208, True)])
def test_the_bit_compares_groups_of_eight_cells(q_th_cells: int, depth_cells: int, is_over: bool) -> None:
    """GhostRead: the bit is set from the group of eight cells that contains Q_th, not above Q_th only."""
    settings = prototype(q_th_bytes=q_th_cells * CELL_BYTES + 100)
    for depth_bytes in (depth_cells * CELL_BYTES, depth_cells * CELL_BYTES + CELL_BYTES - 1):
        with bench_switch(STAR, "s1", settings) as switch:
            set_depth(switch, depth_bytes)
            assert _triggers_now(switch, LATER_US) == is_over, depth_bytes


def test_without_the_bit_the_depth_must_exceed_the_threshold() -> None:
    """The paper's rule, which the setting `queue_bit` replaces."""
    for depth_bytes, is_over in ((200 * CELL_BYTES, False), (200 * CELL_BYTES + 1, True)):
        with bench_switch(STAR, "s1", prototype(queue_bit=False)) as switch:
            set_depth(switch, depth_bytes)
            assert _triggers_now(switch, LATER_US) == is_over


def test_three_packets_in_a_period_give_one_signal_and_one_bit_in_each_row() -> None:
    """SuppressionTest, and where the bits are: CRC-16 and the upper half of CRC-32 of addresses and DSCP."""
    with bench_switch(STAR, "s1", prototype()) as switch:
        assert [_triggers(switch, LATER_US + turn) for turn in range(3)] == [True, False, False]
        hosts = STAR.host
        key = hosts[SENDER].ip.packed + hosts["h4"].ip.packed + bytes([DSCP_DATA])
        assert _marks(switch) == [{crc16(key)}, {zlib.crc32(key) >> 16}]
        assert switch.counts().bts_sent == 1
        assert switch.counts().max_suppression_entries == 1


@pytest.mark.parametrize(("rows", "is_signalled"), [((0,), True), ((1,), True), ((0, 1), False)])
def test_a_packet_is_suppressed_if_both_of_its_bits_were_set(rows: tuple[int, ...], is_signalled: bool) -> None:
    """SuppressionBankSwitch sets bits from the control plane, too."""
    key = STAR.host[SENDER].ip.packed + STAR.host["h4"].ip.packed + bytes([DSCP_DATA])
    places = (crc16(key), zlib.crc32(key) >> 16)
    with bench_switch(STAR, "s1", prototype()) as switch:
        for row in rows:
            switch.engine.command(f"register_write suppression_bank_row_{row} {places[row]} 1")
        assert _triggers(switch, LATER_US) == is_signalled


@pytest.mark.parametrize("suppression_filter", ["banks", "salted"])
@pytest.mark.parametrize(("key", "second_flow"), [("addresses", False), ("flow", True), ("queue-pair", False)])
def test_the_key_decides_whether_flows_share_a_signal(suppression_filter: str, key: str, second_flow: bool) -> None:
    """SuppressionTest with a second flow: between two hosts one signal serves all flows with the same DSCP.

    The UDP source port of the second flow is different, but its packets are for the same queue pair.
    """
    settings = prototype(suppression_key=key, suppression_filter=suppression_filter)
    with bench_switch(STAR, "s1", settings) as switch:
        assert _triggers(switch, LATER_US, qpn=1)
        assert _triggers(switch, LATER_US + 1, qpn=2) == second_flow
        assert _triggers(switch, LATER_US + 2, dst="h3")
        assert _triggers(switch, LATER_US + 3, src="h3")
        assert not _triggers(switch, LATER_US + 4, qpn=1)
        assert _triggers(switch, LATER_US + 5, qpn=1, destination_qpn=10) == (key == "queue-pair")


@pytest.mark.parametrize("dilation", [1, 1_000, 30_000])
def test_a_flow_is_signalled_again_after_the_period(dilation: int) -> None:
    """SuppressionTest, later: a packet exactly at the end of the period is suppressed, the next one is not.

    The period is 5 us of the model at every dilation.
    """
    period_us = 5 * dilation
    with bench_switch(STAR, "s1", prototype(), dilation=Dilation(dilation)) as switch:
        assert _triggers(switch, 2 * period_us)
        assert not _triggers(switch, 3 * period_us)
        assert _triggers(switch, 3 * period_us + 1)
        assert not _triggers(switch, 4 * period_us + 1)


@pytest.mark.parametrize("kind", ["tcp", "acknowledgement", "expired"])
def test_the_first_packet_of_any_kind_after_a_period_begins_the_next(kind: str) -> None:
    """SuppressionEpochSwitch: packets outside SFC swap the banks once per period, even one that is dropped.

    Three times, three packets arrive after silence. The first swaps the banks, and its time is stored.
    """
    with bench_switch(STAR, "s1", prototype()) as switch:
        frames = {
            "tcp": tcp_packet(switch),
            "acknowledgement": switch.data(SENDER, "h4", opcode=Opcode.ACKNOWLEDGE),
            "expired": tcp_packet(switch, ttl=0),
        }
        for turn in range(1, 4):
            first_us = turn * 7 * PERIOD_US
            for after_us in (0, 1, PERIOD_US):
                switch.send(frames[kind], SENDER_PORT, (first_us + after_us) * US)
                assert switch.register("suppression_start_us") == first_us
                assert switch.register("suppression_state", 0) == turn


def test_the_bank_that_was_left_is_empty_when_it_is_used_again() -> None:
    """SuppressionBankSwitch: a swap clears the bank that it leaves, and it had cleared the other one."""
    with bench_switch(STAR, "s1", prototype()) as switch:
        at_us = 2 * PERIOD_US
        for bank in (1, 0, 1, 0):
            switch.send(tcp_packet(switch), SENDER_PORT, at_us * US)
            assert switch.register("suppression_state", 0) & 1 == bank
            assert _marks(switch) == [set(), set()]
            assert _triggers(switch, at_us)
            assert not _triggers(switch, at_us + 1)
            assert [len(row) for row in _marks(switch)] == [1, 1]
            at_us += PERIOD_US + 1


@pytest.mark.parametrize("kind", ["expired", "foreign source", "no route"])
def test_a_packet_that_is_dropped_triggers_nothing(kind: str) -> None:
    """The program's key `drop_reason`: no BTS results, and no bit is set, so the next packet of the pair triggers."""
    with bench_switch(STAR, "s1", prototype()) as switch:
        set_depth(switch, OVER)
        frame = Ether(switch.data(SENDER, "h4"))
        if kind == "expired":
            frame[IP].ttl = 0
        elif kind == "foreign source":
            frame[IP].src = str(STAR.host["h3"].ip)
        else:
            frame[IP].dst = "10.99.0.1"
        del frame[IP].chksum
        assert switch.send(bytes(frame), SENDER_PORT, LATER_US * US) == []
        assert _marks(switch) == [set(), set()]
        assert _triggers(switch, LATER_US)


def test_each_data_packet_that_departs_notes_the_depth() -> None:
    """EgressQueuedepthProgramming: it overwrites a value from the control plane; other kinds of packets do not.

    The case for a value that packets cannot overwrite needs Tofino's register: its highest bit protects the value.
    """
    with bench_switch(STAR, "s1", prototype()) as switch:
        switch.engine.command(f"register_write departure_cells {QUEUE} 5000")
        switch.send(tcp_packet(switch), SENDER_PORT, 0)
        switch.send(switch.data(SENDER, "h4", opcode=Opcode.ACKNOWLEDGE), SENDER_PORT, 0)
        switch.run_dry()
        assert switch.register("departure_cells", QUEUE) == 5000
        switch.burst("h1", "h4", 41, at_ns=LATER_US * US)  # one departs at once
        assert switch.register("departure_cells", QUEUE) == 0
        for left in range(39, -1, -1):
            _run_until(switch, left * FRAME)
            assert switch.register("departure_cells", QUEUE) == max(0, left * FRAME // CELL_BYTES - 100)


def _run_until(switch: BenchSwitch, depth_bytes: int) -> int:
    """Run until the queue towards h4 has this depth, and return the time."""
    at_ns = 0
    while switch.register("queue_bytes", QUEUE) > depth_bytes:
        timer_ns = switch.engine.next_timer_ns()
        assert timer_ns is not None
        at_ns = timer_ns
        switch.run_to(at_ns)
    return at_ns


def test_the_pause_follows_the_noted_depth_and_not_the_current_one() -> None:
    """Sixty packets wait, but the last departure left thirty-nine behind."""
    for source, waiting in (("departure", 39), ("current", 60)):
        settings = prototype(depth_source=source, suppression_ns=0)
        with bench_switch(STAR, "s1", settings) as switch:
            switch.burst("h1", "h4", 41)
            departed_ns = _run_until(switch, 39 * FRAME)
            switch.burst("h3", "h4", 20, first_qpn=100, at_ns=departed_ns)
            found = signals(switch.send(switch.data(SENDER, "h4"), SENDER_PORT, departed_ns))
            [bts] = [departure for departure in found if departure.port == SENDER_PORT]
            waiting_bytes = waiting * FRAME
            cells = waiting_bytes // CELL_BYTES - 100
            if source == "current":  # the packet that triggers has joined
                cells = (waiting_bytes - 100 * CELL_BYTES) // CELL_BYTES
            assert bts.bts.pause_us == cells // 8 >> 3


def test_settings_that_contradict_each_other_are_refused() -> None:
    for changes, problem in (
        ({"suppression_timer": "trigger"}, "suppression_filter=banks has its own rule"),
        ({"bts": "egress"}, "queue_bit is for BTS from ingress"),
        ({"bts": "egress", "queue_bit": False}, "depth_source is for BTS from ingress"),
        ({"q_th_bytes": 1_407, "q_tg_bytes": 0}, "queue_bit needs a q_th_bytes of at least 1408, not 1407"),
    ):
        with pytest.raises(ValueError, match=problem):
            prototype(**changes)
    assert SwitchSettings(q_th_bytes=1_407, q_tg_bytes=0, bts="ingress").q_th_bytes == 1_407
