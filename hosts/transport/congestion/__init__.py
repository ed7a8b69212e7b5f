# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Congestion controls, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.congestion.base import UNLIMITED_WINDOW, AckSample, CongestionControl, PathContext
from sfc_testbed.request.table import Table

CONGESTION_CONTROLS: Table[type[CongestionControl]] = Table.of_modules(
    "congestion control of hosts",
    __name__,
    {
        "none": "base:CongestionControl",
        "window": "window:FixedWindow",
        "dcqcn": "dcqcn:Dcqcn",
        "hpcc": "hpcc:Hpcc",
        "qcn": "qcn:Qcn",
        "dctcp": "dctcp:Dctcp",
        "timely": "timely:Timely",
        "swift": "swift:Swift",
        "powertcp": "powertcp:Powertcp",
        "theta-powertcp": "powertcp:ThetaPowertcp",
        "bolt": "bolt:Bolt",
    },
)

__all__ = ["CONGESTION_CONTROLS", "UNLIMITED_WINDOW", "AckSample", "CongestionControl", "PathContext"]
