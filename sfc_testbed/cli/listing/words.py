# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names for the shell's completion, with their meanings.

The tables are imported when a shell asks, so that no other command waits for them.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from sfc_testbed.api.catalogue import names_of
from sfc_testbed.cli.listing.names import names

Words: TypeAlias = list[tuple[str, str]]
"""Names and their meanings, which some shells show."""


def scenarios() -> Words:
    return [(name, summary) for name, summary, *_ in names()["scenarios"]]


def scenarios_or_all() -> Words:
    return [*scenarios(), ("all", "every scenario")]


def experiments_or_all() -> Words:
    from sfc_testbed.reproduction.catalogue import EXPERIMENTS

    return [*((experiment.name, experiment.title) for experiment in EXPERIMENTS.values()), ("all", "every experiment")]


def schemes(incomplete: str) -> Words:
    """Return the schemes; after a `+`, the scheme with each rate control."""
    scheme, plus, _ = incomplete.partition("+")
    if plus:
        return [(f"{scheme}+{name}", summary) for name, summary in names_of("congestion controls").items()]
    return [*names_of("schemes").items()]


def scheme_lists(incomplete: str) -> Words:
    """Return completions of the last scheme in a comma-separated list, without those already in the list."""
    before, comma, last = incomplete.rpartition(",")
    return [(f"{before}{comma}{name}", summary) for name, summary in schemes(last) if name not in before.split(",")]


def load_balancings() -> Words:
    return [*names_of("load balancings").items()]


def load_balancing_lists(incomplete: str) -> Words:
    """Return completions of the last load balancing in a comma-separated list, as `scheme_lists` does."""
    before, comma, _ = incomplete.rpartition(",")
    return [(f"{before}{comma}{name}", text) for name, text in load_balancings() if name not in before.split(",")]


def topologies() -> Words:
    return [(name, meaning) for name, meaning in names()["topologies"]]


def export_formats() -> Words:
    return [*names_of("export formats").items()]


def scales() -> list[str]:
    from sfc_testbed.scenarios.model.scenario import ScaleName

    return list(get_args(ScaleName))


def switches() -> list[str]:
    from sfc_testbed.testbed.plan.switch_targets import SWITCH_TARGETS

    return ["auto", *SWITCH_TARGETS]


def clocks() -> list[str]:
    from sfc_testbed.request.spec import ClockName

    return list(get_args(ClockName))
