# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Faults on live Mininet: flows finish, switches route around dead links, and each loss is counted once.

Lateness is not checked, because other tests may run in parallel.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from rich.console import Console

from sfc_testbed.api.functions import open_network
from sfc_testbed.testbed.prompt.judging import fidelity
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.targets.bmv2.installation import missing_bmv2
from sfc_testbed.testbed.targets.common.statistics import DOWN
from tests.testbed import running

pytestmark = running.NEEDS_MININET

_BMV2 = pytest.mark.skipif(missing_bmv2() is not None, reason=f"no BMv2: {missing_bmv2()}")
_COUNTERS = {
    "link:tor2-spine1,down=20us,up=100us": ("drops", "link_down"),
    "restart:tor2,at=30us": ("drops", "restart"),
    "stall:tor2,at=30us,for=40us,ring=4": ("drops", "receive_ring"),
    "stall:h16,at=30us,for=40us,ring=4": ("drops", "receive_ring"),
    "loss:all,rate=1%": ("drops", "link_loss"),
    "bts-loss:all,rate=50%": ("drops", "link_bts_loss"),
    "corrupt:all,rate=1%": ("drops", "link_corrupted"),
    "duplicate:all,rate=5%": ("packets", "link_duplicated"),
    "reorder:all,rate=1%": ("flows", "packets_resent"),
    "jitter:all,max=2us": ("packets", "sent"),
}
"""A counter of the result that must be above 0."""

_ON_BMV2 = (
    "link:tor2-spine1,down=20us,up=100us",
    "stall:h16,at=30us,for=40us,ring=4",
    "loss:all,rate=1%",
    "duplicate:all,rate=5%",
    "jitter:all,max=2us",
)
"""Faults that also run on BMv2, where softswitch's wires apply every kind alike; each takes a minute."""


@pytest.mark.parametrize(
    ("fault", "switch", "dilation"),
    [
        *((fault, "soft", "10000") for fault in _COUNTERS),
        *(pytest.param(fault, "bmv2", "50000", marks=_BMV2) for fault in _ON_BMV2),
    ],
)
def test_an_incast_outlives_a_fault(tmp_path: Path, fault: str, switch: str, dilation: str) -> None:
    """All flows complete, the fault is counted, and all packets are accounted for."""
    words = ["--switch", switch, "--dilation", dilation, "--fault", fault, "--out", str(tmp_path)]
    result = running.result_of("incast", *words)
    verdict = f"{result['verdict']}: {result['verdict_reasons']} {result['drops']}"
    assert (result["flows"]["completed"], result["flows"]["corrupted"]) == (8, 0), verdict
    group, counter = _COUNTERS[fault]
    assert result[group][counter] > 0, verdict
    assert result["unexplained_loss"] == 0, verdict
    if fault.startswith(("restart", "stall")):
        assert result["packets"]["in_flight"] == 0, verdict


def test_the_prompts_network_routes_around_a_dead_link() -> None:
    with open_network("clos", dilation=10_000, settings={"topology.hosts_per_tor": 2}) as net:
        for up in (False, True):
            net.set_link("tor1", "spine1", up=up)
            messages = [net.send(src, dst, 5_000) for src in ("h1", "h2") for dst in ("h3", "h4") for _ in range(4)]
            assert net.wait(messages, seconds=40), (
                f"{sum(not message.is_done for message in messages)} of 16 did not arrive"
            )
            assert [message.sent.figures.packets_resent for message in messages if message.sent is not None] == [0] * 16


@pytest.mark.parametrize(("a", "b"), [("tor1", "spine1"), ("h3", "tor2"), ("h1", "tor1")])
def test_losses_on_a_dead_link_at_the_prompt_are_counted(a: str, b: str) -> None:
    """The cut link is between switches, at the receiver or at a sender; `fidelity` reports the losses as drops."""
    with open_network("clos", dilation=10_000, settings={"topology.hosts_per_tor": 2, "topology.spines": 1}) as net:
        messages = [net.send(src, "h3", 500_000) for src in ("h1", "h2")]
        time.sleep(0.5)
        net.set_link(a, b, up=False)
        time.sleep(1)
        net.set_link(a, b, up=True)
        assert net.wait(messages, seconds=60)
        deadline = time.monotonic() + 20
        while "no drop counter explains" in (report := fidelity(net, Terminal(print, Console(), has_keys=False), [])):
            assert time.monotonic() < deadline, report
            time.sleep(0.5)  # packets that were sent again are still on their way
    assert re.search(rf"[1-9]\d* by {DOWN}", report), report
    assert "received or dropped more" not in report
