# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`--seeds`, and run names that include the seed."""

from __future__ import annotations

from collections.abc import Sequence

from sfc_testbed.request.seeds import parse_seeds
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import RunPlan


def chosen_seeds(seed: int | None, seeds: str | None) -> list[int]:
    """Return the seeds of `--seed` or `--seeds`; 1 without either."""
    if seeds is None:
        return [1 if seed is None else seed]
    if seed is not None:
        raise UsageError("--seed and --seeds cannot be combined")
    try:
        return list(parse_seeds(seeds))
    except ValueError as error:
        raise UsageError(f"--seeds {error}") from error


def named(plans: Sequence[RunPlan]) -> list[str]:
    """Return a name for each plan: scheme and program, with the seed if there are several seeds."""
    has_seeds = len({plan.config.seed for plan in plans}) > 1
    return [f"{plan.config.variant}{f', seed {plan.config.seed}' if has_seeds else ''}" for plan in plans]
