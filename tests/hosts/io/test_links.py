# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Interfaces over netlink, in a namespace of the test's own."""

from __future__ import annotations

import errno
import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from ipaddress import IPv4Address

import pytest
from pyroute2.ethtool.ioctl import IoctlEthtool

from hosts.io.links import Links, Settings, turn_off_offloads
from testbed.system.namespace import private_network
from tests.hosts.namespaces import skip_unless_possible

pytestmark = pytest.mark.root
HOST = Settings.of_host(IPv4Address("10.1.0.2"), IPv4Address("10.1.255.254"), "06:00:00:01:00:03")


@pytest.fixture
def links() -> Iterator[Links]:
    """In a namespace where nothing is but `lo`, and a pair `a0`, `b0`."""
    skip_unless_possible()
    with private_network(), Links() as made:
        made.add_pair("a0", "b0")
        yield made


def test_settings_are_what_was_given(links: Links) -> None:
    """What one interface had, another gets, whole: a host's TAP device has no other way out."""
    links.set_up("b0")
    links.give("a0", HOST)
    assert links.settings("a0") == HOST
    links.flush_addresses("a0")
    flushed = links.settings("a0")
    assert (flushed.addresses, flushed.routes) == ((), ())
    links.give("b0", HOST)
    assert links.settings("b0") == HOST
    [route] = json.loads(subprocess.check_output(["ip", "-json", "route"]))
    assert (route["dst"], route["gateway"], route["dev"]) == ("default", "10.1.255.254", "b0")


def test_what_others_set_is_seen(links: Links) -> None:
    """Networks and routes without a gateway too; what the kernel derives is not a setting."""
    for command in ("address add 10.0.0.1/24 dev a0", "link set b0 up", "route add 10.9.0.0/16 dev a0"):
        subprocess.run(["ip", *command.split()], check=True)
    found = links.settings("a0")
    assert found.addresses == (("10.0.0.1", 24),)
    assert [(route.destination, route.gateway) for route in found.routes] == [("10.9.0.0/16", None)]
    assert found.neighbours == ()


def test_an_interfaces_own(links: Links) -> None:
    """MAC address and MTU."""
    links.set_mac("a0", "02:00:00:00:00:07")
    links.set_mtu("a0", 9_000)
    assert (links.mac("a0"), links.mtu("a0")) == ("02:00:00:00:00:07", 9_000)


def test_one_request_removes_all_pairs(links: Links) -> None:
    """And nothing else; once more is no error."""
    links.add_pair("c0", "d0")
    links.remove_pairs()
    links.remove_pairs()
    assert [link["ifname"] for link in json.loads(subprocess.check_output(["ip", "-json", "link"]))] == ["lo"]


def test_a_failure_says_what(links: Links) -> None:
    """Which interface, and the kernel's reason."""
    with pytest.raises(OSError, match="cannot join a0 and x: File exists"):
        links.add_pair("a0", "x")
    with pytest.raises(OSError, match="cannot bring c0 up: No such device") as caught:
        links.set_up("c0")
    assert caught.value.errno == errno.ENODEV
    with pytest.raises(OSError, match="cannot turn off tx-checksumming of c0"):
        turn_off_offloads(["c0"])


def test_nothing_is_offloaded(links: Links) -> None:
    """Neither checksums nor segmentation, in both directions."""
    with closing(IoctlEthtool("a0")) as ethtool:
        before = ethtool.get_offload_flags()
        turn_off_offloads(["a0", "b0"])
        after = ethtool.get_offload_flags()
    changed = {name for name in before if before[name] != after[name]}
    assert {"tx-checksumming", "rx-checksumming", "generic-segmentation-offload"} <= changed
    assert not any(after[name] for name in changed)


@pytest.mark.parametrize("mtu_bytes", [1500, 4132, 65_535])
def test_both_ends_of_a_pair_take_what_was_asked_for(links: Links, mtu_bytes: int) -> None:
    """The kernel says so of each."""
    links.add_pair("a1", "b1", mtu_bytes=mtu_bytes)
    assert (links.mtu("a1"), links.mtu("b1")) == (mtu_bytes, mtu_bytes)


def test_an_mtu_that_the_kernel_refuses_is_named(links: Links) -> None:
    """With the interfaces; nothing is made."""
    with pytest.raises(OSError, match="cannot join a1 and b1 at an MTU of 65536 B: Invalid argument"):
        links.add_pair("a1", "b1", mtu_bytes=65_536)
    with pytest.raises(OSError, match="cannot find a1"):
        links.mtu("a1")
