# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the configuration of interfaces over netlink, in a network namespace of their own."""

import asyncio
import errno
import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from ipaddress import IPv4Address

import pytest
from pyroute2.ethtool.ioctl import IoctlEthtool

from sfc_testbed.hosts.io.links import Links, Settings, turn_off_offloads
from sfc_testbed.testbed.system.namespace import private_network
from tests.hosts.namespaces import skip_unless_possible

pytestmark = pytest.mark.root
HOST = Settings.of_host(IPv4Address("10.1.0.2"), IPv4Address("10.1.255.254"), "06:00:00:01:00:03")


@pytest.fixture
def links() -> Iterator[Links]:
    """Yield a netlink socket in a new namespace with only `lo` and a veth pair `a0`, `b0`."""
    skip_unless_possible()
    with private_network(), Links() as netlink:
        netlink.add_pair("a0", "b0")
        yield netlink


def test_links_work_in_a_thread_with_a_running_event_loop(links: Links) -> None:
    """Check what a network in a Jupyter notebook depends on."""

    async def set_both_up() -> list[bool]:
        with Links() as inside:
            inside.set_up("b0")
            return [inside.is_up("b0"), links.is_up("a0")]

    assert asyncio.run(set_both_up()) == [True, True]


def test_settings_can_be_moved_to_another_interface(links: Links) -> None:
    """Check what a host's TAP device depends on."""
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


def test_settings_include_routes_and_addresses_set_by_other_programs(links: Links) -> None:
    """Routes that the kernel derives from addresses are not settings."""
    for command in ("address add 10.0.0.1/24 dev a0", "link set b0 up", "route add 10.9.0.0/16 dev a0"):
        subprocess.run(["ip", *command.split()], check=True)
    settings = links.settings("a0")
    assert settings.addresses == (("10.0.0.1", 24),)
    assert [(route.destination, route.gateway) for route in settings.routes] == [("10.9.0.0/16", None)]
    assert settings.neighbours == ()


def test_an_interface_with_carrier_is_ready_to_send(links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    """The peer `b0` is down at first."""
    monkeypatch.setattr("sfc_testbed.hosts.io.links._CARRIER_SECONDS", 0.05)
    with pytest.raises(OSError, match=r"a0 has no carrier after 0\.05 s"):
        links.wait_for_carrier("a0")
    monkeypatch.undo()
    links.set_up("b0")
    links.wait_for_carrier("a0")
    [link] = json.loads(subprocess.check_output(["ip", "-json", "link", "show", "a0"]))
    assert link["operstate"] == "UP"


def test_mac_address_and_mtu_can_be_set(links: Links) -> None:
    links.set_mac("a0", "02:00:00:00:00:07")
    links.set_mtu("a0", 9_000)
    assert (links.mac("a0"), links.mtu("a0")) == ("02:00:00:00:00:07", 9_000)


def test_remove_pairs_removes_all_pairs_and_can_be_repeated(links: Links) -> None:
    links.add_pair("c0", "d0")
    links.remove_pairs()
    links.remove_pairs()
    assert [link["ifname"] for link in json.loads(subprocess.check_output(["ip", "-json", "link"]))] == ["lo"]


def test_an_error_names_the_interface_and_the_reason(links: Links) -> None:
    with pytest.raises(OSError, match="cannot join a0 and x: File exists"):
        links.add_pair("a0", "x")
    with pytest.raises(OSError, match="cannot bring c0 up: No such device") as caught:
        links.set_up("c0")
    assert caught.value.errno == errno.ENODEV
    with pytest.raises(OSError, match="cannot turn off tx-checksumming of c0"):
        turn_off_offloads(["c0"])


def test_offloads_are_turned_off_in_both_directions(links: Links) -> None:
    with closing(IoctlEthtool("a0")) as ethtool:
        before = ethtool.get_offload_flags()
        turn_off_offloads(["a0", "b0"])
        after = ethtool.get_offload_flags()
    changed = {name for name in before if before[name] != after[name]}
    assert {"tx-checksumming", "rx-checksumming", "generic-segmentation-offload"} <= changed
    assert not any(after[name] for name in changed)


@pytest.mark.parametrize("mtu_bytes", [1500, 4132, 65_535])
def test_both_ends_of_a_pair_have_the_requested_mtu(links: Links, mtu_bytes: int) -> None:
    links.add_pair("a1", "b1", mtu_bytes=mtu_bytes)
    assert (links.mtu("a1"), links.mtu("b1")) == (mtu_bytes, mtu_bytes)


def test_an_invalid_mtu_is_an_error_and_makes_no_pair(links: Links) -> None:
    with pytest.raises(OSError, match="cannot join a1 and b1 at an MTU of 65536 B: Invalid argument"):
        links.add_pair("a1", "b1", mtu_bytes=65_536)
    with pytest.raises(OSError, match="cannot find a1"):
        links.mtu("a1")
