# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The process on real interfaces: veth pairs in a network namespace of the test's own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from tests.softswitch.process.veth_scenario import DELAY_NS, FRAMES, RATE_BPS, sizes
from tests.softswitch.programs.steered import executable

pytestmark = pytest.mark.root


def missing() -> str | None:
    """What this machine lacks for the test."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return "needs unshare and ip"
    probe = ["unshare", "--net", "ip", "link", "add", "left", "type", "veth", "peer", "name", "right"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return f"needs root and veth: {done.stderr.strip()}" if done.returncode else None


@pytest.fixture(scope="module")
def outcome() -> dict[str, Any]:
    """What came out of one run of the scenario."""
    if reason := missing():
        pytest.skip(reason)
    command = ["unshare", "--net", sys.executable, "-m", "tests.softswitch.process.veth_scenario", str(executable())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_every_frame_arrives_whole_and_in_order(outcome: dict[str, Any]) -> None:
    """A burst of mixed sizes through AF_PACKET; nothing of it comes back or gets lost."""
    assert outcome["status"] == 0
    assert outcome["lengths"] == sizes()
    assert outcome["tags"] == [i % 256 for i in range(FRAMES)]
    statistics = outcome["statistics"]
    assert statistics["kernel_drops"] == 0
    assert sum(statistics["drops"].values()) == 0
    assert (statistics["rx_packets"], statistics["tx_packets"]) == (FRAMES + 1, FRAMES + 1)
    assert outcome["back"] == 9


def test_wire_is_exact_in_the_switchs_clock(outcome: dict[str, Any]) -> None:
    """Once the queue has built up each packet starts when the one before has ended, to the microsecond."""
    ends_us = [8e6 * size / RATE_BPS for size in sizes()]
    starts_us = outcome["egress_us"]
    for (before, after), wire_us in zip(pairwise(starts_us[100:]), ends_us[100:-1], strict=True):
        assert abs(after - before - wire_us) <= 1


def test_nothing_arrives_early(outcome: dict[str, Any]) -> None:
    """The last frame needs all wire times and the propagation delay; no departure precedes its due time."""
    least_ns = 8e9 * sum(sizes()) / RATE_BPS + DELAY_NS
    assert outcome["took_ns"] >= least_ns
    lateness = outcome["statistics"]["lateness"]["departures"]
    assert lateness["count"] == FRAMES + 1
    assert lateness["max_ns"] >= 0
