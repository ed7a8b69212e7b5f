# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The text of control plane commands, as `simple_switch_CLI` accepts it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from sfc_testbed.testbed.control_plane.entries import (
    ChangedEntry,
    ClearedTable,
    Command,
    FlowQueues,
    MirrorSession,
    RegisterCell,
    TableEntry,
)

MAC = "06:00:00:01:00:03"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            TableEntry("ipv4_lpm", "next_hop", (IPv4Network("10.1.0.0/16"),), (3, MAC)),
            f"table_add ipv4_lpm next_hop 10.1.0.0/16 => 3 {MAC}",
        ),
        (
            TableEntry("watched", "watch", (IPv4Address("10.1.0.2"), 3), (7,)),
            "table_add watched watch 10.1.0.2 3 => 7",
        ),
        (TableEntry("watched", "ignore", (3,)), "table_add watched ignore 3 =>"),
        (TableEntry("dilation", "divide", parameters=(5, 6)), "table_set_default dilation divide 5 6"),
        (TableEntry("load_balancing", "by_random"), "table_set_default load_balancing by_random"),
        (RegisterCell("member_ports", 97, 4), "register_write member_ports 97 4"),
        (ChangedEntry(4, "ipv4_lpm", "ecmp", (1, 2)), "table_modify ipv4_lpm ecmp 4 => 1 2"),
        (ClearedTable("ecn"), "table_clear ecn"),
        (MirrorSession(1, 510), "mirroring_add 1 510"),
        (MirrorSession(1, None), "mirroring_delete 1"),
        (FlowQueues(2, 3, 32, 1500), "port_queues 2 3 32 1500"),
    ],
)
def test_a_command_has_the_text_of_simple_switch_cli(command: Command, text: str) -> None:
    assert str(command) == text
