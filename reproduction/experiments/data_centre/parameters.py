# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 11: SFC's two thresholds matter little within a practical range."""

from __future__ import annotations

from reproduction.model.claims import Spread
from reproduction.model.experiment import Axis, Experiment, Grid
from reproduction.model.figures import against, fct_by_size
from reproduction.model.quantities import PEAK_BUFFER, slowdown
from scenarios.paper.data_centre.common import SCALING_NOTE
from scenarios.paper.data_centre.parameters import SCENARIO

_PAIRS = ((0.5, 1), (1, 2), (2, 4), (1, 4))
_AXIS = Axis(
    "Q_tg, Q_th (BDP)",
    {
        f"{target:g}, {threshold:g}": {"switch.q_tg_bdp": target, "switch.q_th_bdp": threshold}
        for target, threshold in _PAIRS
    },
)
_GRID = Grid(("sfc+hpcc",), (_AXIS,))

EXPERIMENT = Experiment(
    title="Robustness: thresholds",
    paper="Fig. 11",
    scenario=SCENARIO,
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
