# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the reasons of packets sent again: by hand, and in runs that lose, trim or reorder packets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.analysis.results.result import ResentCounts
from sfc_testbed.hosts.protocol import HostStatistics
from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.testbed.recording.counters import resent_counts
from tests.testbed.incasts import run_incast


def _counts(*, resends_successors: bool = False, **counters: Any) -> dict[str, int]:
    """Return the counts above zero of a run that lost 5 packets."""
    hosts = [HostStatistics("h1", NicCounters(**counters)), HostStatistics("h2", NicCounters())]
    counts = resent_counts(hosts, dropped=5, resends_successors=resends_successors)
    return {"packets": counts.packets, **counts.reasons}


def test_a_lost_packet_explains_one_packet_or_those_of_one_nak() -> None:
    """With go-back-N, 10 NAKs made the sender send 90 packets again."""
    assert _counts() == {"packets": 0}
    assert _counts(retransmissions=5) == {"packets": 5, "loss": 5}
    assert _counts(retransmissions=90) == {"packets": 90, "loss": 5, "reordering": 85}
    assert _counts(retransmissions=90, resent_after_timeout=88) == {"packets": 90, "timeout": 88, "loss": 2}
    assert _counts(retransmissions=90, corrupted=2, receiver_overruns=3)["loss"] == 10
    many = _counts(retransmissions=90, loss_reports=10, resends_successors=True)
    assert many == {"packets": 90, "loss": 45, "reordering": 45}
    assert _counts(retransmissions=90, loss_reports=4, resends_successors=True) == {"packets": 90, "loss": 90}


def test_trimmed_packets_arrive_without_their_data() -> None:
    counts = _counts(retransmissions=20, trimmed_received=4, returned_received=1)
    assert counts == {"packets": 20, "trimmed": 5, "loss": 5, "reordering": 10}


@pytest.mark.parametrize(
    ("scheme", "setting", "fault", "reasons"),
    [
        ("irn", "switch.load_balancing=ecmp", "loss:tor2-spine1,rate=2%", {"loss"}),
        ("irn", "switch.load_balancing=spray", "reorder:tor2-spine1,rate=5%,by=3us", {"reordering"}),
        ("gbn", "switch.load_balancing=ecmp", "reorder:tor2-spine1,rate=5%,by=3us", {"reordering"}),
        ("ndp", "switch.load_balancing=spray", None, {"trimmed"}),
        ("irn", "switch.buffer_bytes=100000", None, {"loss", "timeout"}),
    ],
)
def test_runs_report_the_reasons(
    tmp_path: Path, scheme: str, setting: str, fault: str | None, reasons: set[str]
) -> None:
    result = run_incast(tmp_path, scheme, setting, faults=() if fault is None else (fault,)).result
    counts = result.resent
    assert isinstance(counts, ResentCounts)
    assert counts.packets == result.flows.packets_resent == sum(counts.reasons.values()) > 0
    assert set(counts.reasons) - {"timeout"} == reasons - {"timeout"}
    assert "timeout" not in reasons or counts.timeout > 0
    assert bool(result.dropped) == ("loss" in reasons)
    assert any("overtaken" in warning for warning in result.warnings) == ("reordering" in reasons)
