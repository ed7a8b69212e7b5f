# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the log of every packet, which has the words of BMv2's."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from softswitch.build import build_executable
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.pipeline.test_l3 import ipv4_frame
from softswitch_tests.process.running import NotReady, refusal, running

PREFIX = re.compile(r"\[\d\d:\d\d:\d\d\.\d{3}\] \[bmv2\] \[([TDIE])\] \[thread \d+\] (.*)")
PACKET = re.compile(r"\[(\d+\.\d+)\] \[cxt 0\] (.*)")
LIMIT_LINES = 400


@contextmanager
def logged(name: str, folder: Path, level: str, commands: str, *frames: bytes) -> Iterator[list[tuple[str, str, str]]]:
    """Send frames to port 1, one after the other, and yield the log as (level, packet, words)."""
    path = folder / "commands"
    path.write_text(commands)
    program = build_executable(PROGRAMS / f"{name}.json", logs=True)
    lines: list[str] = []
    with running("--commands", path, "--log", level, "--log-flush", program=program) as switch:
        assert switch.process.stdout is not None
        for number, frame in enumerate(frames):
            switch.send(1, frame)
            while not is_end(lines[-1] if lines else "", number):
                assert len(lines) < LIMIT_LINES
                lines.append(switch.process.stdout.readline())
    yield [parsed(line) for line in lines]


def is_end(line: str, number: int) -> bool:
    return f" [{number}." in line and ("Transmitting packet" in line or "Dropping packet" in line)


def parsed(line: str) -> tuple[str, str, str]:
    match = PREFIX.fullmatch(line.rstrip("\n"))
    assert match is not None, line
    packet = PACKET.fullmatch(match[2])
    return (match[1], packet[1], packet[2]) if packet else (match[1], "", match[2])


def test_way_of_a_packet_through_parser_tables_and_deparser(tmp_path: Path) -> None:
    """A routed packet, a packet without route and one that is too short."""
    commands = "table_add routes route 10.0.0.0/8 => 2 10.0.0.1\ntable_add neighbours rewrite 10.0.0.1 => 0x99\n"
    frames = (ipv4_frame(0x0A010203), ipv4_frame(0x0B010203), bytes(5))
    with logged("l3", tmp_path, "trace", commands, *frames) as lines:
        words = {packet: [text for _, name, text in lines if name == packet] for packet in ("0.0", "1.0", "2.0")}
    wanted = [
        "Processing packet received on port 1",
        "Parser 'parser': start",
        "Parser 'parser' entering state 'start'",
        "Extracting header 'ethernet'",
        "Parser state 'start': key is 0800",
        "Parser 'parser' entering state 'ipv4'",
        "Parser state 'ipv4' has no switch, going to default next state",
        "Parser 'parser': end",
        "Pipeline 'ingress': start",
        'Condition "!hdr.ipv4.isValid() || std.checksum_error == 1 || hdr.ipv4.ttl <= 1" (node_3) is false',
        "Applying table 'In.routes'",
        "* hdr.ipv4.dst        : 0a010203",
        "Table 'In.routes': hit with handle 0",
        "Action entry is In.route - 0002,0a000001,",
        "Action In.route",
        "Primitive std.egress_spec = port",
        "Table 'In.neighbours': hit with handle 0",
        "Pipeline 'ingress': end",
        "Egress port is 2",
        "Pipeline 'egress': start",
        "Deparser 'deparser': start",
        "Deparsing header 'ethernet'",
        "Deparsing header 'ipv4'",
        "Deparser 'deparser': end",
        f"Transmitting packet of size {len(frames[0])} out of port 2",
    ]
    assert without_places(words["0.0"], wanted) == wanted
    assert "Table 'In.routes': miss" in words["1.0"]
    assert words["1.0"][-2:] == ["Egress port is 511", "Dropping packet at the end of ingress"]
    assert "Exception while parsing: PacketTooShort" in words["2.0"]
    assert ("E", "2.0", "Exception while parsing: PacketTooShort") in lines
    assert any(re.match(r"\S*l3\.p4\(\d+\) Primitive ", text) for text in words["0.0"])


def without_places(lines: list[str], wanted: list[str]) -> list[str]:
    """Return the wanted lines in the order of the log, without the place in the program before an action's words."""
    plain = (re.sub(r"^\S+\.p4\(\d+\) ", "", line) for line in lines)
    return [line for line in plain if line in wanted]


def test_copies_and_rounds_have_numbers(tmp_path: Path) -> None:
    """Lines of the level trace are absent at the level debug."""
    frame = b"\x01\0\0\0abc"
    with logged("again", tmp_path, "debug", "mirroring_add 5 2\n", frame) as lines:
        assert {level for level, _, _ in lines} == {"D"}
        names = {name for _, name, _ in lines}
        assert names == {"0.0", "0.1"}
        assert ("D", "0.0", "Cloning packet at ingress") in lines
        assert ("D", "0.1", "Cloning packet to egress port 2") in lines


def test_program_writes_its_own_messages(tmp_path: Path) -> None:
    with logged("stacks", tmp_path, "debug", "", bytes.fromhex("0c02aabb")) as lines:
        assert ("I", "", "to port 2 {which=6}, 100 % of it") in lines


def test_usual_program_has_no_log() -> None:
    assert "unrecognized option '--log'" in refusal("-i", "1@fd:1", "--log", "trace")


def test_unknown_level_is_refused() -> None:
    program = build_executable(PROGRAMS / "l3.json", logs=True)
    with (
        pytest.raises(NotReady, match="log level 'loud' is neither trace nor debug"),
        running("--log", "loud", program=program),
    ):
        pass
