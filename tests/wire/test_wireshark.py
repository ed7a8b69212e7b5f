# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that Wireshark decodes the frames that wire builds."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.pcapng import CaptureWriter
from sfc_testbed.wire.pfc import pack_frame as pack_pfc
from sfc_testbed.wire.roce.packets import (
    CNP_RESERVED,
    Opcode,
    Syndrome,
    pack_aeth,
    pack_immediate,
    pack_psn_word,
    pack_selective,
)
from tests.wire.test_bts import EXAMPLE, frame_of
from tests.wire.test_roce import framer

FRAMES = {
    "data": framer().frame(Opcode.SEND_FIRST, pack_psn_word(0, ack_request=True), bytes(1000)),
    "last": framer().frame(Opcode.SEND_LAST_WITH_IMMEDIATE, pack_psn_word(1), pack_immediate(7) + b"hello"),
    "ack": framer(0xC0).frame(Opcode.ACKNOWLEDGE, pack_psn_word(1), pack_aeth(Syndrome.ACK, 1)),
    "nak": framer(0xC0).frame(Opcode.ACKNOWLEDGE, pack_psn_word(2), pack_aeth(Syndrome.NAK_SEQUENCE_ERROR, 1)),
    "irn nak": framer(0xC0).frame(
        Opcode.ACKNOWLEDGE, pack_psn_word(2), pack_aeth(Syndrome.NAK_SEQUENCE_ERROR, 1) + pack_selective(9)
    ),
    "cnp": framer(0xC0).frame(Opcode.CNP, pack_psn_word(0), CNP_RESERVED, becn=True),
    "pfc": pack_pfc(0x0200_0000_0001, {3: 65535}),
    "bts": frame_of(EXAMPLE),
}
ROCE = "eth:ethertype:ip:udp:infiniband"
EXPECTED = {
    "data": (f"{ROCE}:data", "0", "0"),
    "last": (f"{ROCE}:data", "3", "1"),
    "ack": (ROCE, "17", "1"),
    "nak": (ROCE, "17", "2"),
    "irn nak": (ROCE, "17", "2"),
    "cnp": (ROCE, "129", "0"),
    "pfc": ("eth:ethertype:macc", "", ""),
    "bts": ("eth:ethertype:ip:udp:data", "", ""),
}


def test_wireshark_decodes_every_kind_of_frame(tmp_path: Path) -> None:
    """RoCEv2 frames are decoded as InfiniBand, with opcode and PSN, and no frame is malformed."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed")
    with CaptureWriter(tmp_path / "frames.pcapng", "h1-eth0", CaptureClock(1)) as capture:
        for frame in FRAMES.values():
            capture.write(0, frame)
    fields = ["frame.protocols", "infiniband.bth.opcode", "infiniband.bth.psn", "_ws.malformed"]
    command = [tshark, "-r", str(tmp_path / "frames.pcapng"), "-T", "fields"]
    for name in fields:
        command += ["-e", name]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [tuple(line.split("\t")) for line in output.splitlines()]
    assert dict(zip(FRAMES, rows, strict=True)) == {name: (*row, "") for name, row in EXPECTED.items()}
