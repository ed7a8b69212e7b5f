# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Folders of runs that did not end normally: what `finish_run` writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from sfc_testbed.analysis.results.result import ResultError, read_result
from sfc_testbed.hosts.protocol import FlowReceived, FlowSent
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from sfc_testbed.telemetry.flow_parts import SENT
from sfc_testbed.telemetry.journal import JOURNAL_FOLDER, has_journal
from sfc_testbed.telemetry.reader import read_trace
from sfc_testbed.telemetry.schema import FLOWS
from sfc_testbed.telemetry.segments import segment_paths
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.execution import execute
from sfc_testbed.testbed.execution.unfinished import finish_run
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.recording.recorder import Recorder


def failed_run(folder: Path) -> Path:
    """Execute a run that breaks after two of its flows have ended; return its folder."""

    def clock(plan: Any, folder: Path, recorder: Recorder, *_: object) -> None:
        recorder.begin(0)
        for flow_id in (3, 1):
            recorder.take(FlowSent(flow_id, 400.0 + flow_id, SenderFigures(packets_sent=250)))
            recorder.take(FlowReceived(flow_id, ReceiverFigures(corrupted=False)))
        raise RunError("the third agent is gone")

    with mock.patch.dict(execute.CLOCKS, {"virtual": clock}), pytest.raises(RunError):
        execute.execute(plan_run(RunSpec("incast", clock="virtual")), folder, Silent())
    [run_folder] = folder.iterdir()
    return run_folder


def test_a_failed_run_gets_a_result_with_the_reason(tmp_path: Path) -> None:
    folder = failed_run(tmp_path)
    assert finish_run(folder)
    result = read_result(folder)
    assert result.verdict == "invalid"
    assert result.verdict_reasons[0] == "The run failed at about 403 us of model time: the third agent is gone."
    flows = read_trace(folder / FLOWS.file_name, FLOWS)
    assert flows["finish_us"].to_list() == [401.0, None, 403.0, *[None] * 5]
    assert flows["packets_sent"].to_list() == [250, None, 250, *[None] * 5]
    assert not has_journal(folder)
    assert not finish_run(folder)


def test_a_damaged_segment_is_a_reason_of_the_verdict(tmp_path: Path) -> None:
    folder = failed_run(tmp_path)
    [segment] = segment_paths(folder / JOURNAL_FOLDER / SENT.name)
    segment.write_bytes(segment.read_bytes()[:100])
    assert finish_run(folder)
    result = read_result(folder)
    assert segment.name in result.verdict_reasons[1]
    assert result.flows.completed == 0


@pytest.mark.parametrize("text", [None, "", "{}", "[" * 5_000, json.dumps({"clock": "lunar"})])
def test_a_folder_without_a_valid_configuration_is_not_changed(tmp_path: Path, text: str | None) -> None:
    folder = failed_run(tmp_path)
    (folder / "config.json").unlink()
    if text is not None:
        (folder / "config.json").write_text(text)
    with pytest.raises(ResultError, match=r"config\.json"):
        finish_run(folder)
    assert has_journal(folder)
    assert not (folder / "result.json").exists()


def test_a_run_under_way_is_refused(tmp_path: Path) -> None:
    plan = plan_run(RunSpec("incast", clock="virtual"))
    (tmp_path / "config.json").write_text(plan.config.to_json())
    broken = Recorder(plan, tmp_path)
    with pytest.raises(RunError), broken:
        with pytest.raises(UsageError, match="is still active"):
            finish_run(tmp_path)
        assert not (tmp_path / FLOWS.file_name).exists()
        raise RunError
    broken.release()
    assert finish_run(tmp_path)
    assert read_result(tmp_path).verdict_reasons[0].startswith("The runner was killed before model time 0")
    with Recorder(plan, tmp_path) as recorder:
        pass
    with pytest.raises(UsageError, match="is still active"):
        finish_run(tmp_path)
    recorder.remove_journal()
    assert not finish_run(tmp_path)
