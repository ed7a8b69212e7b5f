# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixed window, as in the SFC paper's experiments "without CC" and as the static window W of DCQCN+W.

See docs/sources.md#the-paper and docs/sources.md#static-window.
"""

from dataclasses import dataclass, replace

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import CongestionControl, PathContext
from sfc_testbed.request.checks import Bytes, Nanoseconds


@dataclass(frozen=True, slots=True)
class FixedWindowParameters:
    """Parameters of the fixed window. Set at most one of the two; with neither, the window is one BDP."""

    window_bytes: Bytes = 0
    """Maximum bytes in flight; 0: derived from `window_ns`."""
    window_ns: Nanoseconds = 0
    """Window as a duration, where one base RTT corresponds to one BDP; 0: the base RTT. (The 50 us in Fig. 1 are not a
    window but the time over which the senders start.)"""


@mypyc_attr(allow_interpreted_subclasses=True)
class FixedWindow(CongestionControl):
    """A congestion control that sends at line rate with at most `window_bytes` in flight."""

    __slots__ = ()

    Parameters = FixedWindowParameters

    @classmethod
    def resolve(cls, parameters: FixedWindowParameters, path: PathContext) -> FixedWindowParameters:
        """Return the parameters with the window both in bytes and as a duration."""
        duration_bytes = round(path.bdp_bytes * (parameters.window_ns or path.base_rtt_ns) / path.base_rtt_ns)
        window_bytes = parameters.window_bytes or max(1, duration_bytes)
        window_ns = round(path.base_rtt_ns * window_bytes / path.bdp_bytes)
        return replace(parameters, window_bytes=window_bytes, window_ns=window_ns)

    def __init__(self, parameters: FixedWindowParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        self.window_bytes = parameters.window_bytes
