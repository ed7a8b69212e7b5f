# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The choice of runs to repeat, and of their dilation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.analysis.results.result import RunResult
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.retry import retry_of
from sfc_testbed.testbed.plan.dilations import MAX_DILATION, DecidedDilation
from sfc_testbed.testbed.plan.plan import plan_run
from tests.analysis.validation.small import small_run

REQUEST = RunSpec("incast", dilation=1_000)
FOLDER = Path("runs") / "incast-sfc-1"


def _result(**changes: Any) -> RunResult:
    late = {"dilation": 1_000, "faithful_dilation": 20_000, "verdict": "invalid"}
    return small_run().result.model_copy(update={**late, **changes})


def test_a_late_run_is_repeated_at_the_faithful_dilation() -> None:
    """A dilation that the user gave is replaced too, because it was too small."""
    again = retry_of(REQUEST, FOLDER, _result())
    assert again == (RunSpec("incast", dilation=1_000, retry_of="incast-sfc-1"), DecidedDilation(20_000))
    config = plan_run(*again).config
    assert (config.dilation, config.retry_of, config.dilation_given) == (20_000, "incast-sfc-1", True)
    assert "--dilation 20000" in config.command
    assert plan_run(REQUEST).config.retry_of is None


@pytest.mark.parametrize(
    "changes",
    [{"faithful_dilation": None}, {"interrupted": True}, {"faithful_dilation": MAX_DILATION + 1}],
)
def test_other_runs_are_not_repeated(changes: dict[str, object]) -> None:
    assert retry_of(REQUEST, FOLDER, _result(**changes)) is None
