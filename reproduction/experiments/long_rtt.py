# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 12: a base RTT of 16 us instead of 10 us."""

from __future__ import annotations

from reproduction.model.claims import Judged, Spread
from reproduction.model.experiment import Axis, Experiment, Grid, Measured, Results
from reproduction.model.panels import by_size, flow_controls, paper_figure
from reproduction.model.quantities import slowdown
from scenarios.paper.data_centre import SCALING_NOTE
from scenarios.paper.long_rtt import SCENARIO

_NONE, _ONRAMP, _SFC = _SCHEMES = ("irn+hpcc", "onramp+hpcc", "sfc+hpcc")


_FABRIC_DELAY_NS = {10: 1_500, 16: 3_000}
_AXIS = Axis("base RTT (µs)", {rtt: {"topology.fabric_delay_ns": delay} for rtt, delay in _FABRIC_DELAY_NS.items()})
_GRID = Grid(_SCHEMES, (_AXIS,))


def _growth(results: Results, scheme: str) -> float:
    short, long = (slowdown(95).measure(results.at(scheme, {_AXIS.name: rtt})) for rtt in (10, 16))
    return long / short


def _others_grow_more(results: Results) -> Measured:
    """Check that the other schemes' P95 grows with the RTT, and more than SFC's."""
    sfc, *others = (_growth(results, scheme) for scheme in (_SFC, _NONE, _ONRAMP))
    text = f"16 us over 10 us: SFC {sfc:.2f}x, no flow control {others[0]:.2f}x, OnRamp {others[1]:.2f}x"
    return Measured(sfc, min(others) > max(1.0, sfc), text)


_CURVES = flow_controls("hpcc")

EXPERIMENT = Experiment(
    title="Robustness: longer RTT",
    paper="Fig. 12",
    shows="P95 FCT slowdown by message size with a base RTT of (a) 10 us and (b) 16 us, for IRN (no flow control), "
    "OnRamp and SFC. SFC's slowdown is virtually unchanged, the other slowdowns increase significantly.",
    scenario=SCENARIO,
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Spread(
            "SFC's P95 FCT slowdowns with RTTs of 10 and 16 us differ by a factor of at most 1.15",
            "virtually unchanged",
            slowdown(95),
            _SFC,
            at_most=1.15,
        ),
        Judged(
            "P95 FCT slowdown grows with the RTT without flow control and with OnRamp, and grows more than with SFC",
            "increases significantly",
            _others_grow_more,
        ),
    ),
    figure=paper_figure(
        "P95 FCT slowdown by message size.",
        *(by_size(f"{rtt} µs RTT, P95", _CURVES.at(**{_AXIS.name: rtt}), 95) for rtt in _FABRIC_DELAY_NS),
    ),
    notes=(
        SCALING_NOTE,
        "Windows, timeouts, thresholds and the suppression period are derived from the links' delays.",
    ),
)
