# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The absence of congestion control: flows send at line rate without a window, limited only by flow control."""

from mypy_extensions import mypyc_attr

from hosts.transport.congestion.base import CongestionControl


@mypyc_attr(allow_interpreted_subclasses=True)
class NoCongestionControl(CongestionControl):
    """A congestion control that limits nothing."""

    __slots__ = ()
