# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The data of a run that its plots need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from sfc_testbed.analysis.metrics.links import EqualCostPorts
from sfc_testbed.request.spec import FaultSpan
from sfc_testbed.telemetry.reader import Rows
from sfc_testbed.telemetry.schema import CONGESTION, GOODPUT, LINKS, QUEUES, SIGNALS


@dataclass(frozen=True)
class PlottedRun:
    """The data of one run in a plot. A plot reads only the traces that it needs."""

    label: str
    scheme: str
    flows: pl.DataFrame
    queues: Rows = field(default_factory=QUEUES.empty)
    signals: Rows = field(default_factory=SIGNALS.empty)
    goodput: Rows = field(default_factory=GOODPUT.empty)
    congestion: Rows = field(default_factory=CONGESTION.empty)
    window_us: tuple[float, float] | None = None
    """The window of start times that is measured; None for all flows."""
    faults: Sequence[FaultSpan] = ()
    links: Rows = field(default_factory=LINKS.empty)
    equal_cost_ports: EqualCostPorts = field(default_factory=dict)
    """The groups of ports over which each switch spreads packets to the same destination."""
