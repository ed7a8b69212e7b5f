# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for ghost bytes: bytes that a BMv2 switch still counts at the end although its queues are empty."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.targets.bmv2 import target as bmv2_target
from sfc_testbed.testbed.targets.bmv2.installation import Installation
from sfc_testbed.testbed.targets.bmv2.switch import Bmv2Switch
from sfc_testbed.testbed.targets.bmv2.target import Bmv2Target


def _stopped(*held: int) -> Bmv2Switch:
    """Return a stopped switch whose buffer had these levels one after the other."""
    anything = MagicMock(failure=None)
    switch = Bmv2Switch(anything, cast(Any, SimpleNamespace(name="s1")), lambda spec: anything, anything)
    switch._control, switch._poller = MagicMock(), anything
    switch._control.command.side_effect = [f"buffer_bytes[0]= {level}" for level in held]
    switch.stop()
    assert {call.args for call in switch._control.command.mock_calls} == {("register_read buffer_bytes 0",)}
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
    target = Bmv2Target(plan_run(RunSpec("incast", switch="bmv2")), tmp_path, tmp_path)
    target._switches.append(_stopped(2116, 2116))
    assert [note for note in target.notes() if "2116" in note] == [
        "s1 still counts 2116 bytes in its queues: BMv2 itself lost packets that it had let in."
    ]
