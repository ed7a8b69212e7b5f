# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 16: SFC against NDP, which cuts packets to headers, over the synchronization of incasts."""

from __future__ import annotations

from reproduction.model.claims import Bound, Judged, Ratio
from reproduction.model.experiment import Axis, Experiment, Grid, Measured, Results
from reproduction.model.figures import against, paper_figure
from reproduction.model.panels import Shown, over_axis
from reproduction.model.quantities import (
    DROPS,
    HEADER_QUEUE_DROPS,
    RECEIVER_THROUGHPUT,
    RETURNED_HEADERS,
    slowdown,
)
from scenarios.paper.data_centre.common import (
    CI_DEGREE,
    LAPTOP_DEGREE,
    PAPER_DEGREE,
    SCALING_RULE,
)
from scenarios.paper.data_centre.ndp import SCENARIO

_SFC, _NDP = "sfc+hpcc", "ndp"
_SYNC = "synchronization (µs)"
_PAPER_SYNC_US = (0, 25, 50, 100)
_TIGHT, _LOOSE = {_SYNC: 0}, {_SYNC: 100}


def _grid(degree: int) -> Grid:
    """The paper's intervals, which shrink with the incast."""
    windows = {sync: {"incast_window_us": sync * degree / PAPER_DEGREE} for sync in _PAPER_SYNC_US}
    return Grid((_SFC, _NDP), (Axis(_SYNC, windows),))


def _throughput_falls(results: Results) -> Measured:
    """NDP's throughput with synchronized incasts over that with loose ones, less the same of SFC."""
    shares = []
    for scheme in (_NDP, _SFC):
        tight, loose = (RECEIVER_THROUGHPUT.measure(results.at(scheme, place)) for place in (_TIGHT, _LOOSE))
        shares.append(tight / loose)
    text = f"NDP keeps {shares[0]:.3f} of its throughput when incasts are synchronized, SFC {shares[1]:.3f}"
    return Measured(shares[0] - shares[1], shares[0] < shares[1], text)


_CURVES = Shown({_NDP: "NDP", _SFC: "SFC"})

EXPERIMENT = Experiment(
    title="NDP: trimming against BTS, over synchronization",
    paper="Fig. 16",
    shows="(a) P99.9 FCT slowdown and (b) mean throughput over the interval within which incasts are synchronized, "
    "for NDP and SFC; P95 and P99 are alike and not shown. When incasts are not too tight both are close. When they "
    "are tight, NDP's queues of control packets overflow, it loses throughput, and small messages wait for timeouts.",
    scenario=SCENARIO,
    grids={"ci": _grid(CI_DEGREE), "laptop": _grid(LAPTOP_DEGREE), "paper": _grid(PAPER_DEGREE)},
    claims=(
        Ratio(
            "P95 FCT slowdown of the other traffic: NDP and SFC are close when incasts are not synchronized",
            "quite closely",
            slowdown(95),
            _NDP,
            _SFC,
            at_least=1 / 1.5,
            at_most=1.5,
            where=_LOOSE,
        ),
        Ratio(
            "P99 FCT slowdown likewise",
            "quite closely",
            slowdown(99),
            _NDP,
            _SFC,
            at_least=1 / 1.5,
            at_most=1.5,
            where=_LOOSE,
        ),
        Ratio(
            "so is the throughput",
            "on par with SFC",
            RECEIVER_THROUGHPUT,
            _NDP,
            _SFC,
            at_least=0.95,
            at_most=1.05,
            where=_LOOSE,
        ),
        Bound(
            "synchronized incasts overflow NDP's queues of headers: headers go back to their senders",
            "overflowed; NDP switches generate RTS",
            RETURNED_HEADERS,
            _NDP,
            at_least=1,
            where=_TIGHT,
        ),
        Bound(
            "and other control packets are lost",
            "the loss of credit packets",
            HEADER_QUEUE_DROPS,
            _NDP,
            at_least=1,
            where=_TIGHT,
        ),
        Judged("NDP loses more throughput to that than SFC", "throughput degradation", _throughput_falls),
        Ratio(
            "and the P99.9 FCT slowdown of the other traffic is higher with NDP",
            "timeouts of small messages hurt the P99.9",
            slowdown(99.9),
            _NDP,
            _SFC,
            at_least=1.0,
            where=_TIGHT,
        ),
        Bound("SFC drops nothing, however synchronized", "under the drop point", DROPS, _SFC, at_most=0.0),
    ),
    figures=(
        paper_figure(
            "P99.9 FCT slowdown of the traffic that is not incast, and mean throughput of receivers.",
            over_axis("tail latency", _CURVES, _SYNC, slowdown(99.9)),
            over_axis("throughput", _CURVES, _SYNC, RECEIVER_THROUGHPUT),
        ),
        against(_SYNC, slowdown(99), name="p99"),
        against(_SYNC, RETURNED_HEADERS, name="returned"),
    ),
    notes=(
        SCALING_RULE,
        "The intervals on the axis are the paper's; a smaller incast has as much less of them as it has senders. NDP's "
        "queue of headers shrinks alike. Packets carry 1,000 B at every scale: headers of larger ones are no burst.",
        "NDP's timeout is 1 ms, which its own paper finds long enough; the SFC paper's runs kept htsim's 50 ms and say "
        "that it inflates the tail. Close means within a factor of 1.5, on par within 5 %.",
        "Pulls are for packets, not for bytes as in the SFC paper's improved htsim; its other improvement, turns by "
        "flow at the sender, is how every NIC here works.",
    ),
)
