# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixed window: what is left of rate control in the paper's "without CC", and the static W of DCQCN+W.

See docs/sources.md#the-paper and docs/sources.md#static-window.
"""

from dataclasses import dataclass, replace

from mypy_extensions import mypyc_attr

from hosts.transport.congestion.base import CongestionControl, PathContext
from wire.input.validation import Bytes, Nanoseconds


@dataclass(frozen=True, slots=True)
class FixedWindowParameters:
    """Choose one of the two; with neither the window is one BDP."""

    window_bytes: Bytes = 0
    """Bytes in flight; 0: derive from `window_ns`."""

    window_ns: Nanoseconds = 0
    """Window as a time at the rate of which the BDP is one base RTT; 0: the base RTT. (The 50 us of Fig. 1 are no
    window but the time over which its senders start.)"""


@mypyc_attr(allow_interpreted_subclasses=True)
class FixedWindow(CongestionControl):
    """At most `window_bytes` in flight, sent at line rate."""

    __slots__ = ()

    Parameters = FixedWindowParameters

    @classmethod
    def resolve(cls, parameters: FixedWindowParameters, path: PathContext) -> FixedWindowParameters:
        """Bytes and time of the one window."""
        of_time = round(path.bdp_bytes * (parameters.window_ns or path.base_rtt_ns) / path.base_rtt_ns)
        window_bytes = parameters.window_bytes or max(1, of_time)
        window_ns = round(path.base_rtt_ns * window_bytes / path.bdp_bytes)
        return replace(parameters, window_bytes=window_bytes, window_ns=window_ns)

    def __init__(self, parameters: FixedWindowParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        self.window_bytes = parameters.window_bytes
