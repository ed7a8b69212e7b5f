# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Table 2: the state that SFC needs in a switch."""

from __future__ import annotations

from sfc_testbed.reproduction.model.claims import Bound
from sfc_testbed.reproduction.model.experiment import Axis, Experiment, Grid
from sfc_testbed.reproduction.model.panels import CurveSelection, beside_paper, paper_figure
from sfc_testbed.reproduction.model.quantities import BTS_CUT, CACHE_ENTRIES, SUPPRESSION_ENTRIES, Quantity
from sfc_testbed.scenarios.paper.data_centre import RESOURCES, SCALING_RULE

_AXIS = Axis("workload", {"rpc": {"sizes": "rpc", "load": 0.3}, "hadoop": {"sizes": "hadoop", "load": 0.5}})
_GRID = Grid(("sfc+hpcc",), (_AXIS,))

_CURVES = CurveSelection({"sfc+hpcc": "SFC, here"})
_COLUMNS: tuple[tuple[str, Quantity, tuple[float, float]], ...] = (
    ("Suppr.", SUPPRESSION_ENTRIES, (100, 105)),
    ("Cache", CACHE_ENTRIES, (12, 12)),
    ("BTS reduction", BTS_CUT, (77.48, 81.91)),
)
"""The columns of the paper's table: title, quantity, and the paper's values for RPC and Hadoop."""

EXPERIMENT = Experiment(
    title="Switch resources",
    paper="Table 2",
    shows="With RPC (as in Fig. 8), the suppression filter holds at most 100 flows, a pause cache 12 destinations, and "
    "77.48 % of the BTS are suppressed. With Hadoop (as in Fig. 7), the figures are 105, 12 and 81.91 %.",
    scenario=RESOURCES,
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Bound(
            "The suppression filter holds fewer than 110 flows",
            "less than 110 (100 and 105)",
            SUPPRESSION_ENTRIES,
            "sfc+hpcc",
            at_most=109.0,
            only_at=("paper",),
        ),
        Bound(
            "A pause cache holds fewer than 15 destinations",
            "less than 15 (12)",
            CACHE_ENTRIES,
            "sfc+hpcc",
            at_most=14.0,
            only_at=("paper",),
        ),
        Bound(
            "Suppression saves 77 to 82 % of the BTS",
            "77.48 % and 81.91 %",
            BTS_CUT,
            "sfc+hpcc",
            at_least=77.0,
            at_most=82.0,
        ),
    ),
    figure=paper_figure(
        "The columns of the paper's table, with the paper's values and ours.",
        *(
            beside_paper(title, _CURVES, _AXIS.name, of, dict(zip(_AXIS.values, papers, strict=True)))
            for title, of, papers in _COLUMNS
        ),
    ),
    notes=(
        SCALING_RULE,
        "Packets carry 1000 B at every scale, because the fraction of suppressed BTS depends on the number of "
        "packets in half an RTT.",
        "The limits on filter and cache are tested at scale paper only, since a smaller network could not exceed them.",
    ),
)
