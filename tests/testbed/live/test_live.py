# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs on live Mininet with real namespaces, veth pairs and processes; nothing stays, however a run ends."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import polars as pl

from sfc_testbed.testbed.system.run_ids import known_runs, owner_of
from tests.testbed import running

pytestmark = [*running.NEEDS_MININET, running.LEAVES_NOTHING]
SMALL = ["--scale", "ci", "--dilation", "20000", "--set", "degree=4"]
LONG = ["--scale", "ci", "--dilation", "20000", "--set", "message_bytes=100000000", "--duration", "1000"]


def _started(tmp_path: Path, *, is_on_terminal: bool = False) -> subprocess.Popen[bytes]:
    """Start a long run and return once its flows are under way."""
    child = running.start(tmp_path, "incast", *LONG, is_on_terminal=is_on_terminal)
    running.wait_until_measuring(tmp_path)
    time.sleep(1)  # not a synchronization: any moment in the middle of the run will do
    return child


def test_a_live_run_completes_and_is_balanced(tmp_path: Path) -> None:
    result = running.result_of("incast", "--scheme", "sfc", *SMALL, "--out", str(tmp_path))
    assert (result["clock"], result["switch"]) == ("real", "soft")
    assert result["flows"] | {"completed": 4, "corrupted": 0, "total": 4} == result["flows"]
    assert result["unexplained_loss"] == 0
    assert result["bts"]["sent"] > 0
    running.assert_at_most_late(result)
    [folder] = tmp_path.iterdir()
    assert pl.read_parquet(folder / "goodput.parquet")["delivered_bytes"].sum() == 4 * 250_000
    late = pl.read_parquet(folder / "lateness.parquet")
    assert set(late["part"]) == {"host", "switch"}
    assert late.filter(pl.col("part") == "host")["departures"].sum() == result["packets"]["sent"]
    sampled_us = pl.read_parquet(folder / "queues.parquet")["time_us"].unique().sort().head(3).to_list()
    assert sampled_us == [10.0, 20.0, 30.0], "as on the virtual clock"
    for part in ("host", "switch"):
        assert result["spacing"][part]["pairs"] > 0
        assert result["spacing"][part]["ideal_us"] > 0


def test_the_links_trace_adds_up_to_the_counters_of_the_ports(tmp_path: Path) -> None:
    result = running.result_of("incast", "--scheme", "sfc", *SMALL, "--out", str(tmp_path))
    [folder] = tmp_path.iterdir()
    links = pl.read_parquet(folder / "links.parquet")
    assert links["time_us"].unique().sort().head(2).to_list() == [20.0, 40.0], "as on the virtual clock"
    sums = links.group_by("switch", "port").agg(pl.sum("sent_bytes"), pl.sum("received_bytes"))
    measured = {(switch, port): (sent, received) for switch, port, sent, received in sums.iter_rows()}
    counted = {}
    for path in (folder / "logs").glob("*-statistics.json"):
        for port, counts in json.loads(path.read_text())["ports"].items():
            if counts["tx_bytes"] or counts["rx_bytes"]:
                switch = path.name.removesuffix("-statistics.json")
                counted[switch, int(port)] = (counts["tx_bytes"], counts["rx_bytes"])
    assert measured == counted
    assert result["link_balance"]["sent_bytes"] > 0


def test_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    """Ctrl-C ends a run cleanly, with a result and traces that record the interruption.

    Queued packets still arrive, which may take minutes on a slow clock, so a message says so.
    """
    child = _started(tmp_path, is_on_terminal=True)
    child.send_signal(signal.SIGINT)
    result = running.end_of(child, tmp_path, 130)
    assert (tmp_path / "log").read_text().count("press Ctrl-C again to end without them") == 1
    assert result["interrupted"] is True
    reasons = [reason for reason in result["verdict_reasons"] if not running.is_of_lateness(reason)]
    assert reasons[0].startswith("The run was interrupted")
    assert len(reasons) == 1
    assert result["verdict"] in ("degraded", "invalid")  # "invalid" if the run was also late
    assert result["unexplained_loss"] == 0
    assert result["packets"]["sent"] > 0
    assert list((tmp_path / "runs").glob("*/queues.parquet"))


def test_an_unreadable_message_of_an_agent_ends_the_run(tmp_path: Path) -> None:
    child = _started(tmp_path)
    [agent] = [process for process in running.children_of(child.pid) if "agent1.json" in str(process.cmdline())]
    Path(f"/proc/{agent.pid}/fd/1").write_bytes(b"Segmentation fault\n")
    result = running.end_of(child, tmp_path)
    assert result["verdict"] == "invalid"
    reason = result["verdict_reasons"][0]
    assert "agent1 sent a message that cannot be read: 'Segmentation fault' is not a message" in reason
    assert result["packets"]["sent"] > 0


def test_clean_lets_a_run_save_its_result(tmp_path: Path) -> None:
    before = running.remains()
    child = _started(tmp_path)
    [run_id] = [known for known in known_runs() if (owner := owner_of(known)) is not None and owner.pid == child.pid]
    processes = running.children_of(child.pid)
    agents = {str(process.pid) for process in processes if "sfc_testbed.hosts.agent" in process.cmdline()}
    assert agents
    assert agents <= running.remains()["processes"] - before["processes"]
    done = running.run("clean", run_id)
    assert child.wait(1) in (0, 3, 130), (tmp_path / "log").read_text()
    assert f"{run_id}: its runner ended" in done.stdout, done.stderr
    [path] = tmp_path.glob("runs/*/result.json")
    assert json.loads(path.read_text())["interrupted"]


def test_two_runs_in_parallel_do_not_collide(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            running.command(
                "run", "incast", *SMALL, "--set", "message_bytes=20000", "--json", "--out", str(tmp_path / name)
            ),
            stdout=subprocess.PIPE,
        )
        for name in ("a", "b")
    ]
    for child in children:
        out, _ = child.communicate(timeout=200)
        assert json.loads(out)["flows"]["completed"] == 4


def test_iperf3_beside_an_incast_is_paused_by_bts(tmp_path: Path) -> None:
    words = ("--scheme", "sfc", "--scale", "ci", "--dilation", "10000", "--duration", "1")
    result = running.result_of("incast", *words, "--background", "iperf3", "--out", str(tmp_path))
    assert result["flows"]["completed"] == result["flows"]["total"]
    assert result["unexplained_loss"] == 0
    [folder] = tmp_path.iterdir()
    report = json.loads((folder / "background.json").read_text())
    assert report["sent_bytes"] > 0
    signals = pl.read_parquet(folder / "signals.parquet")
    of_program = signals.filter(pl.col("flow_id").is_null() & (pl.col("host") == report["client"]))
    assert of_program["obeyed"].any()
