# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Commands with `--watch` in virtual time: what the page gets, and that nothing remains when a command ends."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

import psutil
import pytest

from tests.appearing import comes_true
from tests.testbed import running
from tests.testbed.watch.client import address, request, status, streamed
from tests.testbed.watch.watched import all_events, assert_same_as_stored, watched

VIRTUAL = ("--clock", "virtual", "--watch")
LONG = ("run", "websearch-50", "--scale", "laptop", *VIRTUAL)


def _folder(out: Path) -> Path:
    [folder] = out.glob("incast-sfc-*")
    return folder


def _is_closed(url: str) -> bool:
    port, _ = address(url)
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_page_gets_what_the_traces_have(tmp_path: Path, workers: str) -> None:
    with watched("run", "incast", *VIRTUAL, "--workers", workers, "--out", str(tmp_path)) as command:
        events = all_events(command.url)
        assert command.finish() == 0
    assert [event.kind for event in events if event.kind != "chunk"] == ["scene", "end"]
    assert [event.number for event in events] == [*range(1, len(events) + 1)]
    assert events[-1].data["sentence"] == "The verdict is faithful."
    assert not any("behind_ms" in event.data for event in events)
    assert_same_as_stored(events, _folder(tmp_path))
    assert _is_closed(command.url)


def test_the_traces_are_the_same_with_and_without_a_page(tmp_path: Path) -> None:
    with watched("run", "incast", *VIRTUAL, "--out", str(tmp_path / "with")) as command:
        assert command.finish() == 0
    done = running.run("run", "incast", "--clock", "virtual", "--out", str(tmp_path / "without"))
    assert done.returncode == 0
    watched_run, other = (_folder(tmp_path / name) for name in ("with", "without"))
    for trace in other.glob("*.parquet"):
        assert trace.read_bytes() == (watched_run / trace.name).read_bytes(), trace.name
    assert sorted(path.name for path in other.iterdir()) == sorted(path.name for path in watched_run.iterdir())


def test_a_comparison_shows_one_run_after_the_other(tmp_path: Path) -> None:
    words = ("compare", "incast", "--schemes", "irn,sfc", "--seeds", "1,2", *VIRTUAL, "--out", str(tmp_path))
    with watched(*words) as command:
        events = all_events(command.url)
        assert command.finish() == 0
    assert [event.data["label"] for event in events if event.kind == "scene"] == ["irn", "sfc"] * 2
    assert [event.kind for event in events if event.kind != "chunk"] == ["scene", "end"] * 4


def test_with_json_the_address_is_on_stderr(tmp_path: Path) -> None:
    with watched("run", "incast", *VIRTUAL, "--json", "--out", str(tmp_path)) as command:
        assert command.finish() == 0
        assert json.loads("".join(command.stdout))["verdict"] == "faithful"


def test_after_the_run_the_command_names_the_replay(tmp_path: Path) -> None:
    with watched("run", "incast", *VIRTUAL, "--out", str(tmp_path)) as command:
        assert command.finish() == 0
        folder = _folder(tmp_path)
        assert f"replay: ./runner.py watch {folder}\n" in command.stdout


def test_the_server_has_no_rights_of_root_and_hides_its_token(tmp_path: Path) -> None:
    with watched(*LONG, "--out", str(tmp_path)) as command:
        server = command.server()
        assert os.geteuid() != 0 or 0 not in (*server.uids(), *server.gids())
        port, token = address(command.url)
        assert token not in " ".join(server.cmdline())
        assert status(port, request("/")) == 403
        assert status(port, request(f"/{token}/", host="rebound.example")) == 403
        assert status(port, request(f"/{token}/", host="localhost:1234")) == 200


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_remains_after_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    with watched(*LONG, "--out", str(tmp_path)) as command:
        server = command.server()
        with streamed(command.url) as events:
            while next(events).kind != "chunk":
                pass
            command.process.send_signal(number)
            command.process.wait(60)
            last = [event for event in events if event.kind == "end"]
        assert comes_true(lambda: not psutil.pid_exists(server.pid), 30)
        assert _is_closed(command.url)
    assert len(last) == 1


def test_pages_that_leave_and_a_killed_server_do_not_stop_the_run(tmp_path: Path) -> None:
    words = ("run", "incast", "--scale", "laptop", *VIRTUAL, "--out", str(tmp_path))
    with watched(*words) as command:
        with streamed(command.url) as events:
            assert next(events).kind == "scene"
        command.server().kill()
        assert command.finish() == 0
        assert "the page of --watch ended early" in "".join(command.stderr)
    assert (_folder(tmp_path) / "report.html").is_file()
