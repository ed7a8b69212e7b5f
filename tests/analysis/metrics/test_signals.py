# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the metrics of the signals trace, with values computed by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.metrics.signals import pause_obeyed_us, signal_figures
from sfc_testbed.telemetry.schema import SIGNALS
from tests.analysis.conftest import trace_of


def signal_trace(*rows: tuple[float, float, str, int | None, str, float, bool]) -> pl.DataFrame:
    """Return signals from (sent, received, host, flow, cause, pause, obeyed)."""
    names = ("sent_us", "received_us", "host", "flow_id", "cause", "pause_us", "obeyed")
    named = [dict(zip(names, row, strict=True)) for row in rows]
    until = pl.when("obeyed").then(pl.col("received_us") + pl.col("pause_us"))
    return trace_of(SIGNALS, named).with_columns(paused_until_us=until)


TRACE = signal_trace(
    (0.0, 5.0, "h1", 1, "queue", 20.0, True),  # until 25, replaced at 15: 10 us
    (10.0, 15.0, "h1", 1, "queue", 3.0, True),  # until 18: 3 us; the flow then runs
    (29.0, 30.0, "h1", 1, "cache", 7.0, True),  # until 37: 7 us
    (5.0, 16.0, "h2", 1, "queue", 4.0, True),  # another host's flow 1: 4 us
    (6.0, 16.0, "h1", None, "queue", 100.0, False),
)


def test_pause_obeyed_by_hand() -> None:
    """A newer signal replaces the end of an older pause. Equal flow numbers of different hosts are different flows."""
    assert pause_obeyed_us(TRACE) == pytest.approx(10 + 3 + 7 + 4)


def test_summary_by_hand() -> None:
    summary = signal_figures(TRACE)
    assert (summary.received, summary.obeyed) == (5, 4)
    assert summary.pause_asked_us == pytest.approx(134.0)
    assert list(summary.feedback_delay_us) == ["cache", "queue"]
    assert summary.feedback_delay_us["cache"].mean == 1.0
    assert summary.feedback_delay_us["cache"].p50 is None
    assert summary.feedback_delay_us["queue"].count == 4
    assert summary.feedback_delay_us["queue"].p50 == pytest.approx(7.5)
    assert summary.feedback_delay_us["queue"].max == 11.0


def test_an_empty_trace_has_no_pauses() -> None:
    summary = signal_figures(SIGNALS.empty())
    assert (summary.received, summary.obeyed, summary.feedback_delay_us) == (0, 0, {})
    assert (summary.pause_asked_us, summary.pause_obeyed_us) == (0.0, 0.0)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 3), st.floats(0, 50), st.booleans()), max_size=40))
def test_pauses_are_not_longer_than_requested(rows: list[tuple[float, int, float, bool]]) -> None:
    """The obeyed time is between 0 and the pauses that obeyed signals requested, in any order of rows."""
    trace = signal_trace(*[(0.0, time, "h1", flow, "queue", pause, obeyed) for time, flow, pause, obeyed in rows])
    obeyed = pause_obeyed_us(trace)
    assert -1e-9 <= obeyed <= sum(pause for _, _, pause, followed in rows if followed) + 1e-6
    assert obeyed == pytest.approx(pause_obeyed_us(trace.reverse()), abs=51 * len(rows) if _tied(rows) else 1e-6)


def _tied(rows: list[tuple[float, int, float, bool]]) -> bool:
    """Return whether two signals reach a flow at the same time, so that their order in the trace matters."""
    return len({(time, flow) for time, flow, _, _ in rows}) < len(rows)
