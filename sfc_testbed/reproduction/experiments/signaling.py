# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 1: four ways to signal a 63:1 incast, without congestion control, on a dumbbell with unlimited buffers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfc_testbed.analysis.formatting import format_bytes, format_ratio
from sfc_testbed.analysis.metrics.buffers import whole_buffer
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.model.claims import LEAST_R2, Bound, Judged, Ratio
from sfc_testbed.reproduction.model.experiment import (
    GO_BACK_N,
    Axis,
    Evidence,
    Experiment,
    Grid,
    Grids,
    Measured,
    NotMeasured,
    Results,
)
from sfc_testbed.reproduction.model.panels import CurveSelection, over_time, paper_figure
from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER, Quantity
from sfc_testbed.scenarios.paper.incasts import SIGNALING, SIGNALING_DEGREE

# The cap on a sender's bytes in flight: the level at which the paper's OnRamp settles, 13 MB, divided by 63 senders.
# OnRamp's signal is delayed by the whole queue. Without a cap the queue would grow without limit
# (docs/sources.md#the-paper).
WINDOW_BYTES = 206_000
_BOTTLENECK = "s2"
_SETTLED_FROM_US = 2_000.0
_STEADY_FROM_US = 1_000.0

_CAP = {"transport.congestion_parameters": {"window_bytes": WINDOW_BYTES}}
_SCHEMES = tuple(f"{name}+window" for name in ("irn", "onramp", "egress-bts", "ingress-bts", "sfc"))
_NONE, _ONRAMP, _EGRESS, _INGRESS, _SFC = _SCHEMES
_DISTANCE = "between ToRs (us)"
_PAPER_LINKS = {_DISTANCE: 3}


def _distances(*delays_us: int) -> tuple[Axis, ...]:
    """Return an axis over the delay of the link between the ToRs. Settings derived from the base RTT do not change."""
    settings = {us: {"topology.trunk_delay_ns": 1_000 * us, "transport.base_rtt_ns": 10_000} for us in delays_us}
    return (Axis(_DISTANCE, settings),)


_PAPER = Grid(_SCHEMES, _distances(*_PAPER_LINKS.values()), {**GO_BACK_N, **_CAP})
_OTHER_DISTANCES = Grid((_INGRESS, _SFC), _distances(1, 5), {**GO_BACK_N, **_CAP})
# The paper's own distance comes last because `reproduction.validation` compares the clocks at the last point.
_GRID = Grids((_OTHER_DISTANCES, _PAPER))
_LIVE = Grids((_OTHER_DISTANCES, replace(_PAPER, clock="real")))


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
    peak = PEAK_BUFFER.measure(results.at(_EGRESS, _PAPER_LINKS))
    settled = SETTLED.measure(results.at(_ONRAMP, _PAPER_LINKS))
    ratio = peak / settled
    evidence = Evidence(f"{format_bytes(peak)} vs. {format_bytes(settled)}")
    return Measured(ratio, 0.75 <= ratio <= 1.33, format_ratio(ratio), format_ratio, evidence)


def _gain_follows_distance(results: Results) -> Measured:
    """Fit a line to the cache's gain in queue depth over the distance between the ToRs."""
    distances = sorted(measurement.point.place[_DISTANCE] for measurement in results.of(_SFC))
    if len(distances) < 3:
        raise NotMeasured(f"a line needs three distances, there are {len(distances)}")
    gains = []
    for distance in distances:
        ingress, sfc = (SETTLED.measure(results.at(scheme, {_DISTANCE: distance})) for scheme in (_INGRESS, _SFC))
        gains.append(ingress - sfc)
    r = float(np.corrcoef(distances, gains)[0, 1])
    text = f"{', '.join(map(format_bytes, gains))} with {', '.join(map(str, distances))} us, R² {r * r:.3f}"
    return Measured(r * r, r > 0 and r * r >= LEAST_R2, text)


_CURVES = CurveSelection(
    {
        _NONE: "No flow control",
        _ONRAMP: "OnRamp",
        _EGRESS: "Egress BTS",
        _INGRESS: "Ingress BTS",
        _SFC: "Ingress BTS + Cache",
    },
    _PAPER_LINKS,
)

EXPERIMENT = Experiment(
    title="Signaling: 63:1 incast without congestion control",
    paper="Fig. 1",
    shows="With OnRamp, the queue settles at about 13 MB within 2 ms. With egress BTS, it oscillates and peaks at "
    "this level. With ingress BTS, it is steady within 1 ms at a lower level, and the pause cache lowers it further.",
    scenario=SIGNALING,
    grids={"ci": _GRID, "laptop": _LIVE, "paper": _GRID},
    claims=(
        Bound(
            "OnRamp's mean queue depth from 2 ms on is within 25 % of 13 MB",
            "about 13 MB",
            SETTLED,
            _ONRAMP,
            at_least=0.75 * SIGNALING_DEGREE * WINDOW_BYTES,
            at_most=1.25 * SIGNALING_DEGREE * WINDOW_BYTES,
            is_ours=True,
        ),
        Judged(
            "Egress BTS's peak buffer is 0.75 to 1.33 times OnRamp's mean queue depth from 2 ms on",
            "equal",
            _egress_peak,
            is_ours=True,
        ),
        Ratio(
            "From 1 ms on, the relative standard deviation of ingress BTS's queue depth is at most half of egress "
            "BTS's",
            "keeps oscillating vs. stable",
            SWING,
            _INGRESS,
            _EGRESS,
            at_most=0.5,
            where=_PAPER_LINKS,
        ),
        Bound(
            "From 1 ms on, the standard deviation of ingress BTS's queue depth is at most 25 % of the mean",
            "within 1 ms",
            SWING,
            _INGRESS,
            at_most=0.25,
            where=_PAPER_LINKS,
        ),
        Ratio(
            "Ingress BTS's peak buffer is at most 0.95 times that of egress BTS",
            "lower",
            PEAK_BUFFER,
            _INGRESS,
            _EGRESS,
            at_most=0.95,
            where=_PAPER_LINKS,
        ),
        Ratio(
            "With the pause cache, the mean queue depth from 2 ms on is at most 0.98 times that of ingress BTS alone",
            "lower still",
            SETTLED,
            _SFC,
            _INGRESS,
            at_most=0.98,
            where=_PAPER_LINKS,
        ),
        Judged(
            "The amount by which the pause cache lowers the mean queue depth is linear in the delay between the ToRs "
            f"(R² at least {LEAST_R2})",
            "proportional to the delay between sender ToR and receiver ToR",
            _gain_follows_distance,
        ),
    ),
    figure=paper_figure(
        "Depth of the bottleneck's queue, as the maximum of every 10 us.",
        over_time(
            "63:1 incast, no congestion control",
            _CURVES,
            y_label="Queue depth (MB)",
            switch=_BOTTLENECK,
            until_ms=4.0,
        ),
    ),
    notes=(
        f"A sender has at most {WINDOW_BYTES:,} B in flight, which is the paper's 13 MB divided by 63 senders. This "
        "cap alone decides the level at which the queue settles with OnRamp and peaks with egress BTS, so claims 1 "
        "and 2 are ours.",
        "Every scale has the paper's size. Scale laptop runs live on Mininet, which needs root. Only its runs with "
        "delays of 1 and 5 us between the ToRs are virtual.",
    ),
)
