# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The dilation of a live run: the smallest one at which this machine is predicted to be on time.

A dry run counts the frames over time (`testbed.dilation.dry_run`). A calibration or built-in figures give the cost of
each frame, and `testbed.dilation.prediction` derives from both how late the run will be.
"""

from __future__ import annotations

from dataclasses import replace

from analysis.results.spec import DilationChoice
from testbed.dilation.dry_run import Tell, dry_run, ignore
from testbed.dilation.prediction import LoadModel, least_dilation
from testbed.load.stored import stored_calibration
from testbed.plan.plan import RunPlan
from testbed.plan.switch_targets import SWITCH_TARGETS
from topologies.physics import departure_window_ns

MAX_AUTOMATIC_DILATION = 1_000_000
"""The largest dilation that is chosen automatically: a model millisecond then takes 17 minutes."""


def with_dilation(plan: RunPlan, tell: Tell = ignore) -> RunPlan:
    """Return the plan with its dilation and the prediction; plans in virtual time or without flows are not changed.

    A dilation that the user typed is kept; if it is too small, the prediction also names a sufficient one. `tell` gets
    the share of the dry run that is done.
    """
    if plan.config.clock == "virtual" or not plan.flows:
        return plan
    costs = stored_calibration().costs
    target = SWITCH_TARGETS[plan.config.switch]
    switch = costs.switches.get(target.name, target.cost)
    telemetry, window_ns = plan.switch_settings.int_telemetry, departure_window_ns(plan.topology)
    model = LoadModel(dry_run(plan, tell), costs, switch, telemetry=telemetry, window_ns=window_ns)
    decided = plan
    if plan.config.is_dilation_automatic:
        decided = plan.at_dilation(least_dilation(model, MAX_AUTOMATIC_DILATION))
    prediction = model.at(decided.config.dilation)
    enough = None
    if decided is plan and not prediction.is_enough:
        least = plan.at_dilation(least_dilation(model, MAX_AUTOMATIC_DILATION)).config.dilation
        enough = least if model.at(least).is_enough else None
    choice = DilationChoice(
        peak_load=round(prediction.peak_load, 4),
        late_share=round(prediction.late_share, 4),
        cores=round(costs.capacity_cores, 2),
        calibrated=costs.origin,
        enough=enough,
    )
    return replace(decided, config=replace(decided.config, dilation_choice=choice))
