# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From a journal to traces: what a dead process left is read, what is damaged is told, who lives is not disturbed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from telemetry.flow_parts import PLANNED, RECEIVED, SENT
from telemetry.journal import HEAD_FILE, JOURNAL_FOLDER, Journal, JournalError, has_journal, new_journal, open_journal
from telemetry.late_bins import RECORD_DTYPE
from telemetry.queue_samples import SAMPLE_DTYPE
from telemetry.reader import read_trace
from telemetry.rows import GoodputRow, LatenessRow
from telemetry.schema import FLOWS, GOODPUT, LATENESS, QUEUES, SIGNALS
from telemetry.segments import segment_paths
from telemetry.writer import SegmentWriter

SWITCHES = ("tor2", "tor1")


def written(folder: Path) -> Journal:
    """Three flows, of which the second is done; ten goodput rows in segments of four; samples of two switches."""
    journal = new_journal(folder, SWITCHES, dilation_factor=2)
    journal.note(start_ns=1_000)
    planned = SegmentWriter(journal.segments(PLANNED), PLANNED)
    sent = SegmentWriter(journal.segments(SENT), SENT)
    received = SegmentWriter(journal.segments(RECEIVED), RECEIVED)
    goodput = SegmentWriter(journal.segments(GOODPUT), GOODPUT, segment_rows=4)
    for flow_id in (1, 2, 3):
        planned.append_values((flow_id, "h1", "h2", "incast", 1_000, 0.5, 2.0))
    sent.append_values((2, 8.5, 4, 1, 250, 0, 1, 3.5, None))
    received.append_values((2, False))
    for number in range(10):
        goodput.append(GoodputRow(number, number + 1, flow_id=2, delivered_bytes=100))
    for trace in (planned, sent, received, goodput):
        trace.flush()
    for switch, depth in zip(SWITCHES, (20, 10), strict=True):
        samples = np.array([(3_000, -1, -1, depth, depth), (5_000, -1, -1, 0, depth)], dtype=SAMPLE_DTYPE)
        journal.samples(switch).write_bytes(samples.tobytes())
    return journal


def traces(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Flows, queues, signals, goodput."""
    flows, queues, signals, goodput = (
        read_trace(folder / schema.file_name, schema) for schema in (FLOWS, QUEUES, SIGNALS, GOODPUT)
    )
    return flows, queues, signals, goodput


def test_a_journal_holds_all_traces(tmp_path: Path) -> None:
    """Flows in the order of the plan, switches in that of the network; what nobody told of is not known."""
    assert written(tmp_path).write_traces() == []
    flows, queues, signals, goodput = traces(tmp_path)
    assert flows["flow_id"].to_list() == [1, 2, 3]
    done = flows.row(1, named=True)
    assert (done["fct_us"], done["slowdown"], done["packets_sent"], done["naks"], done["paused_us"]) == (
        8,
        4,
        4,
        1,
        3.5,
    )
    assert flows["packets_sent"].to_list() == [None, 4, None]
    assert flows["corrupted"].to_list() == [False] * 3
    assert queues.select("time_us", "switch", "depth_bytes").rows() == [
        (1.0, "tor2", 20), (2.0, "tor2", 0), (1.0, "tor1", 10), (2.0, "tor1", 0),
    ]  # fmt: skip
    assert signals.height == 0
    assert goodput["from_us"].to_list() == list(range(10))


def test_flows_that_nobody_told_of_sent_nothing_once_all_have_told(tmp_path: Path) -> None:
    """At a run's own end a missing count is a zero."""
    journal = written(tmp_path)
    journal.note(all_told=True)
    journal.write_traces()
    assert traces(tmp_path)[0]["packets_sent"].to_list() == [0, 4, 0]


def test_a_damaged_segment_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    """Torn, empty or foreign: its rows are lost, those around it are not."""
    journal = written(tmp_path)
    torn, whole, last = segment_paths(journal.segments(GOODPUT))
    torn.write_bytes(torn.read_bytes()[:-20])
    (received,) = segment_paths(journal.segments(RECEIVED))
    received.write_bytes(b"")
    problems = journal.write_traces()
    assert len(problems) == 2
    assert str(received) in problems[0]
    assert str(torn) in problems[1]
    assert traces(tmp_path)[3]["from_us"].to_list() == list(range(4, 10))
    last.write_bytes(next(iter(segment_paths(journal.segments(SENT)))).read_bytes())
    assert all(str(path) in told for path, told in zip((received, torn, last), journal.write_traces(), strict=True))
    assert traces(tmp_path)[3]["from_us"].to_list() == list(range(4, 8))
    assert whole.exists()


def test_torn_and_mad_samples_cost_only_themselves(tmp_path: Path) -> None:
    """A cut sample is left out in silence, a depth of no buffer is told."""
    journal = written(tmp_path)
    journal.samples("tor1").write_bytes(journal.samples("tor1").read_bytes()[:-1])
    journal.samples("tor2").write_bytes(np.array([(3_000, -1, -1, 1 << 40, 0)], dtype=SAMPLE_DTYPE).tobytes())
    (problem,) = journal.write_traces()
    assert problem.startswith("Queue samples of tor2 are lost: ")
    assert traces(tmp_path)[1].select("switch", "depth_bytes").rows() == [("tor1", 10)]


def test_samples_before_model_time_zero_are_no_rows(tmp_path: Path) -> None:
    """A run that was killed before its start was announced has none."""
    journal = written(tmp_path)
    journal.note(start_ns=None)
    assert journal.write_traces() == []
    assert traces(tmp_path)[1].height == 0


def test_half_written_files_are_not_taken_for_segments(tmp_path: Path) -> None:
    """What a kill leaves of a write under way stands beside the segments."""
    journal = written(tmp_path)
    (journal.segments(GOODPUT) / ".000003.parquet.partial").write_bytes(b"PAR1")
    assert journal.write_traces() == []
    assert traces(tmp_path)[3].height == 10


def test_traces_can_be_made_again(tmp_path: Path) -> None:
    """Whoever is killed while making them leaves all that is needed."""
    journal = written(tmp_path)
    journal.write_traces()
    before = traces(tmp_path)
    journal.write_traces()
    assert all(old.equals(new) for old, new in zip(before, traces(tmp_path), strict=True))
    journal.remove()
    assert not has_journal(tmp_path)
    assert list((tmp_path / "logs").iterdir()) == []


def test_a_journal_belongs_to_one_process_while_it_lives(tmp_path: Path) -> None:
    """The lock goes with its process, however that ends."""
    script = (
        "import sys, pathlib, telemetry.journal as journal\n"
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
def test_a_damaged_head_is_told(tmp_path: Path, text: str) -> None:
    """It costs the queue samples; it names no file outside the logs."""
    journal = written(tmp_path)
    journal.release()
    (tmp_path / JOURNAL_FOLDER / HEAD_FILE).write_text(text)
    journal, (problem,) = open_journal(tmp_path)
    assert HEAD_FILE in problem
    assert journal.write_traces() == []
    flows, queues, _, goodput = traces(tmp_path)
    assert (flows.height, queues.height, goodput.height) == (3, 0, 10)


def test_a_link_in_a_journals_place_is_not_followed(tmp_path: Path) -> None:
    """Whoever reports as root must not be led elsewhere."""
    (tmp_path / "real").mkdir()
    written(tmp_path / "real")
    (tmp_path / JOURNAL_FOLDER).symlink_to(tmp_path / "real" / JOURNAL_FOLDER)
    with pytest.raises(OSError, match=JOURNAL_FOLDER):
        open_journal(tmp_path)


def test_lateness_of_hosts_and_switches_is_one_trace(tmp_path: Path) -> None:
    """In order of time, model units; a switch that measures none has no row, nor has what was before model time 0."""
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
