# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Who takes how large a part in traffic where hosts have mixed rates: everybody as much as its own rate is of all.

Where all rates are alike nobody needs this: every host is as likely as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scenarios.model.scenario import ScenarioError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

_STEPS = 5_000
"""Some tens are enough, unless one host has nearly half of all."""
_CLOSE = 1e-9


def are_mixed(rates_bps: Sequence[int]) -> bool:
    """Whether hosts differ."""
    return len(set(rates_bps)) > 1


def pull_of_hosts(hosts: Sequence[str], rates_bps: Sequence[int]) -> Floats:
    """Weights x with which each host, sending at its rate r to j with x_j / (sum of x - its own), gets as much as it
    sends: x_i (sum of x - x_i) = r_i. ScenarioError where one host has more than all others together.
    """
    import numpy as np

    rates = np.array(rates_bps, dtype=float) / sum(rates_bps)
    fastest = int(np.argmax(rates))
    if rates[fastest] > 0.5:
        raise ScenarioError(
            f"{hosts[fastest]} has {rates_bps[fastest] / 1e9:g} Gb/s and all others together less: "
            "no all-to-all load is the same share of every host's rate"
        )
    pull: Floats = np.sqrt(rates)
    for _ in range(_STEPS):
        before, pull = pull, np.sqrt(pull * rates / (pull.sum() - pull))
        if np.allclose(pull, before, rtol=_CLOSE, atol=0.0):
            break
    return pull


def others_of(pull: Floats, number: int) -> Floats:
    """Probabilities of the receivers of one host."""
    weights: Floats = pull.copy()
    weights[number] = 0.0
    weights /= weights.sum()
    return weights


def chance_to_be_drawn(rates_bps: Sequence[int], count: int) -> Floats:
    """Of each host, where `count` are drawn in proportion to their rates: certain for those that are too fast to be in
    proportion."""
    import numpy as np

    rates = np.array(rates_bps, dtype=float)
    chance = np.zeros(rates.size)
    rest = np.ones(rates.size, dtype=bool)
    while True:
        chance[rest] = (count - np.count_nonzero(~rest)) * rates[rest] / rates[rest].sum()
        certain = rest & (chance >= 1)
        if not certain.any():
            return chance
        chance[certain] = 1.0
        rest &= ~certain
        if not rest.any():
            return chance


def drawn(chance: Floats, count: int, random: np.random.Generator) -> Places:
    """`count` different places, each with its chance; these add up to `count`."""
    import numpy as np

    order = random.permutation(chance.size)
    ends = np.cumsum(chance[order])
    marks = random.random() + np.arange(count)
    places: Places = order[np.searchsorted(ends * (count / ends[-1]), marks, side="right")]
    return places
