# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of v1model's handling of a packet between and after the passes of a program."""

import pytest

from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.programs.steered import (
    DROP_PORT,
    RECIRCULATION_PORT,
    Flag,
    Op,
    library,
    report,
    steer,
    steer_small,
)

FAMILY_PASS_LIMIT = 1 << 14
NORMAL, INGRESS_CLONE, EGRESS_CLONE, REPLICATION = 0, 1, 2, 5


def test_unicast_leaves_by_egress_spec(engine: SwitchEngine) -> None:
    [(port, due_ns, frame)] = engine.step(1, steer(2, 200, tag=7), 5_000)
    assert (port, due_ns, len(frame), frame[-1]) == (2, 5_000, 200, 7)
    assert report(frame).ingress_port == 1
    assert report(frame).egress_port == 2
    assert report(frame).packet_length == 200


def test_timestamps_count_microseconds_since_the_epoch() -> None:
    """Traffic before the start of a run has time 0, not a wrapped number."""
    with SwitchEngine(library(), epoch_ns=1_000_000) as engine:
        [(_, _, early)] = engine.step(1, steer(2), 500_000)
        [(_, _, frame)] = engine.step(1, steer(2), 1_005_999)
    assert report(early).egress_us == 0
    metadata = report(frame)
    assert (metadata.ingress_us, metadata.enq_timestamp, metadata.egress_us, metadata.deq_timedelta) == (5, 5, 5, 0)


def test_drop_in_ingress_and_in_egress_is_counted_apart(engine: SwitchEngine) -> None:
    assert engine.step(1, steer(DROP_PORT), 0) == []
    assert engine.step(1, steer(2, ops=Op.DROP_EGRESS), 0) == []
    drops = engine.statistics()["drops"]
    assert (drops["ingress"], drops["egress"]) == (1, 1)
    assert engine.statistics()["buffer_bytes"] == 0


def test_frame_too_short_for_the_parser_is_malformed(engine: SwitchEngine) -> None:
    assert engine.step(1, b"\x00" * 13, 0) == []
    assert engine.statistics()["malformed"] == 1


def test_ingress_clone_is_the_packet_as_received(engine: SwitchEngine) -> None:
    """A clone has the received bytes, the preserved field and priority 0, but no other metadata."""
    engine.command("mirroring_add 5 3")
    ops = Op.CLONE_INGRESS | Op.TRUNCATE_INGRESS
    out = engine.step(1, steer(2, 200, class_=6, ops=ops, session=5, truncate=80, mark=9), 0)
    by_port = {port: frame for port, _, frame in out}
    clone = report(by_port[3])
    assert (clone.instance_type, clone.mark, clone.qid, clone.ingress_port) == (INGRESS_CLONE, 9, 0, 0)
    assert (clone.packet_length, len(by_port[3])) == (200, 200)
    assert len(by_port[2]) == 80
    assert engine.statistics()["ingress_clones"] == 1


def test_clone_of_a_session_with_a_delay_reaches_its_queue_later(engine: SwitchEngine) -> None:
    engine.commands(("mirroring_add 5 3", "mirroring_delay 5 700000", "mirroring_add 6 4"))
    assert engine.command("mirroring_get 5") == "port=3 delay_ns=700000"
    assert [port for port, _, _ in engine.step(1, steer(2, ops=Op.CLONE_INGRESS, session=5), 0)] == [2]
    out = engine.step(1, steer(2, ops=Op.CLONE_INGRESS, session=6), 100_000)
    assert sorted(port for port, _, _ in out) == [2, 4]
    assert [port for port, _, _ in engine.step(1, steer(2, ops=Op.CLONE_EGRESS, session=5), 200_000)] == [2]
    assert engine.next_timer_ns() == 700_000
    out = engine.advance(1_000_000)
    assert [(port, due_ns) for port, due_ns, _ in out] == [(3, 700_000), (3, 900_000)]
    assert [report(frame).egress_us for _, _, frame in out] == [700, 900]


def test_delayed_clones_wait_during_a_stall_and_are_lost_with_the_power(engine: SwitchEngine) -> None:
    """A delayed copy is held by the switch like a queued packet."""
    engine.commands(("mirroring_add 5 3", "mirroring_delay 5 1000"))
    for at_ns in (0, 10_000):
        engine.step(1, steer(2, ops=Op.CLONE_INGRESS, session=5), at_ns)
        engine.command("stall on")
        assert engine.advance(at_ns + 5_000) == []
        engine.command("stall off" if not at_ns else "power off")
        out = engine.advance(at_ns + 6_000)
        assert [port for port, _, _ in out] == ([3] if not at_ns else [])
    assert engine.statistics()["drops"]["restart"] == 1


def test_session_delay_survives_changes_of_the_session(engine: SwitchEngine) -> None:
    engine.commands(("mirroring_delay 5 10", "mirroring_add 5 3", "mirroring_delete 5", "mirroring_add 5 4"))
    assert engine.command("mirroring_get 5") == "port=4 delay_ns=10"
    with pytest.raises(CommandError, match="above"):
        engine.command("mirroring_delay 32768 10")


def test_egress_clone_has_headers_of_egress_and_no_metadata(engine: SwitchEngine) -> None:
    """An egress clone starts at egress of its own port with the headers as egress left them."""
    engine.command("mirroring_add 5 3")
    out = engine.step(1, steer(2, 300, ops=Op.CLONE_EGRESS, session=5, mark=4), 0)
    by_port = {port: frame for port, _, frame in out}
    clone = report(by_port[3])
    assert (clone.instance_type, clone.mark, clone.egress_port, clone.ingress_port) == (EGRESS_CLONE, 4, 3, 0)
    assert clone.packet_length == len(by_port[3]) == 300


def test_clone_without_a_session_goes_nowhere(engine: SwitchEngine) -> None:
    assert len(engine.step(1, steer(2, ops=Op.CLONE_INGRESS, session=9), 0)) == 1
    assert engine.statistics()["clones_without_session"] == 1


@pytest.mark.parametrize(
    ("session", "alone"), [("mirroring_add_mc 5 7", []), ("mirroring_add_port_and_mgrp 5 3 7", [3])]
)
def test_clone_to_a_multicast_group(session: str, alone: list[int], engine: SwitchEngine) -> None:
    engine.commands(("mc_mgrp_create 7", "mc_node_create 3 4 5", "mc_node_associate 7 0", session))
    out = engine.step(1, steer(2, ops=Op.CLONE_INGRESS, session=5), 0)
    assert sorted((port, report(frame).instance_type, report(frame).rid) for port, _, frame in out) == [
        (2, NORMAL, 0),
        *((port, INGRESS_CLONE, 0) for port in alone),
        (4, INGRESS_CLONE, 3),
        (5, INGRESS_CLONE, 3),
    ]


def test_multicast_replicates_to_nodes_and_lags(engine: SwitchEngine) -> None:
    """Each port of a node gets a copy with the node's rid; each LAG gets a copy through BMv2's choice of member."""
    engine.commands(
        (
            *("mc_mgrp_create 7", "mc_node_create 10 1 2", "mc_node_create 20 3 | 0", "mc_set_lag_membership 0 6 7 8"),
            *("mc_node_associate 7 0", "mc_node_associate 7 1"),
        )
    )
    out = engine.step(1, steer(9, ops=Op.MULTICAST, group=7), 0)
    assert sorted((port, report(f).rid, report(f).instance_type) for port, _, f in out) == [
        (1, 10, REPLICATION),
        (2, 10, REPLICATION),
        (3, 20, REPLICATION),
        (6, 20, REPLICATION),
    ]


def test_recirculated_packet_keeps_only_a_field_list(engine: SwitchEngine) -> None:
    """Port 510 sends at once; the second round has only the preserved field, and 0 as its arrival time."""
    frame = steer(RECIRCULATION_PORT, 150, ops=Op.RECIRCULATE, second=4, mark=8)
    [(port, due_ns, out)] = engine.step(1, frame, 3_000)
    metadata = report(out)
    assert (port, due_ns, len(out)) == (4, 3_000, 150)
    assert (metadata.mark, metadata.ingress_port, metadata.ingress_us, metadata.packet_length) == (8, 0, 0, 150)
    assert engine.statistics()["recirculated"] == 1


def test_recirculation_ignores_truncation_of_its_pass(engine: SwitchEngine) -> None:
    """A recirculated packet is whole, as on BMv2."""
    frame = steer(RECIRCULATION_PORT, 150, ops=Op.RECIRCULATE | Op.TRUNCATE_INGRESS, second=4, truncate=70)
    [(_, _, out)] = engine.step(1, frame, 0)
    assert len(out) == 150


def test_recirculating_for_ever_ends(engine: SwitchEngine) -> None:
    frame = steer(RECIRCULATION_PORT, ops=Op.RECIRCULATE, second=RECIRCULATION_PORT, flags=Flag.FOR_EVER)
    assert engine.step(1, frame, 0) == []
    statistics = engine.statistics()
    assert statistics["drops"]["pass_limit"] == 1
    assert statistics["recirculated"] == 257
    assert statistics["buffer_bytes"] == 0


def spreading() -> bytes:
    """Return a frame whose copies go to the multicast group 1, recirculate and do so again, for ever."""
    return steer(2, ops=Op.RECIRCULATE | Op.MULTICAST, group=1, flags=Flag.FOR_EVER | Flag.SPREAD)


def test_copies_that_copy_themselves_for_ever_end(engine: SwitchEngine) -> None:
    engine.commands(("mc_mgrp_create 1", "mc_node_create 7 2 3 4", "mc_node_associate 1 0"))
    for packets in (1, 2):
        assert engine.step(1, spreading(), 0) == []
        statistics = engine.statistics()
        recirculated = packets * FAMILY_PASS_LIMIT
        assert statistics["recirculated"] - statistics["drops"]["pass_limit"] == recirculated
        assert statistics["multicast_copies"] == 3 * (recirculated + packets)
        assert statistics["drops"]["pass_limit"] == 2 * recirculated + 3 * packets
        assert statistics["buffer_bytes"] == 0
    assert [port for port, _, _ in engine.step(1, steer(2), 0)] == [2]


def test_many_copies_may_recirculate(engine: SwitchEngine) -> None:
    """A copy for each of 64 ports, each of which recirculates 255 times, is within the limit."""
    ports = " ".join(map(str, range(64)))
    engine.commands(("mc_mgrp_create 1", f"mc_node_create 7 {ports}", "mc_node_associate 1 0"))
    frame = steer(2, ops=Op.RECIRCULATE | Op.MULTICAST, group=1, second=RECIRCULATION_PORT, flags=Flag.FOR_EVER)
    assert engine.step(1, frame, 0) == []
    assert engine.statistics()["recirculated"] == 64 * 257


def test_resubmitted_packet_keeps_a_field_list(engine: SwitchEngine) -> None:
    """Ingress runs twice over the received bytes."""
    [(port, _, out)] = engine.step(1, steer(2, ops=Op.RESUBMIT, mark=3), 0)
    assert (port, report(out).mark) == (2, 3)
    assert engine.statistics()["resubmitted"] == 1


@pytest.mark.parametrize(
    ("ops", "truncate", "length"),
    [(Op.TRUNCATE_INGRESS, 90, 90), (Op.TRUNCATE_EGRESS, 90, 90), (Op.TRUNCATE_EGRESS, 900, 300)],
)
def test_truncation_cuts_but_never_grows(engine: SwitchEngine, ops: Op, truncate: int, length: int) -> None:
    [(_, _, out)] = engine.step(1, steer(2, 300, ops=ops, truncate=truncate), 0)
    assert len(out) == length
    assert report(out).packet_length == 300


@pytest.mark.parametrize(
    ("frame", "length"),
    [
        (steer(2, 1000, ops=Op.TRUNCATE_INGRESS, truncate=100), 100),
        (steer(2, 1000, flags=Flag.POP_EARLY), 948),
    ],
    ids=["truncated", "header removed"],
)
def test_shortened_packet_counts_with_its_new_length(engine: SwitchEngine, frame: bytes, length: int) -> None:
    """The new length counts in the queue and on the wire."""
    engine.command("port_rate 2 8000000000")
    engine.step(1, steer(2, 1000), 0)
    engine.step(1, frame, 0)
    assert engine.statistics()["queued_bytes"] == length
    assert [(due, len(sent)) for _, due, sent in engine.advance(1_000)] == [(1_000 + length, length)]


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (steer(9, ops=Op.MULTICAST, group=7), "no_copies"),
        (steer(RECIRCULATION_PORT), "no_device"),
        (steer(2, class_=8), "bad_destination"),
        (b"", "bad_length"),
        (bytes(65_536), "bad_length"),
    ],
    ids=["empty group", "no device", "no such class", "empty", "too long"],
)
def test_a_frame_that_cannot_be_forwarded_is_a_counted_drop(engine: SwitchEngine, frame: bytes, reason: str) -> None:
    assert engine.step(1, frame, 0) == []
    assert engine.statistics()["drops"][reason] == 1


def test_longest_frame_passes(engine: SwitchEngine) -> None:
    [(_, _, out)] = engine.step(1, steer_small(2, 65_535), 0)
    assert out == steer_small(2, 65_535)


def test_memory_limit_drops_and_counts(engine: SwitchEngine) -> None:
    engine.command("port_rate 2 1000")
    engine.command("memory_limit 10000")
    for _ in range(30):
        engine.step(1, steer(2, 200), 0)
    statistics = engine.statistics()
    waiting = 30 - 1 - statistics["drops"]["memory_limit"]
    assert statistics["drops"]["memory_limit"] > 0
    assert (statistics["queued_packets"], statistics["queued_bytes"]) == (waiting, 200 * waiting)
    assert statistics["buffer_bytes"] <= 11_000


def test_unknown_port_is_an_error(engine: SwitchEngine) -> None:
    with pytest.raises(ValueError, match="no port 510"):
        engine.receive(RECIRCULATION_PORT, steer(1), 0)
