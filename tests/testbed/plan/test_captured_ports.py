# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Valid and invalid words for --pcap."""

from __future__ import annotations

import pytest

from testbed.errors import UsageError
from testbed.plan.captured_ports import captured_ports
from topologies.model import Port
from topologies.shapes import shape

NETWORK = shape("clos", {"hosts_per_tor": 2}).build()


def test_hosts_switches_and_ports() -> None:
    assert captured_ports(["h2", "tor1:1", "tor2:spine2"], NETWORK) == (
        Port("h2", 0),
        Port("tor1", 1),
        Port("tor2", next(port.number for port in NETWORK.ports["tor2"] if port.peer.node == "spine2")),
    )
    assert captured_ports(["spine1"], NETWORK) == tuple(Port("spine1", port.number) for port in NETWORK.ports["spine1"])
    assert captured_ports([], NETWORK) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["h1", "h1"], "h1 is named twice"),
        (["tor1", "tor1:1"], "tor1:1 is named twice"),
        (["h9"], "no host or switch 'h9' in this network (hosts h1 to h4, switches tor1, tor2, spine1, spine2)"),
        (["tor1:9"], "no single port '9' of tor1; there are 1 (h1), 2 (h2), 3 (spine1), 4 (spine2)"),
        (["tor1:"], "no single port '' of tor1"),
        (["h1:0"], "'h1:0': a host has only one port; use the name of the host alone"),
        (["spin1"], "nearest: spine1"),
    ],
)
def test_invalid_words_are_refused(words: list[str], expected: str) -> None:
    with pytest.raises(UsageError) as refused:
        captured_ports(words, NETWORK)
    assert str(refused.value).startswith("--pcap: ")
    assert expected in str(refused.value)
