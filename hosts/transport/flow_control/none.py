# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The absence of flow control: signals are received, recorded and ignored."""

from mypy_extensions import mypyc_attr

from hosts.transport.flow_control.base import FlowControl


@mypyc_attr(allow_interpreted_subclasses=True)
class NoFlowControl(FlowControl):
    """A flow control that never pauses."""

    __slots__ = ()
