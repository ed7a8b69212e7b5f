# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Algorithms of a flow at 100 Gb/s with a base RTT of 10 us, packets of 1,000 B and a BDP of 125,000 B."""

from typing import Any, TypeVar

from sfc_testbed.hosts.transport.congestion import CongestionControl, PathContext

GBPS = 1_000_000_000
PATH = PathContext(100 * GBPS, 10_000, 1000, 125_000)
Control = TypeVar("Control", bound=CongestionControl)


def control(kind: type[Control], path: PathContext = PATH, **parameters: Any) -> Control:
    """Return a congestion control, with default parameters unless given."""
    return kind(kind.resolve(kind.Parameters(**parameters), path), path)
