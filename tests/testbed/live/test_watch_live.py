# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of a live run and of the prompt's network, while they are active."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.analysis.results.result import read_result
from tests.testbed import running
from tests.testbed.watch.client import Event, rows, streamed
from tests.testbed.watch.watched import all_events, assert_same_as_stored, watched

pytestmark = [*running.NEEDS_MININET, running.LEAVES_NOTHING]
SMALL = ("--set", "topology.hosts_per_tor=3")


def test_a_live_run_streams_what_its_traces_have(tmp_path: Path) -> None:
    words = ("run", "incast", "--set", "degree=3", *SMALL, "--switch", "soft", "--watch", "--out", str(tmp_path))
    with watched(*words) as command:
        with streamed(command.url) as leaving:
            while next(leaving).kind != "chunk":
                pass
        early = []
        with streamed(command.url) as events:  # a page that connects late
            for event in events:
                early.append(event)
                if event.kind == "end":
                    break
        assert command.finish() in (0, 3), command.stderr
    [folder] = tmp_path.glob("incast-sfc-*")
    chunks = [event.data for event in early if event.kind == "chunk"]
    assert [event.kind for event in early if event.kind != "chunk"] == ["scene", "end"]
    assert len(chunks) > 3
    assert all(chunk["behind_ms"] > 0 for chunk in chunks)
    assert [chunk["until_us"] for chunk in chunks] == sorted(chunk["until_us"] for chunk in chunks)
    assert_same_as_stored(early, folder)
    reasons = read_result(folder).verdict_reasons
    assert all(running.is_of_lateness(reason) or "accounted for" in reason for reason in reasons), reasons


def test_the_prompt_shows_its_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "lines.txt"
    lines = ["watch --web", "incast h6 3 100KB wait", "watch --web", "scenario incast degree=2", "send h1 h6 50KB wait"]
    script.write_text("".join(f"{line}\n" for line in lines))
    words = ("cli", *SMALL, "--dilation", "5000", "--watch", "--exec", str(script))
    with watched(*words, stream="stdout") as command:
        events = all_events(command.url)
        assert command.finish() == 0, command.stderr
        assert sum(line.strip() == f"watch: {command.url}" for line in command.stdout) == 3
    titles = [event.data["title"] for event in events if event.kind == "scene"]
    assert titles == ["clos network · sfc", "incast · sfc", "clos network · sfc"]
    runs = _of_each_run(events)
    assert rows(runs[0], "planned")["flow_id"].to_list() == [1, 2, 3]
    assert sorted(rows(runs[0], "flows")["flow_id"]) == [1, 2, 3]
    assert max(rows(runs[0], "queues")["depth_bytes"].to_list()) > 0
    assert sorted(rows(runs[1], "flows")["flow_id"]) == [1, 2]
    assert runs[1][-1].data["sentence"].startswith("The verdict is ")
    assert rows(runs[2], "planned")["flow_id"].to_list() == [4]
    assert runs[2][-1].data["sentence"] == "The network was removed."


def _of_each_run(events: list[Event]) -> list[list[Event]]:
    runs: list[list[Event]] = []
    for event in events:
        if event.kind == "scene":
            runs.append([])
        runs[-1].append(event)
    return runs
