# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Priority flow control at the host: the NIC stops the whole data class (802.1Qbb; PFC and SFC-P schemes)."""

from hosts.transport.flow_control.base import FlowControl


class PriorityFlowControl(FlowControl):
    """Obeys class pauses, which the NIC keeps for all flows together; has no state of its own."""

    __slots__ = ()

    obeys_class_pause = True
