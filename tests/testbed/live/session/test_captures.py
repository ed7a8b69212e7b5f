# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures of a session: the lines they report when they end. Their contents are tested in tests/testbed/live."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.live.session import captures
from sfc_testbed.testbed.live.session.captures import Captures
from sfc_testbed.topologies.model import Port
from sfc_testbed.topologies.shapes import Star

LACKING = "pcaps/h1-eth0.pcapng lacks 7 packets that the kernel dropped."
H1, H2 = Port("h1", 0), Port("h2", 0)


def _listen(end: Port, folder: Path, logs: Path) -> MagicMock:
    """Return a fake capture: the capture of h1 loses packets, the capture of h2 cannot be stored."""
    capture = MagicMock()
    capture.begin.side_effect = lambda *_: (folder / f"{end.node}-eth0.pcapng").touch()
    capture.stop.side_effect = OSError("no room") if end == H2 else None
    capture.stop.return_value = (LACKING,)
    return capture


@pytest.fixture
def captures_of_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Captures:
    network: Any = SimpleNamespace(plan=SimpleNamespace(topology=Star(hosts=2).build()))
    session_captures = Captures(network, lambda: tmp_path, lambda: 0)
    monkeypatch.setattr(captures, "common_epoch_ns", lambda network: 0)
    monkeypatch.setattr(session_captures, "_listen", _listen)
    return session_captures


def test_losses_are_also_reported_when_the_session_ends(captures_of_session: Captures, tmp_path: Path) -> None:
    """An error of another capture does not suppress the report."""
    path = captures_of_session.start(H1)
    lines = (f"captured {path}", LACKING)
    assert captures_of_session.stop(H1) == lines
    path = captures_of_session.start(H1)
    captures_of_session.start(H2)
    lines_at_end: list[str] = []
    with pytest.raises(OSError, match="no room"):
        captures_of_session.close(lines_at_end.append)
    assert lines_at_end == [f"captured {path}", LACKING]
    with pytest.raises(UsageError, match="not being captured"):
        captures_of_session.stop(H1)
