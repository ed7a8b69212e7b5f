# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the process on real interfaces: veth pairs in a separate network namespace."""

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
    """Return the reason why this machine cannot run the tests, or None."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return "needs unshare and ip"
    probe = ["unshare", "--net", "ip", "link", "add", "left", "type", "veth", "peer", "name", "right"]
    process = subprocess.run(probe, capture_output=True, text=True, check=False)
    return f"needs root and veth: {process.stderr.strip()}" if process.returncode else None


@pytest.fixture(scope="module")
def outcome() -> dict[str, Any]:
    if reason := missing():
        pytest.skip(reason)
    command = ["unshare", "--net", sys.executable, "-m", "tests.softswitch.process.veth_scenario", str(executable())]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 0, process.stderr
    values: dict[str, Any] = json.loads(process.stdout)
    return values


def test_every_frame_arrives_whole_and_in_order(outcome: dict[str, Any]) -> None:
    """A burst of mixed sizes passes AF_PACKET without losses or reflected frames."""
    assert outcome["status"] == 0
    assert outcome["lengths"] == sizes()
    assert outcome["tags"] == [i % 256 for i in range(FRAMES)]
    statistics = outcome["statistics"]
    assert statistics["kernel_drops"] == 0
    assert sum(statistics["drops"].values()) == 0
    assert (statistics["rx_packets"], statistics["tx_packets"]) == (FRAMES + 1, FRAMES + 1)
    assert outcome["back"] == 9


def test_wire_is_exact_in_the_switchs_clock(outcome: dict[str, Any]) -> None:
    """Once the queue is long, each packet starts when the previous one ends, to the microsecond."""
    ends_us = [8e6 * size / RATE_BPS for size in sizes()]
    starts_us = outcome["egress_us"]
    for (before, after), wire_us in zip(pairwise(starts_us[100:]), ends_us[100:-1], strict=True):
        assert abs(after - before - wire_us) <= 1


def test_nothing_arrives_early(outcome: dict[str, Any]) -> None:
    """The last frame needs all transmission times and the propagation delay."""
    least_ns = 8e9 * sum(sizes()) / RATE_BPS + DELAY_NS
    assert outcome["took_ns"] >= least_ns
    lateness = outcome["statistics"]["lateness"]["departures"]
    assert lateness["count"] == FRAMES + 1
    assert lateness["max_ns"] >= 0
