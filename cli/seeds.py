# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`--seeds`, and run names that include the seed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from testbed.errors import UsageError
from testbed.plan.checks import check_seed
from testbed.plan.plan import RunPlan
from wire.input.validation import shown

MOST_SEEDS = 1_000
_RANGE = re.compile(r"([0-9]{1,19})(?:\.\.([0-9]{1,19}))?")


def chosen_seeds(seed: int | None, seeds: str | None) -> list[int]:
    """Return the seeds of `--seed` or `--seeds`; 1 without either."""
    if seeds is None:
        return [1 if seed is None else seed]
    if seed is not None:
        raise UsageError("--seed and --seeds cannot be combined")
    return _several(seeds)


def named(plans: Sequence[RunPlan]) -> list[str]:
    """Return a name for each plan: scheme and program, with the seed if there are several seeds."""
    has_seeds = len({plan.config.seed for plan in plans}) > 1
    return [f"{plan.config.variant}{f', seed {plan.config.seed}' if has_seeds else ''}" for plan in plans]


def _several(text: str) -> list[int]:
    """Return the seeds of text such as `1..5` or `1,3,7..9`. UsageError for other text and for repeated seeds."""
    numbers: list[int] = []
    for word in text.split(","):
        match = _RANGE.fullmatch(word.strip())
        if match is None:
            raise UsageError(f"--seeds {shown(text)}: not whole numbers such as 1..5 or 1,3,7")
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise UsageError(f"--seeds {shown(text)}: {first}..{last} goes down")
        if len(numbers) + last - first >= MOST_SEEDS:
            raise UsageError(f"--seeds {shown(text)}: more than {MOST_SEEDS} seeds")
        check_seed(last)
        numbers += range(first, last + 1)
    if len(set(numbers)) < len(numbers):
        raise UsageError(f"--seeds {shown(text)}: a seed is repeated")
    return numbers
