# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for probes: the lateness of a BMv2 switch, also after the switch has been restarted."""

from __future__ import annotations

import time

import pytest

from sfc_testbed.testbed.targets.bmv2 import probes
from sfc_testbed.testbed.targets.bmv2.probes import Prober, summary_of

TRANSIT_NS = 2_000_000


class FakeSwitch:
    """A fake socket that returns each frame after a fixed time, or loses it."""

    def __init__(self, interface: str) -> None:
        self.loses = False
        self._frames: list[bytes] = []
        self._times_ns: list[int] = []

    def send(self, frame: bytes) -> None:
        if not self.loses:
            self._frames.append(frame)
            self._times_ns.append(time.monotonic_ns() + TRANSIT_NS)

    def receive(self) -> tuple[list[bytes], list[int]]:
        taken = self._frames, self._times_ns
        self._frames, self._times_ns = [], []
        return taken


@pytest.fixture
def switch(monkeypatch: pytest.MonkeyPatch) -> FakeSwitch:
    fake = FakeSwitch("outer")
    monkeypatch.setattr(probes, "PacketSocket", lambda interface: fake)
    return fake


def test_a_probe_is_timed_from_sending_to_the_kernels_receive_time(switch: FakeSwitch) -> None:
    prober = Prober("outer")
    assert prober.lateness() is None
    prober.probe()
    prober.probe()
    measured = prober.lateness()
    assert measured is not None
    assert (measured.count, measured.p50_ns >= TRANSIT_NS) == (2, True)


def test_a_probe_that_does_not_come_back_is_late_and_gets_later(switch: FakeSwitch) -> None:
    """A switch that has stopped forwarding must not look on time."""
    prober = Prober("outer")
    switch.loses = True
    prober.probe()
    first, second = prober.lateness(), prober.lateness()
    assert first is not None and second is not None
    assert 0 < first.max_ns < second.max_ns


def test_a_restarted_switch_does_not_inherit_lateness(switch: FakeSwitch) -> None:
    """The measurements of the previous process and its lost probes are forgotten."""
    prober = Prober("outer")
    prober.probe()
    switch.loses = True
    prober.probe()
    prober.reset()
    assert prober.lateness() is None
    switch.loses = False
    prober.probe()
    measured = prober.lateness()
    assert measured is not None
    assert measured.count == 1


def test_percentiles_of_transit_times_are_not_swapped() -> None:
    summary = summary_of(range(1, 101))
    assert summary is not None
    assert [summary.p50_ns, summary.p99_ns, summary.max_ns] == pytest.approx([50.5, 99.01, 100])
