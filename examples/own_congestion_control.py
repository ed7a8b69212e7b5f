# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How do I add my own congestion control? This file adds one: a window that halves for an ECN mark.

    ./runner.py check examples/own_congestion_control.py
    ./runner.py compare incast --use examples/own_congestion_control.py --clock virtual \
        --schemes irn,irn+halving,sfc+halving

compare_congestion_controls.py uses this file from Python. docs/extensions.md lists the methods that a class may have.
"""

from dataclasses import dataclass

import sfc_testbed as sfc


@dataclass(frozen=True, slots=True)
class HalvingParameters:
    """The values of `--set 'transport.congestion_parameters={"factor": 0.7}'`."""

    factor: float = 0.5


@sfc.congestion_control("halving", switch={"ecn_kmin_bdp": 1, "ecn_kmax_bdp": 1})
class Halving(sfc.CongestionControl):
    """A window that halves for an ECN mark, at most once per RTT, and grows without marks up to a BDP."""

    Parameters = HalvingParameters
    ecn_capable = True

    def __init__(self, parameters: HalvingParameters, path: sfc.PathContext) -> None:
        super().__init__(parameters, path)
        self.factor = parameters.factor
        self.window_bytes = path.bdp_bytes
        self.next_cut_ns = 0

    def on_ack(self, sample: sfc.AckSample, now_ns: int) -> None:
        """Shrink the window if the acknowledged packet was marked, and grow it otherwise."""
        if not sample.ecn_marked:
            self.window_bytes = min(self.window_bytes + sample.acked_bytes // 8, self.path.bdp_bytes)
        elif now_ns >= self.next_cut_ns:
            self.window_bytes = max(int(self.window_bytes * self.factor), self.path.payload_bytes)
            self.next_cut_ns = now_ns + self.path.base_rtt_ns
