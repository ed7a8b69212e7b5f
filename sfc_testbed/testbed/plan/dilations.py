# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The largest dilation, the dilations that no predicted load determines, and a dilation that is decided."""

from __future__ import annotations

from dataclasses import dataclass

from sfc_testbed.request.spec import DilationChoice

MAX_DILATION = 10_000_000
VIRTUAL_DILATION = 1_000
NETWORK_DILATION = 10_000
"""The default dilation of an interactive live network, whose hosts two cores can serve."""


@dataclass(frozen=True)
class DecidedDilation:
    """The dilation of a run that was decided before its plan: for another process, or from the lateness of a run."""

    factor: int
    choice: DilationChoice | None = None
    """The prediction. None: not predicted yet."""
