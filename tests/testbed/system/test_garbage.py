# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Garbage collection is suspended while many flows are planned and hosts are built, and restored afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.virtual.part import Part
from sfc_testbed.testbed.virtual.shares import shares
from tests.testbed.incasts import plan_virtual
from tests.tree import ROOT


@contextmanager
def collections() -> Iterator[list[int]]:
    """Record the generations of all collections within the context."""
    generations: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations.append(info["generation"])

    gc.callbacks.append(note)
    try:
        yield generations
    finally:
        gc.callbacks.remove(note)


def test_planning_collects_no_garbage() -> None:
    """29 000 flows would cause a hundred collections; one is allowed before planning and one after."""
    with collections() as generations:
        plan = plan_virtual("rpc-30", "sfc+hpcc")
    assert len(plan.flows) > 20_000
    assert len(generations) <= 2
    assert gc.isenabled()


def test_a_run_collects_young_objects_only(tmp_path: Path) -> None:
    """Building the hosts collects nothing: NICs get both ends of every message."""
    before = gc.get_threshold()
    plan = plan_virtual("rpc-30", "sfc+hpcc")
    [whole] = shares(plan.topology, plan.columns, 1)
    with collections() as generations:
        part = Part(plan, tmp_path, lambda host, event: None, whole)
    assert len(generations) <= 2
    try:
        with collections() as generations:
            part.run(2_000_000)
            watched = weakref.ref(_Cycle())
            cycles = [_Cycle() for _ in range(300_000)]
        assert set(generations) == {0}
        assert watched() is None
        assert cycles
        assert gc.get_freeze_count() > len(plan.flows)
    finally:
        part.close()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


class _Cycle:
    def __init__(self) -> None:
        self.itself = self


def test_a_refused_plan_restores_garbage_collection() -> None:
    for is_enabled in (False, True):
        (gc.enable if is_enabled else gc.disable)()
        with pytest.raises(UsageError):
            plan_virtual("rpc-30", "sfc+hpcc", "load=nonsense")
        assert gc.isenabled() is is_enabled


_FREED = """
from sfc_testbed.testbed.system.garbage import return_freed_memory

def anonymous_kb():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))

blocks = [bytes(2_000) for _ in range(50_000)]  # 100 MB
kept = blocks[-1]  # at the end of the heap, so that the C library cannot shrink it
del blocks
before_kb = anonymous_kb()
return_freed_memory()
print(before_kb > 100_000 > 2 * anonymous_kb())
"""


def test_freed_memory_is_returned_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", _FREED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
