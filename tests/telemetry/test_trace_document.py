# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that docs/traces.md agrees with the schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.telemetry import document
from sfc_testbed.telemetry.schema import OPTIONAL_SCHEMAS, SCHEMAS

ALL = {**SCHEMAS, **OPTIONAL_SCHEMAS}


def test_the_document_is_current() -> None:
    """If this fails, run `python -m sfc_testbed.telemetry.document`."""
    assert document.main(["--check"]) == 0


def test_a_stale_document_is_reported_and_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--check` fails and changes nothing. Without it only the tables are replaced."""
    path = tmp_path / "traces.md"
    stale = "Prose.\n" + "".join(f"<!-- begin {name} -->\nold\n<!-- end {name} -->\n" for name in ALL) + "End.\n"
    path.write_text(stale)
    monkeypatch.setattr(document, "DOCUMENT", path)
    assert document.main(["--check"]) == 1
    assert "not current" in capsys.readouterr().err
    assert path.read_text() == stale
    assert document.main([]) == 0
    assert document.main(["--check"]) == 0
    assert path.read_text().startswith("Prose.\n")
    assert path.read_text().endswith("End.\n")


def test_missing_markers_are_an_error() -> None:
    with pytest.raises(ValueError, match="markers <!-- begin flows -->"):
        document.render_document("no markers")
