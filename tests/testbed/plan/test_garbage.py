# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Planning many flows costs no searches for garbage, and what comes after has them again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from testbed.errors import UsageError
from testbed.plan.plan import plan_run
from testbed.plan.request import RunRequest


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


def test_a_refused_plan_leaves_the_search_as_it_was() -> None:
    """Also where it was off."""
    for is_enabled in (False, True):
        (gc.enable if is_enabled else gc.disable)()
        with pytest.raises(UsageError):
            plan_run(RunRequest("rpc-30", "sfc+hpcc", "auto", clock="virtual", settings=("load=nonsense",)))
        assert gc.isenabled() is is_enabled
