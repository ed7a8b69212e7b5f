# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flow controls, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.flow_control.base import FlowControl
from sfc_testbed.hosts.transport.flow_control.bfc import BackpressureFlowControl
from sfc_testbed.hosts.transport.flow_control.onramp import OnRamp, OnRampStrawMan
from sfc_testbed.hosts.transport.flow_control.pfc import PriorityFlowControl
from sfc_testbed.hosts.transport.flow_control.sfc import SourceFlowControl

FLOW_CONTROLS: dict[str, type[FlowControl]] = {
    "none": FlowControl,
    "sfc": SourceFlowControl,
    "onramp": OnRamp,
    "onramp-straw-man": OnRampStrawMan,
    "pfc": PriorityFlowControl,
    "bfc": BackpressureFlowControl,
}

__all__ = ["FLOW_CONTROLS", "FlowControl"]
