# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the rates of receivers and flows over time, with values computed by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfc_testbed.analysis.metrics.goodput import (
    delivered,
    jain_index,
    rates_without_gaps,
    receiver_throughput_gbps,
    sharing,
    tag_rates,
)
from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.goodput import plot_goodput
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.telemetry.schema import FLOWS, GOODPUT
from tests.analysis.conftest import frame_of, make_flows, make_goodput, trace_of


def _flow(flow: int, dst: str, tag: str, start_us: float, finish_us: float | None) -> dict[str, object]:
    return {"flow_id": flow, "dst": dst, "tag": tag, "start_us": start_us, "finish_us": finish_us}


def _frames(
    flows: list[dict[str, object]], rows: list[tuple[float, float, int, int]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    return frame_of(GOODPUT, rows), trace_of(FLOWS, flows)


def test_receiver_throughput_by_hand() -> None:
    """h1 receives 125 KB in a window of 20 us (50 Gb/s). Half of h2's interval is in the window. h3 has no bytes."""
    goodput, flows = _frames(
        [_flow(0, "h1", "x", 0, 10), _flow(1, "h2", "x", 15, 25), _flow(2, "h3", "x", 0, None)],
        [(0, 10, 0, 125_000), (15, 25, 1, 125_000)],
    )
    assert receiver_throughput_gbps(goodput, flows, (0, 20)) == pytest.approx([25.0, 50.0])
    assert receiver_throughput_gbps(GOODPUT.empty(), flows, (0, 20)).size == 0


def test_without_a_window_it_is_from_first_start_to_last_finish() -> None:
    """The flow has 250 KB in 20 us. Its last interval counts up to the end of the flow."""
    goodput, flows = _frames([_flow(0, "h1", "x", 0, 15)], [(0, 10, 0, 125_000), (10, 20, 0, 125_000)])
    assert receiver_throughput_gbps(goodput, flows)[0] == pytest.approx(100.0)
    goodput, flows = _frames([_flow(0, "h1", "x", 0, 20)], [(0, 10, 0, 125_000), (10, 20, 0, 125_000)])
    assert receiver_throughput_gbps(goodput, flows)[0] == pytest.approx(100.0)


def test_rates_of_the_flows_of_a_class_add_up() -> None:
    """12,500 B and 25,000 B in 10 us are 30 Gb/s for their class."""
    goodput, flows = _frames(
        [_flow(0, "h1", "a", 0, 20), _flow(1, "h1", "a", 0, 20)], [(0, 10, 0, 12_500), (0, 10, 1, 25_000)]
    )
    assert delivered(goodput, flows, "dst").rows() == [(0.0, 10.0, "h1", 37_500)]
    assert tag_rates(goodput, flows).select("tag", "gbps").rows() == [("a", 30.0)]


def test_bytes_delivered_do_not_depend_on_how_many_flows_are_looked_up_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flows = [_flow(flow, f"h{flow % 3}", "a", 0, 20) for flow in range(10)]
    rows = [(start, start + 10, flow, 1000 + flow) for start in (0.0, 10.0) for flow in range(10)]
    goodput, known = _frames(flows, rows)
    whole = delivered(goodput, known, "dst")
    monkeypatch.setattr("sfc_testbed.analysis.metrics.goodput._MOST_FLOWS", 3)
    assert delivered(goodput, known, "dst").rows() == whole.rows()
    assert whole.height == 2 * 3


def test_jain_index() -> None:
    """The index is 1 for equal rates, and 1 / n if one flow has all."""
    assert jain_index(np.array([3.0, 3.0, 3.0])) == pytest.approx(1.0)
    assert jain_index(np.array([3.0, 0.0, 0.0])) == pytest.approx(1 / 3)


def test_rates_have_no_gaps() -> None:
    rates = pl.DataFrame({"from_us": [10.0, 30.0], "until_us": [20.0, 40.0], "gbps": [5.0, 7.0]})
    begins, values = rates_without_gaps(rates)
    assert list(begins) == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert list(values) == [0.0, 5.0, 0.0, 7.0, 0.0]


def test_sharing_covers_flows_that_are_active_for_the_whole_interval() -> None:
    """The flows share equally in the first interval. One flow has all in the second, and is alone in the third."""
    goodput, flows = _frames(
        [_flow(0, "h1", "a", 0, 30), _flow(1, "h1", "a", 0, 20), _flow(2, "h1", "a", 5, 8)],
        [(0, 10, 0, 100), (0, 10, 1, 100), (0, 10, 2, 50), (10, 20, 0, 200), (20, 30, 0, 100)],
    )
    assert sharing(goodput, flows) == pytest.approx([1.0, 0.5])


def test_the_plot_has_a_panel_per_run_and_a_line_per_class() -> None:
    flows = make_flows()
    figure = draw(
        plot_goodput(
            [PlottedRun("sfc", "sfc", flows, goodput=make_goodput(flows)), PlottedRun("irn", "irn", FLOWS.empty())]
        )
    )
    full, empty = figure.axes
    assert [line.get_label() for line in full.lines] == ["hadoop", "incast"]
    assert full.get_ylabel() == "Goodput (Gb/s)"
    assert [text.get_text() for text in empty.texts] == ["nothing was delivered"]


def test_a_silent_interval_is_drawn_as_zero() -> None:
    goodput, flows = _frames([_flow(0, "h1", "a", 0, 40)], [(10, 20, 0, 12_500), (30, 40, 0, 12_500)])
    [line] = draw(plot_goodput([PlottedRun("sfc", "sfc", flows, goodput=goodput)])).axes[0].lines
    assert list(np.asarray(line.get_xdata())) == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert list(np.asarray(line.get_ydata())) == [0.0, 10.0, 0.0, 10.0, 0.0]
