# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Quantities of extensions: their values, errors of their functions, and their means over seeds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.results.comparison import compare
from sfc_testbed.analysis.results.quantities import QUANTITIES, Measurements, NotMeasured, Quantity, measured
from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.analysis.results.swept import with_quantities
from tests.analysis.conftest import FolderMaker

RUN: Any = SimpleNamespace(value=2.5)


def _too_little(run: object) -> float:
    raise NotMeasured("too little data")


def _broken(run: object) -> float:
    raise ValueError("one line\nand another")


@pytest.fixture(autouse=True)
def _quantities() -> Iterator[None]:
    functions = {
        "value": lambda run: run.value,
        "little": _too_little,
        "broken": _broken,
        "endless": lambda run: float("inf"),
    }
    for name, function in functions.items():
        QUANTITIES.add(name, Quantity(name, function), "mine")
    yield
    QUANTITIES.remove("mine")


def test_a_run_has_a_value_or_none_of_each_quantity_and_errors_are_sentences() -> None:
    found = measured(RUN)
    assert found.values == {"value": 2.5, "little": None, "broken": None, "endless": None}
    assert found.failures == ("Quantity broken failed: ValueError: one line.", "Quantity endless is inf.")


def test_a_comparison_has_means_over_seeds_and_warns_of_errors(make_run_folder: FolderMaker) -> None:
    result = read_result(make_run_folder())
    results = [
        result.model_copy(update={"scheme": scheme, "variant": scheme, "seed": seed})
        for seed in (1, 2)
        for scheme in ("irn", "sfc")
    ]
    quantities = [Measurements({"value": float(place)}) for place in (1, 2, 3, 4)]
    rows = compare(results, quantities=quantities).quantities
    assert [(row.label, row.value) for row in rows] == [("irn", 2.0), ("sfc", 3.0)]
    assert all(row.over_seeds is not None and row.over_seeds.interval is not None for row in rows)
    failed = compare(results[:2], quantities=[Measurements({}, ("Quantity a failed.",)), Measurements({})])
    assert any("Quantity a failed." in warning for warning in failed.warnings)


def test_the_table_of_a_sweep_keeps_quantities_of_extensions_that_are_not_loaded(tmp_path: Path) -> None:
    """The folder of the run is missing, so that nothing can be measured."""
    table = pl.DataFrame({"job": ["a"], "warnings": ["one"], "quantity.old": [1.0]})
    extended = with_quantities(table, tmp_path)
    assert extended["quantity.old"].to_list() == [1.0]
    assert extended["quantity.value"].to_list() == [None]
    assert extended["warnings"].to_list() == ["one"]
