# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Every public function refuses wrong values of every parameter, and misspelled names, with one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfc_testbed as sfc
from sfc_testbed.api.tables import Table
from sfc_testbed.request.arguments import KINDS, LISTS, alternatives
from tests.api.reading import SMALL
from tests.extended import nothing_remains, write_extension

NAN = float("nan")
TEXT: Any = "text"
ANYWHERE: tuple[object, ...] = (object(), [object()], 3 + 4j, b"sfc")
"""Values that no parameter accepts."""
WRONG: Mapping[str, tuple[object, ...]] = {
    "scenario": ("", "incst", 3, ["incast"], None),
    "scheme": ("", "scf", 3, ["sfc"], None, "sfc+", "+dctcp"),
    "schemes": ("", [], "scf", ["sfc", "sfc"], [3], 3, None),
    "clock": ("", "sundial", 3, None),
    "scale": ("", "huge", 3, None),
    "seed": ("", -1, 2.5, "two", True, 10**30, None, [1]),
    "seeds": ("", "x", 2.5, [2.5], [-1], -1, [], None, True),
    "settings": (
        *("degree=3", ["degree=3"], {3: 4}, {"degre": 3}, {"degree": "3KB"}, {"switch": {"q_th": 3}}, 3),
        *({"degree": object()}, {"degree": NAN}),
    ),
    "load_balancing": ("", "spry", 3, [3], ["spry"]),
    "topology": ("", "moebius", 3, ["star"]),
    "duration_ms": ("", "soon", -1, 0, NAN, True, [3]),
    "flows": (3, "", "x.csv", {"a": 7}, [], [3], [("h1", "h2")], [("h1", None, 5)], [("h1", "h2", "5XB")], [None]),
    "faults": ("", "loss", ["loss"], [3], 3, None),
    "switch": ("", "hard", 3, None),
    "p4": ("", "missing.p4", 3, [3]),
    "dilation": ("", 0, 2.5, "slow", True, [3]),
    "retry": (True, "yes", 1, None),
    "pcap": ("nowhere", ["h1", 3], ["h1", ""], 3, None),
    "background": ("", "iperf9", 3),
    "hosts": ("", "lxc:debian", 3),
    "workers": ("", 0, 2.5, "many", True),
    "use": ("", "missing.py", 3, ["missing.py"], [3], None),
    "out": ("", 3, None, ["runs"]),
    "quiet": ("yes", 1, None),
    "claims": ("", "missing.py", [3], 3, [None], sfc.DROPS),
    "jobs": ("", 0, -1, 2.5, "two", True),
    "source": ("", "missing.yaml", {}, {"name": 3}, 3, None, [3]),
    "scheduler": (3,),
    "folder": ("", "missing", 3, None, ["runs"]),
    "file": ("", "missing.py", 3, None, ["mine.py"]),
    "files": ("", "missing.py", 3, None, ["mine.py"]),
    "kind": ("", "planets", 3, None),
    "main": (3, "main", None),
}
NEEDED: Mapping[str, dict[str, Any]] = {
    "run": {"scenario": "incast"},
    "compare": {"scenario": "incast"},
    "sweep": {"source": {"name": "mine", "scenario": "incast", "schemes": ["sfc"]}},
}
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(sfc.run, sfc.compare, sfc.sweep, sfc.open_network, sfc.load),
    *(sfc.use, sfc.unuse, sfc.check, sfc.names, sfc.run_script),
)
DECORATORS: tuple[Callable[..., Any], ...] = (
    *(sfc.congestion_control, sfc.flow_control, sfc.loss_recovery, sfc.scheme, sfc.topology, sfc.scenario),
    sfc.load_balancing,
    *(sfc.switch_program, sfc.plot, sfc.section, sfc.quantity, sfc.export_format),
)
CLAIMS = (sfc.Ratio, sfc.Bound, sfc.Linear, sfc.SlopeRatio, sfc.Spread, sfc.NoneLower, sfc.Judged)
METHODS: tuple[Callable[..., Any], ...] = (
    *(sfc.Run.trace, sfc.Run.plot, sfc.Comparison.plot, sfc.Sweep.plot),
    *(Table.to_csv, Table.to_latex, Table.to_markdown),
    *(sfc.Network.send, sfc.Network.incast, sfc.Network.wait, sfc.Network.switch, sfc.Network.host),
    *(sfc.Network.node, sfc.Network.port, sfc.Network.queues, sfc.Network.cache, sfc.Network.paused_ports),
    *(sfc.Network.set_rate, sfc.Network.set_scheme, sfc.Network.set_load_balancing),
    *(sfc.Network.set_link, sfc.Network.start_switch),
)
UNCHECKED = {"Any", "Name", "tuple", "ScaleName"}
"""Kinds of values that the function itself checks."""
CASES = [(function, parameter) for function in FUNCTIONS for parameter in inspect.signature(function).parameters]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with nothing_remains():
        yield


def _refusal(call: Callable[..., Any], *values: object, **named: object) -> str:
    """Return the line with which a call is refused."""
    with pytest.raises(sfc.UsageError) as refused:
        made = call(*values, **named)
        if hasattr(made, "__enter__"):
            made.__enter__()
    line = str(refused.value)
    assert line and "\n" not in line
    return line


@pytest.mark.parametrize(("function", "name"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_wrong_values_are_refused_in_one_line(function: Callable[..., Any], name: str, tmp_path: Path) -> None:
    parameter = inspect.signature(function).parameters[name]
    for value in (*WRONG[name], *ANYWHERE):
        if parameter.kind is parameter.VAR_POSITIONAL:
            _refusal(function, value)
        elif not (value is None and parameter.default is None and function is not sfc.run):
            _refusal(function, **{**NEEDED.get(function.__name__, {}), name: value})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", [*FUNCTIONS, *DECORATORS, *CLAIMS, *METHODS], ids=lambda case: case.__qualname__)
def test_every_parameter_is_checked(function: Callable[..., Any]) -> None:
    assert hasattr(function if inspect.isroutine(function) else function.__init__, "__wrapped__")
    for parameter in list(inspect.signature(function).parameters.values()):
        kinds = {word.partition("[")[0] for word in alternatives(parameter.annotation)}
        assert kinds <= {*KINDS, *LISTS, *UNCHECKED}, parameter


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        (lambda: sfc.run("incast", schem="sfc"), "run: there is no argument schem; nearest: scheme"),  # type: ignore[call-arg]
        (lambda: sfc.compare("incast", seed=3), "compare: there is no argument seed; nearest: seeds"),  # type: ignore[call-arg]
        (lambda: sfc.scheme("x", swich={}), "scheme: there is no argument swich; nearest: switch"),  # type: ignore[call-arg]
        (lambda: sfc.Bound("c", "p", "x", "sfc", at_mst=1), "there is no argument at_mst; nearest: at_most"),  # type: ignore[call-arg]
        (lambda: sfc.run("incast", settings={"degre": 3}), "degre: there is no such setting; nearest: degree"),
        (lambda: sfc.run("incast", settings={"switch": {"q_th_byte": 3}}), "nearest: q_th_bytes"),
        (lambda: sfc.run("incast", settings={"swich": {"q_th_bytes": 3}}), "nearest: switch"),
        (lambda: sfc.compare("incast", np.array(3)), "schemes: must be "),
        (lambda: sfc.run("incast", settings={"degree": {}}), "degree: must be"),
        (lambda: sfc.names("scheme"), "nearest: schemes"),
        (lambda: sfc.run("incast", "sfc", "virtual"), "run: too many positional arguments"),  # type: ignore[call-arg]
        (lambda: sfc.sweep(), "sweep: missing a required argument: 'source'"),  # type: ignore[call-arg]
        (lambda: sfc.Ratio("c", "p", 3, "sfc", "irn"), "of: must be a quantity or text, not 3"),  # type: ignore[arg-type]
        (lambda: sfc.run(), "no scenario"),
        (
            lambda: sfc.run("incast", "dcqcn"),
            "control, not a scheme: write it after one, such as irn+dcqcn",
        ),
        (lambda: sfc.run("incast", settings=TEXT), "settings: must be a mapping or None, not 'text'"),
        (lambda: sfc.compare("incast", "irn,sfc", claims=[TEXT]), "claims: 'text' is not a claim"),
        (lambda: sfc.load("."), "not the folder of a run, a comparison or a sweep"),
    ],
)
def test_refusals_name_what_was_meant(call: Callable[[], object], nearest: str) -> None:
    assert nearest in _refusal(call)


def test_a_file_goes_out_of_use(tmp_path: Path) -> None:
    path = write_extension(tmp_path)
    sfc.use(path)
    assert sfc.run("incast", "irn+half-bdp", settings=SMALL).config.uses
    sfc.unuse(path)
    with pytest.raises(sfc.UsageError, match="unknown congestion control 'half-bdp'"):
        sfc.run("incast", "irn+half-bdp", settings=SMALL)
    with pytest.raises(sfc.UsageError, match="this file is not in use"):
        sfc.unuse(path)


def test_names_have_those_of_the_testbed() -> None:
    assert sfc.names("scenarios")["incast"].startswith("N senders")
    assert {"irn", "sfc"} <= set(sfc.names("schemes"))
    assert "dctcp" in sfc.names("congestion controls")
    assert "star" in sfc.names("topologies")
    assert sfc.names("quantities")["peak buffer"] == "MB"


def test_names_and_checks_have_those_of_an_extension(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import sfc_testbed as sfc\n\n\n@sfc.quantity('flows', unit='flows')\n"
        "def flows(run):\n    return run.flows.height\n"
    )
    [checked] = sfc.check("mine.py")
    assert (checked.what, checked.check, checked.lack) == ("quantity flows", "a run of incast", None)
    assert sfc.names("quantities")["flows"] == "flows"
