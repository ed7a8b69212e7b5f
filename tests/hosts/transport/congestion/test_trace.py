# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the congestion trace: changed states, at most one for each interval."""

from sfc_testbed.hosts.transport.congestion.trace import CongestionState, CongestionTrace
from sfc_testbed.hosts.transport.congestion.window import FixedWindow
from tests.hosts.transport.algorithm import control


def test_changed_states_are_reported_at_most_once_per_interval() -> None:
    """A change within the interval is reported by the first acknowledgement after it."""
    states: list[CongestionState] = []
    congestion = control(FixedWindow)
    trace = CongestionTrace(congestion, 1_000, states.append)
    for now_ns, rtt_ns in ((5, None), (100, 20_000), (900, 30_000), (1_005, 30_000), (2_500, 30_000), (2_600, None)):
        trace.after_ack(7, rtt_ns, now_ns)
    rate_bps = congestion.rate_bps
    assert states == [
        CongestionState(7, 5, 125_000, rate_bps, None),
        CongestionState(7, 1_005, 125_000, rate_bps, 30_000),
        CongestionState(7, 2_600, 125_000, rate_bps, None),
    ]
