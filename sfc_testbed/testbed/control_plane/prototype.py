# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The constants of the prototype's switch program, in model units (docs/decisions/0013-the-prototypes-program.md).

It cannot divide, so it has a shift for the rate of a port where the paper has a quotient.
"""

from __future__ import annotations

from collections.abc import Mapping

from sfc_testbed.testbed.control_plane.settings import CELL_GROUP_BYTES, SwitchSettings
from sfc_testbed.topologies.model import Topology

_GBPS = 1_000_000_000

PAUSE_SHIFT: Mapping[int, int] = {25 * _GBPS: 1, 50 * _GBPS: 2, 100 * _GBPS: 3, 200 * _GBPS: 3, 400 * _GBPS: 3}
"""Rate of a port -> bits by which groups of eight cells are shifted to get microseconds."""
QUANTA_PER_US: Mapping[int, int] = {
    25 * _GBPS: 48,
    50 * _GBPS: 96,
    100 * _GBPS: 192,
    200 * _GBPS: 384,
    400 * _GBPS: 768,
}
"""Rate of a port -> pause quanta for a microsecond."""
OVERFLOW_US: Mapping[int, int] = {
    25 * _GBPS: 1200,
    50 * _GBPS: 683,
    100 * _GBPS: 320,
    200 * _GBPS: 171,
    400 * _GBPS: 86,
}
"""Rate of a port -> shortest pause that becomes 65535 quanta.

The program leaves these to the control plane. 1200 and 320 are those of its tests. They have 700 at 50 Gb/s, where 16
bits overflow from 683, and none above 100 Gb/s, where this is the first pause that overflows.
"""


def threshold_below(depth_bytes: int) -> int:
    """Return the threshold above which the prototype's over/under bit is set: both depths count in groups of cells."""
    return depth_bytes // CELL_GROUP_BYTES * CELL_GROUP_BYTES - 1


def no_constant(rate_bps: int) -> str:
    """Return one line that says for which rates there are constants, but not for this one."""
    rates = ", ".join(str(rate // _GBPS) for rate in PAUSE_SHIFT)
    return f"the prototype has constants for links of {rates} Gb/s only, not of {rate_bps / _GBPS:g} Gb/s"


def unknown_rate(topology: Topology, settings: SwitchSettings) -> str | None:
    """Return one line if the settings use the prototype's shifts, and a link has a rate without one."""
    for name, value in (("pause_method", settings.pause_method), ("sfc_p_quanta", settings.sfc_p_quanta)):
        if value == "shifts":
            for link in topology.links:
                if link.rate_bps not in PAUSE_SHIFT:
                    return f"switch.{name}=shifts: {no_constant(link.rate_bps)}; use switch.{name}=exact"
    return None
