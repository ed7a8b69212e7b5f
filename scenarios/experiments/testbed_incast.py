# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 4: SFC-P against PFC on the paper's 48-node testbed, for incasts of 8, 24 and 40 senders with 25 flows each."""

from __future__ import annotations

from analysis.runs import Run
from scenarios.claims import Bound, Ratio
from scenarios.experiment import Axis, Experiment, Grid, NotMeasured
from scenarios.experiments.common import GO_BACK_N
from scenarios.figures import against, buffer_over_time
from scenarios.incast import Incast
from scenarios.quantities import PEAK_BUFFER, STEADY_BUFFER
from scenarios.scenario import Scale, Scenario

FEEDBACK_US = 6.0
"""The paper's mean delay from a full queue to a paused sender."""

_SFC_P, _PFC = _SCHEMES = ("sfc-p+dcqcn", "pfc+dcqcn")
_AXIS = "senders"


def plateau_bytes(run: Run) -> float:
    """The paper's formula: feedback delay x senders x line rate (6 us x 40 x 100 Gb/s = 3 MB)."""
    workload, transport = run.config.get("workload"), run.config.get("transport_settings")
    if not isinstance(workload, dict) or not isinstance(transport, dict):
        raise NotMeasured("the run's configuration cannot be read")
    return float(FEEDBACK_US * 1e-6 * workload["degree"] * transport["line_rate_bps"] / 8)


def _scale(message_bytes: int) -> Scale:
    workload = {"flows_per_sender": 25, "message_bytes": message_bytes, "window_us": 50.0, "placement": "spread"}
    switch = {"buffer_bytes": 16_000_000}
    return Scale("paper-testbed", {}, {"degree": 40, **workload}, duration_ms=100, switch=switch)


_GRID = Grid(_SCHEMES, (Axis.of(_AXIS, "degree", (8, 24, 40)),), GO_BACK_N)

EXPERIMENT = Experiment(
    title="Testbed: buffer by incast degree",
    paper="Fig. 4",
    scenario=Scenario(
        "testbed-incast",
        "incasts of 8 to 40 senders with 25 flows each on the paper's testbed",
        Incast,
        {"ci": _scale(30_000), "laptop": _scale(100_000), "paper": _scale(1_000_000)},
    ),
    grids={"ci": _GRID, "laptop": _GRID, "paper": _GRID},
    claims=(
        Ratio("SFC-P's steady buffer is below PFC's", "consistently lower", STEADY_BUFFER, _SFC_P, _PFC, at_most=0.95),
        Ratio("SFC-P's peak buffer is below PFC's", "consistently lower", PEAK_BUFFER, _SFC_P, _PFC, at_most=0.95),
        Bound(
            "at 40:1 the buffer settles at 6 us x 40 x 100 Gb/s",
            "3 MB",
            STEADY_BUFFER,
            _SFC_P,
            at_least=lambda run: 0.75 * plateau_bytes(run),
            at_most=lambda run: 1.25 * plateau_bytes(run),
            where={_AXIS: 40},
        ),
    ),
    figures=(
        *(buffer_over_time({_AXIS: degree}, f"buffer-{degree}") for degree in (8, 24, 40)),
        against(_AXIS, STEADY_BUFFER),
    ),
    notes=("The network is the paper's at every scale; only the messages are shorter.",),
)
