# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 6: head-of-line blocking of all-to-all traffic by an incast whose congestion PFC spreads into the fabric."""

from __future__ import annotations

from sfc_testbed.analysis.metrics.flows import of_class, slowdowns
from sfc_testbed.reproduction.model.claims import Bound, Ratio
from sfc_testbed.reproduction.model.experiment import TESTBED, Experiment, Grid
from sfc_testbed.reproduction.model.panels import CurveSelection, by_size, distribution, paper_figure
from sfc_testbed.reproduction.model.quantities import DROPS, slowdown
from sfc_testbed.scenarios.paper.testbed import TESTBED_HOL
from sfc_testbed.scenarios.traffic.incast import TAG as INCAST

_SFC_P, _PFC = _SCHEMES = ("sfc-p+dcqcn", "pfc+dcqcn")


_GRID = Grid(_SCHEMES, settings=TESTBED)

_CURVES = CurveSelection({_PFC: "PFC", _SFC_P: "SFC-P"})

EXPERIMENT = Experiment(
    title="Testbed: head-of-line blocking",
    paper="Fig. 6",
    shows="For all-to-all traffic beside an incast, SFC-P is far better than PFC, because PFC blocks the links "
    "between switches. For the incast, both are equal.",
    scenario=TESTBED_HOL,
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Ratio(
            "SFC-P's P95 FCT slowdown of the all-to-all traffic is at most 0.5 times PFC's",
            "significantly better",
            slowdown(95),
            _SFC_P,
            _PFC,
            at_most=0.5,
        ),
        Ratio(
            "SFC-P's P50 FCT slowdown of the incast is 0.8 to 1.25 times PFC's",
            "comparable",
            slowdown(50, INCAST),
            _SFC_P,
            _PFC,
            at_least=0.8,
            at_most=1.25,
        ),
        Bound("SFC-P drops no packets", "no loss", DROPS, _SFC_P, at_most=0.0),
        Bound("PFC drops no packets", "no loss", DROPS, _PFC, at_most=0.0),
    ),
    figure=paper_figure(
        "(a) P95 FCT slowdown of the all-to-all traffic. (b) Distribution of the FCT slowdown of the incast's "
        "messages.",
        by_size("all-to-all, P95", _CURVES, 95),
        distribution("incast", _CURVES, "FCT slowdown", lambda run: slowdowns(of_class(run.flows, INCAST))),
    ),
    notes=("The network and the incast are the paper's at every scale, but the traffic lasts for a shorter time.",),
)
