# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 10: a lighter incast load of 5 %, with both congestion controls."""

from __future__ import annotations

from sfc_testbed.reproduction.model.claims import Judged, Ratio
from sfc_testbed.reproduction.model.experiment import Experiment, Grid, Measured, Results
from sfc_testbed.reproduction.model.panels import by_size, flow_controls, paper_figure
from sfc_testbed.reproduction.model.quantities import slowdown
from sfc_testbed.scenarios.paper.data_centre import HADOOP_50_LIGHT, SCALING_NOTE

_SCHEMES = tuple(f"{name}+{control}" for control in ("hpcc", "dcqcn") for name in ("irn", "onramp", "sfc"))
_MEANINGFUL = 1.1
"""The smallest ratio that counts as a meaningful gain."""
_SIGNIFICANT = 0.8
"""The largest ratio to the alternative that counts as a significant improvement."""
_OTHERS = {"without flow control": "irn+hpcc", "with OnRamp": "onramp+hpcc"}


def _onramp_gains(results: Results) -> Measured:
    """Compare OnRamp's gain in P99 FCT slowdown with DCQCN+W with that with HPCC."""
    gains = []
    for control in ("dcqcn", "hpcc"):
        onramp, none = (slowdown(99).measure(results.at(f"{name}+{control}", {})) for name in ("onramp", "irn"))
        gains.append(none / onramp)
    holds = gains[0] >= _MEANINGFUL > gains[1]
    text = f"{gains[0]:.2f}x with DCQCN+W, {gains[1]:.2f}x with HPCC"
    return Measured(gains[0] / gains[1], holds, text, None)


EXPERIMENT = Experiment(
    title="Lighter incast: Hadoop at 50 % load with 5 % incast",
    paper="Fig. 10",
    shows="With HPCC, SFC improves P95 marginally and P99 significantly. OnRamp has a meaningful gain with DCQCN+W "
    "only.",
    scenario=HADOOP_50_LIGHT,
    grids={"ci": Grid(_SCHEMES), "laptop": Grid(_SCHEMES), "paper": Grid(_SCHEMES)},
    claims=(
        *(
            Ratio(
                f"With HPCC, SFC's P95 FCT slowdown is lower than {words}, but by less than 20 %",
                "marginally improved compared to the alternatives",
                slowdown(95),
                "sfc+hpcc",
                other,
                at_least=_SIGNIFICANT,
                at_most=1.0,
            )
            for words, other in _OTHERS.items()
        ),
        *(
            Ratio(
                f"With HPCC, SFC's P99 FCT slowdown is at least 20 % lower than {words}",
                "significant improvement compared to the alternatives",
                slowdown(99),
                "sfc+hpcc",
                other,
                at_most=_SIGNIFICANT,
            )
            for words, other in _OTHERS.items()
        ),
        Ratio(
            "With DCQCN+W, SFC's P99 FCT slowdown is at least 20 % lower than without flow control",
            "not stated",
            slowdown(99),
            "sfc+dcqcn",
            "irn+dcqcn",
            at_most=_SIGNIFICANT,
            is_ours=True,
        ),
        Judged(
            "OnRamp lowers P99 FCT slowdown at least 1.1 times with DCQCN+W, and less than that with HPCC",
            "meaningful only for DCQCN+W, not much for HPCC",
            _onramp_gains,
        ),
        Ratio(
            "Without flow control, HPCC's P95 FCT slowdown is at most DCQCN+W's",
            "efficacy of INT-based congestion control, compared to DCQCN+W",
            slowdown(95),
            "irn+hpcc",
            "irn+dcqcn",
            at_most=1.0,
        ),
    ),
    figure=paper_figure(
        "P95 and P99 FCT slowdown by message size.",
        *(
            by_size(f"{name}, P{percent}", flow_controls(control), percent)
            for control, name in (("hpcc", "HPCC"), ("dcqcn", "DCQCN+W"))
            for percent in (95, 99)
        ),
        columns=2,
    ),
    notes=(SCALING_NOTE,),
)
