# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flow controls, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.flow_control.base import FlowControl
from sfc_testbed.hosts.transport.flow_control.bfc import BackpressureFlowControl
from sfc_testbed.hosts.transport.flow_control.onramp import OnRamp, OnRampStrawMan
from sfc_testbed.hosts.transport.flow_control.pfc import PriorityFlowControl
from sfc_testbed.hosts.transport.flow_control.sfc import SourceFlowControl
from sfc_testbed.request.table import Table

_ROWS: dict[str, type[FlowControl]] = {
    "none": FlowControl,
    "sfc": SourceFlowControl,
    "onramp": OnRamp,
    "onramp-straw-man": OnRampStrawMan,
    "pfc": PriorityFlowControl,
    "bfc": BackpressureFlowControl,
}
FLOW_CONTROLS = Table("flow control of hosts", _ROWS)

__all__ = ["FLOW_CONTROLS", "FlowControl"]
