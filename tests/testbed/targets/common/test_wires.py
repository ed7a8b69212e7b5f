# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for delay lines: which links are cut, interface names, commands, and the check of netem's delays."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.targets.common.wires import (
    LINKS_PER_PROCESS,
    PROGRAM,
    check_netem,
    command_of_wire,
    commands_of_wire,
    cut_links,
    missing_netem,
    netem_command,
)
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire import tcp_signal
from sfc_testbed.wire.bts import BackToSender, pack_frame
from sfc_testbed.wire.constants import IP_PROTOCOL_TCP, BtsCause
from sfc_testbed.wire.dilation import Dilation
from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from tests.testbed.running import write_program


def test_every_delayed_link_is_cut_once() -> None:
    topology = shape("paper-simulation", {}).build()
    wires = cut_links(topology)
    assert [wire.link for wire in wires] == list(topology.links)
    assert all(first % 2 == 0 and second == first + 1 for first, second in (wire.ports for wire in wires))
    names = [name for wire in wires for name in wire.interfaces]
    assert len(set(names)) == 2 * len(wires)
    assert max(map(len, names)) <= 15
    assert len({wire.node for wire in wires}) == -(-len(wires) // LINKS_PER_PROCESS)


def test_a_link_without_delay_is_not_cut() -> None:
    topology = shape("star", {"hosts": 2}).build()
    first, second = topology.links
    [wire] = cut_links(replace(topology, links=(replace(first, delay_ns=0), second)))
    assert wire.link == second


def test_a_switchs_pass_latency_adds_to_the_delay_of_the_link_that_a_frame_leaves_by() -> None:
    """The delay is 1 us from host to switch and 1.6 us back. A link without delay is cut too."""
    for host_delay_ns in (1_000, 0):
        topology = shape("star", {"hosts": 2, "host_delay_ns": host_delay_ns, "pass_latency_ns": 600}).build()
        wires = cut_links(topology)
        assert [wire.link for wire in wires] == list(topology.links)
        assert {wire.delays_ns for wire in wires} == {(host_delay_ns + 600, host_delay_ns)}  # towards the host first


@pytest.mark.parametrize("protocol", [17, 6])
def test_only_a_switchs_own_bts_waits_for_the_time_to_build_it(protocol: int) -> None:
    topology = shape("clos", {"host_delay_ns": 0, "fabric_delay_ns": 0, "bts_latency_ns": 600}).build()
    assert cut_links(topology) == ()
    wires = cut_links(topology, makes_bts=True)
    assert [wire.link for wire in wires] == list(topology.links)
    [wire] = [candidate for candidate in wires if (candidate.link.a.node, candidate.link.b.node) == ("tor1", "spine1")]
    tor, spine = (end.switch_id for end in wire.builders if end is not None)
    short = _bts(tor, protocol)[:40]
    with SwitchEngine(build_library(PROGRAM)) as engine:
        for line in commands_of_wire(wire, Dilation(1_000)):
            engine.command(line)
        for at_ns, port, other in ((0, *wire.ports), (1_000_000, *wire.ports[::-1])):
            own, peers = (tor, spine) if port == wire.ports[0] else (spine, tor)
            local, passing = _bts(own, protocol), _bts(peers, protocol)
            sent = (local, passing, short, bytes(60))
            for frame in sent:
                engine.receive(port, frame, at_ns)
            assert engine.advance(at_ns + 599_999) == [(other, at_ns, frame) for frame in sent[1:]]
            assert engine.advance(at_ns + 600_000) == [(other, at_ns + 600_000, local)]


def _bts(switch_id: int, protocol: int) -> bytes:
    message = BackToSender(BtsCause.QUEUE, True, 5, protocol, 24, 50_000, 4791, 9, 3, 300_000, switch_id, 77)
    pack = tcp_signal.pack_frame if protocol == IP_PROTOCOL_TCP else pack_frame
    return pack(message, destination_mac=1, source_mac=2, congested_ip=3, paused_ip=4)


@pytest.mark.parametrize(
    ("line", "port", "command"),
    [
        ("port_link 3 down", 3, "port_link {port} down"),
        ("port_impair 12 out loss rate_ppb=5 seed=1", 12, "port_impair {port} in loss rate_ppb=5 seed=1"),
        ("port_impair 1 in jitter off", 1, "port_impair {port} out jitter off"),
    ],
)
def test_link_commands_of_a_switch_become_commands_of_the_wire(line: str, port: int, command: str) -> None:
    """Directions are swapped: frames that leave the switch enter the wire."""
    assert command_of_wire(line) == (port, command)


OLD_TC = {
    50_000_000: "0.05",
    1_000_000: "0.001",
    999_999: "0.000998",
    12_999: "1.1e-05",
    12_345: "1.1e-05",
    12_000: "1.1e-05",
    3_000: "2e-06",
    2_000: "1e-06",
}
"""Delay in ns -> what tc of iproute2 5.15 to 6.8 prints in seconds: whole microseconds, in ticks of 64 ns."""
NEW_TC = {50_000_000: "0.05", 50_000_001: "0.05", 999_999: "0.000999999", 12_345: "1.2345e-05", 100: "1e-07"}
"""The same for tc of iproute2 6.9 and later, which keeps nanoseconds and prints six digits."""


def _answer(seconds: str) -> str:
    """Return what `tc -j qdisc show` prints about a netem qdisc with this delay."""
    options = f'"limit":1000000,"delay":{{"delay":{seconds},"jitter":0,"correlation":0}},"ecn":false,"gap":0'
    return f'[{{"kind":"netem","handle":"8001:","root":true,"refcnt":2,"options":{{{options}}}}}]\n'


@pytest.mark.parametrize(
    ("delay_ns", "written"),
    [
        (50_000_000, "50000.000us"),
        (50_000_001, "50000.001us"),
        (12_345, "12.345us"),
        (1_000, "1.000us"),
        (100, "0.100us"),
    ],
)
def test_a_netem_delay_is_written_in_microseconds(delay_ns: int, written: str) -> None:
    """tc before iproute2 6.9 refuses nanoseconds as an illegal latency."""
    words = netem_command("tor1-eth1", delay_ns).split()
    assert words[words.index("delay") + 1] == written


@pytest.mark.skipif(shutil.which("tc") is None, reason="no tc on the PATH")
@pytest.mark.parametrize("delay_ns", [1, 999, 1_000, 12_345, 50_000_000, 50_000_001])
def test_the_tc_of_this_machine_parses_the_netem_command(delay_ns: int) -> None:
    """tc parses all options before it looks for the interface, so neither root nor a kernel with netem is needed."""
    script = netem_command("sfc-nowhere", delay_ns)
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert 'Cannot find device "sfc-nowhere"' in done.stdout + done.stderr


_NONE = "netem has set no delay on tor1-eth1"


@pytest.mark.parametrize(
    ("delay_ns", "answer", "error"),
    [
        *((delay_ns, _answer(seconds), None) for delay_ns, seconds in (*OLD_TC.items(), *NEW_TC.items())),
        (60_000_000, _answer("0.05"), "netem on tor1-eth1 delays frames by 50000000 ns instead of 60000000 ns"),
        (12_000, _answer("9e-06"), "netem on tor1-eth1 delays frames by 9000 ns instead of 12000 ns"),
        (3_000, _answer("6e-06"), "netem on tor1-eth1 delays frames by 6000 ns instead of 3000 ns"),
        (1_000, "Error: Specified qdisc kind is unknown.\n", _NONE),
        (1_000, 'Illegal "latency"\n', _NONE),
        (1_000, "", _NONE),
        (1_000, "[]", _NONE),
        (1_000, '[{"kind": "noqueue"}]', _NONE),
        (1_000, '[{"kind":"netem","options":{"limit":1000000,"ecn":false,"gap":0}}]', _NONE),
        (1_000, _answer("0"), _NONE),
    ],
)
def test_a_delay_passes_as_each_version_of_tc_prints_it(delay_ns: int, answer: str, error: str | None) -> None:
    """A delay of 0 is refused as well: tc before iproute2 6.9 sets less than 1 us to 0, and prints 1 us as 0."""
    with nullcontext() if error is None else pytest.raises(RunError, match=error):
        check_netem("tor1-eth1", delay_ns, answer)


# A fake tc for machines without netem in the kernel. It accepts one delay and then prints the prepared answer.
_TC = """case "$*" in
*"qdisc replace dev lo root netem"*"delay 12.345us") printf '%s' '{answer}' > "$0.answer" ;;
*"qdisc replace"*) echo 'Illegal "latency"' >&2; exit 1 ;;
*"-j qdisc show dev lo"*) cat "$0.answer" ;;
*) exit 1 ;;
esac
"""


@pytest.mark.root
@pytest.mark.parametrize(
    ("answer", "delays_ns", "missing"),
    [
        (_answer("1.1e-05"), [12_345], None),
        (_answer("1.1e-05"), [12_345, 0], None),
        (_answer("1.1e-05"), [12_345, 20_000], 'Illegal "latency"'),
        (_answer("0.001"), [12_345], "delays frames by 1000000 ns"),
        (_answer("0"), [12_345], "netem has set no delay"),
    ],
)
def test_netem_is_probed_with_the_delays_that_a_run_needs(
    answer: str, delays_ns: list[int], missing: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The probe runs the command of the run, because tc may accept one delay and refuse another."""
    write_program(tmp_path / "tc", _TC.format(answer=answer.strip()))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    reason = missing_netem(delays_ns)
    assert (reason is None) if missing is None else (reason is not None and missing in reason)
