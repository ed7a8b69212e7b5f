# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixed window: what is left of rate control in the paper's "without CC", and the static W of DCQCN+W.

See docs/sources.md#the-paper and docs/sources.md#static-window.
"""

from dataclasses import dataclass

from hosts.transport.congestion.base import CongestionControl, PathContext


class FixedWindow(CongestionControl):
    """At most `window_bytes` in flight, sent at line rate."""

    __slots__ = ()

    @dataclass(frozen=True, slots=True)
    class Parameters:
        """Choose one of the two; with neither the window is one BDP."""

        window_bytes: int = 0
        """Bytes in flight; 0: derive from `window_ns`."""

        window_ns: int = 0
        """Window as a time at line rate; 0: the base RTT."""

    def __init__(self, parameters: Parameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        duration_ns = parameters.window_ns or path.base_rtt_ns
        derived = round(path.line_rate_bps * duration_ns / 8e9)
        self.window_bytes = parameters.window_bytes or max(1, derived)
