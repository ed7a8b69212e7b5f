# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 2: peak buffer over incast degree for DCQCN+W and HPCC, each alone, with OnRamp and with SFC."""

from __future__ import annotations

import numpy as np

from sfc_testbed.reproduction.model.claims import LEAST_R2, Judged, Linear, Ratio, SlopeRatio
from sfc_testbed.reproduction.model.experiment import (
    Axis,
    Claim,
    Evidence,
    Experiment,
    Grid,
    Measured,
    NotMeasured,
    Results,
)
from sfc_testbed.reproduction.model.panels import CurveSelection, over_axis, paper_figure
from sfc_testbed.reproduction.model.quantities import MEAN_P99_OVER_SIZES, PEAK_BUFFER
from sfc_testbed.scenarios.paper.data_centre import INCAST_DEGREE

_CONTROLS = {"dcqcn": "DCQCN+W", "hpcc": "HPCC"}
_SCHEMES = tuple(f"{name}+{control}" for control in _CONTROLS for name in ("irn", "onramp", "sfc"))
_AXIS = "incast degree"


_CLEARLY = 1.05
"""The smallest ratio of the steeper slope to the flatter one: a difference of a few percent is none."""
_CORRELATED = 0.7
"""The smallest Pearson correlation of quantities that the paper calls correlated."""


def _grid(degrees: tuple[int, ...]) -> Grid:
    return Grid(_SCHEMES, (Axis.of(_AXIS, "incast_degree", degrees),))


def _tail_follows_buffer(results: Results) -> Measured:
    """Correlate the tail latency of all runs with their peak buffers."""
    runs = [measurement.run for measurement in results.measurements]
    pairs = [(PEAK_BUFFER.measure(run), MEAN_P99_OVER_SIZES.measure(run)) for run in runs]
    if len(pairs) < 3:
        raise NotMeasured(f"a correlation needs three runs, there are {len(pairs)}")
    correlation = float(np.corrcoef(np.array(pairs).T)[0, 1])
    evidence = Evidence(selection=f"over {len(pairs)} runs")
    return Measured(correlation, correlation >= _CORRELATED, f"r = {correlation:.2f}", evidence=evidence)


def _claims() -> tuple[Claim, ...]:
    claims: list[Claim] = []
    for control, name in _CONTROLS.items():
        none, onramp, sfc = (f"{flow}+{control}" for flow in ("irn", "onramp", "sfc"))
        claims += [
            *(
                Linear(
                    f"{name}: {words}, the peak buffer grows linearly with the degree (R² at least {LEAST_R2})",
                    "linearly proportional",
                    PEAK_BUFFER,
                    scheme,
                    _AXIS,
                )
                for words, scheme in (("without flow control", none), ("with OnRamp", onramp), ("with SFC", sfc))
            ),
            Ratio(
                f"{name}: SFC's peak buffer is at most half of OnRamp's, at every degree",
                "much less over the entire range",
                PEAK_BUFFER,
                sfc,
                onramp,
                at_most=0.5,
            ),
            SlopeRatio(
                f"{name}: without flow control, the peak buffer grows at least 1.05 times as fast as with OnRamp",
                "the flow control governs the slope",
                PEAK_BUFFER,
                none,
                onramp,
                _AXIS,
                at_least=_CLEARLY,
            ),
            *(
                Ratio(
                    f"{name}: SFC's mean P99 FCT slowdown over message sizes is at most {words}, at every degree",
                    "highlights the benefit of SFC",
                    MEAN_P99_OVER_SIZES,
                    sfc,
                    scheme,
                    at_most=1.0,
                )
                for words, scheme in (("that without flow control", none), ("OnRamp's", onramp))
            ),
        ]
    without = [f"irn+{control}" for control in _CONTROLS]
    return (
        *claims,
        SlopeRatio(
            "Without flow control, the peak buffer grows 0.8 to 1.25 times as fast with HPCC as with DCQCN+W",
            "congestion control alone does not change the slope",
            PEAK_BUFFER,
            without[1],
            without[0],
            _AXIS,
            at_least=0.8,
            at_most=1.25,
        ),
        Judged(
            f"Tail latency and peak buffer are correlated over all runs (r at least {_CORRELATED})",
            "correlated with the peak buffer",
            _tail_follows_buffer,
        ),
    )


_FLOW_CONTROLS = {"irn": "alone", "onramp": "+ OnRamp", "sfc": "+ SFC"}
_CURVES = CurveSelection(
    {
        f"{flow}+{control}": f"{name} {words}"
        for control, name in _CONTROLS.items()
        for flow, words in _FLOW_CONTROLS.items()
    }
)

EXPERIMENT = Experiment(
    title="Incast degree",
    paper="Fig. 2",
    shows="Switch buffers have no limit. The peak buffer grows in proportion to the incast degree, most slowly with "
    "SFC, and the slowdown follows the peak buffer.",
    scenario=INCAST_DEGREE,
    grids={"ci": _grid((10, 20, 31)), "laptop": _grid((12, 24, 36, 47)), "paper": _grid((16, 24, 32, 40, 48, 56, 63))},
    claims=_claims(),
    figure=paper_figure(
        "(a) Peak buffer. (b) P99 FCT slowdown of the Hadoop messages, averaged over ten bins of message size.",
        over_axis("peak buffer", _CURVES, _AXIS, PEAK_BUFFER),
        over_axis("tail latency", _CURVES, _AXIS, MEAN_P99_OVER_SIZES),
    ),
    notes=("Scales ci and laptop have 32 and 48 hosts, packets of 4000 B, and evenly spaced incasts.",),
)
