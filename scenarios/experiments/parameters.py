# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 11: SFC's two thresholds matter little within a practical range."""

from __future__ import annotations

from scenarios.claims import Spread
from scenarios.experiment import Axis, Experiment, Grid
from scenarios.experiments.common import SCALING_NOTE, data_centre_scales, data_centre_scenario
from scenarios.figures import against, fct_by_size
from scenarios.quantities import PEAK_BUFFER, slowdown

_BDP = 125_000
_PAIRS = ((0.5, 1), (1, 2), (2, 4), (1, 4))
_AXIS = Axis(
    "Q_tg, Q_th (BDP)",
    {
        f"{target:g}, {threshold:g}": {
            "switch.q_tg_bytes": int(target * _BDP),
            "switch.q_th_bytes": int(threshold * _BDP),
        }
        for target, threshold in _PAIRS
    },
)
_GRID = Grid(("sfc+hpcc",), (_AXIS,))

EXPERIMENT = Experiment(
    title="Robustness: thresholds",
    paper="Fig. 11",
    scenario=data_centre_scenario(
        "parameters",
        "hadoop at 50 % with 8 % incast, SFC's thresholds varied",
        data_centre_scales({"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 1_000.0),
    ),
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Spread(
            "P95 FCT slowdown hardly depends on Q_th and Q_tg",
            "no significant difference",
            slowdown(95),
            "sfc+hpcc",
            at_most=1.2,
        ),
    ),
    figures=(fct_by_size(), against(_AXIS.name, slowdown(95)), against(_AXIS.name, PEAK_BUFFER)),
    notes=(SCALING_NOTE, "No significant difference: the highest P95 is at most 1.2 times the lowest."),
)
