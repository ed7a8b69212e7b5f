# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""tools/wireshark/sfc_testbed.lua in tshark: it decodes a captured run like the testbed's own modules."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.contract.frames import with_shim
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.pcapng import CapturedFrame, CaptureWriter, read_capture
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.wire import bts, constants, int_header, int_slots, tcp_signal
from sfc_testbed.wire.bts import BackToSender, pack_frame
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.int_slots import Slot, pack
from tests.wire.test_bts import PROTOTYPES
from tests.wire.test_roce import header_of

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "wireshark" / "sfc_testbed.lua"
TEXT = SCRIPT.read_text(encoding="utf-8")
D = 1000
CLOCK = CaptureClock(D)
BTS_FIELDS = (
    *("version", "dscp", "pause_us", "cacheable", "cause", "protocol", "source_port", "destination_port"),
    *("destination_qp", "class", "queue_bytes", "switch", "stamp"),
)
OWN_NAMES = {
    "destination_qp": "destination_qpn",
    "class": "traffic_class",
    "queue_bytes": "queue_depth_bytes",
    "switch": "switch_id",
}
"""The fields that have another name in our decoder."""
ROCE_FIELDS = ("opcode", "destqp", "psn")
INT_FIELDS = ("records", "rate_kbps", "time_us", "tx_bytes", "queue_bytes", "time_model_us")
MALFORMED = ("_ws.malformed", "sfc_bts.malformed", "sfc_int.malformed")


@dataclass(frozen=True)
class Stored:
    """The capture of host h1, its frames, and the signals of the run."""

    capture: Path
    frames: list[CapturedFrame]
    signals: pl.DataFrame


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Run an incast with BTS and in-band telemetry, captured at a sender that is paused."""
    settings = ("message_bytes=150000", "switch.q_th_bytes=60000", "switch.q_tg_bytes=30000")
    plan = plan_run(
        RunSpec("incast", "sfc+hpcc", clock="virtual", dilation=D, settings=parse_settings(settings), captures=("h1",))
    )
    folder = execute(plan, tmp_path_factory.mktemp("runs"), Silent(), page=False).folder
    capture = folder / "pcaps" / "h1-eth0.pcapng"
    return Stored(capture, list(read_capture(capture)), pl.read_parquet(folder / "signals.parquet"))


def _tshark(capture: Path, fields: list[str], *words: str) -> list[dict[str, str]]:
    """Return the fields of every packet; equal fields of one packet are joined by commas.

    tshark runs as an ordinary user: as root, Wireshark 4.4 ignores Lua scripts without a message.
    """
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    about = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stdout
    if "with Lua" not in about:
        pytest.skip("tshark was built without Lua")
    field_words = [word for field in fields for word in ("-e", field)]
    user, group, groups = ("nobody", "nogroup", ()) if os.geteuid() == 0 else (None, None, None)
    with tempfile.TemporaryDirectory() as folder, capture.open("rb") as frames:
        Path(folder).chmod(0o755)
        script = shutil.copy(SCRIPT, folder)
        command = [program, "-r", "-", "-X", f"lua_script:{script}", *words, "-T", "fields", *field_words]
        output = subprocess.run(
            command,
            stdin=frames,
            capture_output=True,
            text=True,
            timeout=100,
            env={"HOME": folder},
            user=user,
            group=group,
            extra_groups=groups,
        )
    assert output.returncode == 0, output.stderr
    assert "Lua" not in output.stderr, output.stderr
    rows = [line.split("\t") for line in output.stdout.splitlines()]
    return [dict(zip(fields, row, strict=True)) for row in rows]


def _capture(folder: Path, *frames: bytes, time_ns: int = 0, clock: CaptureClock = CLOCK) -> Path:
    """Write a capture with these frames, all of one time."""
    path = folder / "frames.pcapng"
    with CaptureWriter(path, "h1-eth0", clock) as writer:
        for frame in frames:
            writer.write(time_ns, frame)
    return path


def _first_to(run: Stored, port: int) -> bytes:
    """Return the first frame of the run that goes to this UDP port."""
    return next(packet.frame for packet in run.frames if packet.frame[36:38] == port.to_bytes(2, "big"))


@pytest.fixture(scope="module")
def packets(run: Stored) -> list[dict[str, str]]:
    """Return the fields that tshark prints for each packet of the run."""
    fields = [f"sfc_bts.{name}" for name in (*BTS_FIELDS, "arrival_model_us")]
    fields += [f"sfc_int.{name}" for name in INT_FIELDS] + [f"infiniband.bth.{name}" for name in ROCE_FIELDS]
    return _tshark(run.capture, ["sfc_time.model_us", "sfc_time.dilation", *fields, *MALFORMED])


@pytest.mark.parametrize("name", re.findall(r"^local ([A-Z_]+) = \d+$", TEXT, re.MULTILINE))
def test_the_script_has_the_numbers_of_the_wire_format(name: str) -> None:
    [value] = re.findall(rf"^local {name} = (\d+)$", TEXT, re.MULTILINE)
    known = {"WRAP_US": int_header.COUNTER_MODULUS, **vars(constants), **vars(int_slots), **vars(bts)}
    assert int(value) == known[name]


def test_the_script_has_the_causes_of_the_wire_format() -> None:
    [table] = re.findall(r"BTS_CAUSES =\s+\{(.*)\}", TEXT)
    causes = {int(number): name for number, name in re.findall(r'\[(\d+)\] = "(\w+)"', table)}
    assert causes == {int(cause): cause.name.lower() for cause in BtsCause}


def test_every_packet_has_its_model_time(run: Stored, packets: list[dict[str, str]]) -> None:
    """The script reads the clock from the capture. The model time of a BTS is its reception time in the trace."""
    expected = [frame.time_ns / (1000 * D) for frame in run.frames]
    assert [float(row["sfc_time.model_us"]) for row in packets] == pytest.approx(expected)
    assert {row["sfc_time.dilation"] for row in packets} == {str(D)}
    received = [float(row["sfc_time.model_us"]) for row in packets if row["sfc_bts.cause"]]
    own = run.signals.filter(pl.col("host") == "h1")
    assert received == pytest.approx(own["received_us"].sort().to_list())


def _decoded(signal: BackToSender | None, name: str) -> int:
    """Return the value of one of BTS_FIELDS."""
    return constants.BTS_VERSION if name == "version" else int(getattr(signal, OWN_NAMES.get(name, name)))


def _number(text: str) -> int:
    """Return the value of a field. Booleans are words in newer versions of tshark."""
    return {"True": 1, "False": 0}[text] if text in ("True", "False") else int(text, 0)


def test_bts_fields_are_those_of_our_decoder(run: Stored, packets: list[dict[str, str]]) -> None:
    """Every field of a BTS has its value. The time of arrival is that of the trace."""
    rows = [row for row in packets if row["sfc_bts.cause"]]
    port = constants.BTS_UDP_PORT.to_bytes(2, "big")
    frames = [packet.frame for packet in run.frames if packet.frame[36:38] == port]
    decoded = [bts.unpack_frame(frame) for frame in frames]
    assert decoded
    expected = [[_decoded(signal, name) for name in BTS_FIELDS] for signal in decoded]
    assert [[_number(row[f"sfc_bts.{name}"]) for name in BTS_FIELDS] for row in rows] == expected
    own = run.signals.filter(pl.col("host") == "h1").sort("received_us")
    for field, column in (("pause_us", "pause_us"), ("arrival_model_us", "sent_us")):
        assert [float(row[f"sfc_bts.{field}"]) for row in rows] == pytest.approx(own[column].to_list())


def test_telemetry_and_the_packet_inside_are_decoded(run: Stored, packets: list[dict[str, str]]) -> None:
    """The records come newest first, with model times. The packet behind them has its opcode, QP and PSN."""
    rows = [row for row in packets if row["sfc_int.records"]]
    stripped = [int_header.strip(packet.frame) for packet in run.frames if int_header.has_telemetry(packet.frame)]
    assert len(rows) == len(stripped) > 0
    for row, parts in zip(rows, stripped, strict=True):
        assert parts is not None
        plain, shim = parts
        hops = int_header.unpack(shim).hops
        columns = [[int(value) for value in row[f"sfc_int.{name}"].split(",") if value] for name in INT_FIELDS[1:5]]
        assert columns == [list(column) for column in zip(*hops, strict=True)] or not hops
        model_us = [float(value) for value in row["sfc_int.time_model_us"].split(",") if value]
        assert model_us == pytest.approx([hop.time_us / D for hop in hops])
        header = header_of(plain)
        fields = [int(row[f"infiniband.bth.{name}"], 0) for name in ROCE_FIELDS]
        assert fields == [header.opcode, header.destination_qpn, header.psn_word(plain) & constants.PSN_MASK]
    assert max(int(row["sfc_int.records"]) for row in rows) == 3


def test_only_invalid_packets_are_malformed(run: Stored, packets: list[dict[str, str]], tmp_path: Path) -> None:
    """Invalid versions, flags and lengths are marked, packets of a run are not. A source port may be the BTS port."""
    assert not any(row[field] for row in packets for field in MALFORMED)
    signal, data = _first_to(run, constants.BTS_UDP_PORT), _first_to(run, constants.INT_UDP_PORT)
    frames = [
        signal[:42] + b"\x21" + signal[43:],
        data[:43] + b"\x10" + data[44:],
        data[:42] + b"\x06" + data[43:],
        data[:34] + constants.BTS_UDP_PORT.to_bytes(2, "big") + data[36:],
    ]
    rows = _tshark(_capture(tmp_path, *frames), [*MALFORMED[1:], "sfc_int.records"])
    marks = [(bool(row["sfc_bts.malformed"]), bool(row["sfc_int.malformed"])) for row in rows]
    assert marks == [(True, False), (False, True), (False, True), (False, False)]
    assert [bool(row["sfc_int.records"]) for row in rows] == [False, False, False, True]


def test_slots_of_the_compact_layout_are_decoded(run: Stored, tmp_path: Path) -> None:
    """Byte counts are shown in bytes, and the sender's stamp behind the slots is no hop."""
    slots = (Slot(2, 0xABCDEF, 0xFEDCB, 0x1234), Slot(1, 7, 8, 9))
    stamp = bytes(4) + (77).to_bytes(4, "big") + bytes(8)
    plain = next(packet.frame for packet in run.frames if int_header.has_telemetry(packet.frame))
    data = int_header.strip(plain)
    assert data is not None
    shims = (pack(slots), pack(slots, constants.INT_FLAG_STAMP, stamp), pack(slots)[:40])
    path = _capture(tmp_path, *(with_shim(data[0], shim) for shim in shims))
    fields = ["rate_code", "slot_time", "tx_bytes", "queue_bytes", "sender_time_us", "malformed"]
    rows = _tshark(path, [f"sfc_int.{name}" for name in fields] + ["infiniband.bth.opcode"])
    hops = ["2,1", f"{0xABCDEF},7", f"{0xFEDCB * 128},1024", f"{0x1234 * 80},720"]
    assert [list(row.values())[:6] for row in rows[:2]] == [[*hops, "", ""], [*hops, "77", ""]]
    opcodes = [int(row["infiniband.bth.opcode"], 0) for row in rows[:2]]
    assert opcodes == [data[0][42], data[0][42]]


def test_feedback_of_qcn_is_not_shown_as_a_pause(run: Stored, tmp_path: Path) -> None:
    signal = _first_to(run, constants.BTS_UDP_PORT)
    path = _capture(tmp_path, signal[:44] + bytes([0, 63, BtsCause.FEEDBACK]) + signal[47:])
    fields = [f"sfc_bts.{name}" for name in ("cause", "feedback", "pause_us", "malformed")]
    [row] = _tshark(path, fields)
    assert list(row.values()) == [str(int(BtsCause.FEEDBACK)), "63", "", ""]


def test_a_request_of_bolt_is_shown_with_the_packet_that_it_quotes(tmp_path: Path) -> None:
    signal = BackToSender(BtsCause.SUB_RTT, False, 170, 17, 26, 0xC001, 4791, 9, 3, 3_174, 1, 0, psn=77)
    frame = pack_frame(signal, destination_mac=1, source_mac=2, congested_ip=3, paused_ip=4)
    path = _capture(tmp_path, frame)
    fields = [f"sfc_bts.{name}" for name in ("drain_ns", "psn", "pause_us", "malformed")]
    assert [list(row.values()) for row in _tshark(path, fields)] == [["680", "77", "", ""]]


def test_a_bts_of_the_sfc_prototype_has_no_other_fields(tmp_path: Path) -> None:
    """Its payload after the pause is 0. Anything else there needs a cause."""
    frame = pack_frame(PROTOTYPES, destination_mac=1, source_mac=2, congested_ip=3, paused_ip=4)
    fields = [f"sfc_bts.{name}" for name in ("dscp", "pause_us", "source_port", "switch", "stamp")]
    rows = _tshark(_capture(tmp_path, frame, frame[:-1] + b"\1"), [*fields, *MALFORMED[1:2]])
    assert list(rows[0].values()) == ["26", "1234", str(0xC005), "", "", ""]
    assert rows[1]["sfc_bts.malformed"]


def test_every_field_of_a_tcp_signal_is_named(tmp_path: Path) -> None:
    """The prototype's has ports and pause only. A class above 7 is malformed, and a usual segment is no signal."""
    signal = BackToSender(BtsCause.CACHE, True, 1234, 6, 26, 40_000, 5_201, 0, 3, 260_000, 4, 0xFEDC)
    frame = tcp_signal.pack_frame(signal, destination_mac=1, source_mac=2, congested_ip=3, paused_ip=4)
    prototypes = frame[:47] + b"\x18" + frame[48:]  # the flags PSH and ACK
    segment = frame[:46] + b"\x50\x18" + frame[48:]
    contents = (frame, prototypes, frame[:56] + b"\x08" + frame[57:], segment)
    path = _capture(tmp_path, *contents, time_ns=10**9 * D, clock=CaptureClock(D, 0, 0))
    names = [name for name in BTS_FIELDS if name not in ("version", "destination_qp")]
    fields = [f"sfc_bts.{name}" for name in (*names, "arrival_model_us", "malformed")]
    ours, theirs, malformed, usual = _tshark(path, [*fields, "_ws.col.Info"])
    values = [_number(ours[f"sfc_bts.{name}"]) for name in names]
    assert values == [_decoded(signal, name) for name in names]
    assert float(ours["sfc_bts.arrival_model_us"]) < 10**6
    assert ours["_ws.col.Info"] == "BTS for TCP port 40000: cache, pause for 1234 us, 260000 B queued at switch 4"
    shown = {name: theirs[f"sfc_bts.{name}"] for name in names if theirs[f"sfc_bts.{name}"]}
    assert shown == {"pause_us": "1234", "protocol": "6", "source_port": "40000", "destination_port": "5201"}
    assert [bool(row["sfc_bts.malformed"]) for row in (ours, theirs, malformed, usual)] == [False, False, True, False]
    assert not usual["sfc_bts.pause_us"]


def test_dilation_can_be_set_for_a_capture_without_it(run: Stored, tmp_path: Path) -> None:
    """Model time then counts from the first packet."""
    path = tmp_path / "bare.pcap"
    path.write_bytes(
        b"\xd4\xc3\xb2\xa1\x02\0\x04\0"
        + bytes(8)
        + b"\xff\xff\0\0\x01\0\0\0"
        + b"".join(
            second.to_bytes(4, "little") + bytes(4) + 2 * len(packet.frame).to_bytes(4, "little") + packet.frame
            for second, packet in enumerate(run.frames[:3])
        )
    )
    assert {row["sfc_time.model_us"] for row in _tshark(path, ["sfc_time.model_us"])} == {""}
    rows = _tshark(path, ["sfc_time.model_us"], "-o", "sfc_time.dilation:500")
    assert [float(row["sfc_time.model_us"]) for row in rows] == pytest.approx([0.0, 2000.0, 4000.0])
