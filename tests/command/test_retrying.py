# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`--retry` as the command does it: how often, what is told, what is kept. No run is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import retrying
from command.retrying import execute_retrying
from testbed.errors import Interrupted, UsageError
from testbed.execution.execute import StoredRun
from testbed.plan.plan import RunPlan, RunRequest, plan_run
from tests.analysis.validation.small import small_run

REQUEST = RunRequest("incast", dilation=1_000)


class Machine:
    """On which a run is late up to some D; it makes no run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, enough: int) -> None:
        self.plans: list[RunPlan] = []
        self.said: list[str] = []
        self._enough = enough
        monkeypatch.setattr(retrying, "execute_plan", self.execute)
        monkeypatch.setattr(retrying, "checked", lambda requests, out: [plan_run(each) for each in requests])
        monkeypatch.setattr(retrying, "tell", self.said.append)

    def execute(self, plan: RunPlan, out: Path, *, quiet: bool) -> StoredRun:
        self.plans.append(plan)
        factor = plan.config.dilation
        late = {"faithful_dilation": 2 * factor, "verdict": "degraded"} if factor < self._enough else {}
        result = small_run().result.model_copy(update={"dilation": factor, "verdict": "faithful", **late})
        return StoredRun(out / f"run-{len(self.plans)}", result, None)

    def run(self, out: Path, *, retry: bool = True) -> StoredRun:
        return execute_retrying(REQUEST, plan_run(REQUEST), out, quiet=True, retry=retry)

    @property
    def factors(self) -> list[int]:
        return [plan.config.dilation for plan in self.plans]


def test_a_late_run_is_made_again_until_it_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The last run is the result, and says which late run it repeats."""
    machine = Machine(monkeypatch, enough=2_000)
    assert machine.run(tmp_path).result.verdict == "faithful"
    assert machine.factors == [1_000, 2_000]
    assert [plan.config.retry_of for plan in machine.plans] == [None, "run-1"]
    [line] = machine.said
    assert f"kept in {tmp_path / 'run-1'}" in line


def test_it_is_tried_again_twice_at_most(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is still late then is the result."""
    machine = Machine(monkeypatch, enough=1_000_000)
    assert machine.run(tmp_path).result.verdict == "degraded"
    assert machine.factors == [1_000, 2_000, 4_000]


def test_nothing_is_made_again_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor what was punctual."""
    unasked = Machine(monkeypatch, enough=2_000)
    unasked.run(tmp_path, retry=False)
    assert unasked.factors == [1_000]
    punctual = Machine(monkeypatch, enough=1)
    punctual.run(tmp_path)
    assert (punctual.factors, punctual.said) == ([1_000], [])


def test_a_dilation_that_cannot_be_keeps_the_late_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the reason, in one line: numbers of the data plane have an end."""
    machine = Machine(monkeypatch, enough=2_000)

    def refuse(requests: object, out: object) -> list[RunPlan]:
        raise UsageError("no room")

    monkeypatch.setattr(retrying, "checked", refuse)
    assert machine.run(tmp_path).result.verdict == "degraded"
    assert machine.said == ["not repeated at D = 2000: no room"]


def test_an_interrupted_retry_names_the_late_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Which is whole."""
    machine = Machine(monkeypatch, enough=2_000)

    def interrupted(plan: RunPlan, out: Path, *, quiet: bool) -> StoredRun:
        if machine.plans:
            raise Interrupted("nothing was measured yet")
        return machine.execute(plan, out, quiet=quiet)

    monkeypatch.setattr(retrying, "execute_plan", interrupted)
    with pytest.raises(Interrupted, match=r"nothing was measured yet; the late run is kept in .*run-1"):
        machine.run(tmp_path)
