# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names of compared runs: the scheme, and the settings and options in which the runs differ.

A name is as short as it can be without two runs sharing it. What differs is read from result.json and config.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.analysis.results.result import RunResult
from sfc_testbed.request.spec import RunConfig

_SCHEME, _SEED, _DILATION = "scheme", "seed", "dilation"
_LAST = (_SEED, "duration", _DILATION, "version")
"""Facts that are in the name of a run only if nothing else distinguishes it from another run."""
_SETTING = "--set "
"""The prefix of facts that are settings."""
_SETTINGS_OF = {"topology": "topology_parameters", "switch": "switch_settings", "transport": "transport_settings"}
"""The field of config.json with the resolved settings, by the prefix of their keys. Keys without one: `workload`."""

Facts = Mapping[str, str]
"""The names and values of the settings that distinguish runs."""


@dataclass(frozen=True)
class RunNames:
    """The names of compared runs, in the order of the runs."""

    labels: tuple[str, ...]
    """A unique name for each run."""
    variants: tuple[str, ...]
    """A name that runs share if they differ only in the seed."""


def names_of(results: Sequence[RunResult], configs: Sequence[RunConfig | None] = ()) -> RunNames:
    """Name the runs. Settings and networks are compared only if the configuration of every run is known."""
    facts = _facts(results, configs)
    differing = _differing(facts)
    variants = _variants(facts, [name for name in differing if name not in _LAST])
    labels = _labels(variants, facts, [name for name in _LAST if name in differing])
    return RunNames(tuple(labels), tuple(variants))


def differences_of(
    results: Sequence[RunResult], configs: Sequence[RunConfig | None] = (), *, has_averages: bool = False
) -> list[str]:
    """Return a sentence for each setting or option in which the runs differ, except for scheme, program and dilation.

    `has_averages`: whether means over the seeds are shown, so that seeds are no difference.
    """
    facts = _facts(results, configs)
    differing = _differing(facts)
    ignored = {_SCHEME, _DILATION, *((_SEED, "duration") if has_averages else ())}
    if len(results) > 1 and not set(differing) - {_DILATION} and any(configs):
        return ["The runs do not differ in scheme, settings, network, clock, switch, program or seed."]
    return [_difference(name, facts) for name in differing if name not in ignored]


def _facts(results: Sequence[RunResult], configs: Sequence[RunConfig | None]) -> list[Facts]:
    facts: list[Facts] = [_facts_of_result(result) for result in results]
    known = [config for config in configs if config is not None]
    if len(known) < len(results):
        return facts
    keys = list(dict.fromkeys(key for config in known for key in config.settings))
    return [{**own, **_facts_of_config(config, keys)} for own, config in zip(facts, known, strict=True)]


def _differing(facts: Sequence[Facts]) -> list[str]:
    return [name for name in facts[0] if len({own[name] for own in facts}) > 1]


def _facts_of_result(result: RunResult) -> Facts:
    options = ("scenario", "scale", "switch", "clock", _SEED, _DILATION)
    return {_SCHEME: result.variant, **{name: str(getattr(result, name)) for name in options}}


def _facts_of_config(config: RunConfig, keys: Sequence[str]) -> Facts:
    """Return the facts that only config.json contains. `keys`: the settings that the user typed for any of the runs."""
    return {
        **{f"{_SETTING}{key}": _setting(config, key) for key in keys},
        "topology": config.topology,
        "flows": "of the scenario" if config.flow_file is None else Path(config.flow_file).name,
        "faults": " ".join(config.faults) or "none",
        "background": config.background or "none",
        "hosts": config.hosts or "Mininet",
        "duration": f"{config.duration_ms:g} ms",
        "version": config.versions.get("sfc-testbed", "unknown"),
    }


def _setting(config: RunConfig, key: str) -> str:
    """Return the value of a setting as text: the resolved value if it is a number or a word, else the typed value."""
    group, _, name = key.rpartition(".")
    settings: Mapping[str, object] = getattr(config, _SETTINGS_OF.get(group, "workload"))
    typed = config.settings.get(key)
    value = settings.get(name, typed)
    if value is None or not isinstance(value, (bool, int, float, str)):
        value = "default" if typed is None else typed
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value)


def _variants(facts: Sequence[Facts], differing: Sequence[str]) -> list[str]:
    """Return names made of the fewest facts that separate all runs that differ in one of these facts."""
    whole = [tuple(own[name] for name in differing) for own in facts]
    chosen: list[str] = []
    for name in differing:
        if len({_values(own, chosen) for own in facts}) == len(set(whole)):
            break
        if len({_values(own, [*chosen, name]) for own in facts}) > len({_values(own, chosen) for own in facts}):
            chosen.append(name)
    return [", ".join(_words(own, chosen)) or own[_SCHEME] for own in facts]


def _labels(variants: Sequence[str], facts: Sequence[Facts], differing: Sequence[str]) -> list[str]:
    """Return unique names: the variants, the seed and the like where runs share a variant, and at last a number."""
    labels = list(variants)
    for name in differing:
        repeated = Counter(labels)
        values: dict[str, set[str]] = {}
        for label, own in zip(labels, facts, strict=True):
            values.setdefault(label, set()).add(own[name])
        labels = [
            f"{label}, {_word(name, own)}" if repeated[label] > 1 and len(values[label]) > 1 else label
            for label, own in zip(labels, facts, strict=True)
        ]
    repeated, seen = Counter(labels), Counter[str]()
    for number, label in enumerate(labels):
        if repeated[label] > 1:
            seen[label] += 1
            labels[number] = f"{label} #{seen[label]}"
    return labels


def _values(facts: Facts, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(facts[name] for name in names)


def _words(facts: Facts, names: Sequence[str]) -> list[str]:
    """Return the facts as in a name. A setting is without its prefix, unless two settings have the same name then."""
    short = Counter(name.rpartition(".")[2] for name in names)
    return [_word(name, facts, is_short=short[name.rpartition(".")[2]] == 1) for name in names]


def _word(name: str, facts: Facts, *, is_short: bool = True) -> str:
    if name == _SCHEME:
        return facts[name]
    if not name.startswith(_SETTING):
        return f"{name} {facts[name]}"
    key = name.removeprefix(_SETTING)
    return f"{key.rpartition('.')[2] if is_short else key}={facts[name]}"


def _difference(name: str, facts: Sequence[Facts]) -> str:
    values = ", ".join(dict.fromkeys(own[name] for own in facts))
    return f"The runs differ in {name.removeprefix(_SETTING)}: {values}."
