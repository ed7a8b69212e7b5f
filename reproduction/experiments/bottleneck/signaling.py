# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 1: four ways to signal a 63:1 incast, without congestion control, on a dumbbell with endless buffers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.formatting import format_bytes
from analysis.metrics.buffers import whole_buffer
from analysis.results.stored import Run
from reproduction.experiments.settings import GO_BACK_N
from reproduction.model.claims import Bound, Judged, Ratio
from reproduction.model.experiment import Axis, Experiment, Grid, Grids, Measured, NotMeasured, Results
from reproduction.model.figures import distributions, paper_figure
from reproduction.model.panels import Shown, over_time
from reproduction.model.quantities import PEAK_BUFFER, Quantity
from scenarios.paper.bottleneck.signaling import DEGREE, SCENARIO

# What a sender may have in flight: the level at which the paper's OnRamp settles, 13 MB, over its 63 senders. Without
# any cap a signal that is late by the whole queue would let the queue grow without end (docs/sources.md#the-paper).
WINDOW_BYTES = 206_000
_BOTTLENECK = "s2"
_SETTLED_FROM_US = 2_000.0
_STEADY_FROM_US = 1_000.0

_SCHEMES = ("onramp", "egress-bts", "ingress-bts", "sfc")
_CAP = "in flight a sender (KB)"
_OURS = {_CAP: WINDOW_BYTES // 1_000}
_OTHER_CAPS_BYTES = (WINDOW_BYTES // 2, 2 * WINDOW_BYTES)


def _caps(*windows_bytes: int, **settings: int) -> tuple[Axis, ...]:
    """The cap on what a sender has in flight."""
    key = "transport.congestion_parameters"
    return (Axis(_CAP, {each // 1_000: {key: {"window_bytes": each}, **settings} for each in windows_bytes}),)


_OWN_CAP = Grid(tuple(f"{name}+window" for name in _SCHEMES), _caps(WINDOW_BYTES), GO_BACK_N)
# Messages twice as long, so that none ends within the run while twice the bytes wait.
_OTHER_CAPS = Grid(("onramp+window",), _caps(*_OTHER_CAPS_BYTES, message_bytes=1_700_000), GO_BACK_N)
# The paper's own point last: that is the one of which both clocks are compared (`reproduction.validation`).
_GRID = Grids((_OTHER_CAPS, _OWN_CAP))
_LIVE = Grids((_OTHER_CAPS, replace(_OWN_CAP, clock="real")))


def _capped_bytes(run: Run) -> float:
    """Senders x cap: all that can be on its way at once."""
    parameters = run.config.get("transport_settings")
    if not isinstance(parameters, dict):
        raise NotMeasured("the run's configuration cannot be read")
    return float(DEGREE * parameters["congestion_parameters"]["window_bytes"])


def _depths(run: Run, from_us: float) -> NDArray[np.float64]:
    """Depth samples of the bottleneck from a time to the end of the run."""
    rows = whole_buffer(run.queues, _BOTTLENECK).filter(pl.col("time_us").is_between(from_us, 4_000.0))
    if rows.is_empty():
        raise NotMeasured(f"there is no sample of {_BOTTLENECK} after {from_us:g} us")
    depths: NDArray[np.float64] = rows["depth_bytes"].to_numpy().astype(np.float64)
    return depths


def _swing(run: Run) -> float:
    """Standard deviation of the depth over its mean, from 1 ms on."""
    depths = _depths(run, _STEADY_FROM_US)
    return float(depths.std() / depths.mean()) if depths.mean() else 0.0


SETTLED = Quantity("mean depth from 2 ms on", lambda run: float(_depths(run, _SETTLED_FROM_US).mean()), format_bytes)
SWING = Quantity("swing of the depth from 1 ms on", _swing, lambda value: f"{100 * value:.0f} % of the mean")


def _egress_peak(results: Results) -> Measured:
    """The egress BTS peak against OnRamp's settled level."""
    peak = PEAK_BUFFER.measure(results.at("egress-bts+window", _OURS))
    settled = SETTLED.measure(results.at("onramp+window", _OURS))
    ratio = peak / settled
    return Measured(ratio, 0.75 <= ratio <= 1.33, f"{format_bytes(peak)} against {format_bytes(settled)}")


_CURVES = Shown(
    {
        "onramp+window": "OnRamp",
        "egress-bts+window": "Egress BTS",
        "ingress-bts+window": "Ingress BTS",
        "sfc+window": "Ingress BTS + Cache",
    },
    _OURS,
)

EXPERIMENT = Experiment(
    title="Signaling: 63:1 incast without congestion control",
    paper="Fig. 1",
    shows="Queue depth over the first 4 ms of a 63:1 incast without congestion control, for OnRamp, Egress BTS, "
    "Ingress BTS, and Ingress BTS + Cache, which is SFC. OnRamp settles at about 13 MB within 2 ms. Egress BTS keeps "
    "oscillating and peaks where OnRamp settles. Ingress BTS is steady within 1 ms and lower, with the cache lower "
    "still.",
    scenario=SCENARIO,
    grids={"ci": _GRID, "laptop": _LIVE, "paper": _GRID},
    claims=(
        Bound(
            "OnRamp settles within 2 ms at 13 MB, given the 206 KB in flight a sender that we chose for it",
            "about 13 MB",
            SETTLED,
            "onramp+window",
            at_least=0.75 * DEGREE * WINDOW_BYTES,
            at_most=1.25 * DEGREE * WINDOW_BYTES,
            where=_OURS,
        ),
        Bound(
            "that level follows from the cap: with half and twice of it OnRamp settles at senders x cap as well",
            "not said: no cap is given",
            SETTLED,
            "onramp+window",
            at_least=lambda run: 0.75 * _capped_bytes(run),
            at_most=lambda run: 1.25 * _capped_bytes(run),
        ),
        Judged("egress BTS peaks where OnRamp settles", "equal", _egress_peak),
        Ratio(
            "egress BTS keeps swinging, ingress BTS does not",
            "keeps oscillating against stable",
            SWING,
            "ingress-bts+window",
            "egress-bts+window",
            at_most=0.5,
        ),
        Bound("ingress BTS is steady within 1 ms", "within 1 ms", SWING, "ingress-bts+window", at_most=0.25),
        Ratio(
            "ingress BTS peaks lower than egress BTS",
            "lower",
            PEAK_BUFFER,
            "ingress-bts+window",
            "egress-bts+window",
            at_most=0.95,
        ),
        Ratio(
            "the cache lowers the queue further",
            "lower still",
            SETTLED,
            "sfc+window",
            "ingress-bts+window",
            at_most=0.98,
        ),
    ),
    figures=(
        paper_figure(
            "Queue depth of the bottleneck, the highest in every 10 us.",
            over_time(
                "63:1 incast, no congestion control",
                _CURVES,
                y_label="Queue depth (MB)",
                switch=_BOTTLENECK,
                until_ms=4.0,
            ),
        ),
        distributions(_OURS),
    ),
    notes=(
        f"No rate control; {WINDOW_BYTES:,} B in flight a sender at most, the paper's 13 MB over its 63 senders. "
        "OnRamp's 13 MB are therefore no finding; what is one is when it settles, and how the others compare.",
        "Loss recovery is go-back-N, which adds no cap of its own; nothing is lost.",
        "Every scale is the paper's own size.",
    ),
)
