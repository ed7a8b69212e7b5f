# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ratios that the data plane cannot hold: the error names the nearest dilation that fits, and the direction."""

from __future__ import annotations

import re

import pytest

from analysis.results.spec import RunSpec
from testbed.errors import UsageError
from testbed.plan.plan import RunPlan, plan_run
from testbed.plan.settings import parse_settings


def _planned(scheme: str, dilation: int, *settings: str) -> RunPlan:
    return plan_run(RunSpec("incast", scheme, clock="virtual", dilation=dilation, settings=parse_settings(settings)))


@pytest.mark.parametrize(
    ("scheme", "dilation", "settings", "problem", "fits"),
    [
        ("sfc-est", 10_000_000, (), "too long for the data plane", "less"),
        ("irn+hpcc", 10_000_000, (), "too slow for telemetry", "less"),
        ("sfc-est", 1, ("switch.estimator_tau_ns=5",), "too short for the estimator", "more"),
    ],
)
def test_the_nearest_dilation_that_fits_is_named(
    scheme: str, dilation: int, settings: tuple[str, ...], problem: str, fits: str
) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        _planned(scheme, dilation, *settings)
    match = re.search(r"at dilation (\d+); use --dilation (\d+) or (less|more)$", str(refused.value))
    assert match is not None, str(refused.value)
    assert (int(match[1]), match[3]) == (dilation, fits)
    assert _planned(scheme, int(match[2]), *settings).dilation.factor == int(match[2])


def test_a_ratio_that_fits_no_dilation_is_refused_without_advice() -> None:
    rates = ",".join(["10000000", *["25600000000000"] * 8])
    settings = (f"topology.host_rates_bps=[{rates}]", "topology.hosts=9", "switch.pfc_alpha=64")
    request = RunSpec(
        "incast", "pfc", clock="virtual", dilation=1_000, topology="star", settings=parse_settings(settings)
    )
    with pytest.raises(UsageError, match=r"pfc_alpha 64 .* is too much for one of \d+ bit/s, at any --dilation$"):
        plan_run(request)
