# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 2: peak buffer against incast degree under four combinations of flow and congestion control."""

from __future__ import annotations

from reproduction.model.claims import Linear, Ratio, SteeperThan
from reproduction.model.experiment import Axis, Claim, Experiment, Grid
from reproduction.model.figures import paper_figure
from reproduction.model.panels import Shown, over_axis
from reproduction.model.quantities import MEAN_P99_OVER_SIZES, PEAK_BUFFER, slowdown
from scenarios.paper.data_centre.incast_degree import SCENARIO

_CONTROLS = {"dcqcn": "DCQCN+W", "hpcc": "HPCC"}
_SCHEMES = tuple(f"{name}+{control}" for control in _CONTROLS for name in ("irn", "onramp", "sfc"))
_AXIS = "incast degree"


_MUCH, _CLEARLY = 2.0, 1.05
"""How many times steeper the steeper slope is at least."""


def _grid(degrees: tuple[int, ...]) -> Grid:
    return Grid(_SCHEMES, (Axis.of(_AXIS, "incast_degree", degrees),))


def _claims() -> tuple[Claim, ...]:
    found: list[Claim] = []
    for control, name in _CONTROLS.items():
        none, onramp, sfc = (f"{flow}+{control}" for flow in ("irn", "onramp", "sfc"))
        found += [
            Linear(f"{name}: the peak buffer grows linearly with the degree", "linear", PEAK_BUFFER, none, _AXIS, 0.8),
            SteeperThan(f"{name}: SFC's slope is below OnRamp's", "much lower", PEAK_BUFFER, onramp, sfc, _AXIS, _MUCH),
            SteeperThan(
                f"{name}: OnRamp's slope is below that of no flow control",
                "lower",
                PEAK_BUFFER,
                none,
                onramp,
                _AXIS,
                _CLEARLY,
            ),
            Ratio(
                f"{name}: tail FCT slowdown follows the buffer",
                "SFC lowest at every degree",
                slowdown(99),
                sfc,
                none,
                at_most=1.0,
            ),
        ]
    return tuple(found)


_FLOW_CONTROLS = {"irn": "alone", "onramp": "+ OnRamp", "sfc": "+ SFC"}
_CURVES = Shown(
    {
        f"{flow}+{control}": f"{name} {words}"
        for control, name in _CONTROLS.items()
        for flow, words in _FLOW_CONTROLS.items()
    }
)

EXPERIMENT = Experiment(
    title="Incast degree",
    paper="Fig. 2",
    shows="(a) Peak of a switch's shared buffer and (b) the mean over message sizes of the P99 FCT slowdown of Hadoop "
    "messages, over incast degrees from 16 to 63, for DCQCN+W and HPCC alone, with OnRamp and with SFC; endless "
    "buffers. The peak grows in proportion to the degree, flow control sets the slope, SFC's is the least; the "
    "slowdown follows the buffer.",
    scenario=SCENARIO,
    grids={"ci": _grid((10, 20, 31)), "laptop": _grid((12, 24, 36, 47)), "paper": _grid((16, 24, 32, 40, 48, 56, 63))},
    claims=_claims(),
    figures=(
        paper_figure(
            "Peak buffer of the fullest switch; P99 FCT slowdown of Hadoop messages, the mean over ten bins of sizes.",
            over_axis("peak buffer", _CURVES, _AXIS, PEAK_BUFFER),
            over_axis("tail latency", _CURVES, _AXIS, MEAN_P99_OVER_SIZES),
        ),
    ),
    notes=(
        "Smaller scales have 32 and 48 hosts and packets of 4000 B, evenly spaced incasts, "
        "and as many senders per microsecond as the paper.",
        "A slope is much lower at half, and lower at 5 % less.",
    ),
)
