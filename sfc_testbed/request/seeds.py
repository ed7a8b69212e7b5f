# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The seeds of random streams, and several seeds as text for `--seeds` and for sweeps."""

from __future__ import annotations

import re

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.shown import shown

MAX_SEED = 2**63 - 1
MOST_SEEDS = 1_000
_RANGE = re.compile(r"([0-9]{1,19})(?:\.\.([0-9]{1,19}))?")


def check_seed(seed: int) -> None:
    """Raise UsageError unless random streams accept the seed."""
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(f"--seed must be between 0 and {MAX_SEED}")


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of text such as `1..5` or `1,3,7..9`. ValueError for other text and for repeated seeds."""
    numbers: list[int] = []
    for word in text.split(","):
        match = _RANGE.fullmatch(word.strip())
        if match is None:
            raise ValueError(f"{shown(text)}: not whole numbers such as 1..5 or 1,3,7")
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise ValueError(f"{shown(text)}: {first}..{last} goes down")
        if len(numbers) + last - first >= MOST_SEEDS:
            raise ValueError(f"{shown(text)}: more than {MOST_SEEDS} seeds")
        check_seed(last)
        numbers += range(first, last + 1)
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"{shown(text)}: a seed is repeated")
    return tuple(numbers)
