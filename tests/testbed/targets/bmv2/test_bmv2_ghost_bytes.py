# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Bytes that a BMv2 switch still counts when nothing is queued any more: found when it stops, named in the notes."""

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
    """A part of a switch that only ends; as a control, its buffer holds one value after the other."""

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
def test_what_stays_counted_at_rest_is_a_loss_of_bmv2(held: tuple[int, ...], ghosts: int) -> None:
    """A BMv2 queue cannot be paused: what does not leave is not there."""
    assert _stopped(*held).ghost_bytes == ghosts


def test_the_notes_name_the_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is invalid for its unexplained loss; this says where it comes from."""
    monkeypatch.setattr(bmv2_target, "find_bmv2", lambda: Installation(version="1.15.5", path="simple_switch"))
    monkeypatch.setattr(bmv2_target, "missing_netem", lambda delays_ns: None)
    target = Bmv2Target(plan_run(RunRequest("incast", switch="bmv2")), tmp_path, tmp_path)
    target._switches.append(_stopped(2116, 2116))
    assert [note for note in target.notes() if "2116" in note] == [
        "s1 still counts 2116 bytes in its queues: BMv2 itself lost packets that it had let in."
    ]
