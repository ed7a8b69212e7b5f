# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Planning many flows and building hosts costs no searches for garbage, and what comes after has them again."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testbed.errors import UsageError
from testbed.plan.plan import plan_run
from testbed.plan.request import RunRequest
from testbed.virtual.part import Part
from testbed.virtual.shares import shares


@contextmanager
def searches() -> Iterator[list[int]]:
    """The generations that were searched."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    try:
        yield seen
    finally:
        gc.callbacks.remove(note)


def test_planning_searches_no_garbage() -> None:
    """29 000 flows would bring on a hundred; one may be due before, and one after."""
    with searches() as seen:
        plan = plan_run(RunRequest("rpc-30", "sfc+hpcc", "auto", clock="virtual"))
    assert len(plan.flows) > 20_000
    assert len(seen) <= 2
    assert gc.isenabled()


def test_building_hosts_searches_no_garbage(tmp_path: Path) -> None:
    """Each end of every message is told to a NIC; the search would take twice as long again."""
    plan = plan_run(RunRequest("rpc-30", "sfc+hpcc", "auto", clock="virtual"))
    [whole] = shares(plan.topology, plan.columns, 1)
    with searches() as seen:
        part = Part(plan, tmp_path, lambda host, event: None, whole, 1)
    part.close()
    assert len(seen) <= 2
    assert gc.isenabled()


def test_a_run_searches_young_objects_alone(tmp_path: Path) -> None:
    """Circles among them are found, messages and queue pairs are not searched, and afterwards all is as it was."""
    before = gc.get_threshold()
    plan = plan_run(RunRequest("rpc-30", "sfc+hpcc", "auto", clock="virtual"))
    [whole] = shares(plan.topology, plan.columns, 1)
    part = Part(plan, tmp_path, lambda host, event: None, whole, 1)
    try:
        with searches() as seen:
            part.run(2_000_000)
            watched = weakref.ref(_Circle())
            kept = [_Circle() for _ in range(300_000)]
        assert set(seen) == {0}
        assert watched() is None
        assert kept
        assert gc.get_freeze_count() > len(plan.flows)
    finally:
        part.close()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


class _Circle:
    def __init__(self) -> None:
        self.itself = self


def test_a_refused_plan_leaves_the_search_as_it_was() -> None:
    """Also where it was off."""
    for is_enabled in (False, True):
        (gc.enable if is_enabled else gc.disable)()
        with pytest.raises(UsageError):
            plan_run(RunRequest("rpc-30", "sfc+hpcc", "auto", clock="virtual", settings=("load=nonsense",)))
        assert gc.isenabled() is is_enabled
