# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of flow list files: both formats are read back as written, and invalid files give one-line errors."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from scenarios.model.flow import FlowRequest
from scenarios.model.scenario import ScenarioError
from scenarios.traffic.flow_file import format_flows, read_flows
from scenarios.traffic.hpcc_files import FinishedFlow, format_hpcc_fct, format_hpcc_flows
from topologies.shapes import shape

NETWORK = shape("clos", {"hosts_per_tor": 2}).build()
FLOWS = (
    FlowRequest("h1", "h4", 250_000, 0, "incast"),
    FlowRequest("h2", "h3", 1, 17, "incast"),
    FlowRequest("h3", "h1", 10_000_000, 1_000_000_001, "background"),
)


def test_csv_format_is_read_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "flows.csv"
    path.write_text(format_flows(FLOWS, (10.5, 900.0)))
    flow_list = read_flows(path, NETWORK)
    assert flow_list.requests == FLOWS
    assert flow_list.measured_window_us == (10.5, 900.0)


def test_persistent_queue_pairs_are_read_back_as_written(tmp_path: Path) -> None:
    """The column is present only if a flow uses it."""
    flows = (*FLOWS, FlowRequest("h1", "h4", 5, 3, "hadoop", queue_pair=4))
    path = tmp_path / "flows.csv"
    path.write_text(format_flows(flows, None))
    assert read_flows(path, NETWORK).requests == flows
    assert "queue_pair" not in format_flows(FLOWS, None)


def test_hpcc_format_is_read_back_as_written(tmp_path: Path) -> None:
    """Hosts are numbered from 0, times begin at 2 s, and ports stand for tags."""
    path = tmp_path / "flow.txt"
    path.write_text(format_hpcc_flows(FLOWS))
    assert path.read_text().splitlines()[:2] == ["3", "0 3 3 200 250000 2.000000000"]
    assert read_flows(path, NETWORK).requests == FLOWS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first row must be"),
        ("src,dst\n", "first row must be"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h2,5\n", "not a row of 5 values"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h2,five,0,x\n", "five"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h99,5,0,x\n", "no host 'h99'"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h1,5,0,x\n", "not a flow: h1 to h1"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h2,0,0,x\n", "size_bytes: must be at least 1 B"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h2,5,-1,x\n", "start_ns: must be at least 0 ns"),
        ("src,dst,size_bytes,start_ns,tag,queue_pair\nh1,h2,5,0,x\n", "not a row of 6 values"),
        ("src,dst,size_bytes,start_ns,tag,queue_pair\nh1,h2,5,0,x,-1\n", "queue_pair: must be at least 0, not -1"),
        ("2\n0 1 3 100 5 2.0\n", "announces 2 flows, but the file has 1"),
        ("1\n0 1 3 100 5\n", "line 2 is not"),
        ("1\n0 1 3 100 5 soon\n", "line 2 is not"),
        ("1\n0 9 3 100 5 2.0\n", "line 2: no host 'h10'"),
        ("1\n\n0 1 3 100 5\n", "line 3 is not"),
        (
            "src,dst,size_bytes,start_ns,tag\n\nh1,h2,five,0,x\n",
            "line 3: size_bytes: must be a whole number, not 'five'",
        ),
        ("src,dst,size_bytes,start_ns,tag\nh1,h2,5ms,0,x\n", "line 2: size_bytes: must be a size such as 250KB"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h2,5,0.5ns,x\n", "line 2: start_ns: must be a whole number, not '0.5ns'"),
        ("src,dst,size_bytes,start_ns,tag\nh1,h9,5,0,x\n", "use --set topology.hosts_per_tor=5, or another"),
        (
            "src,dst,size_bytes,start_ns,tag,after\n# mine\nh1,h2,5,0,x,\nh1,h2,5,0,x,9\n",
            "line 4: flow 2 waits for flow 9, which does not exist",
        ),
        (
            "# measured_window_us=0,5\n# measured_window_us=0,9\nsrc,dst,size_bytes,start_ns,tag\nh1,h2,5,0,x\n",
            "line 2: measured_window_us is given twice",
        ),
    ],
)
def test_an_invalid_file_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "flows"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=words) as refused:
        read_flows(path, NETWORK)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    """Spreadsheets write a byte order mark and CRLF; people write units."""
    path = tmp_path / "flows.csv"
    path.write_bytes("\ufeffsrc,dst,size_bytes,start_ns,tag\r\nh1, h2,250KB,1.5us,x\r\n".encode())
    assert read_flows(path, NETWORK).requests == (FlowRequest("h1", "h2", 250_000, 1_500, "x"),)


def test_a_missing_or_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("nothing", "bytes"):
        with pytest.raises(ScenarioError, match="cannot be read as a flow list"):
            read_flows(tmp_path / name, NETWORK)


def test_fct_table_has_the_simulator_s_columns() -> None:
    """The columns are sip dip sport dport bytes start_ns fct_ns ideal_fct_ns. Rows are in order of completion."""
    addresses = {"h1": IPv4Address("10.1.0.1"), "h2": IPv4Address("10.2.0.1")}
    flows = [
        FinishedFlow("h1", "h2", "hadoop", 2, 1000, 50.0, 10.0, 9.5),
        FinishedFlow("h2", "h1", "incast", 0, 250_000, 0.5, 12.0, 8.0),
    ]
    assert format_hpcc_fct(flows, addresses).splitlines() == [
        "0a020001 0a010001 10000 200 250000 2000000500 12000 8000",
        "0a010001 0a020001 10002 100 1000 2000050000 10000 9500",
    ]
