# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for ghost bytes: bytes that a BMv2 switch still counts at the end although its queues are empty."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from testbed.plan.plan import RunRequest, plan_run
from testbed.targets.bmv2 import target as bmv2_target
from testbed.targets.bmv2.installation import Installation
from testbed.targets.bmv2.switch import Bmv2Switch
from testbed.targets.bmv2.target import Bmv2Target


class _Quiet:
    """A stub for the parts of a switch. As a control it returns one buffer level after the other."""

    failure = None

    def __init__(self, *held: int) -> None:
        self._held = list(held)

    def command(self, line: str) -> str:
        assert line == "register_read buffer_bytes 0"
        return f"buffer_bytes[0]= {self._held.pop(0)}"

    def stop(self) -> None: ...

    def close(self) -> None: ...


def _stopped(*held: int) -> Bmv2Switch:
    anything = cast(Any, _Quiet())
    switch = Bmv2Switch(anything, cast(Any, SimpleNamespace(name="s1")), lambda spec: anything, anything)
    switch._control, switch._poller = cast(Any, _Quiet(*held)), anything
    switch.stop()
    return switch


@pytest.mark.parametrize(
    ("held", "ghosts"),
    [((0,), 0), ((62, 0), 0), ((2116, 2116), 2116)],
    ids=["nothing is left", "the last probe passed", "bytes that BMv2 dropped"],
)
def test_bytes_still_counted_at_rest_are_a_loss_of_bmv2(held: tuple[int, ...], ghosts: int) -> None:
    """A BMv2 queue cannot be paused, so bytes that do not leave it were dropped."""
    assert _stopped(*held).ghost_bytes == ghosts


def test_the_notes_name_the_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bmv2_target, "find_bmv2", lambda: Installation(version="1.15.5", path="simple_switch"))
    monkeypatch.setattr(bmv2_target, "missing_netem", lambda delays_ns: None)
    target = Bmv2Target(plan_run(RunRequest("incast", switch="bmv2")), tmp_path, tmp_path)
    target._switches.append(_stopped(2116, 2116))
    assert [note for note in target.notes() if "2116" in note] == [
        "s1 still counts 2116 bytes in its queues: BMv2 itself lost packets that it had let in."
    ]
