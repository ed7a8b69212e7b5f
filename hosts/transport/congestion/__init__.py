# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Congestion controls, one per file, and the table of their names."""

from hosts.transport.congestion.base import UNLIMITED_WINDOW, AckSample, CongestionControl, PathContext
from hosts.transport.congestion.bolt import Bolt
from hosts.transport.congestion.dcqcn import Dcqcn
from hosts.transport.congestion.dctcp import Dctcp
from hosts.transport.congestion.hpcc import Hpcc
from hosts.transport.congestion.powertcp import Powertcp, ThetaPowertcp
from hosts.transport.congestion.qcn import Qcn
from hosts.transport.congestion.swift import Swift
from hosts.transport.congestion.timely import Timely
from hosts.transport.congestion.window import FixedWindow

CONGESTION_CONTROLS: dict[str, type[CongestionControl]] = {
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

__all__ = ["CONGESTION_CONTROLS", "UNLIMITED_WINDOW", "AckSample", "CongestionControl", "PathContext"]
