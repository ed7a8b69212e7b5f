# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 11 and two statements in the text: thresholds, suppression period and deployment of SFC matter little."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sfc_testbed.reproduction.model.claims import Judged, Spread
from sfc_testbed.reproduction.model.experiment import (
    Axis,
    Evidence,
    Experiment,
    Grid,
    Grids,
    Measured,
    NotMeasured,
    Results,
)
from sfc_testbed.reproduction.model.panels import CurveSelection, by_size, paper_figure
from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER, Quantity, slowdown
from sfc_testbed.scenarios.paper.data_centre import PARAMETERS, SCALING_NOTE

_PAIRS = ((0.5, 1), (1, 2), (2, 4), (1, 4))
_THRESHOLDS, _PERIOD, _PLACE = "Q_tg, Q_th (BDP)", "suppression (RTT)", "SFC at"
_DEFAULTS: Mapping[str, Any] = {_THRESHOLDS: "1, 2", _PERIOD: 0.5, _PLACE: "ToRs"}
_SETTINGS: Mapping[str, Mapping[Any, Mapping[str, Any]]] = {
    _THRESHOLDS: {
        f"{target:g}, {threshold:g}": {"switch.q_tg_bdp": target, "switch.q_th_bdp": threshold}
        for target, threshold in _PAIRS
    },
    _PERIOD: {periods: {"switch.suppression_rtt": periods} for periods in (0.5, 1, 2)},
    _PLACE: {"ToRs": {}, "all switches": {"switch.deployment": "all"}},
}
_NONE, _SFC = "irn+hpcc", "sfc+hpcc"


def _grid_over(axis: str, values: Iterable[Any], schemes: tuple[str, ...] = (_SFC,)) -> Grid:
    """Return a grid over one axis, with the paper's defaults on all other axes."""
    chosen = {**{name: [value] for name, value in _DEFAULTS.items()}, axis: list(values)}
    axes = (Axis(name, {place: _SETTINGS[name][place] for place in places}) for name, places in chosen.items())
    return Grid(schemes, tuple(axes))


def _defaults_except(axis: str) -> dict[str, Any]:
    """Return the defaults of all axes but this one: the points at which only this axis varies."""
    return {name: value for name, value in _DEFAULTS.items() if name != axis}


def _tors_have_most(of: Quantity) -> Callable[[Results], Measured]:
    """Return a check that SFC at ToRs only has most of the gain that SFC at every switch has over no flow control."""

    def judge(results: Results) -> Measured:
        none = of.measure(results.at(_NONE, _DEFAULTS))
        tors, everywhere = (of.measure(results.at(_SFC, {**_DEFAULTS, _PLACE: place})) for place in _SETTINGS[_PLACE])
        if none <= everywhere:
            raise NotMeasured(f"SFC at every switch gains nothing in {of.name}")
        share = (none - tors) / (none - everywhere)
        values = f"no flow control {of.write(none)}, ToRs {of.write(tors)}, all switches {of.write(everywhere)}"
        return Measured(share, share >= _MOST, f"{100 * share:.0f} % of the gain", evidence=Evidence(values))

    return judge


_MOST = 0.8
_GRID = Grids(
    (
        _grid_over(_THRESHOLDS, _SETTINGS[_THRESHOLDS]),
        _grid_over(_PERIOD, (1, 2)),
        _grid_over(_PLACE, ("all switches",)),
        _grid_over(_PLACE, ("ToRs",), (_NONE,)),
    )
)

EXPERIMENT = Experiment(
    title="Robustness: thresholds, suppression period, deployment",
    paper="Fig. 11",
    shows="P95 hardly differs between four pairs of the thresholds Q_tg and Q_th (Fig. 11), and between suppression "
    "periods of 0.5, 1 and 2 RTT (section 3.1).",
    scenario=PARAMETERS,
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Spread(
            "Over four pairs of Q_tg and Q_th, SFC's highest P95 FCT slowdown is at most 1.2 times the lowest",
            "no significant difference",
            slowdown(95),
            _SFC,
            at_most=1.2,
            where=_defaults_except(_THRESHOLDS),
        ),
        *(
            Spread(
                f"Over suppression periods of 0.5 to 2 RTT, SFC's highest {of.name} is at most 1.2 times the lowest",
                "not a big difference (section 3.1)",
                of,
                _SFC,
                at_most=1.2,
                where=_defaults_except(_PERIOD),
            )
            for of in (slowdown(95), slowdown(99))
        ),
        Judged(
            "P99 FCT slowdown: SFC at ToRs only has at least 80 % of the gain of SFC at every switch",
            "most of the benefit (section 5.3)",
            _tors_have_most(slowdown(99)),
        ),
        Judged(
            "Peak buffer: SFC at ToRs only has at least 80 % of the gain of SFC at every switch",
            "most of the benefit (section 5.3)",
            _tors_have_most(PEAK_BUFFER),
        ),
    ),
    figure=paper_figure(
        "P95 FCT slowdown by message size, with one curve for each pair of thresholds.",
        by_size("SFC, P95", CurveSelection({_SFC: "SFC"}, _defaults_except(_THRESHOLDS), by=_THRESHOLDS), 95),
    ),
    notes=(SCALING_NOTE,),
)
