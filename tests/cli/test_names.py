# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The names in the cache: they follow their sources, and a damaged file is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.cli.listing import names as module
from sfc_testbed.cli.listing.names import names
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.scenarios.faults.kinds import FAULTS
from sfc_testbed.topologies.shapes import SHAPES


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module._names_in_cache.cache_clear()
    return tmp_path / "sfc-testbed"


def kept() -> module.Names:
    module._names_in_cache.cache_clear()
    return names()


def test_the_names_are_those_of_the_tables() -> None:
    for rows in (names(), kept()):
        assert [row[0] for row in rows["scenarios"]] == list(SCENARIOS)
        assert [row[0] for row in rows["faults"]] == list(FAULTS)
        assert [row[0] for row in rows["topologies"]] == list(SHAPES)
        assert [row[1] for row in rows["scenarios"]] == [scenario.summary for scenario in SCENARIOS.values()]


def test_the_second_command_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = names()
    monkeypatch.setattr(module, "_names", lambda: pytest.fail("computed again"))
    assert kept() == first


def test_a_changed_source_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The length stays."""
    source = tmp_path / "scenario.py"
    source.write_text("SUMMARY = 1")
    monkeypatch.setattr(module, "_sources", lambda: [source])
    names()
    monkeypatch.setattr(module, "_names", lambda: {"scenarios": [["changed", "now", "ci"]]})
    assert kept()["scenarios"] != [["changed", "now", "ci"]]
    source.write_text("SUMMARY = 2")
    assert kept() == {"scenarios": [["changed", "now", "ci"]]}


@pytest.mark.parametrize("content", ["", "{", '{"scenarios": []}'])
def test_a_damaged_file_is_made_again(content: str, cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first = names()
    [file] = cache.glob("names-*.json")
    file.write_text(content)
    assert kept() == first
    assert "is damaged and is made again" in capfd.readouterr().err
    assert kept() == first


def test_without_a_cache_the_names_are_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = names()
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert kept() == first
