# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 16: SFC and NDP, which trims packets to headers, over the synchronization of incasts."""

from __future__ import annotations

from sfc_testbed.reproduction.model.claims import Bound, Judged, Ratio
from sfc_testbed.reproduction.model.experiment import Axis, Experiment, Grid, Measured, Results
from sfc_testbed.reproduction.model.panels import CurveSelection, over_axis, paper_figure
from sfc_testbed.reproduction.model.quantities import (
    DROPS,
    HEADER_QUEUE_DROPS,
    RECEIVER_THROUGHPUT,
    RETURNED_HEADERS,
    slowdown,
)
from sfc_testbed.scenarios.paper.data_centre import CI_DEGREE, LAPTOP_DEGREE, NDP, PAPER_DEGREE, SCALING_RULE

_SFC, _NDP = "sfc+hpcc", "ndp"
_SYNC = "synchronization (µs)"
_PAPER_SYNC_US = (0, 25, 50, 100)
_SYNCHRONIZED, _NOT_SYNCHRONIZED = {_SYNC: 0}, {_SYNC: 100}


def _grid(degree: int) -> Grid:
    """Return the grid of the paper's intervals, which shrink in proportion to the incast degree."""
    windows = {sync: {"incast_window_us": sync * degree / PAPER_DEGREE} for sync in _PAPER_SYNC_US}
    return Grid((_SFC, _NDP), (Axis(_SYNC, windows),))


def _throughput_falls(results: Results) -> Measured:
    """Compare the throughput with synchronized incasts with that at an interval of 100 us, for NDP and SFC."""
    shares = []
    for scheme in (_NDP, _SFC):
        tight, loose = (
            RECEIVER_THROUGHPUT.measure(results.at(scheme, place)) for place in (_SYNCHRONIZED, _NOT_SYNCHRONIZED)
        )
        shares.append(tight / loose)
    text = f"throughput with synchronized incasts over that without: NDP {shares[0]:.3f}x, SFC {shares[1]:.3f}x"
    return Measured(shares[0] - shares[1], shares[0] < shares[1], text, None)


_CURVES = CurveSelection({_NDP: "NDP", _SFC: "SFC"})

EXPERIMENT = Experiment(
    title="NDP: trimming and BTS, over the synchronization of incasts",
    paper="Fig. 16",
    shows="If the senders of an incast start within a long interval, NDP and SFC are close. If they start at once "
    "(synchronized), NDP's queues of control packets overflow, NDP loses throughput, and small messages wait for "
    "timeouts.",
    scenario=NDP,
    grids={"ci": _grid(CI_DEGREE), "laptop": _grid(LAPTOP_DEGREE), "paper": _grid(PAPER_DEGREE)},
    claims=(
        Ratio(
            "When senders start within 100 us, NDP's P95 FCT slowdown is within a factor of 1.5 of SFC's",
            "quite closely",
            slowdown(95),
            _NDP,
            _SFC,
            at_least=1 / 1.5,
            at_most=1.5,
            where=_NOT_SYNCHRONIZED,
        ),
        Ratio(
            "When senders start within 100 us, NDP's P99 FCT slowdown is within a factor of 1.5 of SFC's",
            "quite closely",
            slowdown(99),
            _NDP,
            _SFC,
            at_least=1 / 1.5,
            at_most=1.5,
            where=_NOT_SYNCHRONIZED,
        ),
        Ratio(
            "When senders start within 100 us, NDP's mean receiver throughput is within 5 % of SFC's",
            "on par with SFC",
            RECEIVER_THROUGHPUT,
            _NDP,
            _SFC,
            at_least=0.95,
            at_most=1.05,
            where=_NOT_SYNCHRONIZED,
        ),
        Bound(
            "Synchronized incasts overflow NDP's header queues: switches return headers to their senders",
            "overflowed; NDP switches generate RTS",
            RETURNED_HEADERS,
            _NDP,
            at_least=1,
            where=_SYNCHRONIZED,
        ),
        Bound(
            "Synchronized incasts overflow NDP's header queues: other control packets are lost",
            "the loss of credit packets",
            HEADER_QUEUE_DROPS,
            _NDP,
            at_least=1,
            where=_SYNCHRONIZED,
        ),
        Judged(
            "Synchronized incasts reduce NDP's throughput by a larger share than SFC's",
            "throughput degradation",
            _throughput_falls,
        ),
        Ratio(
            "With synchronized incasts, NDP's P99.9 FCT slowdown is at least SFC's",
            "timeouts of small messages hurt the P99.9",
            slowdown(99.9),
            _NDP,
            _SFC,
            at_least=1.0,
            where=_SYNCHRONIZED,
        ),
        Bound("SFC drops no packets at any interval", "under the drop point", DROPS, _SFC, at_most=0.0),
    ),
    figure=paper_figure(
        "(a) P99.9 FCT slowdown of the non-incast traffic, and (b) mean throughput of receivers, by the time within "
        "which an incast's senders start.",
        over_axis("tail latency", _CURVES, _SYNC, slowdown(99.9)),
        over_axis("throughput", _CURVES, _SYNC, RECEIVER_THROUGHPUT),
    ),
    notes=(
        SCALING_RULE,
        "The start intervals on the axis are the paper's. Smaller scales multiply them and the size of NDP's header "
        "queue by senders / 128. Packets carry 1,000 B at every scale, because larger packets would leave too few "
        "headers to fill this queue.",
        "NDP's timeout is 1 ms, which NDP's paper finds long enough. The SFC paper kept the 50 ms of the simulator "
        "htsim.",
    ),
)
