# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the repetition of late runs: number of retries, messages and kept results. No run is executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.api import retrying
from sfc_testbed.api.reporter import Reporter, SilentReporter
from sfc_testbed.api.retrying import execute_retrying
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from tests.analysis.validation.small import small_run

REQUEST = RunSpec("incast", dilation=1_000)


class Machine(SilentReporter):
    """A fake machine on which runs below a sufficient dilation are late."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, enough: int) -> None:
        self.plans: list[RunPlan] = []
        self.messages: list[str] = []
        self._enough = enough
        monkeypatch.setattr(retrying, "execute_plan", self.execute)
        monkeypatch.setattr(
            retrying, "checked", lambda requests, out, reporter, *, decided: [plan_run(requests[0], decided)]
        )

    def execute(self, plan: RunPlan, out: Path, reporter: Reporter, *, page: bool, watch: object) -> StoredRun:
        self.plans.append(plan)
        factor = plan.config.dilation
        late = {"faithful_dilation": 2 * factor, "verdict": "degraded"} if factor < self._enough else {}
        result = small_run().result.model_copy(update={"dilation": factor, "verdict": "faithful", **late})
        return StoredRun(out / f"run-{len(self.plans)}", result, None)

    def note(self, line: str, style: str = "") -> None:
        self.messages.append(line)

    def retried(self, out: Path, *, retry: bool = True) -> StoredRun:
        return execute_retrying(REQUEST, plan_run(REQUEST), out, self, retry=retry)

    @property
    def factors(self) -> list[int]:
        return [plan.config.dilation for plan in self.plans]


def test_a_late_run_is_repeated_until_it_is_on_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, enough=2_000)
    assert machine.retried(tmp_path).result.verdict == "faithful"
    assert machine.factors == [1_000, 2_000]
    assert [plan.config.retry_of for plan in machine.plans] == [None, "run-1"]
    [line] = machine.messages
    assert f"kept in {tmp_path / 'run-1'}" in line


def test_a_run_is_repeated_at_most_twice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, enough=1_000_000)
    assert machine.retried(tmp_path).result.verdict == "degraded"
    assert machine.factors == [1_000, 2_000, 4_000]


def test_without_retry_or_lateness_no_run_is_repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_retry = Machine(monkeypatch, enough=2_000)
    without_retry.retried(tmp_path, retry=False)
    assert without_retry.factors == [1_000]
    punctual = Machine(monkeypatch, enough=1)
    punctual.retried(tmp_path)
    assert (punctual.factors, punctual.messages) == ([1_000], [])


def test_if_the_larger_dilation_is_refused_the_late_run_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = Machine(monkeypatch, enough=2_000)

    def refuse(requests: object, out: object, reporter: object, *, decided: object) -> list[RunPlan]:
        raise UsageError("no room")

    monkeypatch.setattr(retrying, "checked", refuse)
    assert machine.retried(tmp_path).result.verdict == "degraded"
    assert machine.messages == ["not repeated at D = 2000: no room"]


def test_an_interrupted_retry_names_the_late_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = Machine(monkeypatch, enough=2_000)

    def interrupted(plan: RunPlan, out: Path, reporter: Reporter, *, page: bool, watch: object) -> StoredRun:
        if machine.plans:
            raise Interrupted("nothing was measured yet")
        return machine.execute(plan, out, reporter, page=page, watch=watch)

    monkeypatch.setattr(retrying, "execute_plan", interrupted)
    with pytest.raises(Interrupted, match=r"nothing was measured yet; the late run is kept in .*run-1"):
        machine.retried(tmp_path)
