# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a running switch follows its interfaces, and reports each change in one line."""

import signal
from pathlib import Path

from softswitch_tests.marks import needs_namespaces
from softswitch_tests.process.live import LiveSwitch, add_pair, live_switch
from softswitch_tests.process.test_live_frames import SOURCE, filled

pytestmark = needs_namespaces()
AGAIN = "port 1 (port1): there is an interface 'port1' again; the port uses it"


def passes(switch: LiveSwitch, size: int = 100, *, back: bool = False) -> bool:
    """Return whether a frame passes from port 1 to port 2, or from port 2 to port 1."""
    source, sink = switch.wires(2, 1) if back else switch.wires(1, 2)
    frame = filled(1 if back else 2, "88b6", size)
    source.send(frame)
    return sink.receive_from(SOURCE) == frame


def set_mtu(switch: LiveSwitch, mtu: int) -> None:
    for interface in ("far1", "port1", "far2", "port2"):
        switch.near.ip(f"link set {interface} mtu {mtu}")


def test_larger_mtu_is_followed(tmp_path: Path) -> None:
    with live_switch(tmp_path) as switch:
        set_mtu(switch, 9000)
        assert passes(switch, 9014)
        switch.notices(2)
        set_mtu(switch, 1400)
        assert passes(switch, 1414)
        assert switch.statistics()["drops"]["bad_length"] == 0
        assert switch.notices(4) == [
            f"port {port} (port{port}): the MTU is now {mtu} B" for mtu in (9000, 1400) for port in (1, 2)
        ]


def test_frames_are_received_before_the_change_of_mtu_is_known(tmp_path: Path) -> None:
    with live_switch(tmp_path) as switch:
        source, sink = switch.wires(1, 2)
        switch.process.send_signal(signal.SIGSTOP)
        set_mtu(switch, 9000)
        sent = [filled(2, "8100a064 0800", 9018), filled(2, "0800", 1600)]
        for frame in sent:
            source.send(frame)
        switch.process.send_signal(signal.SIGCONT)
        assert [sink.receive_from(SOURCE) for _ in sent] == sent


def test_renamed_interface_stays_in_use(tmp_path: Path) -> None:
    with live_switch(tmp_path) as switch:
        for number, words in enumerate(("port1 down", "port1 name uplink", "uplink up"), start=1):
            switch.near.ip(f"link set {words}")
            switch.notices(number)
        assert switch.notices(3) == [
            "port 1 (port1): the link is down",
            "port 1 (port1): the interface is now called 'uplink'; the port still uses it",
            "port 1 (uplink): the link is up",
        ]
        assert passes(switch)
        assert "uplink" in switch.control.command("show_ports")


def test_deleted_interface_is_named_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    with live_switch(tmp_path) as switch:
        [source] = switch.wires(2)
        switch.near.ip("link delete port1")
        assert switch.notices(1)[-1] == (
            "port 1 (port1): the interface is gone; the port drops its frames until there is an interface 'port1' again"
        )
        source.send(filled(1, "88b6"))
        switch.wait_for(lambda: switch.statistics()["drops"]["transmit"] == 1)
        add_pair(switch.near, 1, None)
        switch.wait_for(lambda: AGAIN in switch.notices())
        assert passes(switch)
        assert passes(switch, back=True)
        assert "promiscuity 1" in switch.near.run("ip", "-d", "link", "show", "port1")


def test_interface_that_is_replaced_at_once_is_used(tmp_path: Path) -> None:
    """The new interface has the name and the number of the old one, and another MTU."""
    with live_switch(tmp_path) as switch:
        number = switch.near.run("ip", "-o", "link", "show", "port1").split(":")[0]
        switch.process.send_signal(signal.SIGSTOP)
        switch.near.ip("link delete port1")
        switch.near.ip(f"link add port1 index {number} type veth peer name far1")
        for words in ("port1 mtu 9000", "far1 mtu 9000", "port1 up", "far1 up"):
            switch.near.ip(f"link set {words}")
        switch.process.send_signal(signal.SIGCONT)
        switch.wait_for(lambda: AGAIN in switch.notices())
        assert passes(switch)


def test_link_that_goes_down_is_named(tmp_path: Path) -> None:
    with live_switch(tmp_path) as switch:
        switch.near.ip("link set far2 down")
        assert switch.notices(1) == ["port 2 (port2): the link is down"]
        switch.near.ip("link set far2 up")
        assert switch.notices(2)[1:] == ["port 2 (port2): the link is up"]
        assert passes(switch)


def test_other_interfaces_are_not_reported(tmp_path: Path) -> None:
    with live_switch(tmp_path) as switch:
        add_pair(switch.near, 7, None)
        switch.near.ip("link add bridge0 type bridge")
        for words in ("bridge0 up", "port2 master bridge0", "port2 nomaster"):
            switch.near.ip(f"link set {words}")
        switch.near.ip("link delete port7")
        assert passes(switch)
        assert switch.notices() == []
