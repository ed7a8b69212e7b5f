# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of making traces from a journal: complete and damaged journals, and locking by a live process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfc_testbed.hosts.protocol import FlowReceived, FlowSent
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from sfc_testbed.telemetry.flow_parts import PLANNED, RECEIVED, SENT
from sfc_testbed.telemetry.journal import (
    HEAD_FILE,
    JOURNAL_FOLDER,
    Journal,
    JournalError,
    has_journal,
    new_journal,
    open_journal,
)
from sfc_testbed.telemetry.late_bins import RECORD_DTYPE
from sfc_testbed.telemetry.planned import planned_paths, read_planned, write_planned
from sfc_testbed.telemetry.queue_samples import SAMPLE_DTYPE
from sfc_testbed.telemetry.reader import read_trace
from sfc_testbed.telemetry.rows import GoodputRow, LatenessRow
from sfc_testbed.telemetry.schema import FLOWS, GOODPUT, LATENESS, QUEUES, SIGNALS
from sfc_testbed.telemetry.segments import segment_paths
from sfc_testbed.telemetry.writer import SegmentWriter

SWITCHES = ("tor2", "tor1")


def write_journal(folder: Path) -> Journal:
    """Write a journal with three flows and queue samples of two switches.

    Only the second flow is finished. The ten goodput rows are in segments of four.
    """
    journal = new_journal(folder, SWITCHES, dilation_factor=2)
    journal.note(start_ns=1_000)
    sent = SegmentWriter(journal.segments(SENT), SENT)
    received = SegmentWriter(journal.segments(RECEIVED), RECEIVED)
    goodput = SegmentWriter(journal.segments(GOODPUT), GOODPUT, segment_rows=4)
    plan = {"flow_id": [1, 2, 3], "src": [0] * 3, "dst": [1] * 3, "tag": [0] * 3, "size_bytes": [1_000] * 3}
    times = {"start_us": [0.5, 0.5, np.nan], "ideal_fct_us": [2.0] * 3}
    columns = {name: np.array(values) for name, values in (plan | times).items()}
    write_planned(journal.segments(PLANNED), 0, columns, hosts=("h1", "h2"), tags=("incast",))
    sent.append(FlowSent(2, 8.5, SenderFigures(4, 1, 250, timeouts=0, naks=1, paused_us=3.5)))
    received.append(FlowReceived(2, ReceiverFigures(corrupted=False)))
    for number in range(10):
        goodput.append(GoodputRow(number, number + 1, flow_id=2, delivered_bytes=100))
    for trace in (sent, received, goodput):
        trace.flush()
    for switch, depth in zip(SWITCHES, (20, 10), strict=True):
        samples = np.array([(3_000, -1, -1, 0, depth, depth), (5_000, -1, -1, 0, 0, depth)], dtype=SAMPLE_DTYPE)
        journal.samples(switch).write_bytes(samples.tobytes())
    return journal


def read_traces(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the traces flows, queues, signals and goodput."""
    flows, queues, signals, goodput = (
        read_trace(folder / schema.file_name, schema) for schema in (FLOWS, QUEUES, SIGNALS, GOODPUT)
    )
    return flows, queues, signals, goodput


def test_all_traces_are_made_from_a_journal(tmp_path: Path) -> None:
    """Flows are in the order of the plan and switches in the order of the network. Missing reports give nulls."""
    assert write_journal(tmp_path).write_traces() == []
    flows, queues, signals, goodput = read_traces(tmp_path)
    assert flows.select("flow_id", "src", "dst", "tag", "start_us").rows() == [
        (1, "h1", "h2", "incast", 0.5), (2, "h1", "h2", "incast", 0.5), (3, "h1", "h2", "incast", None),
    ]  # fmt: skip
    assert flows.select("fct_us", "slowdown", "packets_sent", "naks", "paused_us").row(1) == (8, 4, 4, 1, 3.5)
    assert flows["packets_sent"].to_list() == [None, 4, None]
    assert flows["corrupted"].to_list() == [False] * 3
    assert queues.select("time_us", "switch", "depth_bytes").rows() == [
        (1.0, "tor2", 20), (2.0, "tor2", 0), (1.0, "tor1", 10), (2.0, "tor1", 0),
    ]  # fmt: skip
    assert signals.height == 0
    assert goodput["from_us"].to_list() == list(range(10))


def test_a_flow_without_a_report_sent_nothing_if_all_senders_reported(tmp_path: Path) -> None:
    """If the run ended normally, a missing count is 0."""
    journal = write_journal(tmp_path)
    journal.note(all_told=True)
    journal.write_traces()
    assert read_traces(tmp_path)[0]["packets_sent"].to_list() == [0, 4, 0]


@pytest.mark.parametrize("all_told", [False, True])
def test_a_journal_of_another_release_is_read(tmp_path: Path, *, all_told: bool) -> None:
    """A figure that the release did not count is null, also if all senders reported. An unknown figure is ignored."""
    journal = write_journal(tmp_path)
    journal.note(all_told=all_told)
    [sent] = segment_paths(journal.segments(SENT))
    other = pl.read_parquet(sent).drop("naks").with_columns(later=pl.lit(1))
    other.write_parquet(sent, metadata=SENT.metadata)
    for path in segment_paths(journal.segments(GOODPUT)):
        pl.read_parquet(path).with_columns(later=pl.lit(1)).write_parquet(path, metadata=GOODPUT.metadata)
    assert journal.write_traces() == []
    flows, _, _, goodput = read_traces(tmp_path)
    assert flows["naks"].to_list() == ([0, None, 0] if all_told else [None] * 3)
    assert flows["packets_sent"].to_list() == ([0, 4, 0] if all_told else [None, 4, None])
    assert goodput.columns == list(GOODPUT.column_names)


def test_a_damaged_segment_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    """The segments are truncated, empty, or belong to another trace."""
    journal = write_journal(tmp_path)
    truncated, whole, last = segment_paths(journal.segments(GOODPUT))
    truncated.write_bytes(truncated.read_bytes()[:-20])
    (received,) = segment_paths(journal.segments(RECEIVED))
    received.write_bytes(b"")
    problems = journal.write_traces()
    assert len(problems) == 2
    assert str(received) in problems[0]
    assert str(truncated) in problems[1]
    assert read_traces(tmp_path)[3]["from_us"].to_list() == list(range(4, 10))
    last.write_bytes(next(iter(segment_paths(journal.segments(SENT)))).read_bytes())
    problems = journal.write_traces()
    assert all(str(path) in problem for path, problem in zip((received, truncated, last), problems, strict=True))
    assert read_traces(tmp_path)[3]["from_us"].to_list() == list(range(4, 8))
    assert whole.exists()


def test_a_damaged_plan_is_reported(tmp_path: Path) -> None:
    journal = write_journal(tmp_path)
    (plan,) = planned_paths(journal.segments(PLANNED))
    plan.write_bytes(plan.read_bytes()[:-20])
    (problem,) = journal.write_traces()
    assert str(plan) in problem
    assert read_traces(tmp_path)[0].height == 0


def test_the_plan_in_a_journal_of_an_older_release_is_read(tmp_path: Path) -> None:
    """It was a trace."""
    journal = write_journal(tmp_path)
    (plan,) = planned_paths(journal.segments(PLANNED))
    older = SegmentWriter(journal.segments(PLANNED), PLANNED)
    older.append_frame(read_planned(plan))
    older.flush()
    journal.write_traces()
    expected = (tmp_path / FLOWS.file_name).read_bytes()
    plan.unlink()
    assert journal.write_traces() == []
    assert (tmp_path / FLOWS.file_name).read_bytes() == expected


def test_damaged_samples_of_a_switch_do_not_affect_other_samples(tmp_path: Path) -> None:
    """A truncated last sample is left out silently. An impossible depth is reported."""
    journal = write_journal(tmp_path)
    journal.samples("tor1").write_bytes(journal.samples("tor1").read_bytes()[:-1])
    journal.samples("tor2").write_bytes(np.array([(3_000, -1, -1, 0, 1 << 40, 0)], dtype=SAMPLE_DTYPE).tobytes())
    (problem,) = journal.write_traces()
    assert problem.startswith("Queue samples of tor2 are lost: ")
    assert read_traces(tmp_path)[1].select("switch", "depth_bytes").rows() == [("tor1", 10)]


def test_a_run_killed_before_its_start_has_no_queue_rows(tmp_path: Path) -> None:
    journal = write_journal(tmp_path)
    journal.note(start_ns=None)
    assert journal.write_traces() == []
    assert read_traces(tmp_path)[1].height == 0


def test_temporary_files_are_not_taken_for_segments(tmp_path: Path) -> None:
    """A process that is killed while writing leaves a temporary file beside the segments."""
    journal = write_journal(tmp_path)
    (journal.segments(GOODPUT) / ".000003.parquet.partial").write_bytes(b"PAR1")
    assert journal.write_traces() == []
    assert read_traces(tmp_path)[3].height == 10


def test_traces_can_be_made_again(tmp_path: Path) -> None:
    """A process that is killed while making the traces must leave the journal complete."""
    journal = write_journal(tmp_path)
    journal.write_traces()
    before = read_traces(tmp_path)
    journal.write_traces()
    assert all(old.equals(new) for old, new in zip(before, read_traces(tmp_path), strict=True))
    journal.remove()
    assert not has_journal(tmp_path)
    assert list((tmp_path / "logs").iterdir()) == []


def test_a_journal_is_locked_as_long_as_its_process_lives(tmp_path: Path) -> None:
    """The lock must end even if the process is killed."""
    script = (
        "import sys, pathlib, sfc_testbed.telemetry.journal as journal\n"
        "held = journal.new_journal(pathlib.Path(sys.argv[1]), ['tor1'], 1)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(JournalError, match="is still active"):
            open_journal(tmp_path)
        child.kill()
    journal, problems = open_journal(tmp_path)
    assert (journal.head.switches, problems) == (("tor1",), [])


@pytest.mark.parametrize(
    "text", ["", "{", '{"switches": ["../../secret"]}', '{"dilation_factor": 0}', '{"switches": [1]}', "[" * 5_000]
)
def test_a_damaged_head_is_reported(tmp_path: Path, text: str) -> None:
    """The queue samples cannot be read without the head. A switch name must not lead to a file outside the logs."""
    journal = write_journal(tmp_path)
    journal.release()
    (tmp_path / JOURNAL_FOLDER / HEAD_FILE).write_text(text)
    journal, (problem,) = open_journal(tmp_path)
    assert HEAD_FILE in problem
    assert journal.write_traces() == []
    flows, queues, _, goodput = read_traces(tmp_path)
    assert (flows.height, queues.height, goodput.height) == (3, 0, 10)


def test_a_symbolic_link_in_place_of_a_journal_is_not_followed(tmp_path: Path) -> None:
    """Otherwise a user could make a report by root write or delete files elsewhere."""
    (tmp_path / "real").mkdir()
    write_journal(tmp_path / "real")
    (tmp_path / JOURNAL_FOLDER).symlink_to(tmp_path / "real" / JOURNAL_FOLDER)
    with pytest.raises(OSError, match=JOURNAL_FOLDER):
        open_journal(tmp_path)


def test_lateness_of_hosts_and_switches_is_one_trace(tmp_path: Path) -> None:
    """Rows are in order of time and in model units. Records before model time 0 are left out."""
    journal = new_journal(tmp_path, ("tor1", "tor2"), dilation_factor=10)
    journal.note(start_ns=100_000)
    hosts = SegmentWriter(journal.segments(LATENESS), LATENESS)
    for time_us in (10.0, 20.0):
        hosts.append(LatenessRow(time_us, "host", "agent1", 5, 0.5))
    hosts.flush()
    records = np.array([(100_000, 9, 90_000), (200_000, 3, 20_000), (300_000, 1, 0)], dtype=RECORD_DTYPE)
    journal.late_bins("tor1").write_bytes(records.tobytes() + b"cut")
    assert journal.write_traces() == []
    assert read_trace(tmp_path / "lateness.parquet", LATENESS).rows() == [
        (10.0, "host", "agent1", 5, 0.5), (10.0, "switch", "tor1", 3, 2.0),
        (20.0, "host", "agent1", 5, 0.5), (20.0, "switch", "tor1", 1, 0.0),
    ]  # fmt: skip
    journal.remove()
    assert not journal.late_bins("tor1").exists()
