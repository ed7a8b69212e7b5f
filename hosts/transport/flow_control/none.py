# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""No flow control: signals are received, recorded and ignored."""

from hosts.transport.flow_control.base import FlowControl


class NoFlowControl(FlowControl):
    """Never pauses."""

    __slots__ = ()
