# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Table 2: how little state SFC needs in a switch."""

from __future__ import annotations

from reproduction.model.claims import Bound
from reproduction.model.experiment import Axis, Experiment, Grid
from reproduction.model.figures import against
from reproduction.model.quantities import BTS_CUT, CACHE_ENTRIES, SUPPRESSION_ENTRIES
from scenarios.paper.data_centre.common import SCALING_RULE
from scenarios.paper.data_centre.resources import SCENARIO

_AXIS = Axis("workload", {"rpc": {"sizes": "rpc", "load": 0.3}, "hadoop": {"sizes": "hadoop", "load": 0.5}})
_GRID = Grid(("sfc+hpcc",), (_AXIS,))

EXPERIMENT = Experiment(
    title="Switch resources",
    paper="Table 2",
    scenario=SCENARIO,
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Bound(
            "the suppression filter holds at most 110 flows",
            "100 and 105",
            SUPPRESSION_ENTRIES,
            "sfc+hpcc",
            at_most=110.0,
        ),
        Bound("a pause cache holds at most 15 destinations", "12", CACHE_ENTRIES, "sfc+hpcc", at_most=15.0),
        Bound("suppression saves 77 to 82 % of the BTS", "77.48 % and 81.91 %", BTS_CUT, "sfc+hpcc", at_least=77.0),
    ),
    figures=(against(_AXIS.name, BTS_CUT), against(_AXIS.name, SUPPRESSION_ENTRIES)),
    notes=(
        SCALING_RULE,
        "Packets carry 1000 B here: how many BTS are saved depends on the packets in half an RTT.",
        "The limits on state are the paper's own: a smaller network can only need less.",
    ),
)
