# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""No congestion control: line rate, no window. The network's own signals are all that holds a flow back."""

from hosts.transport.congestion.base import CongestionControl


class NoCongestionControl(CongestionControl):
    """Limits nothing."""

    __slots__ = ()
