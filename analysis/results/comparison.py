# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Several runs side by side: one row each, ratios against the first, and a warning where they are not alike.

Made from results alone, so that a comparison of a hundred runs reads no trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from analysis.metrics.figures import Figure
from analysis.metrics.flows import ALL_CLASSES, SlowdownFigures
from analysis.results.result import Level, RunResult, count_of

INCAST_TAG = "incast"
"""Tag of synthetic incast flows; the paper measures FCT for the other traffic."""

_LABEL_FIELDS = ("scenario", "scale", "switch", "clock", "dilation", "seed")
_ALIKE_FIELDS = ("scenario", "scale", "switch", "clock", "seed")


class ComparisonRow(BaseModel):
    """One run. Slowdowns are of the comparison's traffic class; ratios are this run over the first, by figure name."""

    model_config = ConfigDict(frozen=True)

    label: str
    scheme: str
    verdict: Level
    flows_completed: int
    flows_total: int
    max_buffer_bytes: int | None
    p50_slowdown: Figure | None
    p95_slowdown: Figure | None
    p99_slowdown: Figure | None
    throughput_gbps: Figure
    drops: int | None
    bts_sent: int | None
    pfc_sent: int | None
    wall_s: Figure | None
    ratios: dict[str, Figure | None]


class Comparison(BaseModel):
    """Runs in the order given."""

    model_config = ConfigDict(frozen=True)

    scenario: str
    traffic_class: str
    traffic_classes: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    warnings: tuple[str, ...]
    missing_schemes: tuple[str, ...] = ()
    """That were to be compared too and were not run."""


def headline_class(result: RunResult) -> str:
    """The class whose slowdown stands for the run: the largest that is not incast, `all` if there is none."""
    names = [name for name in result.fct_slowdown if name not in (ALL_CLASSES, INCAST_TAG)]
    if not names:
        return next(iter(result.fct_slowdown), ALL_CLASSES)
    return max(names, key=lambda name: result.fct_slowdown[name].flows)


def compare(results: Sequence[RunResult], missing_schemes: Sequence[str] = ()) -> Comparison:
    """The comparison of at least one result, and the schemes that have none. Raises ValueError for no result."""
    if not results:
        raise ValueError("there is no run to compare")
    traffic_class = headline_class(results[0])
    labels = run_labels(results)
    rows: list[ComparisonRow] = []
    for label, result in zip(labels, results, strict=True):
        rows.append(_row(label, result, traffic_class, rows[0] if rows else None))
    classes = dict.fromkeys(name for result in results for name in result.fct_slowdown if name != ALL_CLASSES)
    return Comparison(
        scenario=", ".join(dict.fromkeys(result.scenario for result in results)),
        traffic_class=traffic_class,
        traffic_classes=tuple(classes),
        rows=tuple(rows),
        warnings=(*_missing(missing_schemes), *_warnings(results, labels)),
        missing_schemes=tuple(missing_schemes),
    )


def run_labels(results: Sequence[RunResult]) -> list[str]:
    """The scheme of each run, and what tells it apart where schemes repeat; a number as the last resort."""
    differing = [name for name in _LABEL_FIELDS if len({getattr(result, name) for result in results}) > 1]
    schemes = Counter(result.scheme for result in results)
    labels = []
    for result in results:
        parts = [result.scheme]
        if schemes[result.scheme] > 1:
            parts += [f"{name} {getattr(result, name)}" for name in differing]
        labels.append(", ".join(parts))
    repeated = Counter(labels)
    seen: Counter[str] = Counter()
    for number, label in enumerate(labels):
        if repeated[label] > 1:
            seen[label] += 1
            labels[number] = f"{label} #{seen[label]}"
    return labels


def _row(label: str, result: RunResult, traffic_class: str, first: ComparisonRow | None) -> ComparisonRow:
    slowdown: SlowdownFigures | None = result.fct_slowdown.get(traffic_class)
    figures: dict[str, float | None] = {
        "max_buffer_bytes": result.max_buffer_bytes,
        "p50_slowdown": slowdown.p50 if slowdown else None,
        "p99_slowdown": slowdown.p99 if slowdown else None,
        "throughput_gbps": result.throughput_gbps,
    }
    base = figures if first is None else {name: getattr(first, name) for name in figures}
    return ComparisonRow(
        label=label,
        scheme=result.scheme,
        verdict=result.verdict,
        flows_completed=result.flows.completed,
        flows_total=result.flows.total,
        max_buffer_bytes=result.max_buffer_bytes,
        p50_slowdown=figures["p50_slowdown"],
        p95_slowdown=slowdown.p95 if slowdown else None,
        p99_slowdown=figures["p99_slowdown"],
        throughput_gbps=result.throughput_gbps,
        drops=result.dropped,
        bts_sent=count_of(result.bts, "sent"),
        pfc_sent=count_of(result.pfc, "sent"),
        wall_s=result.wall_s,
        ratios={name: _ratio(value, base[name]) for name, value in figures.items()},
    )


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base


def _missing(schemes: Sequence[str]) -> list[str]:
    return [f"Interrupted before these schemes were run: {', '.join(schemes)}."] if schemes else []


def _warnings(results: Sequence[RunResult], labels: Sequence[str]) -> list[str]:
    warnings = []
    for name in _ALIKE_FIELDS:
        values = list(dict.fromkeys(str(getattr(result, name)) for result in results))
        if len(values) > 1:
            warnings.append(f"The runs differ in {name}: {', '.join(values)}.")
    if len({result.flows.total for result in results}) > 1:
        warnings.append("The runs did not have the same number of flows.")
    for label, result in zip(labels, results, strict=True):
        if result.verdict != "faithful":
            warnings.append(f"{label} is {result.verdict}: {' '.join(result.verdict_reasons)}")
    return warnings
