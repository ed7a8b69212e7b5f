# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 1: four ways to signal a 63:1 incast, without congestion control, on a dumbbell with unlimited buffers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.formatting import format_bytes
from analysis.metrics.buffers import whole_buffer
from analysis.results.stored import Run
from reproduction.model.claims import Bound, Judged, Ratio
from reproduction.model.experiment import (
    GO_BACK_N,
    Axis,
    Experiment,
    Grid,
    Grids,
    Measured,
    NotMeasured,
    Results,
    config_of,
)
from reproduction.model.panels import CurveSelection, over_time, paper_figure
from reproduction.model.quantities import PEAK_BUFFER, Quantity
from scenarios.paper.signaling import DEGREE, SCENARIO

# The cap on a sender's bytes in flight: the level at which the paper's OnRamp settles, 13 MB, divided by 63 senders.
# OnRamp's signal is delayed by the whole queue. Without a cap the queue would grow without limit
# (docs/sources.md#the-paper).
WINDOW_BYTES = 206_000
_BOTTLENECK = "s2"
_SETTLED_FROM_US = 2_000.0
_STEADY_FROM_US = 1_000.0

_SCHEMES = ("onramp", "egress-bts", "ingress-bts", "sfc")
_CAP = "in flight a sender (KB)"
_OUR_CAP = {_CAP: WINDOW_BYTES // 1_000}
_OTHER_CAPS_BYTES = (WINDOW_BYTES // 2, 2 * WINDOW_BYTES)


def _caps(*windows_bytes: int, **settings: int) -> tuple[Axis, ...]:
    """Return an axis over the cap on a sender's bytes in flight, for the other settings given."""
    key = "transport.congestion_parameters"
    return (Axis(_CAP, {window // 1_000: {key: {"window_bytes": window}, **settings} for window in windows_bytes}),)


_OWN_CAP = Grid(tuple(f"{name}+window" for name in _SCHEMES), _caps(WINDOW_BYTES), GO_BACK_N)
# The messages are twice as long, so that none ends within the run even with twice the cap.
_OTHER_CAPS = Grid(("onramp+window",), _caps(*_OTHER_CAPS_BYTES, message_bytes=1_700_000), GO_BACK_N)
# The paper's own cap comes last because `reproduction.validation` compares the clocks at the last point.
_GRID = Grids((_OTHER_CAPS, _OWN_CAP))
_LIVE = Grids((_OTHER_CAPS, replace(_OWN_CAP, clock="real")))


def _capped_bytes(run: Run) -> float:
    """Return senders x cap, the most bytes that can be in flight at once."""
    parameters = config_of(run).transport_settings
    return float(DEGREE * parameters["congestion_parameters"]["window_bytes"])


def _depths(run: Run, from_us: float) -> NDArray[np.float64]:
    """Return the samples of the bottleneck's queue depth between a time and 4 ms, in bytes."""
    rows = whole_buffer(run.queues, _BOTTLENECK).filter(pl.col("time_us").is_between(from_us, 4_000.0))
    if rows.is_empty():
        raise NotMeasured(f"{_BOTTLENECK} has no queue sample after {from_us:g} us")
    depths: NDArray[np.float64] = rows["depth_bytes"].to_numpy().astype(np.float64)
    return depths


def _swing(run: Run) -> float:
    """Return the standard deviation of the queue depth divided by its mean, from 1 ms on."""
    depths = _depths(run, _STEADY_FROM_US)
    return float(depths.std() / depths.mean()) if depths.mean() else 0.0


SETTLED = Quantity("mean depth from 2 ms on", lambda run: float(_depths(run, _SETTLED_FROM_US).mean()), format_bytes)
SWING = Quantity("swing of the depth from 1 ms on", _swing, lambda value: f"{100 * value:.0f} % of the mean")


def _egress_peak(results: Results) -> Measured:
    """Compare the peak of egress BTS with the level at which OnRamp settles."""
    peak = PEAK_BUFFER.measure(results.at("egress-bts+window", _OUR_CAP))
    settled = SETTLED.measure(results.at("onramp+window", _OUR_CAP))
    ratio = peak / settled
    return Measured(ratio, 0.75 <= ratio <= 1.33, f"{format_bytes(peak)} vs. {format_bytes(settled)}")


_CURVES = CurveSelection(
    {
        "onramp+window": "OnRamp",
        "egress-bts+window": "Egress BTS",
        "ingress-bts+window": "Ingress BTS",
        "sfc+window": "Ingress BTS + Cache",
    },
    _OUR_CAP,
)

EXPERIMENT = Experiment(
    title="Signaling: 63:1 incast without congestion control",
    paper="Fig. 1",
    shows="Queue depth over the first 4 ms of a 63:1 incast without congestion control, for OnRamp, Egress BTS, "
    "Ingress BTS, and Ingress BTS + Cache, which is SFC. OnRamp settles at about 13 MB within 2 ms. Egress BTS keeps "
    "oscillating and peaks at the level at which OnRamp settles. Ingress BTS is steady within 1 ms at a lower level. "
    "The cache lowers the level further.",
    scenario=SCENARIO,
    grids={"ci": _GRID, "laptop": _LIVE, "paper": _GRID},
    claims=(
        Bound(
            "OnRamp's mean queue depth from 2 ms on is within 25 % of 13 MB (our cap: 206 KB in flight per sender)",
            "about 13 MB",
            SETTLED,
            "onramp+window",
            at_least=0.75 * DEGREE * WINDOW_BYTES,
            at_most=1.25 * DEGREE * WINDOW_BYTES,
            where=_OUR_CAP,
        ),
        Bound(
            "OnRamp's mean queue depth from 2 ms on is within 25 % of senders x cap, also with half and twice the cap",
            "not stated",
            SETTLED,
            "onramp+window",
            at_least=lambda run: 0.75 * _capped_bytes(run),
            at_most=lambda run: 1.25 * _capped_bytes(run),
        ),
        Judged(
            "Egress BTS's peak buffer is 0.75 to 1.33 times OnRamp's mean queue depth from 2 ms on",
            "equal",
            _egress_peak,
        ),
        Ratio(
            "From 1 ms on, ingress BTS's queue depth varies at most half as much as egress BTS's (standard deviation)",
            "keeps oscillating vs. stable",
            SWING,
            "ingress-bts+window",
            "egress-bts+window",
            at_most=0.5,
        ),
        Bound(
            "From 1 ms on, the standard deviation of ingress BTS's queue depth is at most 25 % of the mean",
            "within 1 ms",
            SWING,
            "ingress-bts+window",
            at_most=0.25,
        ),
        Ratio(
            "Ingress BTS's peak buffer is at most 0.95 times that of egress BTS",
            "lower",
            PEAK_BUFFER,
            "ingress-bts+window",
            "egress-bts+window",
            at_most=0.95,
        ),
        Ratio(
            "With the pause cache, the mean queue depth from 2 ms on is at most 0.98 times that of ingress BTS alone",
            "lower still",
            SETTLED,
            "sfc+window",
            "ingress-bts+window",
            at_most=0.98,
        ),
    ),
    figure=paper_figure(
        "Queue depth of the bottleneck, maximum of every 10 us.",
        over_time(
            "63:1 incast, no congestion control",
            _CURVES,
            y_label="Queue depth (MB)",
            switch=_BOTTLENECK,
            until_ms=4.0,
        ),
    ),
    notes=(
        f"There is no rate control. A sender has at most {WINDOW_BYTES:,} B in flight, the paper's 13 MB divided by "
        "its 63 senders. OnRamp's 13 MB therefore follow from our choice. Findings are when OnRamp settles, and how "
        "the other schemes compare with it.",
        "Loss recovery is go-back-N, which does not limit the bytes in flight. No packet is lost.",
        "Every scale has the paper's size. Scale laptop runs live on Mininet and needs root, except for the runs with "
        "other caps.",
    ),
)
