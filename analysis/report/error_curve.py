# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The section of docs/fidelity.md about how much error lateness makes, and where the verdict's limits come from."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.formatting import format_number, format_share
from analysis.results.limits import (
    DEGRADED_ABOVE,
    ERROR_PER_LATENESS,
    FAITHFUL_ERROR,
    INVALID_ABOVE,
    TRUSTED_ERROR,
)
from analysis.validation.record import ValidatedRun

HEADING = "## Error against lateness\n"
_NO_RUN = "No run with a given D is stored yet: `sudo ./runner.py validate SCENARIO --dilation D` makes them.\n"


def error_section(runs: Sequence[ValidatedRun]) -> list[str]:
    """Its paragraphs."""
    return [HEADING, _limits(), _NO_RUN]


def _limits() -> str:
    return (
        "What a live run gets wrong, it gets wrong by being late. The verdict's limits of lateness (P99 of hosts or "
        "switches, as a share of the dilated base RTT) are those errors of the peak buffer that they let through: "
        f"**faithful up to {format_share(DEGRADED_ABOVE)}**, since a faithful run may be off by "
        f"{format_share(FAITHFUL_ERROR)}; **invalid beyond {format_share(INVALID_ABOVE)}**, which is "
        f"{format_share(TRUSTED_ERROR)}, as much as the paper's effects. The scheme that lateness moves most, `sfc`, "
        f"goes wrong by {format_number(ERROR_PER_LATENESS)} % for each % of lateness "
        "(`analysis/results/limits.py`).\n"
    )
