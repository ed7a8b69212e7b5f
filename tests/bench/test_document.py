# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/performance.md is generated from the stored measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import document
from bench.__main__ import main as bench
from bench.comparison import comparison
from bench.instruments.benchmark import Figure, Target
from bench.report import SCHEMA, Report, as_json

MACHINE = {"date": "2026-11-22", "cpus": 2, "load_1min": 7.5, "kernel": "6.1", "python": "3.11"}
TEXT = "before\n<!-- begin comparison -->\nold\n<!-- end comparison -->\nafter\n"


def stored(tmp_path: Path, value: float) -> Path:
    """Write a file as `python -m bench --json` prints it, with one measured and one skipped benchmark."""
    path = tmp_path / "printed.json"
    reports = [Report("peers", [Figure("64:1: htsim / ours, wall time", value, target=Target(0.5, "at least"))])]
    path.write_text(as_json([*reports, Report("wire", skipped="needs root")], MACHINE))
    return path


def test_committed_document_is_current() -> None:
    assert document.main(["--check"]) == 0


def test_last_measurement_of_a_benchmark_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store and the page are written together. Skipped benchmarks are left out."""
    monkeypatch.setattr(document, "STORE", tmp_path / "store.json")
    monkeypatch.setattr(document, "DOCUMENT", tmp_path / "performance.md")
    document.DOCUMENT.write_text(TEXT)
    monkeypatch.setattr(document, "README", tmp_path / "README.md")
    document.README.write_text(TEXT.replace("comparison", "simulators"))
    for value in (0.25, 0.75):
        assert document.main([str(stored(tmp_path, value))]) == 0
    assert "| htsim | 64:1 |  |  |  | 0.75 |  |" in document.README.read_text()
    text = document.DOCUMENT.read_text()
    assert "| htsim | 64:1 |  |  |  | 0.75 |  |" in text
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    [benchmark] = document.read(document.STORE).values()
    assert benchmark["figures"][0]["value"] == 0.75
    assert document.main(["--check"]) == 0


def test_stored_figures_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["--show", "fabric", "startup"]) == 0
    shown = capsys.readouterr().out
    assert "host packets/s" in shown
    assert "startup no figures are stored" in shown


def test_comparison_has_a_row_for_each_work_and_says_what_was_not_measured() -> None:
    figures = [
        Figure("64:1: ours, wall time", 2.0, "s"),
        Figure("64:1: ours, CPU time", 2.5, "s"),
        Figure("64:1: htsim, wall time", 1.8, "s"),
        Figure("64:1: htsim / ours, wall time", 0.9),
        Figure("64:1: htsim / ours, CPU time", 0.72),
        Figure("64:1: htsim / ours, 2 workers, wall time", 1.5),
        Figure("softswitch", 600, "packets/s"),
        Figure("BMv2", 20, "packets/s"),
        Figure("softswitch / BMv2", 30),
    ]
    rows = comparison(figures).splitlines()
    assert rows[2] == "| htsim | 64:1 | 1.80 s | 2.00 s, 2.50 s |  | 0.90, 0.72 | 1.50 |"
    absent = [f"| {name} | not measured |  |  |  |  |  |" for name in ("htsim_uec", "HPCC simulator", "ns-3")]
    assert rows[3:6] == absent
    assert rows[-2] == "| BMv2 | 20.00 packets/s | 600.0 packets/s | 30.00 |"
    assert rows[-1] == "| a bare forwarder | not measured |  |  |"


@pytest.mark.parametrize("machine", [None, MACHINE])
@pytest.mark.parametrize("schema", ["something", SCHEMA])
def test_invalid_file_or_store_is_refused_in_one_line(
    schema: str,
    machine: dict[str, object] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damaged = {"schema": schema, "machine": machine, "benchmarks": {"wire": {"figures": [{"name": "bits/s"}]}}}
    path = tmp_path / "other.json"
    path.write_text(json.dumps(damaged))
    assert document.main([str(path)]) == 2
    monkeypatch.setattr(document, "STORE", path)
    assert document.main([]) == 2
    assert [line.startswith(str(path)) for line in capsys.readouterr().err.splitlines()] == [True, True]
