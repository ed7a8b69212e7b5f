# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of flow list files: both formats are read back as written, and invalid files give one-line errors."""

from __future__ import annotations

from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.request.settings import parse_value
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.flow_file import format_flows, read_flows
from sfc_testbed.scenarios.traffic.hpcc_files import FinishedFlow, format_hpcc_fct, format_hpcc_flows
from sfc_testbed.topologies.shapes import shape

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
        ("1\n0 1 3 100\n", "line 2 is not `src dst pg dport bytes start_s`: '0 1 3 100'"),
        ("1\n0 1 3 100 5 soon\n", "line 2 is not"),
        ("1\n0 9 3 100 5 2.0\n", "line 2: no host 'h10'"),
        ("1\n\n0 1 3 100\n", "line 3 is not"),
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
        # Files of simulators that are unclear.
        ("3\n0 1 3 100 5 2\n", "line 1 announces 3 flows, but the file has 1; correct the number"),
        ("0\n0 1 3 100 5 2\n", "line 1 announces 0 flows, but the file has 1; correct the number"),
        ("2\n0 1 3 100 5 2\n0 1 3 5 2\n", "line 3 is not `src dst pg dport bytes start_s`: '0 1 3 5 2'"),
        ("1\n0 1 3 10000000 2.0 9.5\n", "write bytes, and leave out the stop time"),
        ("1\n0 1 3 10000000 2 9\n", "write bytes, and leave out the stop time"),
        ("1\n0 1 3 100 4095.999 2\n", "line 2 is not"),
        ("1\n0 1 3 100 5 -2\n", "line 2 is not"),
        ("1\n0 1 3 100 5 2 7\n", "line 2 is not"),
        (
            "2\n0 1 3 100 5 2000000001\n1 2 3 100 5 2000000000\n",
            "line 3: start_s: must be at most 3600 s, not 2000000000; write the time in seconds",
        ),
        ("1\n0 1 3 100 1000000000000 2\n", "lasts as long as the run, write 10000000000"),
        ("1\n0 1 3 100 0 2\n", "at least 1 B, not 0; for a flow that lasts as long as the run, write 10000000000"),
        ("1\n0 1 3 -1 2\n", "not -1; for a flow that lasts as long as the run, write 10000000000"),
        ("Nodes 4\nConnections 1\n0->1 start 0 size 5\n", "or the number of flows, as in files of the HPCC simulator"),
    ],
)
def test_an_invalid_file_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "flows"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=words) as refused:
        read_flows(path, NETWORK)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


TWO = (FlowRequest("h1", "h2", 10_000, 0, "background"), FlowRequest("h2", "h3", 4_096, 10_000, "background"))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("2\n0 1 3 100 10000 2\n1 2 3 100 4096 2.00001\n", "2 s in the file is the start of the run"),
        ("2\n0 1 3 100 10000 2\n1 2 3 100 4096 2.00001\n2 3 3 100 10000 2.1\n", "1 more line is ignored"),
        ("2\n0 1 3 100 10000 2\n1 2 3 100 4096 2.00001\n\nsrc dst\nAscending, please!\n", "2 more lines are ignored"),
        ("2\n0 1 3 100 10000 0.13\n1 2 3 100 4096 0.13001\n", "0.13 s in the file is the start of the run"),
        ("2\n1 2 3 100 4096 20.00001\n0 1 3 100 10000 20\n", "20 s in the file is the start"),
        ("2\n0 1 3 10000 2.000000000\n1 2 3 4096 2.000010000\n", "2 s in the file"),  # ConWeave: no port
        ("2\n0 1 3 10000 2\n1 2 3 4096 2.00001\n2 3 3 10000 2.1\n", "1 more line is ignored"),
        ("0 1 3 100 10000 2\n1 2 3 100 4096 2.00001\n", "line 1 is a flow, not the number of flows, so every row"),
        ("0 1 3 10000 2\n1 2 3 4096 2.00001\n", "line 1 is a flow, not the number of flows, so every row"),
        ("2\r\n0 1 3 100 10000 2\r\n1 2 3 100 4096 2.00001\r\n", "2 s"),
        ("\ufeff2\n0 1 3 100 10000 2\n1 2 3 100 4096 2.00001\n", "2 s"),
        ("# two\n2 # flows\n\n0\t1\t3\t100\t10000\t2 # first\n1 2 3 100 4096 2.00001\n", "2 s"),
        ("2\n0,1,3,100,10000,2\n1,2,3,100,4096,2.00001\n", "2 s"),
        ("2 \n0 1 3 100 1e4 2.0\n1 2 3 100 4096.0 2.00001\n", "2 s"),
        ("2\n0 1 3 100 10000 2\n1 2 3 100 4.096e3 2.0000099999999\n", "2 s"),
    ],
)
def test_flow_files_of_simulators_are_read(tmp_path: Path, text: str, note: str) -> None:
    """What is interpreted is stated in one line. Times are rounded to the nearest ns."""
    path = tmp_path / "flow.txt"
    path.write_text(text, newline="")
    flow_list = read_flows(path, NETWORK)
    assert sorted(flow_list.requests, key=lambda flow: flow.start_ns) == list(TWO)
    [line] = flow_list.notes
    assert line.startswith(f"{path}: ")
    assert note in line


@pytest.mark.parametrize("size_bytes", [2**31 - 1, 2**31, 2**32 - 1, 4_000_000_000, 10_000_000_000])
def test_a_size_that_means_for_ever_is_read(tmp_path: Path, size_bytes: int) -> None:
    path = tmp_path / "flow.txt"
    path.write_text(f"1\n0 1 3 100 {size_bytes} 2\n")
    assert read_flows(path, NETWORK).requests == (FlowRequest("h1", "h2", size_bytes, 0, "background"),)


SPREADSHEET = "src,dst,size_bytes,start_ns,tag\nh1,h2,250000,1500,x\n"


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsrc,dst,size_bytes,start_ns,tag\r\nh1, h2,250KB,1.5us,x\r\n",
        SPREADSHEET.replace(",", ";"),
        SPREADSHEET.replace(",", "\t"),
        SPREADSHEET + "\n,,,,\n  \n",
        SPREADSHEET.replace("tag", "tag,").replace(",x", ",x,"),
        SPREADSHEET.replace("250000", "250000.0").replace("1500", "1.5e3"),
        SPREADSHEET.replace(",", " , ").replace(" x", "x"),
        "# mine\n\n" + SPREADSHEET,
    ],
)
def test_a_file_of_a_spreadsheet_is_read(tmp_path: Path, text: str) -> None:
    """Spreadsheets write a byte order mark, CRLF, other delimiters, empty rows and floats; people write units."""
    path = tmp_path / "flows.csv"
    path.write_bytes(text.encode())
    flow_list = read_flows(path, NETWORK)
    assert flow_list.requests == (FlowRequest("h1", "h2", 250_000, 1_500, "x"),)
    assert flow_list.notes == ()


def test_a_list_that_begins_late_is_read_with_a_note(tmp_path: Path) -> None:
    """The testbed's own lists count from the start of the run, so their times are not changed."""
    path = tmp_path / "flows.csv"
    path.write_text("src,dst,size_bytes,start_ns,tag\nh1,h2,5,2000000007,x\n")
    flow_list = read_flows(path, NETWORK)
    assert flow_list.requests[0].start_ns == 2_000_000_007
    assert flow_list.notes == (
        f"{path}: nothing is sent before 2 s; subtract 2000000007 ns from start_ns if the run should not wait.",
    )


def _sizes_written(size_bytes: int) -> list[str]:
    kilobytes = f"{size_bytes // 1000}.{size_bytes % 1000:03d}KB"
    return [str(size_bytes), f"{size_bytes}.0", f"{Decimal(size_bytes):e}", f"{size_bytes}B", kilobytes]


@given(size_bytes=st.integers(1, 10**10), start_ns=st.integers(0, 3_600_000_000_000), way=st.integers(0, 4))
@settings(max_examples=200, deadline=None)
def test_a_size_and_a_time_are_read_exactly_as_written(size_bytes: int, start_ns: int, way: int) -> None:
    size = _sizes_written(size_bytes)[way]
    starts = [f"{start_ns}", f"{start_ns}ns", f"{Decimal(start_ns) / 1000}us", f"{Decimal(start_ns):e}", f"{start_ns}"]
    csv_text = f"src,dst,size_bytes,start_ns,tag\nh1,h2,{size},{starts[way]},x\n"
    origin, start = "0 1 3 100 1 2\n", f"{Decimal(start_ns) / 10**9 + 2:.9f}"
    hpcc_text = f"2\n{origin}0 1 3 100 {_sizes_written(size_bytes)[way % 3]} {start}\n"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "flows"
        for text in (csv_text, hpcc_text):
            path.write_text(text)
            flow = read_flows(path, NETWORK).requests[-1]
            assert (flow.size_bytes, flow.start_ns) == (size_bytes, start_ns)
    assert parse_value("workload.message_bytes", size.removesuffix(".0")) == size_bytes


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
