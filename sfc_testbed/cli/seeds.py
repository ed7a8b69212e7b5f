# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`--seed` and `--seeds`."""

from __future__ import annotations

from sfc_testbed.api.requests import seeds_of
from sfc_testbed.testbed.errors import UsageError


def chosen_seeds(seed: int | None, seeds: str | None) -> list[int]:
    """Return the seeds of `--seed` or `--seeds`; 1 without either."""
    if seeds is None:
        return [1 if seed is None else seed]
    if seed is not None:
        raise UsageError("--seed and --seeds cannot be combined")
    return list(seeds_of(seeds))
