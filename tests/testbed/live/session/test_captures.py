# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures of a session: what is said of them when they end; that they hold what passed: tests/testbed/live."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from testbed.errors import UsageError
from testbed.live.session import captures
from testbed.live.session.captures import Captures
from topologies.model import Port
from topologies.shapes import Star

LACKING = "pcaps/h1-eth0.pcapng lacks 7 packets that the kernel dropped."
H1, H2 = Port("h1", 0), Port("h2", 0)


class _Capture:
    """Stands for those that listen: that of h1 loses packets, that of h2 cannot be kept."""

    def __init__(self, end: Port, path: Path) -> None:
        self._end = end
        self._path = path

    def begin(self, *_: int) -> None:
        self._path.write_bytes(b"")

    def stop(self) -> tuple[str, ...]:
        if self._end == H2:
            raise OSError("no room")
        return (LACKING,)


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Captures:
    """Of a session whose network is not there."""
    made = Captures(_network(), lambda: tmp_path, lambda: 0)
    monkeypatch.setattr(captures, "common_epoch_ns", lambda network: 0)
    monkeypatch.setattr(made, "_listen", lambda end, folder, logs: _Capture(end, folder / f"{end.node}-eth0.pcapng"))
    return made


def _network() -> Any:
    return SimpleNamespace(plan=SimpleNamespace(topology=Star(hosts=2).build()))


def test_what_a_capture_lacks_is_told_also_where_the_session_ends_it(running: Captures, tmp_path: Path) -> None:
    """In the lines that `off` gives, though another one cannot be kept."""
    path = running.start(H1)
    lines = (f"captured {path}", LACKING)
    assert running.stop(H1) == lines
    path = running.start(H1)
    running.start(H2)
    told: list[str] = []
    with pytest.raises(OSError, match="no room"):
        running.close(told.append)
    assert told == [f"captured {path}", LACKING]
    with pytest.raises(UsageError, match="not being captured"):
        running.stop(H1)
