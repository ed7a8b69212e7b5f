# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Priority flow control at the host: the NIC pauses the whole data class (802.1Qbb; PFC and SFC-P schemes)."""

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.flow_control.base import FlowControl


@mypyc_attr(allow_interpreted_subclasses=True)
class PriorityFlowControl(FlowControl):
    """A flow control that obeys class pauses. The NIC keeps their state for all flows together."""

    __slots__ = ()

    obeys_class_pause = True
