# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Words that may be typed where a name is wanted, and what each means: for the shell's completion.

The tables are loaded when a shell asks, so that no command pays for it.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

Words: TypeAlias = list[tuple[str, str]]
"""A word and its meaning, which some shells show."""


def scenarios() -> Words:
    """All that can be run."""
    from scenarios.catalogue import SCENARIOS

    return [(each.name, each.summary) for each in SCENARIOS.values()]


def scenarios_or_all() -> Words:
    """Where `all` stands for every one."""
    return [*scenarios(), ("all", "every scenario")]


def experiments_or_all() -> Words:
    """Those of the paper."""
    from reproduction.catalogue import EXPERIMENTS

    return [*((each.name, each.title) for each in EXPERIMENTS.values()), ("all", "every experiment")]


def schemes(incomplete: str) -> Words:
    """Schemes; behind a `+` the rate controls of the one before it."""
    from scenarios.schemes import CONGESTION_SUFFIXES, SCHEMES

    scheme, plus, _ = incomplete.partition("+")
    if plus:
        return [(f"{scheme}+{suffix}", summary) for suffix, summary in CONGESTION_SUFFIXES.items()]
    return [(each.name, each.summary) for each in SCHEMES.values()]


def scheme_lists(incomplete: str) -> Words:
    """The last of several schemes with commas between them; none that is there."""
    before, comma, last = incomplete.rpartition(",")
    return [(f"{before}{comma}{name}", summary) for name, summary in schemes(last) if name not in before.split(",")]


def topologies() -> Words:
    """Shapes of networks."""
    from topologies.shapes import SHAPES

    return [(name, (shape.__doc__ or "").splitlines()[0]) for name, shape in SHAPES.items()]


def scales() -> list[str]:
    """Sizes of scenarios."""
    from scenarios.model.scenario import ScaleName

    return list(get_args(ScaleName))


def switches() -> list[str]:
    """Targets, and the word for the one that is taken unless another is named."""
    from testbed.plan.switch_targets import SWITCH_TARGETS

    return ["auto", *SWITCH_TARGETS]


def clocks() -> list[str]:
    """What time a run goes by."""
    from testbed.plan.request import ClockName

    return list(get_args(ClockName))
