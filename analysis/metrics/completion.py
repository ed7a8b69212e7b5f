# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The completion time of dependent messages, the metric of a collective operation."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from analysis.metrics.figures import Figure, Figures


class CompletionFigures(Figures):
    """The completion of all messages of a tag."""

    took_us: Figure | None
    """Time from the first ready message to the last acknowledgement; None if not all messages finished."""
    ideal_us: Figure
    """The same time in an otherwise idle network, with every message sent as soon as it is ready."""
    slowdown: Figure | None
    """`took_us` / `ideal_us`, not clamped to 1."""


def completion_by_tag(flows: pl.DataFrame, ideal_us: Mapping[str, float]) -> dict[str, CompletionFigures]:
    """Return the completion figures of each tag that has an ideal."""
    return {tag: _completion(flows.filter(pl.col("tag") == tag), ideal) for tag, ideal in ideal_us.items()}


def _completion(flows: pl.DataFrame, ideal_us: float) -> CompletionFigures:
    took_us = None
    if flows.height and not flows["finish_us"].null_count():
        took_us = float(flows["finish_us"].to_numpy().max() - flows["start_us"].to_numpy().min())
    slowdown = None if took_us is None or not ideal_us else took_us / ideal_us
    return CompletionFigures(took_us=took_us, ideal_us=ideal_us, slowdown=slowdown)
