# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares softswitch and BMv2 on random streams, byte for byte (docs/stf.md lists the permitted differences)."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sfc_testbed.wire.constants import BTS_FRAME_BYTES, INT_FLAG_COMPACT
from sfc_testbed.wire.tcp_signal import is_signal
from softswitch.stf.engine_target import EngineTarget
from softswitch.stf.statements import Packet, parse
from softswitch_tests.pipeline.harness import PROGRAMS
from tests.softswitch.stf.bmv2 import needs_bmv2, skip_what_corrupts_it
from tests.softswitch.stf.streams import broken, entries
from tests.softswitch.stf.vectors import SFC, VECTORS, program_of
from tools.bmv2_target import Bmv2Target

pytestmark = needs_bmv2

BTS_PORT = (1674).to_bytes(2, "big")
INT_PORT = (49792).to_bytes(2, "big")
SFC_MECHANISMS = (
    "mirroring_add 1 510",
    "mirroring_add 2 510",
    "table_set_default SfcIngress.bts.suppression.suppression filter 4000000000",
    "table_add SfcIngress.bts.bts_trigger ingress_bts 3 => 3000 1000",
    "table_add SfcIngress.bts.bts_trigger egress_bts 6 => 3000 1000",
    "table_add congested_port port_speed 2 => 1342177 1",
    "register_write queue_bytes 19 90000",
    "register_write queue_bytes 22 90000",
    "table_add SfcIngress.pfc.pfc lossless 1 3 => 256 2000 10000 4000000000 4",
    "table_add SfcEgress.telemetry.int_port port_rate 2 => 100000 1 0",
    "table_add SfcEgress.ecn.ecn red 2 3 => 0 1 1",
)
"""The mechanisms whose results do not depend on a clock; each may be on or off."""

KNOWS_SHORT_FRAMES = ("sfc", "headers")
"""The programs that can handle short frames. The others read missing headers: zero here, old data in BMv2."""

STATEFUL_RANDOM = 4
"""The first byte that asks the stateful program for a random number."""

SFC_ROUTES = (
    "table_add SfcIngress.forwarding.ipv4_lpm next_hop 10.0.1.0/24 => 1 02:00:00:00:0a:01 02:00:00:00:00:01",
    "table_add SfcIngress.forwarding.ipv4_lpm next_hop 10.0.2.0/24 => 2 02:00:00:00:0a:02 02:00:00:00:00:02",
    "table_add SfcIngress.forwarding.dscp_to_class set_class 26 => 3",
    "table_add SfcIngress.forwarding.dscp_to_class set_class 48 => 6",
)
TIMED_TABLES = (
    *("pause_cache", "watched_destination", "sfc_p", "ecn", "qcn", "pfc", "ipv4_lpm", "dscp_to_class", "bts_trigger"),
)
"""Tables for which random entries would make the result depend on clocks, random numbers or endless mirroring."""


def seeds(program: Path) -> list[bytes]:
    vectors = [v for v in VECTORS if program_of(v) == program]
    statements = [s for v in vectors for s in parse(v.read_text(encoding="utf-8"))]
    return sorted({s.frame for s in statements if isinstance(s, Packet) and s.frame})


def frames(program: Path) -> st.SearchStrategy[list[tuple[int, bytes]]]:
    may_be_cut = program.stem in KNOWS_SHORT_FRAMES
    frame = st.sampled_from(seeds(program)).flatmap(lambda seed: broken(seed, may_be_cut=may_be_cut))
    if program.stem == "stateful":
        frame = frame.filter(lambda data: data[0] != STATEFUL_RANDOM)
    return st.lists(st.tuples(st.integers(1, 3), frame), min_size=30, max_size=60)


def by_port(out: list[tuple[int, bytes]]) -> dict[int, list[str]]:
    """Return the frames of each port with times masked, without BMv2's empty frames, which no wire can carry."""
    result: dict[int, list[str]] = {}
    for port, frame in out:
        if frame:
            result.setdefault(port, []).append(masked(frame).hex())
    return result


def masked(frame: bytes) -> bytes:
    """Mask the fields of a frame of sfc.p4 that depend on clocks and threads: pause, depth and times of BTS and INT.

    The time of a BTS is the IPv4 identification, on which the checksum of the header depends.
    """
    if frame[36:38] == BTS_PORT and len(frame) >= BTS_FRAME_BYTES:
        return _without(frame, (18, 20), (24, 26), (44, 46), (54, 58))
    if frame[23:24] == b"\x06" and is_signal(frame):
        return _without(frame, (18, 20), (24, 26), (40, 46))
    if frame[36:38] == INT_PORT and len(frame) >= 54 and frame[43] & INT_FLAG_COMPACT:
        return frame[:46] + bytes([frame[46] & 0xF0, 0, 0, frame[49] & 0x0F]) + frame[50:]
    if frame[36:38] == INT_PORT and len(frame) >= 54:
        return frame[:50] + bytes(4) + frame[54:]
    return frame


def _without(frame: bytes, *places: tuple[int, int]) -> bytes:
    """Return the frame with zeros from each first offset to each last one."""
    content = bytearray(frame)
    for begin, end in places:
        content[begin:end] = bytes(end - begin)
    return bytes(content)


def compare(program: Path, commands: list[str], stream: list[tuple[int, bytes]]) -> None:
    """Run both targets frame by frame; on the first difference, fail with all inputs so far."""
    with EngineTarget(program) as engine, Bmv2Target(program) as reference:
        for line in commands:
            assert accepts(engine, line) == accepts(reference, line), line
        for number, (port, frame) in enumerate(stream):
            got, wanted = by_port(engine.send(port, frame)), by_port(reference.send(port, frame))
            if got != wanted:
                pytest.fail(f"{commands}\nframe {number} into port {port}: {frame.hex()}\nours {got}\nBMv2 {wanted}")


def accepts(target: EngineTarget | Bmv2Target, line: str) -> bool:
    try:
        target.command(line)
    except ValueError:
        return False
    return True


few = settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # no shrinking, which would start hundreds of switches
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@given(st.data())
@few
def test_sfc_program_agrees_on_random_streams(data: st.DataObject) -> None:
    """Draws routes, mechanisms that are on or off, and whole and broken frames."""
    chance = [line for line in data.draw(entries(SFC)) if not line.split()[1].endswith(TIMED_TABLES)]
    mechanisms = [line for line in SFC_MECHANISMS if data.draw(st.booleans())]
    compare(SFC, [*SFC_ROUTES, *mechanisms, *chance], data.draw(frames(SFC)))


@pytest.mark.parametrize("name", ["arithmetic", "hashing", "headers", "matching", "stateful"])
def test_small_programs_agree_on_random_streams(name: str) -> None:
    program = PROGRAMS / f"{name}.json"
    skip_what_corrupts_it(program)

    @given(data=st.data())
    @settings(few, max_examples=4)
    def agree(data: st.DataObject) -> None:
        compare(program, data.draw(entries(program)), data.draw(frames(program)))

    agree()
