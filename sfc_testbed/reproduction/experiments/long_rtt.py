# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 12: a base RTT of 16 us instead of 10 us."""

from __future__ import annotations

from collections.abc import Callable

from sfc_testbed.analysis.formatting import format_ratio
from sfc_testbed.reproduction.model.claims import Judged, Spread
from sfc_testbed.reproduction.model.experiment import Axis, Experiment, Grid, Measured, Results
from sfc_testbed.reproduction.model.panels import by_size, flow_controls, paper_figure
from sfc_testbed.reproduction.model.quantities import slowdown
from sfc_testbed.scenarios.paper.data_centre import LONG_RTT, SCALING_NOTE

_NONE, _ONRAMP, _SFC, _INGRESS = _SCHEMES = ("irn+hpcc", "onramp+hpcc", "sfc+hpcc", "ingress-bts+hpcc")
_SIGNIFICANT = 1.2
"""The smallest growth that counts as a significant increase."""


_FABRIC_DELAY_NS = {10: 1_500, 16: 3_000}
_AXIS = Axis("base RTT (µs)", {rtt: {"topology.fabric_delay_ns": delay} for rtt, delay in _FABRIC_DELAY_NS.items()})
_GRID = Grid(_SCHEMES, (_AXIS,))


def _growth(results: Results, scheme: str) -> float:
    short, long = (slowdown(95).measure(results.at(scheme, {_AXIS.name: rtt})) for rtt in (10, 16))
    return long / short


def _grows(scheme: str) -> Callable[[Results], Measured]:
    """Return a check that a scheme's P95 grows significantly with the RTT, and more than SFC's."""

    def judge(results: Results) -> Measured:
        growth, sfc = _growth(results, scheme), _growth(results, _SFC)
        text = f"16 us over 10 us: {format_ratio(growth)}, SFC {format_ratio(sfc)}"
        return Measured(growth, growth >= _SIGNIFICANT and growth > sfc, text, None)

    return judge


def _ingress_grows_more(results: Results) -> Measured:
    """Check that the P95 of SFC without its cache grows more with the RTT than that of SFC."""
    growth, sfc = _growth(results, _INGRESS), _growth(results, _SFC)
    text = f"16 us over 10 us: {format_ratio(growth)}, SFC {format_ratio(sfc)}"
    return Measured(growth / sfc, growth > sfc, text, None)


_CURVES = flow_controls("hpcc")

EXPERIMENT = Experiment(
    title="Robustness: longer RTT",
    paper="Fig. 12",
    shows="With an RTT of 16 us instead of 10 us, SFC's slowdown is virtually unchanged, and the slowdowns without "
    "flow control and with OnRamp increase significantly.",
    scenario=LONG_RTT,
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Spread(
            "SFC's P95 FCT slowdowns with RTTs of 10 and 16 us differ by a factor of at most 1.15",
            "virtually unchanged",
            slowdown(95),
            _SFC,
            at_most=1.15,
        ),
        *(
            Judged(
                f"{words}, P95 FCT slowdown with an RTT of 16 us is at least 1.2 times that with 10 us, and grows more "
                "than with SFC",
                "increases significantly",
                _grows(scheme),
            )
            for words, scheme in (("Without flow control", _NONE), ("With OnRamp", _ONRAMP))
        ),
        Judged(
            "Without the pause cache, ingress BTS's P95 FCT slowdown grows more with the RTT than SFC's",
            "ingress BTS alone gets less effective; the cache offsets it",
            _ingress_grows_more,
        ),
    ),
    figure=paper_figure(
        "P95 FCT slowdown by message size, with RTTs of 10 and 16 us.",
        *(by_size(f"{rtt} µs RTT, P95", _CURVES.at(**{_AXIS.name: rtt}), 95) for rtt in _FABRIC_DELAY_NS),
    ),
    notes=(
        SCALING_NOTE,
        "Windows, timeouts, thresholds and the suppression period are derived from the delays of the links, "
        "so they grow with the RTT.",
    ),
)
