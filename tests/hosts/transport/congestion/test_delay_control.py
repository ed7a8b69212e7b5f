# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A congestion control based on one-way delay, which needs only one class and one entry in the table."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from hosts.transport.congestion import CONGESTION_CONTROLS, AckSample, CongestionControl, PathContext
from hosts.transport.messages import MessageCompleted
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.fake_link import FakeLink
from tests.hosts.transport.fake_star import FakeStar

DELAY_NS = 5_000
DATA_NS = 1058 * 8 // 100 + 1


class DelayTarget(CongestionControl):
    """A control that adds a packet to the window below the target delay and removes an eighth above it."""

    __slots__ = ("_target_ns",)

    wants_delay = True
    samples: ClassVar[list[AckSample]] = []

    @dataclass(frozen=True, slots=True)
    class Parameters:
        """Parameters with one field."""

        target_ns: int = 0
        """Target one-way delay; 0: the base RTT."""

    @classmethod
    def resolve(cls, parameters: Parameters, path: PathContext) -> Parameters:
        """Return the parameters with the target set to the base RTT if it is unset."""
        return replace(parameters, target_ns=parameters.target_ns or path.base_rtt_ns)

    def __init__(self, parameters: Parameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        self._target_ns = parameters.target_ns
        self.window_bytes = path.bdp_bytes

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        self.samples.append(sample)
        if sample.one_way_delay_ns is not None:
            is_late = sample.one_way_delay_ns > self._target_ns
            window_bytes = self.window_bytes * 7 // 8 if is_late else self.window_bytes + self.path.payload_bytes
            self.window_bytes = min(max(window_bytes, self.path.payload_bytes), self.path.bdp_bytes)


@pytest.fixture(autouse=True)
def delay_target_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    DelayTarget.samples.clear()
    monkeypatch.setitem(CONGESTION_CONTROLS, "delay", DelayTarget)


def test_every_sample_has_the_one_way_delay_and_the_rtt() -> None:
    """The one-way delay has a resolution of 1 us of wall time."""
    link = FakeLink(TransportSettings(congestion="delay"), dilation=1000, delay_ns=DELAY_NS)
    link.transfer(20_000)
    link.run()
    samples = DelayTarget.samples
    assert len(samples) == 20
    for sample in samples:
        assert sample.one_way_delay_ns == pytest.approx(1000 * (DELAY_NS + DATA_NS), abs=2_000)
        assert sample.rtt_ns is not None
        assert sample.one_way_delay_ns is not None
        assert sample.rtt_ns > sample.one_way_delay_ns + 1000 * DELAY_NS


@pytest.mark.parametrize("flow_control", ["none", "sfc", "onramp"])
def test_the_one_way_delay_is_measured_with_any_flow_control(flow_control: str) -> None:
    link = FakeLink(TransportSettings(congestion="delay", flow_control=flow_control), dilation=1000)
    link.transfer(5_000)
    link.run()
    assert link.of(MessageCompleted, "a")
    assert all(sample.one_way_delay_ns for sample in DelayTarget.samples)


def test_the_control_keeps_the_queue_short() -> None:
    """Three senders at line rate share one receiver."""
    settings = TransportSettings(congestion="delay", congestion_parameters={"target_ns": 8_000})
    star = FakeStar(settings, 4, dilation=1000)
    for source in range(3):
        star.transfer(source, 3, 3_000_000)
    star.run(400_000)
    mean_depth_bytes = star.mean_depth_bytes(3, 200_000)
    assert 0 < mean_depth_bytes < 100_000  # three full windows of 125 KB would queue 250 KB
