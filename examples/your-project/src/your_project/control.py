# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A congestion control: select it with `--scheme irn+target` or `sfc+target`."""

from __future__ import annotations

from dataclasses import dataclass

import sfc_testbed as sfc


@dataclass(frozen=True, slots=True)
class TargetParameters:
    """The values of `--set 'transport.congestion_parameters={"target_rtts": 2}'`."""

    target_rtts: float = 1.5


@sfc.congestion_control("target")
class Target(sfc.CongestionControl):
    """A window that keeps the round trip at a multiple of the base RTT."""

    Parameters = TargetParameters

    def __init__(self, parameters: TargetParameters, path: sfc.PathContext) -> None:
        super().__init__(parameters, path)
        self.target_ns = parameters.target_rtts * path.base_rtt_ns
        self.window_bytes = path.bdp_bytes
        self.next_cut_ns = 0

    def on_ack(self, sample: sfc.AckSample, now_ns: int) -> None:
        """Grow the window below the target, and shrink it above, at most once per round trip."""
        if sample.rtt_ns is None:
            return
        if sample.rtt_ns <= self.target_ns:
            grown = self.window_bytes + self.path.payload_bytes * sample.acked_bytes // self.window_bytes
            self.window_bytes = min(grown, self.path.bdp_bytes)
        elif now_ns >= self.next_cut_ns:
            factor = max(0.5, self.target_ns / sample.rtt_ns)
            self.window_bytes = max(self.path.payload_bytes, int(self.window_bytes * factor))
            self.next_cut_ns = now_ns + sample.rtt_ns
