# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 2: peak buffer over incast degree for DCQCN+W and HPCC, each alone, with OnRamp and with SFC."""

from __future__ import annotations

from reproduction.model.claims import Linear, Ratio, SteeperThan
from reproduction.model.experiment import Axis, Claim, Experiment, Grid
from reproduction.model.panels import CurveSelection, over_axis, paper_figure
from reproduction.model.quantities import MEAN_P99_OVER_SIZES, PEAK_BUFFER, slowdown
from scenarios.paper.incast_degree import SCENARIO

_CONTROLS = {"dcqcn": "DCQCN+W", "hpcc": "HPCC"}
_SCHEMES = tuple(f"{name}+{control}" for control in _CONTROLS for name in ("irn", "onramp", "sfc"))
_AXIS = "incast degree"


_MUCH, _CLEARLY = 2.0, 1.05
"""The smallest ratios of the steeper slope to the flatter one, where the paper says "much lower" and "lower"."""


def _grid(degrees: tuple[int, ...]) -> Grid:
    return Grid(_SCHEMES, (Axis.of(_AXIS, "incast_degree", degrees),))


def _claims() -> tuple[Claim, ...]:
    claims: list[Claim] = []
    for control, name in _CONTROLS.items():
        none, onramp, sfc = (f"{flow}+{control}" for flow in ("irn", "onramp", "sfc"))
        claims += [
            Linear(
                f"{name}: without flow control, the peak buffer grows linearly with the degree (R² at least 0.8)",
                "linear",
                PEAK_BUFFER,
                none,
                _AXIS,
                0.8,
            ),
            SteeperThan(
                f"{name}: OnRamp's peak buffer grows at least 2 times as fast with the degree as SFC's",
                "much lower",
                PEAK_BUFFER,
                onramp,
                sfc,
                _AXIS,
                _MUCH,
            ),
            SteeperThan(
                f"{name}: without flow control, the peak buffer grows at least 1.05 times as fast as with OnRamp",
                "lower",
                PEAK_BUFFER,
                none,
                onramp,
                _AXIS,
                _CLEARLY,
            ),
            Ratio(
                f"{name}: SFC's P99 FCT slowdown is at most that without flow control, at every degree",
                "SFC lowest at every degree",
                slowdown(99),
                sfc,
                none,
                at_most=1.0,
            ),
        ]
    return tuple(claims)


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
    shows="(a) Peak of a switch's shared buffer and (b) P99 FCT slowdown of Hadoop messages, averaged over message "
    "sizes, over incast degrees from 16 to 63, for DCQCN+W and HPCC alone, with OnRamp and with SFC. Buffers are "
    "unlimited. The peak grows in proportion to the degree. The slope depends on the flow control and is lowest with "
    "SFC. The slowdown follows the buffer.",
    scenario=SCENARIO,
    grids={"ci": _grid((10, 20, 31)), "laptop": _grid((12, 24, 36, 47)), "paper": _grid((16, 24, 32, 40, 48, 56, 63))},
    claims=_claims(),
    figure=paper_figure(
        "Peak buffer of the fullest switch; P99 FCT slowdown of Hadoop messages, averaged over ten size bins.",
        over_axis("peak buffer", _CURVES, _AXIS, PEAK_BUFFER),
        over_axis("tail latency", _CURVES, _AXIS, MEAN_P99_OVER_SIZES),
    ),
    notes=(
        "Scales ci and laptop have 32 and 48 hosts, packets of 4000 B, evenly spaced incasts, and as many senders per "
        "microsecond as the paper.",
    ),
)
