# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""SFC and NDP under Hadoop messages and incasts of any synchronization (Fig. 16)."""

from __future__ import annotations

from dataclasses import replace

from scenarios.model.scenario import Scale
from scenarios.paper.data_centre.common import (
    CI_DEGREE,
    LAPTOP_DEGREE,
    PAPER_DEGREE,
    data_centre_scales,
    data_centre_scenario,
)
from wire.constants import DEFAULT_PAYLOAD_BYTES


def _with_headers(scale: Scale, degree: int) -> Scale:
    """NDP's queue of headers, the paper's 1 BDP, for an incast of fewer senders: as large a share of its headers."""
    return replace(scale, switch={**scale.switch, "header_queue_bdp": degree / PAPER_DEGREE})


# Packets as small as the paper's at every scale: headers of larger ones come so slowly that no queue of them builds up.
_SCALES = data_centre_scales(
    {"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 1_000.0, payload_bytes=DEFAULT_PAYLOAD_BYTES
)

SCENARIO = data_centre_scenario(
    "ndp",
    "hadoop messages at 50 % load plus 8 % of 128:1 incasts, for NDP's short queues beside SFC's",
    {
        "ci": _with_headers(_SCALES["ci"], CI_DEGREE),
        "laptop": _with_headers(_SCALES["laptop"], LAPTOP_DEGREE),
        "paper": _with_headers(_SCALES["paper"], PAPER_DEGREE),
    },
)
