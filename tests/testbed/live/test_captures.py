# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures as other programs decode them: scapy, tshark and docs/wire-format.md agree on every field."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.utils import rdpcap

from testbed.execution.execute import execute
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent
from wire.constants import BTS_UDP_PORT, DSCP_BTS, DSCP_DATA, ROCE_UDP_PORT
from wire.scapy_layers import BTH, BTS

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "wire-format.md").read_text()


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run on the virtual clock and return the capture of a paused sender's wire."""
    request = RunRequest("incast", clock="virtual", captures=("h1",))
    finished = execute(plan_run(request), tmp_path_factory.mktemp("runs"), Silent())
    return finished.folder / "pcaps" / "h1-eth0.pcapng"


def _tshark(capture: Path, filter_text: str, field: str = "frame.number") -> list[str]:
    """Return one field of every packet that matches a display filter."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    command = ["tshark", "-r", str(capture), "-Y", filter_text, "-T", "fields", "-e", field]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_the_documented_bts_layout_is_the_scapy_layer() -> None:
    table = DOCUMENT.partition("## Back-To-Sender")[2].partition("\n\n28 bytes")[0]
    rows = [(int(offset), int(bits)) for offset, bits in re.findall(r"^\| (\d+) \| (\d+) \|", table, re.MULTILINE)]
    bits_before = 0
    expected = []
    for field in BTS.fields_desc:
        bits = getattr(field, "size", 0) or int(field.sz * 8)
        expected.append((bits_before // 8, int(bits)))
        bits_before += int(bits)
    assert rows == expected
    assert bits_before == 28 * 8


def test_scapy_reads_bts_and_data(capture: Path) -> None:
    packets = rdpcap(str(capture))
    signals = [packet for packet in packets if BTS in packet]
    data = [packet for packet in packets if BTH in packet and packet[IP].tos >> 2 == DSCP_DATA]
    assert signals and data
    signal, first = signals[0], data[0]
    assert signal[UDP].dport == BTS_UDP_PORT
    assert signal[IP].tos >> 2 == DSCP_BTS
    assert (signal[IP].src, signal[IP].dst) == (first[IP].dst, first[IP].src)
    assert (signal[BTS].flow_sport, signal[BTS].flow_dport) == (first[UDP].sport, ROCE_UDP_PORT)
    assert signal[BTS].dest_qp == first[BTH].dqpn
    assert signal[BTS].pause_us > 0
    assert signal[BTS].switch_id in (1, 2, 3, 4)


def test_tshark_knows_roce_and_finds_nothing_malformed(capture: Path) -> None:
    destination_qps = _tshark(capture, "infiniband.bth.opcode == 1", "infiniband.bth.destqp")
    assert _tshark(capture, "infiniband.bth.opcode == 17")
    scapy_data = next(packet for packet in rdpcap(str(capture)) if BTH in packet)
    assert {int(number, 16) for number in destination_qps} == {scapy_data[BTH].dqpn}
    assert set(_tshark(capture, f"udp.dstport == {BTS_UDP_PORT}", "data.len")) == {"28"}
    assert _tshark(capture, "_ws.malformed || _ws.expert.severity == error") == []
