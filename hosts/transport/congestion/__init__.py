# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Congestion controls, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.congestion.base import UNLIMITED_WINDOW, AckSample, CongestionControl, PathContext
from sfc_testbed.hosts.transport.congestion.bolt import Bolt
from sfc_testbed.hosts.transport.congestion.dcqcn import Dcqcn
from sfc_testbed.hosts.transport.congestion.dctcp import Dctcp
from sfc_testbed.hosts.transport.congestion.hpcc import Hpcc
from sfc_testbed.hosts.transport.congestion.powertcp import Powertcp, ThetaPowertcp
from sfc_testbed.hosts.transport.congestion.qcn import Qcn
from sfc_testbed.hosts.transport.congestion.swift import Swift
from sfc_testbed.hosts.transport.congestion.timely import Timely
from sfc_testbed.hosts.transport.congestion.window import FixedWindow
from sfc_testbed.request.table import Table

_ROWS: dict[str, type[CongestionControl]] = {
    "none": CongestionControl,
    "window": FixedWindow,
    "dcqcn": Dcqcn,
    "hpcc": Hpcc,
    "qcn": Qcn,
    "dctcp": Dctcp,
    "timely": Timely,
    "swift": Swift,
    "powertcp": Powertcp,
    "theta-powertcp": ThetaPowertcp,
    "bolt": Bolt,
}
CONGESTION_CONTROLS = Table("congestion control of hosts", _ROWS)

__all__ = ["CONGESTION_CONTROLS", "UNLIMITED_WINDOW", "AckSample", "CongestionControl", "PathContext"]
