# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Drawing of hosts with mixed rates, such that each host's share of the traffic is its share of the total rate.

If all rates are equal, every host is equally likely and these functions are not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfc_testbed.scenarios.model.scenario import ScenarioError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

_STEPS = 5_000
"""The most iterations. Some tens are enough, unless one host has nearly half of the total rate."""
_CLOSE = 1e-9


def are_mixed(rates_bps: Sequence[int]) -> bool:
    """Whether the rates differ."""
    return len(set(rates_bps)) > 1


def pull_of_hosts(hosts: Sequence[str], rates_bps: Sequence[int]) -> Floats:
    """Return weights x of the hosts as receivers, with which each host receives as much as it sends.

    Host i sends at its rate r_i and chooses host j with probability x_j / (sum of x - x_i). The weights solve
    x_i (sum of x - x_i) = r_i. ScenarioError if one host is faster than all others together.
    """
    import numpy as np

    rates = np.array(rates_bps, dtype=float) / sum(rates_bps)
    fastest = int(np.argmax(rates))
    if rates[fastest] > 0.5:
        raise ScenarioError(
            f"{hosts[fastest]} has {rates_bps[fastest] / 1e9:g} Gb/s and all others together less: "
            "no all-to-all load is the same fraction of every host's rate"
        )
    pull: Floats = np.sqrt(rates)
    for _ in range(_STEPS):
        before, pull = pull, np.sqrt(pull * rates / (pull.sum() - pull))
        if np.allclose(pull, before, rtol=_CLOSE, atol=0.0):
            break
    return pull


def others_of(pull: Floats, number: int) -> Floats:
    """Return the probability of each host to be the receiver of a message from host `number`."""
    weights: Floats = pull.copy()
    weights[number] = 0.0
    weights /= weights.sum()
    return weights


def chance_to_be_drawn(rates_bps: Sequence[int], count: int) -> Floats:
    """Return the probability of each host to be among `count` hosts that are drawn in proportion to their rates.

    It is 1 for hosts whose proportional probability would exceed 1.
    """
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


def draw_positions(chance: Floats, count: int, random: np.random.Generator) -> Places:
    """Draw `count` different positions with the probabilities `chance`, which add up to `count`."""
    import numpy as np

    order = random.permutation(chance.size)
    ends = np.cumsum(chance[order])
    marks = random.random() + np.arange(count)
    places: Places = order[np.searchsorted(ends * (count / ends[-1]), marks, side="right")]
    return places
