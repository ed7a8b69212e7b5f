# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""No congestion control: line rate, no window. The network's own signals are all that holds a flow back."""

from mypy_extensions import mypyc_attr

from hosts.transport.congestion.base import CongestionControl


@mypyc_attr(allow_interpreted_subclasses=True)
class NoCongestionControl(CongestionControl):
    """Limits nothing."""

    __slots__ = ()
