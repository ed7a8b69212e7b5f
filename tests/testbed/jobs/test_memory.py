# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for tasks that do not fit into memory together."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.jobs import local
from sfc_testbed.testbed.jobs.local import LocalExecutor
from sfc_testbed.testbed.jobs.task import Task


class _Process:
    """A fake process that ends after a few polls and counts the running ones."""

    running: list[str]
    together: list[list[str]]

    def __init__(self, words: object, payload: str, folder: str) -> None:
        self._payload = payload
        self._polls = 0
        self._descriptor, self._other = os.pipe()
        os.close(self._other)
        self.share, self.is_free = 0.0, False
        self.running.append(payload)
        self.together.append(list(self.running))

    def fileno(self) -> int:
        return self._descriptor

    def is_done(self) -> bool:
        self._polls += 1
        return self._polls > 2

    def end(self) -> tuple[int, str, str, bool]:
        self.running.remove(self._payload)
        os.close(self._descriptor)
        return 0, self._payload, "", False


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Process]]:
    """Replace the processes of tasks, on a machine with 1000 bytes of free memory, of which 800 may be used."""
    _Process.running, _Process.together = [], []
    monkeypatch.setattr(local, "TaskProcess", _Process)
    monkeypatch.setattr(local, "free_memory_bytes", lambda: 1000)
    yield _Process


def _together(processes: type[_Process], **memory_bytes: int) -> list[list[str]]:
    tasks = [Task("m", lambda name=name: name, memory_bytes=size) for name, size in memory_bytes.items()]  # type: ignore[misc]
    ended: list[str] = []
    LocalExecutor(2).run(tasks, lambda _, end: ended.append(end.answer), Interrupt())
    assert sorted(ended) == sorted(memory_bytes)
    return processes.together


def test_tasks_that_fit_run_together(processes: type[_Process]) -> None:
    assert _together(processes, a=400, b=400) == [["a"], ["a", "b"]]


def test_a_smaller_task_runs_beside_a_large_one(processes: type[_Process]) -> None:
    assert _together(processes, a=600, b=600, c=100) == [["a"], ["a", "c"], ["b"]]


def test_a_task_larger_than_the_memory_runs_alone(processes: type[_Process]) -> None:
    assert _together(processes, a=5000, b=1) == [["b"], ["a"]]
