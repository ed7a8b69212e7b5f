# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flow controls, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.flow_control.base import FlowControl
from sfc_testbed.request.table import Table

FLOW_CONTROLS: Table[type[FlowControl]] = Table.of_modules(
    "flow control of hosts",
    __name__,
    {
        "none": "base:FlowControl",
        "sfc": "sfc:SourceFlowControl",
        "onramp": "onramp:OnRamp",
        "onramp-straw-man": "onramp:OnRampStrawMan",
        "pfc": "pfc:PriorityFlowControl",
        "bfc": "bfc:BackpressureFlowControl",
    },
)

__all__ = ["FLOW_CONTROLS", "FlowControl"]
