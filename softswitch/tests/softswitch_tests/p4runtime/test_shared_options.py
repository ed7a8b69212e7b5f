# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the options that simple_switch has too: the log of packets, and rates of links that `tc` shapes."""

from pathlib import Path

import pytest

from softswitch.control import ControlClient
from softswitch_tests.marks import needs_tc
from softswitch_tests.p4runtime.controller import Names, connected, exact
from softswitch_tests.p4runtime.frames import EXACT, arrives, frame
from softswitch_tests.p4runtime.running import served
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.process.running import until

SHAPED = "root handle 5: htb default 1; tc class add dev port parent 5: classid 5:1 htb rate 400kbit burst 15k"
HIT = "Table 'In.exact_match': hit with handle 0"


def test_the_log_shows_the_way_of_packets_through_each_program(names: Names) -> None:
    with served([PROGRAMS / "l3.json", "--log-console", "--log-flush"]) as server:
        server.send(1, bytes(5))
        assert server.line_with("Processing packet").endswith("received on port 1")
        with connected(server.address, "controlled") as client:
            client.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.forward", 2)))
            assert arrives(server, 2, EXACT, 1)
            assert server.line_with("Table 'In.exact_match': ").endswith(HIT)
            client.set_pipeline("controlled", "RECONCILE_AND_COMMIT")
            assert arrives(server, 2, EXACT, 1)
            assert server.line_with("Table 'In.exact_match': ").endswith(HIT)


@pytest.mark.parametrize(("level", "has_packets"), [("debug", True), ("info", False)])
def test_the_log_file_has_packets_down_to_its_level(
    tmp_path: Path, names: Names, level: str, has_packets: bool
) -> None:
    log = tmp_path / "log.txt"
    words: list[str | Path] = ["--no-p4", "--log-file", tmp_path / "log", "--log-level", level, "--log-flush"]
    with served(words, log=log) as server, connected(server.address, "controlled") as client:
        client.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.forward", 2)))
        server.send(1, frame(EXACT, 1))
        server.receive(2)
        assert not has_packets or until(lambda: HIT in log.read_text())
        server.stop()
    assert (HIT in log.read_text()) == has_packets
    assert "Primitive" not in log.read_text()  # a line of level trace


@needs_tc
def test_a_program_change_keeps_own_settings_and_follows_tc(tmp_path: Path) -> None:
    """The rate of `tc` on port 7 is followed by both programs and never becomes a setting of its own."""
    links = f"set -e; ip link add port type veth peer name far; tc qdisc add dev port {SHAPED}"
    inside = ["unshare", "--net", "sh", "-c", links + '; exec "$@"', "sh"]
    words: list[str | Path] = [PROGRAMS / "l3.json", "-i", "7@port", "--control", tmp_path / "control"]
    shaped = "port 7 (port): 400000 bits/s, 0 ns of delay, 64 packets a queue, from tc"
    own = ["port_rate 2 5000000", "set_queue_depth 9 2 0", "port_delay 3 1000", "port_mac_control 9 off"]
    with served(words, address=f"unix:{tmp_path}/grpc", inside=inside) as server:
        assert shaped in (line.rstrip("\n") for line in server.lines)
        with ControlClient(tmp_path / "control") as control:
            for line in own:
                control.command(line)
        with connected(server.address, "controlled"):
            assert server.line_with("port 7") == shaped
        with ControlClient(tmp_path / "control") as control:
            settings = control.command("show_port_settings").splitlines()
            rates = {row.split()[0]: row.split()[2] for row in control.command("show_ports").splitlines()[1:]}
        assert settings == own
        assert (rates["2"], rates["7"]) == ("5000000", "400000")
