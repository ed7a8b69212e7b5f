# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the expected efforts of an experiment's runs."""

from __future__ import annotations

import pytest

from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.effort import brief_request, with_efforts
from sfc_testbed.reproduction.jobs import jobs_of
from sfc_testbed.testbed.jobs.effort import effort_of
from sfc_testbed.testbed.plan.plan import plan_run


@pytest.mark.parametrize("name", ["hadoop-50", "rpc-30", "signaling"])
def test_the_effort_from_less_traffic_is_close_to_that_of_the_full_plan(name: str) -> None:
    [job, *_] = jobs_of(EXPERIMENTS[name], "ci")
    request, times = brief_request(job.request)
    assert (times > 1) == (name != "signaling")
    [estimated] = with_efforts([job], [plan_run(request)])
    full = effort_of(plan_run(job.request))
    assert estimated.effort is not None
    assert estimated.effort.packets == pytest.approx(full.packets, rel=0.25)
    assert estimated.effort.seconds == pytest.approx(full.seconds, rel=0.25)


def test_a_live_run_needs_its_dilated_duration() -> None:
    jobs = jobs_of(EXPERIMENTS["signaling"], "laptop")
    [job] = [job for job in jobs if (job.point.scheme, job.point.clock) == ("sfc+window", "real")]
    plan = plan_run(job.request)
    assert brief_request(job.request) == (job.request, 1.0)
    [estimated] = with_efforts([job], [plan])
    assert estimated.effort is not None
    assert estimated.effort.seconds == pytest.approx(4e-3 * plan.config.dilation, rel=0.2)


def test_a_run_has_one_folder_and_other_requests_have_others() -> None:
    jobs = [job for name in ("signaling", "theory") for job in jobs_of(EXPERIMENTS[name], "ci")]
    again = [job for name in ("signaling", "theory") for job in jobs_of(EXPERIMENTS[name], "ci")]
    assert [job.name for job in jobs] == [job.name for job in again]
    others = jobs_of(EXPERIMENTS["theory"], "ci", seeds=[7]) + jobs_of(EXPERIMENTS["signaling"], "paper")
    names = [job.name for job in (*jobs, *others)]
    assert len(set(names)) == len(names)
    assert all("/" not in name and not name.startswith(".") for name in names)
