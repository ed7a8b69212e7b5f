# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""SFC and NDP with Hadoop messages and incasts of varied synchronization (Fig. 16)."""

from __future__ import annotations

from dataclasses import replace

from scenarios.model.scenario import Scale
from scenarios.paper.data_centre import CI_DEGREE, LAPTOP_DEGREE, PAPER_DEGREE, data_centre_scales, data_centre_scenario
from wire.constants import DEFAULT_PAYLOAD_BYTES


def _with_headers(scale: Scale, degree: int) -> Scale:
    """Scale NDP's header queue (the paper's 1 BDP) so that it holds the same share of a smaller incast's headers."""
    return replace(scale, switch={**scale.switch, "header_queue_bdp": degree / PAPER_DEGREE})


# Packets have the paper's size at every scale: with larger packets, headers arrive too slowly to build up a queue.
_SCALES = data_centre_scales(
    {"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 1_000.0, payload_bytes=DEFAULT_PAYLOAD_BYTES
)

SCENARIO = data_centre_scenario(
    "ndp",
    "hadoop messages at 50 % load plus 8 % of 128:1 incasts, to compare NDP's short queues with SFC's",
    {
        "ci": _with_headers(_SCALES["ci"], CI_DEGREE),
        "laptop": _with_headers(_SCALES["laptop"], LAPTOP_DEGREE),
        "paper": _with_headers(_SCALES["paper"], PAPER_DEGREE),
    },
)
