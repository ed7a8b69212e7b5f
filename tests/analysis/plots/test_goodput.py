# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the plot of goodput over time."""

from __future__ import annotations

import polars as pl

from analysis.plots.goodput import GoodputRun, plot_goodput
from tests.analysis.conftest import FlowsMaker
from tests.analysis.plots.looks import assert_curves_differ


def test_curves_of_many_traffic_classes_can_be_told_apart(make_flows: FlowsMaker, make_goodput: FlowsMaker) -> None:
    flows = make_flows(count=200, incast=0).with_columns(tag=pl.format("class {}", pl.col("flow_id") % 12))
    figure = plot_goodput([GoodputRun("sfc", flows, make_goodput(flows))])
    assert_curves_differ(figure)
    assert len(figure.axes[0].get_lines()) == 12


def test_a_traffic_class_whose_name_begins_with_an_underscore_is_in_the_legend(
    make_flows: FlowsMaker, make_goodput: FlowsMaker
) -> None:
    flows = make_flows(count=50, incast=0).with_columns(tag=pl.lit("_mine"))
    [legend] = plot_goodput([GoodputRun("sfc", flows, make_goodput(flows))]).legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["_mine"]
