# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `trace`: the events of a flow, and hints about data that was not recorded."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.analysis.report.slow_table import slow_table
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.cli.app import main
from tests.conftest import Refused
from tests.testbed.incasts import plan_virtual, run_incast, run_plan

PLACES = ("h1", "tor1", "spine1", "spine2", "tor2", "h16")
SMALL = ("message_bytes=150000",)
EARLY = ("switch.q_th_bytes=60000", "switch.q_tg_bytes=30000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run with captures at all nodes on the flow's path."""
    return run_incast(tmp_path_factory.mktemp("runs"), "sfc", *SMALL, *EARLY, captures=PLACES).folder


@pytest.fixture
def flow(folder: Path) -> int:
    """Return the flow of the captured sender."""
    return int(pl.read_parquet(folder / "flows.parquet").filter(pl.col("src") == "h1")["flow_id"][0])


def _lines(text: str) -> list[tuple[str, str]]:
    """Return place and event of each line of the table."""
    return re.findall(r"^ *[\d,]+\.\d\d +(\S+) +(.+?)(?:  +.*)?$", text, re.MULTILINE)


def test_the_events_of_a_flow_come_from_traces_and_captures(
    folder: Path, flow: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(flow), "--run", str(folder)]) == 0
    output = capsys.readouterr().out
    lines = _lines(output)
    counted = Counter(event for _, event in lines)
    signals = pl.read_parquet(folder / "signals.parquet").filter(pl.col("flow_id") == flow)
    assert counted["BTS"] == counted["paused"] + counted["BTS received"] == signals.height > 0
    assert lines[0] == ("h1", "ready") and lines[-1] == ("h1", "acknowledged")
    queued = {node for node, event in lines if event == "queued"}
    assert {"tor1", "tor2"} < queued <= {"tor1", "tor2", "spine1", "spine2"}
    assert {("h1", "sent"), ("h1", "resumed"), ("h16", "arrived")} <= set(lines)
    assert {("h16", "ACK sent"), ("tor2", "ACK queued"), ("tor1", "ACK queued")} <= set(lines)
    assert not {"received", "lost", "ACK lost"} & set(counted)
    assert "not recorded" not in output and "not captured" not in output


def test_the_events_of_a_packet_are_listed_hop_by_hop(
    folder: Path, flow: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(flow), "--run", str(folder), "--packet", "7"]) == 0
    lines = _lines(capsys.readouterr().out)
    there, back = ["sent", *["queued"] * 3, "arrived"], ["ACK sent", *["ACK queued"] * 3, "acknowledged"]
    assert [event for _, event in lines] == [*there, *back]
    nodes = [node for node, _ in lines]
    spines = {nodes[2], nodes[7]}  # the ACK may take another spine
    assert nodes == ["h1", "tor1", nodes[2], "tor2", "h16", "h16", "tor2", nodes[7], "tor1", "h1"]
    assert spines <= {"spine1", "spine2"}


def test_without_captures_the_necessary_option_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The newest run is used if `--run` is missing."""
    monkeypatch.chdir(tmp_path)
    run_incast(tmp_path / "runs", "sfc", *SMALL, "degree=2")
    assert main(["trace", "1"]) == 0
    output = capsys.readouterr().out
    assert {event for _, event in _lines(output)} == {"ready", "received", "acknowledged"}
    [command] = re.findall(r"To record them: \./runner\.py (.*)", output)
    assert main([*shlex.split(command), "--out", str(tmp_path / "runs")]) == 0
    capsys.readouterr()
    assert main(["trace", "1"]) == 0
    output = capsys.readouterr().out
    assert {"sent", "queued", "arrived", "ACK sent", "ACK queued"} < {event for _, event in _lines(output)}
    assert "not captured" not in output
    assert main(["trace", "2"]) == 0
    assert "The captures have only packets of flow 1. To record them: the run --pcap flow:2" in capsys.readouterr().out


def test_a_flow_is_ready_before_anything_of_it_is_received(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = run_incast(tmp_path, "sfc", *EARLY).folder
    for number in range(1, 9):
        assert main(["trace", str(number), "--run", str(folder)]) == 0
        lines = _lines(capsys.readouterr().out)
        assert (lines[0][1], lines[-1][1]) == ("ready", "acknowledged")


def test_the_slowest_flows_have_the_same_words_as_on_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line but one is a command that prints the history of the slowest flow."""
    assert main(["trace", "slowest", "--run", str(folder), "--count", "2"]) == 0
    output = capsys.readouterr().out
    flows = pl.read_parquet(folder / "flows.parquet").sort("slowdown", descending=True)
    numbers = [str(number) for number in flows["flow_id"].head(2)]
    assert list(dict.fromkeys(re.findall(r"^ +(\d+) +incast", output, re.MULTILINE))) == numbers
    table = slow_table(load_run(folder))
    assert table is not None
    printed = " ".join(output.split())
    for row in table.rows[:2]:
        for reason in row[-1].split("; "):
            assert all(word in printed for word in reason.split())
    [command] = re.findall(r"history of a flow: \./runner\.py (.*)", output)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out.startswith(f"flow {numbers[0]} ")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["1", "--count", "3"], "--count is for trace slowest"),
        (["slowest", "--packet", "3"], "--packet needs a flow number"),
        (["fastest"], "must be a flow number from 1 to 4294967295, or slowest"),
        (["999"], "no flow 999; flows are 1 to 8"),
        (["0"], "must be a flow number from 1"),
        (["1", "--packet", "150"], "no packet 150 in flow 1; packets are 0 to 149"),
    ],
)
def test_bad_input_is_one_line(words: list[str], reason: str, folder: Path, refused: Refused) -> None:
    refused(["trace", *words, "--run", folder], reason)


def test_the_slowest_chain_of_an_iteration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], refused: Refused
) -> None:
    """The chain of a ring of three ranks has its four steps. A flow and a chain together are refused."""
    plan = plan_virtual("collective", "sfc", "ranks=3", "bytes=9000", "iterations=2")
    folder = run_plan(plan, tmp_path).folder
    assert main(["trace", "--critical", "1/2", "--run", str(folder)]) == 0
    rows = re.findall(r"^ +\d+ +(\d) +h\d+ +h\d+ +3 KB", capsys.readouterr().out, re.MULTILINE)
    assert rows == ["1", "2", "3", "4"]
    needed = "trace needs a flow number, slowest, or --critical JOB/ITERATION"
    refused(["trace", "--critical", "1/3", "--run", folder], "there are 1/1 to 1/2")
    refused(["trace", "1", "--critical", "1/1", "--run", folder], needed)
