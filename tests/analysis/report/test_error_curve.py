# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the section on error against lateness in docs/fidelity.md: its curve, tables and picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.plots.lateness import plot_error_against_lateness
from analysis.report import fidelity
from analysis.report.fidelity import PICTURE, curve_points, document, error_section, main, merged
from analysis.results.limits import DEGRADED_ABOVE, INVALID_ABOVE
from analysis.validation.comparison import compare_clocks
from analysis.validation.record import ValidatedRun, Validation, write_validation
from tests.analysis.conftest import CONFIG
from tests.analysis.validation.small import SMALL_QUEUES, small_run


def _run(
    dilation: int, *, late: float, peak_bytes: int = 9000, was_given: bool = True, scheme: str = "sfc"
) -> ValidatedRun:
    """Return a pair of runs whose virtual peak buffer is 9000 B."""
    queues = [*SMALL_QUEUES[:2], {**SMALL_QUEUES[2], "high_water_bytes": peak_bytes}, *SMALL_QUEUES[3:]]
    live = small_run(queues=queues, config=replace(CONFIG, dilation_given=was_given))
    changes = {"dilation": dilation, "host_lateness": late, "switch_lateness": late / 2, "scheme": scheme}
    return compare_clocks(small_run(), live).model_copy(update=changes)


def _rows(text: str) -> list[list[str]]:
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if len(row) == 8 and row[0].strip("*").replace(",", "").isdigit()]


def test_a_validated_run_records_whether_its_dilation_was_given_and_its_lateness() -> None:
    live = small_run()
    assert live.result.lateness.host is not None
    assert live.result.lateness.switch is not None
    run = compare_clocks(small_run(), replace(live, config=replace(CONFIG, dilation_given=True)))
    assert run.dilation_given
    assert run.host_lateness == live.result.lateness.host.p99_of_base_rtt
    assert run.switch_lateness == live.result.lateness.switch.p99_of_base_rtt
    assert run.lateness == max(run.host_lateness, run.switch_lateness)
    assert not compare_clocks(small_run(), live).dilation_given


def test_runs_with_a_given_dilation_stay_out_of_the_main_tables() -> None:
    """Each given D is a point on the curve. The run at the D that the testbed chose is in table and curve."""
    chosen = _run(20_000, late=0.01, was_given=False)
    with_given = [_run(dilation, late=100 / dilation) for dilation in (5_000, 1_000)]
    newer = _run(1_000, late=0.11)
    other_seed = newer.model_copy(update={"seed": newer.seed + 1})
    assert merged([chosen, *with_given], [newer, other_seed]) == (chosen, with_given[0], newer, other_seed)
    text = document([chosen, *with_given])
    assert "Verdicts of 1 pairs of runs" in text
    assert [row[0] for row in _rows(text)] == ["1,000", "5,000", "*20,000*"]
    assert "No run is stored yet" in document(with_given)


def test_the_table_has_lateness_error_wall_time_and_verdict() -> None:
    run = _run(1_000, late=0.2, peak_bytes=11_700)
    [late, early] = _rows("\n".join(error_section([run, _run(2_000, late=0.1)])))
    assert late[:5] == ["1,000", str(run.seed), "20 %", "10 %", "+30 %"]
    assert early[4] == "0 %"
    assert (late[7], early[7]) == ("invalid", "degraded")


def test_a_scenario_without_given_dilations_has_no_curve() -> None:
    text = "\n".join(error_section([_run(20_000, late=0.01, was_given=False)]))
    assert f"faithful up to {100 * DEGRADED_ABOVE:.3g} %" in text
    assert f"invalid above {100 * INVALID_ABOVE:.3g} %" in text
    assert "--dilation D" in text
    assert PICTURE not in text


def test_the_largest_error_within_each_limit_is_reported() -> None:
    runs = [
        _run(9_000, late=DEGRADED_ABOVE, peak_bytes=9_090),
        _run(8_000, late=DEGRADED_ABOVE / 2, peak_bytes=9_180),
        _run(7_000, late=INVALID_ABOVE, peak_bytes=11_700),
        _run(6_000, late=2 * INVALID_ABOVE, peak_bytes=18_000),
    ]
    [measured] = [part for part in error_section(runs) if part.startswith("Measured")]
    assert "2 runs below the first limit, error of the peak buffer at most 2 %, above 5 % in 0" in measured
    assert "1 run between the limits, error of the peak buffer at most 30 %, above 25 % in 1" in measured
    assert "1 run above the second limit, error of the peak buffer at most 100 %" in measured


def test_the_picture_has_a_line_for_each_scheme_and_the_limits() -> None:
    runs = [_run(1_000, late=0.2, peak_bytes=11_700), _run(2_000, late=0.1), _run(1_000, late=0.3, scheme="irn")]
    runs.append(_run(3_000, late=0.1).model_copy(update={"host_lateness": None}))
    points = curve_points(runs)
    assert [(point.scheme, point.lateness) for point in points] == [("sfc", 0.1), ("sfc", 0.2), ("irn", 0.3)]
    assert points[1].peak_error == pytest.approx(0.3)
    figure = plot_error_against_lateness([replace(point, p95_error=0.1) for point in points])
    for axes in figure.axes:
        late = [(line.get_marker(), np.asarray(line.get_xdata()).tolist()) for line in axes.lines]
        assert [values for marker, values in late if marker == "o"] == [[10, 20], [30]]
        vertical = {values[0] for marker, values in late if marker != "o" and values[0] == values[-1]}
        assert vertical == {100 * DEGRADED_ABOVE, 100 * INVALID_ABOVE}


def test_several_folders_become_one_document_with_its_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "images").mkdir()
    monkeypatch.setattr(fidelity, "STORE", tmp_path / "fidelity.json")
    monkeypatch.setattr(fidelity, "DOCUMENT", tmp_path / "fidelity.md")
    for dilation in (1_000, 2_000):
        (tmp_path / str(dilation)).mkdir()
        run = _run(dilation, late=100 / dilation)
        write_validation(tmp_path / str(dilation) / "validation.json", Validation(runs=(run,)))
    assert main([str(tmp_path / "1000"), str(tmp_path / "2000")]) == 0
    assert [row[0] for row in _rows((tmp_path / "fidelity.md").read_text())] == ["1,000", "2,000"]
    assert (tmp_path / PICTURE).read_bytes().startswith(b"\x89PNG")
    assert main(["--check"]) == 0
