# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names and values that people guess: claims that name a quantity, files that go out of use, and helpful refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import sfc_testbed as sfc
from tests.extended import nothing_remains, write_extension

PEAK_BUFFER: Any = "peak buffer"
TEXT: Any = "text"
SMALL = {"degree": 2, "message_bytes": 2000}


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    with nothing_remains():
        yield


def test_a_claim_may_name_its_quantity(tmp_path: Path) -> None:
    claim = sfc.Bound("the buffer is small", "at most 1 MB", PEAK_BUFFER, "sfc", at_most=1e6)
    comparison = sfc.compare("incast", "irn,sfc", settings=SMALL, claims=[claim], out=tmp_path)
    assert [held.holds for held in comparison.claims] == [True]


def test_a_file_goes_out_of_use(tmp_path: Path) -> None:
    path = write_extension(tmp_path)
    sfc.use(path)
    assert sfc.run("incast", "irn+half-bdp", settings=SMALL, out=tmp_path / "runs").config.uses
    sfc.unuse(path)
    with pytest.raises(sfc.UsageError, match="unknown congestion control 'half-bdp'"):
        sfc.run("incast", "irn+half-bdp", settings=SMALL, out=tmp_path / "runs")
    with pytest.raises(sfc.UsageError, match="this file is not in use"):
        sfc.unuse(path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda out: sfc.run("incast", "dcqcn", out=out), r"a congestion control, not a scheme: .* such as irn\+dcqcn"),
        (lambda out: sfc.run("incast", settings=TEXT, out=out), "settings: must be a mapping or None, not 'text'"),
        (lambda out: sfc.compare("incast", "irn,sfc", claims=[TEXT], out=out), "claims: 'text' is not a claim"),
        (lambda out: sfc.load(out), "not the folder of a run, a comparison or a sweep"),
    ],
)
def test_refusals_say_what_to_write(call: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(sfc.UsageError, match=message):
        call(tmp_path)


def test_the_version_is_that_of_the_distribution() -> None:
    assert vars(sfc).get("__version__", getattr(sfc, "__version__", None)) == metadata.version("sfc-testbed")
    assert "os" not in dir(sfc)
