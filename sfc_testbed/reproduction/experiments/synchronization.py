# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 13: incasts without other traffic, whose senders start within 0 to 100 us, at three degrees, with unlimited
buffers."""

from __future__ import annotations

from itertools import pairwise

from sfc_testbed.analysis.formatting import format_bytes, format_ratio
from sfc_testbed.reproduction.model.claims import Judged, Ratio
from sfc_testbed.reproduction.model.experiment import Axis, Evidence, Experiment, Grid, Measured, Results
from sfc_testbed.reproduction.model.panels import CurveSelection, over_axis, paper_figure
from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER
from sfc_testbed.scenarios.paper.incasts import SYNCHRONIZATION

_NONE, _ONRAMP, _SFC, _ESTIMATOR = _SCHEMES = ("irn+hpcc", "onramp+hpcc", "sfc+hpcc", "sfc-est+hpcc")
_SYNC, _DEGREE = "synchronization (µs)", "incast degree"
_PAPER_SYNC_US = (0, 25, 50, 100)
_PAPER_DEGREES = (64, 128, 256)
_LARGEST = _PAPER_DEGREES[-1]
_DROP_DEPTH_BYTES = 16_000_000
"""Half of the paper's buffer: the depth at which a single queue would begin to drop."""


def _grid(degrees: tuple[int, ...]) -> Grid:
    """Return the grid for some degrees. All scales use the paper's intervals, since the RTT is the paper's."""
    return Grid(_SCHEMES, (Axis.of(_SYNC, "window_us", _PAPER_SYNC_US), Axis.of(_DEGREE, "degree", degrees)))


def _degrees(results: Results) -> tuple[int, ...]:
    return tuple(dict.fromkeys(measurement.point.place[_DEGREE] for measurement in results.of(_SFC)))


def _benefit_grows(results: Results) -> Measured:
    """Check that SFC helps the peak buffer more with every longer interval, at the largest degree."""
    degree = max(_degrees(results))
    ratios = []
    for sync in _PAPER_SYNC_US:
        place = {_SYNC: sync, _DEGREE: degree}
        sfc, none = (PEAK_BUFFER.measure(results.at(scheme, place)) for scheme in (_SFC, _NONE))
        ratios.append(sfc / none)
    text = f"{', '.join(map(format_ratio, ratios))} with 0, 25, 50 and 100 us"
    falls = all(later < earlier for earlier, later in pairwise(ratios))
    return Measured(ratios[-1], falls, text, None)


def _below_drops(claim: str, paper: str, scheme: str, sync: int, divisor: int = 1) -> Judged:
    """Return the claim that an incast of the largest degree divided by `divisor` stays below the drop depth."""

    def judge(results: Results) -> Measured:
        largest = max(_degrees(results))
        degree = largest // divisor
        peak = PEAK_BUFFER.measure(results.at(scheme, {_SYNC: sync, _DEGREE: degree}))
        limit = _DROP_DEPTH_BYTES * largest / _LARGEST
        evidence = Evidence(required=f"less than {format_bytes(limit)}", point=f"{degree}:1")
        return Measured(peak, peak < limit, format_bytes(peak), format_bytes, evidence)

    return Judged(claim, paper, judge)


def _drop_level(results: Results) -> tuple[str, float]:
    """Return the label and the depth of the line at which drops begin, in MB."""
    return "drops begin", _DROP_DEPTH_BYTES * max(_degrees(results)) / _LARGEST / PEAK_BUFFER.per_unit


_CURVES = CurveSelection({_NONE: "IRN (no FC)", _ONRAMP: "OnRamp", _SFC: "SFC", _ESTIMATOR: "SFC + estimator"})

EXPERIMENT = Experiment(
    title="Robustness: synchronization and degree",
    paper="Fig. 13",
    shows="SFC has the lowest peak buffer throughout, with a larger benefit for less synchronized incasts. The incast "
    "estimator keeps all incasts below 16 MB.",
    scenario=SYNCHRONIZATION,
    grids={"ci": _grid((8, 16, 32)), "laptop": _grid((16, 32, 64)), "paper": _grid(_PAPER_DEGREES)},
    claims=(
        Ratio(
            "SFC's peak buffer is at most that without flow control, at every degree and interval",
            "better at every degree and interval",
            PEAK_BUFFER,
            _SFC,
            _NONE,
            at_most=1.0,
        ),
        Ratio(
            "SFC's peak buffer is at most OnRamp's, at every degree and interval",
            "better at every degree and interval",
            PEAK_BUFFER,
            _SFC,
            _ONRAMP,
            at_most=1.0,
        ),
        Judged(
            "At the largest degree, SFC's peak buffer relative to no flow control falls as the interval grows",
            "the benefit is larger as the interval increases",
            _benefit_grows,
        ),
        _below_drops(
            "SFC with the estimator keeps the largest synchronized incast below the drop depth",
            "below 16 MB",
            _ESTIMATOR,
            0,
        ),
        _below_drops(
            "SFC without the estimator keeps the largest incast below the drop depth if its senders start within 25 us",
            "not needed at 25 us or more",
            _SFC,
            25,
        ),
        _below_drops(
            "The pause cache alone keeps a synchronized incast of half the largest degree below the drop depth",
            "128:1 under the drop point (App. B.4)",
            _SFC,
            0,
            divisor=2,
        ),
        Ratio(
            "When senders start within 100 us, SFC's peak buffer with the estimator is at most 1.05 times that without",
            "not needed at 25 us or more",
            PEAK_BUFFER,
            _ESTIMATOR,
            _SFC,
            at_most=1.05,
            where={_SYNC: 100},
        ),
    ),
    figure=paper_figure(
        "Peak buffer by the time within which the senders start. The dotted line is the drop depth, at which drops "
        "would begin.",
        *(
            over_axis(f"{sync} µs", _CURVES.at(**{_SYNC: sync}), _DEGREE, PEAK_BUFFER, _drop_level)
            for sync in _PAPER_SYNC_US
        ),
    ),
    notes=(
        "At scales ci and laptop, the largest incast has 32 and 64 senders instead of 256, and the drop depth is 16 "
        "MB x senders / 256. The intervals within which senders start are the paper's.",
    ),
)
