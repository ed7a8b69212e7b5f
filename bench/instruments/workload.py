# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Input of the switch benchmarks: the table entries of a ToR with the scheme sfc, and RoCEv2 data from h1 to h2."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.testbed.control_plane.commands import pipeline_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.targets.common.commands import PROGRAM
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import Clos
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.constants import DSCP_DATA
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import Opcode, pack_psn_word
from softswitch.build import build_executable

DILATION = Dilation(1000)
FLOWS = 64
SWITCH = "tor1"
FRAME_OVERHEAD = 58
"""Headers and ICRC of a data frame without immediate."""

IN_PORT, OUT_PORT = 1, 2
"""Switch ports of h1, the sender, and h2, the receiver."""


def rack() -> Topology:
    """Return the default Clos: two racks of four hosts under two spines."""
    return Clos().build()


def sfc_settings(**changes: object) -> SwitchSettings:
    """Return the switch settings of the scheme `sfc`, with changes."""
    return SwitchSettings.model_validate({**SCHEMES["sfc"].switch, **changes})


def entries(topology: Topology, settings: SwitchSettings) -> list[str]:
    """Return the commands for the P4 tables of tor1, which are the same for every target."""
    return list(map(str, pipeline_commands(topology, SWITCH, settings, DILATION, seed=1)))


def unlimited_wires(ports: Sequence[int] = (IN_PORT, OUT_PORT)) -> list[str]:
    """Return softswitch commands that remove the rate and the delays of ports."""
    commands = ("port_rate", "port_delay", "port_ingress_delay")
    return [f"{command} {port} 0" for port in ports for command in commands]


def data_frames(
    topology: Topology,
    lengths: Sequence[int],
    dscps: Sequence[int] = (DSCP_DATA,),
    hosts: tuple[str, str] = ("h1", "h2"),
) -> list[bytes]:
    """Return a RoCEv2 data frame between two hosts for each length (at least FRAME_OVERHEAD).

    The FLOWS flows and the DSCPs are used in turn.
    """
    source, destination = (topology.host[name] for name in hosts)
    frames = []
    for index, length in enumerate(lengths):
        framer = RoceFramer(
            destination_mac=parse_mac(source.gateway_mac),
            source_mac=parse_mac(source.mac),
            source_ip=int(source.ip),
            destination_ip=int(destination.ip),
            source_qpn=1 + index % FLOWS,
            destination_qpn=1 + index % FLOWS,
            tos=dscps[index % len(dscps)] << 2,
        )
        frames.append(framer.frame(Opcode.SEND_MIDDLE, pack_psn_word(index), bytes(length - FRAME_OVERHEAD)))
    return frames


def softswitch_command(
    lines: Sequence[str], path: Path, ports: Mapping[int, str], executable: Path | None = None
) -> list[str]:
    """Write the switch's commands to a file, and return the words that start a softswitch, by default this tree's."""
    words = [str(executable or build_executable(PROGRAM)), "--commands", write_lines(path, lines), "--die-with-parent"]
    return [*words, *(word for port, interface in ports.items() for word in ("-i", f"{port}@{interface}"))]


def write_frames(path: Path, frames: Sequence[bytes]) -> str:
    """Write frames as bench/programs/traffic.c and bench/programs/pipeline.c read them; return the path as text."""
    path.write_bytes(b"".join(struct.pack("<H", len(frame)) + frame for frame in frames))
    return str(path)


def write_lines(path: Path, lines: Sequence[str]) -> str:
    """Write a commands file and return its path as text."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)
