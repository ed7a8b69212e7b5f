# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which of a target's own drop counts are not in the P4 program's: those belong into a run's balance as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

_COUNTED_BY_PROGRAM = ("ingress", "egress")


def target_only_drops(statistics: Mapping[str, Any]) -> Counter[str]:
    """Drops that the target made by itself; what the program drops, the program has counted with a reason."""
    drops: Mapping[str, int] = statistics["drops"]
    return Counter({name: count for name, count in drops.items() if count and name not in _COUNTED_BY_PROGRAM})
