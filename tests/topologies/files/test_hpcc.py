# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Topology files of the HPCC simulator."""

from __future__ import annotations

import pytest

from sfc_testbed.topologies.routes import Paths
from tests.topologies.files.networks import links_of, network, refusal

DUMBBELL = """6 2 5
4 5
0 4 100Gbps 1000ns 0
1 4 25Gbps 0.001ms 0
2 5 100Gbps 1us 0.000000
3 5 100Gbps 1us 0
4 5 400Gbps 1.5us 0

src0 dst0 rate delay error_rate
"""


def test_nodes_links_rates_and_delays_are_those_of_the_file() -> None:
    """Host N of the file is h(N + 1), as in flow files of the simulator, and switch N is sN."""
    built = network(DUMBBELL)
    assert [host.name for host in built.hosts] == ["h1", "h2", "h3", "h4"]
    assert [(switch.name, switch.is_tor) for switch in built.switches] == [("s4", True), ("s5", True)]
    assert ("h2", "s4", 25_000_000_000, 1_000) in links_of(built)
    assert ("s4", "s5", 400_000_000_000, 1_500) in links_of(built)
    assert len(Paths(built).between("h1", "h4")) == 3
    assert str(built.host["h3"].ip) == "10.2.0.1"
    assert built.notes == ()


def test_a_single_switch_may_have_any_number() -> None:
    built = network("3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0.01\n")
    assert [host.name for host in built.hosts] == ["h2", "h3"]
    assert built.notes == ("net.txt: error rates of 1 links are not used; use --fault loss:A-B,rate=SHARE.",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1000ns", "10parsecs", "net.txt, line 3: delay must be a time such as"),
        ("25Gbps", "25GBps", "net.txt, line 4: rate must be a rate such as"),
        ("25Gbps", "30Tbps", "line 4: rate must be from 100000 to 25600000000000 bit/s, not '30Tbps'"),
        ("25Gbps", "1bps", "line 4: rate must be from 100000"),
        ("2 5 100", "2 9 100", "line 5: the number of a node is a whole number up to 5, not '9'"),
        ("2 5 100", "2 2 100", "line 5: node 'h3' has a link to itself"),
        ("2 5 100", "2 3 100", "line 5: hosts 'h3' and 'h4' are linked; a host has a link to a switch"),
        ("3 5 100", "2 4 100", "line 6: host 'h3' has a second link, to 's4' beside 's5'; a host has one NIC"),
        ("4 5 400Gbps 1.5us 0", "4 0 400Gbps 1.5us 0", "line 7: host 'h1' has a second link"),
        ("6 2 5", "7 2 5", "net.txt, host 'h7' has no link"),
        ("6 2 5", "6 2 4", "disconnected: no path from 'h1' to 'h3' (2 of 4 hosts are out of reach)"),
        ("6 2 5", "6 2 6", "line 9: the number of a node is a whole number up to 5, not 'src0'"),
        ("4 5\n", "4 4\n", "line 2: a switch is listed twice"),
        ("6 2 5\n4 5", "6 6 5\n4 5 0 1 2 3", "no host in this file"),
        ("6 2 5\n4 5\n", "6 0 5\n", "no switch in this file"),
        (" 0\n1 4", " 7\n1 4", "line 3: an error rate is from 0 to 1, not '7'"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(old: str, new: str, words: str) -> None:
    assert old in DUMBBELL
    assert words in refusal(DUMBBELL.replace(old, new))


def test_a_link_that_is_given_twice_is_refused() -> None:
    text = DUMBBELL.replace("6 2 5", "6 2 6").replace("1.5us 0\n", "1.5us 0\n5 4 400Gbps 1us 0\n")
    assert "line 8: 's5' and 's4' are already linked in line 7" in refusal(text)


def test_a_file_that_ends_early_is_refused() -> None:
    assert "line 4: the file ends where a delay should follow" in refusal("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps")
