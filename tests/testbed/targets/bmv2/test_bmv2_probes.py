# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How late a BMv2 switch is, by the frames that come back from it; and after it has been started again."""

from __future__ import annotations

import time

import pytest

from testbed.targets.bmv2 import probes
from testbed.targets.bmv2.probes import Prober

TRANSIT_NS = 2_000_000


class FakeSwitch:
    """In place of the socket: gives each frame back after a while, or loses it."""

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
    """The only one that probers get."""
    fake = FakeSwitch("outer")
    monkeypatch.setattr(probes, "PacketSocket", lambda interface: fake)
    return fake


def test_each_probe_is_timed(switch: FakeSwitch) -> None:
    """From its start to when the kernel saw it again."""
    prober = Prober("outer")
    assert prober.lateness() is None
    prober.probe()
    prober.probe()
    measured = prober.lateness()
    assert measured is not None
    assert (measured.count, measured.p50_ns >= TRANSIT_NS) == (2, True)


def test_a_probe_that_does_not_come_back_is_late_and_gets_later(switch: FakeSwitch) -> None:
    """A switch that has stopped forwarding must not look punctual."""
    prober = Prober("outer")
    switch.loses = True
    prober.probe()
    first, second = prober.lateness(), prober.lateness()
    assert first is not None and second is not None
    assert 0 < first.max_ns < second.max_ns


def test_a_switch_that_starts_again_is_not_late_for_its_elder(switch: FakeSwitch) -> None:
    """Neither by what was measured of that one nor by probes that it took with it."""
    prober = Prober("outer")
    prober.probe()
    switch.loses = True
    prober.probe()
    prober.begin_anew()
    assert prober.lateness() is None
    switch.loses = False
    prober.probe()
    measured = prober.lateness()
    assert measured is not None
    assert measured.count == 1
