# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The identity of a run in its result, derived from its configuration."""

from __future__ import annotations

from analysis.results.counters import RunIdentity
from testbed.plan.config import RunConfig


def run_identity(config: RunConfig) -> RunIdentity:
    """Return the fields of a result that identify its run."""
    return RunIdentity(
        scenario=config.scenario,
        scheme=config.scheme,
        scale=config.scale,
        switch=config.switch,
        clock=config.clock,
        dilation=config.dilation,
        seed=config.seed,
        base_rtt_us=config.physics.base_rtt_ns / 1000,
        window_us=config.measured_window_us,
        retry_of=config.retry_of,
        ideal_completion_us=config.ideal_completion_us,
        program=config.program_name,
    )
