# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Requests of runs from the values that people pass to functions or type as options."""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfc_testbed.request.network_file import read_network_file
from sfc_testbed.request.quantities import in_unit
from sfc_testbed.request.seeds import check_seed, parse_seeds
from sfc_testbed.request.settings import PARTS, checked_value
from sfc_testbed.request.shown import shortened, shown
from sfc_testbed.request.spec import FLOW_LIST, ClockName, RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.dilations import MAX_DILATION

CLOCKS: tuple[ClockName, ...] = ("real", "virtual")


def clock_of(name: str) -> ClockName:
    """Return the clock of a name. UsageError if there is none."""
    for clock in CLOCKS:
        if name == clock:
            return clock
    raise UsageError(f"unknown clock {name!r}; choose from {', '.join(CLOCKS)}")


def dilation_of(value: str | int | None) -> int | None:
    """Return a dilation, or None for `auto`. UsageError for other values."""
    if value is None or value == "auto":
        return None
    number = _whole(value)
    if number is not None and 1 <= number <= MAX_DILATION:
        return number
    raise UsageError(f"--dilation is auto or a whole number from 1 to {MAX_DILATION}, not {shown(value)}")


def workers_of(value: str | int | None) -> int | None:
    """Return a number of workers, or None for `auto`. UsageError for other values."""
    if value is None or value == "auto":
        return None
    number = _whole(value)
    if number is not None and 1 <= number < 10**9:
        return number
    raise UsageError(f"--workers is auto or a whole number of at least 1, not {shown(value)}")


def jobs_of(value: int | None) -> int | None:
    """Return a number of jobs at a time, or None for one per core. UsageError for other values."""
    if value is not None and not 1 <= value < 10**9:
        raise UsageError(f"jobs: must be at least 1, not {shown(value)}")
    return value


def _whole(value: object) -> int | None:
    """Return a whole number, also if it is a text of digits or of another package's integers; None for other values."""
    if isinstance(value, str):
        return int(value) if re.fullmatch("[0-9]{1,20}", value) else None
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def places_of(places: str | Sequence[str]) -> tuple[str, ...]:
    """Return the places of `--pcap`. UsageError for an empty place."""
    if not places:
        return ()
    names = tuple(name.strip() for name in (places.split(",") if isinstance(places, str) else places))
    if not all(names):
        raise UsageError(f"--pcap: places are names separated by commas, not {shown(places)}")
    return names


def scenario_of(scenario: str | None, *, has_flows: bool) -> str:
    """Return the scenario, or the placeholder scenario of a run that takes its flows from a file."""
    if scenario is not None:
        return scenario
    if not has_flows:
        raise UsageError("no scenario: give one that `list` shows, or a flow list with --flows FILE")
    return FLOW_LIST


def schemes_of(schemes: str | Iterable[str]) -> tuple[str, ...]:
    """Return the schemes of `--schemes`. UsageError for a repeated one."""
    names = _distinct("--schemes", schemes)
    if not names:
        raise UsageError("--schemes: at least one scheme is required")
    return names


def load_balancings_of(names: str | Iterable[str] | None) -> tuple[str | None, ...]:
    """Return the names of `--load-balancing`, or None for each scheme's own. UsageError for a repeated name."""
    return (None,) if names is None else _distinct("--load-balancing", names) or (None,)


def _distinct(option: str, words: str | Iterable[str]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (words.split(",") if isinstance(words, str) else words))
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(f"{option}: {shown(repeated)} is given twice")
    return names


def seeds_of(seeds: int | str | Iterable[int]) -> tuple[int, ...]:
    """Return seeds from a number, from text such as `1..5`, or from several numbers. UsageError for other values."""
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        seeds = ",".join(str(seed) for seed in seeds)
    try:
        return parse_seeds(str(seeds))
    except ValueError as error:
        raise UsageError(f"--seeds {error}") from error


def seed_of(seed: int) -> int:
    """Return a seed. UsageError unless it is a whole number that random streams accept."""
    number = _whole(seed)
    if number is None:
        raise UsageError(f"--seed is a whole number, not {shown(seed)}")
    check_seed(number)
    return number


def settings_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by key, such as `switch.q_th_bytes`, from a mapping that may have a mapping for each part.

    Texts become values as those of `--set` do, such as "250KB" for a size. UsageError for impossible values.
    """
    values: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping) and isinstance(key, str) and (value or key in PARTS):
            for name, own in value.items():
                _add(values, f"{key}.{name}", own)
        else:
            _add(values, key, value)
    return values


def _add(values: dict[str, Any], key: str, value: Any) -> None:
    if not isinstance(key, str):
        raise UsageError(f"--set {shown(key)}: a key is text, such as degree or switch.q_th_bytes")
    if key in values:
        raise UsageError(f"--set {shortened(key)}: given twice")
    try:
        values[key] = checked_value(key, _plain(value))
    except TypeError as error:
        raise UsageError(f"--set {shortened(key)}: {shown(value)} is not a value that a setting can have") from error


def _plain(value: Any) -> Any:
    """Return a value of Python's own kinds; numbers of NumPy and paths are converted."""
    return value if isinstance(value, str) else json.loads(json.dumps(value, default=_converted))


def _converted(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    convert = getattr(value, "tolist", None)  # NumPy's numbers and arrays
    if convert is None:
        raise TypeError(f"not a value: {value!r}")
    return convert()


def milliseconds_of(duration: str | float | None) -> float | None:
    """Return a time in ms; a number is in ms, and text such as "1.5ms" has a unit. UsageError for other values."""
    if duration is None:
        return None
    try:
        return float(duration)
    except (TypeError, ValueError):
        pass
    try:
        return in_unit(str(duration), "ms")
    except ValueError as error:
        raise UsageError(f"--duration: {error}") from error


def folder_of(name: str | os.PathLike[str]) -> Path:
    """Return the folder of a name. UsageError for an empty name."""
    if not str(name):
        raise UsageError("--out: a folder name is required")
    return Path(name)


def request_of(
    scenario: str | None,
    *,
    clock: str = "virtual",
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    duration_ms: str | float | None = None,
    flows: Any = None,
    faults: str | Sequence[str] = (),
    dilation: str | int | None = None,
    captures: str | Sequence[str] = (),
    **more: Any,
) -> RunSpec:
    """Return a request without its flow list; `more` are fields of RunSpec. UsageError for bad values."""
    chosen = settings_of(settings or {})
    return RunSpec(
        scenario_of(scenario, has_flows=flows is not None),
        clock=clock_of(clock),
        seed=seed_of(seed),
        settings=chosen,
        network_file=read_network_file(more.get("topology"), chosen),
        duration_ms=milliseconds_of(duration_ms),
        faults=(faults,) if isinstance(faults, str) else tuple(faults),
        dilation=dilation_of(dilation),
        captures=places_of(captures),
        **more,
    )
