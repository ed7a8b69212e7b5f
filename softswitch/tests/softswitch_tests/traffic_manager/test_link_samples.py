# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the samples of links: bytes that each port sent and received per interval."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softswitch.engine import SwitchEngine
from softswitch_tests.programs import steered
from softswitch_tests.programs.steered import steer, steer_small

EVENTS = st.lists(
    st.tuples(st.integers(0, 40_000), st.sampled_from([1, 2, 70]), st.integers(14, 1500)), min_size=1, max_size=60
)


def _links(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return (time_ns, port, received, sent) of the rows that describe links."""
    return [(row[0], row[1], row[4], row[5]) for row in rows if row[1] >= 0 and row[2] == -1]


@settings(max_examples=40, deadline=None)
@given(events=EVENTS, taken_every=st.integers(1, 20))
def test_the_samples_of_a_port_add_up_to_its_counters(events: list[tuple[int, int, int]], taken_every: int) -> None:
    """Each row is the bytes of frames that began or arrived in the interval before its time."""
    expected: dict[tuple[int, int], int] = {}
    with SwitchEngine(steered.library(), sample_ns=1_000, link_sample_ns=3_000) as engine:
        for port in (1, 2, 70):
            engine.command(f"port_rate {port} 8000000000")
        rows: list[tuple[int, ...]] = []
        for number, (time_ns, port, size) in enumerate(sorted(events), 1):
            frame = steer_small(port, size)
            engine.step(9, frame, time_ns)
            end_ns = (time_ns // 3_000 + 1) * 3_000
            expected[end_ns, 9] = expected.get((end_ns, 9), 0) + len(frame)
            if number % taken_every == 0:
                rows += [tuple(row) for row in engine.ready_telemetry().tolist()]
        engine.advance(1_000_000)
        rows += [tuple(row) for row in engine.last_telemetry().tolist()]
        ports = engine.statistics()["ports"]
    links = _links(rows)
    assert {(time_ns, port): received for time_ns, port, received, _ in links if received} == expected
    sums = {port: [sum(row[place] for row in links if row[1] == int(port)) for place in (2, 3)] for port in ports}
    assert sums == {port: [counters["rx_bytes"], counters["tx_bytes"]] for port, counters in ports.items()}
    assert len({(time_ns, port) for time_ns, port, *_ in links}) == len(links)
    assert all(received or sent for _, _, received, sent in links), "empty intervals are left out"


def test_a_frame_counts_when_its_transmission_begins() -> None:
    """A frame takes 8 us at 1 Gb/s, so the second frame starts several intervals after the first."""
    with SwitchEngine(steered.library(), sample_ns=1_000, link_sample_ns=2_000) as engine:
        engine.command("port_rate 1 1000000000")
        engine.step(0, steer(1, 1_000), 0)
        engine.step(0, steer(1, 1_000), 0)
        engine.advance(9_500)
        assert _links(engine.telemetry().tolist()) == [(2_000, 0, 2_000, 0), (2_000, 1, 0, 1_000)]
        assert _links(engine.last_telemetry().tolist()) == [(10_000, 1, 0, 1_000)]


def test_frames_that_a_dead_link_loses_have_a_row_of_their_own() -> None:
    """Two frames of 1,000 B are sent on the dead link of port 1, and one of 800 B would arrive on the one of port 2."""
    with SwitchEngine(steered.library(), sample_ns=1_000, link_sample_ns=2_000) as engine:
        engine.commands(("port_rate 1 80000000000", "port_link 1 down", "port_link 2 down"))
        for port, size in ((0, 1_000), (0, 1_000), (2, 800)):
            engine.step(port, steer(1, size), 500)
        engine.advance(1_900)
        rows = [tuple(row) for row in engine.last_telemetry().tolist() if row[2] == -1 and row[1] >= 0]
    assert rows == [
        (2_000, 0, -1, -1, 2_000, 0),
        (2_000, 1, -1, -1, 0, 2_000),
        (2_000, 1, -1, -2, 2_000, 0),
        (2_000, 2, -1, -1, 0, 0),
        (2_000, 2, -1, -2, 800, 0),
    ]


def test_without_an_interval_there_are_no_samples_of_links() -> None:
    with SwitchEngine(steered.library(), sample_ns=1_000) as engine:
        engine.step(0, steer(1, 1_000), 0)
        engine.advance(5_000)
        assert _links(engine.last_telemetry().tolist()) == []


def test_time_before_the_epoch_is_left_out() -> None:
    with SwitchEngine(steered.library(), epoch_ns=10_000, sample_ns=1_000, link_sample_ns=1_000) as engine:
        engine.step(0, steer(1, 500), 0)
        engine.step(0, steer(1, 300), 10_500)
        assert _links(engine.last_telemetry().tolist()) == [(1_000, 0, 300, 0), (1_000, 1, 0, 300)]


def test_an_interval_must_be_a_multiple() -> None:
    with pytest.raises(ValueError, match="link_sample_ns 1500 is not a multiple of sample_ns 1000"):
        SwitchEngine(steered.library(), sample_ns=1_000, link_sample_ns=1_500)
