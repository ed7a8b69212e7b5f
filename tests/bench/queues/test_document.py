# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the page about queues: it is generated from the stored measurements, and shows them beside theory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.queues import __main__ as command
from bench.queues import document, store
from bench.queues.figures import write_figures
from bench.queues.store import Record, Store
from bench.queues.tables import TABLES, rows_of, worst_rows

MACHINE = {"date": "2026-11-27", "cpus": 2, "load_1min": 0.5, "kernel": "6.1", "bmv2": "1.15.5", "tutorials": "dc1b049"}
DEPTH = Record(
    *("mri", "softswitch", 1_000_000, "1.5"),
    sent=562,
    received=438,
    throughput_bps=990_000.0,
    most_late_ms=0.2,
    figures={"peak": 63.0, "mean_error": 0.26},
    curve_s=[0.02, 0.04],
    curve=[0.5, 1.5],
)
MARKS = replace(DEPTH, exercise="ecn", target="bmv2-tclink", figures={"first_mark_s": None, "marked": 0.0})
PROBES = replace(DEPTH, exercise="link_monitor", load="0.5", figures={"utilisation_bps": 504_800.0})


def rows(record: Record) -> list[list[tuple[str, ...]]]:
    return [rows_of([record], table) for table in TABLES if table.exercise == record.exercise]


def test_committed_page_is_current() -> None:
    assert document.main(["--check"]) == 0


def test_measurements_stand_beside_theory() -> None:
    """124 of 562 frames are lost, where the fluid loses 123.5."""
    assert rows(DEPTH) == [
        [("1", "1.5", "1.000; 124", "0.990 (-1.0 %); 124 of 562", "-", "-")],
        [("1", "1.5", "63", "63; 0.3", "-", "-")],
    ]
    assert rows(MARKS) == [[("1", "1.5", "0.160 s; 409", "-", "-", "none")]]
    assert rows(PROBES) == [[("1", "0.5", "0.505", "0.505 (+0.0 %)", "-", "-")]]


def test_worst_differences_are_over_all_loads() -> None:
    better = replace(DEPTH, rate_bps=5_000_000, throughput_bps=4_999_000.0, figures={"peak": 63.0, "mean_error": 0.1})
    found = {row[0]: row[1:] for row in worst_rows([DEPTH, better, MARKS])}
    assert found["throughput (% of theory)"] == ("1.0", "-", "-")
    assert found["queue depth in `mri`, mean over time (packets)"] == ("0.3", "-", "-")
    assert found["marked frames in `ecn` (% of those sent)"] == ("-", "-", "72.8")


def test_new_measurements_replace_the_stored_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = tmp_path / "queues.json"
    store.write(printed, Store(MACHINE, [DEPTH, PROBES]))
    monkeypatch.setattr(document, "STORE", tmp_path / "stored.json")
    monkeypatch.setattr(document, "IMAGES", tmp_path)
    monkeypatch.setattr(document, "DOCUMENT", tmp_path / "page.md")
    document.DOCUMENT.write_text("before\n<!-- begin measured -->\nold\n<!-- end measured -->\nafter\n")
    assert document.main([str(printed)]) == 0
    text = document.DOCUMENT.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "2026-11-27; 2 CPUs" in text
    assert store.read(document.STORE) == store.read(printed)
    assert document.main(["--check"]) == 0
    assert (tmp_path / "queues-mri.png").exists()
    document.DOCUMENT.write_text("no markers")
    assert document.main([]) == 2


def test_stored_measurements_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--show", "--exercises", "mri"]) == 0
    shown = capsys.readouterr().out
    assert "Queue depth in the exercise mri" in shown
    assert "Throughput and loss" in shown
    assert "Marks in the exercise ecn" not in shown


def test_figures_show_the_loads_and_rates_that_were_measured(tmp_path: Path) -> None:
    assert [path.name for path in write_figures([replace(DEPTH, rate_bps=2_000_000), PROBES], tmp_path)] == [
        "queues-mri.png",
        "queues-link-monitor.png",
    ]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.iterdir())
    assert write_figures([], tmp_path) == []


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[]", "list indices"),
        ('{"schema": 9}', "schema 9, expected 1"),
        ('{"schema": 1, "machine": {}, "records": [{"exercise": "mri"}]}', "missing"),
    ],
)
def test_other_files_are_refused_in_one_line(
    content: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    assert document.main([str(path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}: ") and complaint in line
