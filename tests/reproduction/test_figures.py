# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures of experiments have the paper's panels and curve names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.model.experiment import Measurement, Results
from sfc_testbed.reproduction.model.panels import CurveSelection, beside_paper
from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER
from tests.analysis.conftest import make_flows, make_goodput, make_queues

_THREE = ["IRN (no FC)", "OnRamp", "SFC"]
_TAIL = (3, _THREE)
FIGURES = {
    "signaling": (1, ["No flow control", "OnRamp", "Egress BTS", "Ingress BTS", "Ingress BTS + Cache"]),
    "incast-degree": (
        2,
        [f"{control} {words}" for control in ("DCQCN+W", "HPCC") for words in ("alone", "+ OnRamp", "+ SFC")],
    ),
    "testbed-incast": (3, ["PFC", "SFC-P"]),
    "testbed-hol": (2, ["PFC", "SFC-P"]),
    "hadoop-50": _TAIL,
    "rpc-30": _TAIL,
    "websearch-50": _TAIL,
    "hadoop-80": (2, _THREE),
    "hadoop-50-light": (4, _THREE),
    "parameters": (1, [f"Q_tg, Q_th (BDP) = {pair}" for pair in ("0.5, 1", "1, 2", "2, 4", "1, 4")]),
    "long-rtt": (2, _THREE),
    "synchronization": (4, [*_THREE, "SFC + estimator", "drops begin"]),
    "resources": (3, ["SFC, here", "the paper"]),
    "fairness": (2, ["hadoop", "incast"]),
    "ndp": (2, ["NDP", "SFC"]),
    "rivals": (4, ["no flow control", "PFC", "OnRamp", "SFC", "BFC"]),
    "ai-fabric": (4, ["IRN", "SFC", "HPCC", "SFC with HPCC", "Swift", "NDP", "BFC"]),
}
"""The number of panels and the curve names. The made-up runs of `fairness` have two classes instead of four groups."""


def _run() -> Any:
    flows, queues = make_flows(incast=60), make_queues(duration_us=400)
    bins = [SimpleNamespace(p99=3.0, flows=2_000)]
    result = SimpleNamespace(
        fct_slowdown={"hadoop": SimpleNamespace(flows=2_000), "incast": SimpleNamespace(flows=60)},
        fct_slowdown_by_size={"hadoop": bins},
        measured_window_us=None,
        max_buffer_bytes=1_000_000,
        completion={"allreduce": SimpleNamespace(slowdown=2.0)},
        jobs=(SimpleNamespace(mean_us=400.0),),
        bts=SimpleNamespace(sent=20, suppressed=80, max_suppression_entries=30, max_cache_entries=2),
    )
    trace = queues.with_columns(switch=queues["switch"].replace("tor2", "s2"))
    goodput = make_goodput(flows)
    return SimpleNamespace(flows=flows.drop_nulls("fct_us"), queues=trace, goodput=goodput, result=result, config=None)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_the_panels_axis_labels_and_curve_names_of_the_paper(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.figure is not None
    run = _run()
    results = Results("ci", tuple(Measurement(point, run) for point in experiment.grids["ci"].points()))
    figure = draw(experiment.figure.draw(results))
    panels, names = FIGURES[name]
    assert len(figure.axes) == panels
    assert all(axes.get_xlabel() and axes.get_ylabel() and axes.lines for axes in figure.axes)
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == names
    looks: dict[str, set[Any]] = {}
    for line in (line for axes in figure.axes for line in axes.lines if not str(line.get_label()).startswith("_")):
        look = (line.get_color(), line.get_marker(), line.get_markerfacecolor())
        looks.setdefault(str(line.get_label()), set()).add(look)
    assert [len(different) for different in looks.values()] == [1] * len(names), "a name has one look in all panels"


def test_every_figure_of_the_paper_has_an_experiment() -> None:
    """Figs. 3, 4, 17 are drawings, Table 1 lists parameters, appendix C has formulas, sections 2 and 3.3 have words."""
    places = [experiment.paper for experiment in EXPERIMENTS.values()]
    numbers = [1, 2, *range(5, 17)]
    others = ("Appendix C", "Section 2", "Section 3.3, footnote")
    assert places == [*(f"Fig. {number}" for number in numbers[:-2]), "Table 2", "Fig. 15", "Fig. 16", *others]
    assert {name for name, experiment in EXPERIMENTS.items() if experiment.figure} == set(FIGURES)
    assert all(experiment.shows for experiment in EXPERIMENTS.values())


def test_the_papers_value_is_shown_only_for_places_that_were_run() -> None:
    point = SimpleNamespace(scheme="sfc", place={"workload": "rpc"})
    run = SimpleNamespace(result=SimpleNamespace(max_buffer_bytes=2_000_000))
    results = Results("ci", (Measurement(point, run),))  # type: ignore[arg-type]
    panel = beside_paper("", CurveSelection({"sfc": "SFC"}), "workload", PEAK_BUFFER, {"rpc": 1.0, "hadoop": 9.0})(
        results
    )
    assert [(curve.label, list(curve.y)) for curve in panel.curves] == [("SFC", [2.0]), ("the paper", [1.0])]
