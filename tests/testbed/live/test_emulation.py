# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The network of a live run without a run: addresses of hosts, Mininet's view, and complete removal."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from pyroute2.ethtool.ioctl import IoctlEthtool

from sfc_testbed.hosts.io.links import Links
from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.live import shells
from sfc_testbed.testbed.targets.common.wires import cut_links
from sfc_testbed.topologies.shapes import shape
from tests.testbed import running

pytest.importorskip("mininet")

from sfc_testbed.testbed.live.emulation import emulation

pytestmark = running.NEEDS_MININET
STAR = shape("star", {"hosts": 3}).build()


def _descendants() -> list[psutil.Process]:
    return running.children_of(os.getpid())


def test_a_host_has_one_address_one_route_and_no_offloads() -> None:
    """Hosts have no IPv6 either, because its neighbour discovery is not modelled."""
    with emulation(STAR) as network:
        for host in STAR.hosts:
            name = f"{host.name}-eth0"
            [link] = json.loads(network.shell(host.name, f"ip -json address show dev {name}"))
            assert (link["operstate"], link["address"]) == ("UP", host.mac)
            assert [(address["local"], address["prefixlen"]) for address in link["addr_info"]] == [(str(host.ip), 32)]
            [route] = json.loads(network.shell(host.name, "ip -json route"))
            assert (route["dst"], route["gateway"], route["dev"]) == ("default", str(host.gateway_ip), name)
            [neighbour] = json.loads(network.shell(host.name, "ip -json neighbour"))
            assert (neighbour["dst"], neighbour["lladdr"]) == (str(host.gateway_ip), host.gateway_mac)
            assert neighbour["state"] == ["PERMANENT"]
            with network_namespace(network.host_pid(host.name)), closing(IoctlEthtool(name)) as ethtool:
                flags = ethtool.get_offload_flags()
            assert not any(flags[f"{offload}-offload"] for offload in ("generic-segmentation", "generic-receive"))
            assert not any(flags[f"{offload}-checksumming"] for offload in ("tx", "rx"))
            assert "::" not in network.shell(host.name, "ip address")


def test_mininet_knows_nodes_and_links_that_it_did_not_create() -> None:
    with emulation(STAR) as network:
        assert [node.name for node in network.net.hosts] == ["h1", "h2", "h3"]
        ends = [f"{link} {link.status()}" for link in network.net.links]
        assert len(ends) == 3
        assert all("h" in end and "s1-eth" in end and end.endswith("(OK OK)") for end in ends), ends
        host = network.net.get("h2")
        assert (host.IP(), host.MAC()) == (str(STAR.host["h2"].ip), STAR.host["h2"].mac)


def test_a_cut_link_ends_at_its_wire() -> None:
    wires = cut_links(STAR)
    with emulation(STAR, wires):
        names = _interfaces()
        assert {name for wire in wires for name in wire.interfaces} <= names
        assert {"s1-eth1", "s1-eth2", "s1-eth3"} <= names


def _interfaces() -> set[str]:
    return {line.split(":")[0].strip() for line in Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]}


def test_nothing_stays_of_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    before, namespace = _descendants(), Path("/proc/thread-self/ns/net").readlink()
    with emulation(STAR):
        assert len(_descendants()) == len(before) + 4
    assert _descendants() == before

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(28, "cannot address h1-eth0: No space left on device")

    monkeypatch.setattr(Links, "give", refuse)
    with pytest.raises(RunError, match="cannot wire the network: cannot address h1-eth0"), emulation(STAR):
        pytest.fail("the network came up")
    assert _descendants() == before
    assert Path("/proc/thread-self/ns/net").readlink() == namespace


def test_every_interface_has_the_mtu() -> None:
    with emulation(STAR, cut_links(STAR), mtu_bytes=9000) as network:
        switch_links = json.loads(network.shell("s1", "ip -json link"))
        host_links = [
            json.loads(network.shell(host.name, f"ip -json link show {host.name}-eth0")) for host in STAR.hosts
        ]
    links = (*switch_links, *(link for [link] in host_links))
    mtus = {link["ifname"]: link["mtu"] for link in links if link["ifname"] != "lo"}
    assert len(mtus) == 4 * len(STAR.hosts)
    assert set(mtus.values()) == {9000}


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("echo 'remount: Invalid argument' >&2; exit 1", "ended before it was ready: remount: Invalid argument"),
        ("exit 0", "ended before it was ready: no output"),
        ("echo hello; exec sleep 300", "did not answer within 2 s"),
    ],
    ids=["says why", "says nothing", "no answer"],
)
def test_a_shell_that_does_not_start_ends_the_network(
    script: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.write_program(tmp_path / "mnexec", script)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(shells, "START_SECONDS", 2.0)
    before = _descendants()
    with pytest.raises(RunError, match=f"the shell of s1 {error}"), emulation(STAR):
        pytest.fail("the network came up")
    assert _descendants() == before


def test_a_command_for_an_ended_shell_is_an_error() -> None:
    with emulation(STAR) as network, pytest.raises(RunError, match="the shell of h2 ended"):
        network.net.get("h2").cmd("kill -KILL $$")


def test_a_stopped_shell_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped shell does not react to SIGHUP."""
    monkeypatch.setattr("sfc_testbed.testbed.live.emulation._END_SECONDS", 1.0)
    before = _descendants()
    with emulation(STAR) as network:
        os.kill(network.host_pid("h1"), signal.SIGSTOP)
    assert _descendants() == before


def test_lost_links_are_named_unless_the_testbed_takes_them_down() -> None:
    with emulation(STAR) as network:
        network.watch_links()
        for words in ("set s1-eth1 mtu 1400", "set s1-eth2 down", "add other0 type veth", "delete other0"):
            network.shell("s1", f"ip link {words}")
        assert network.troubles() == ["link h2-s1 was lost: s1-eth2 was taken down, deleted or moved away"]
        network.shell("s1", "ip link delete s1-eth3")
        assert [line.split()[1] for line in network.troubles()] == ["h2-s1", "h3-s1"]
        network.allow_down("s1-eth1")
        network.shell("s1", "ip link set s1-eth1 down")
        assert len(network.troubles()) == 2
