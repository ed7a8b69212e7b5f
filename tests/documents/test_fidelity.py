# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for docs/fidelity.md: its figures, the curve of error against lateness, and the stored runs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE, INVALID_ABOVE
from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.analysis.validation.comparison import compare_clocks
from sfc_testbed.analysis.validation.record import ValidatedRun, Validation, read_validation, write_validation
from sfc_testbed.documents import fidelity
from sfc_testbed.documents.curve import curve_cells, curves, errors_by_range
from sfc_testbed.documents.fidelity import DOCUMENT, PICTURE, curve_points, document, main, merged, runs_below
from sfc_testbed.documents.pictures import plot_error_against_lateness
from tests.analysis.conftest import CONFIG
from tests.analysis.validation.small import SMALL_QUEUES, small_run

PAGE = DOCUMENT.read_text(encoding="utf-8")


def _run(
    dilation: int, *, late: float, peak_bytes: int = 9000, was_given: bool = True, scheme: str = "sfc"
) -> ValidatedRun:
    """Return a pair of runs whose virtual peak buffer is 9000 B."""
    queues = [*SMALL_QUEUES[:2], {**SMALL_QUEUES[2], "high_water_bytes": peak_bytes}, *SMALL_QUEUES[3:]]
    live = small_run(queues=queues, config=replace(CONFIG, dilation_given=was_given))
    changes = {"dilation": dilation, "host_lateness": late, "switch_lateness": late / 2, "scheme": scheme}
    return compare_clocks(small_run(), live).model_copy(update=changes)


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


def test_runs_with_a_given_dilation_are_in_the_curve_only() -> None:
    """Each given D is a point on the curve. The run at the D that the testbed chose is in table and curve."""
    chosen = _run(20_000, late=0.01, peak_bytes=9_450, was_given=False)
    with_given = [_run(dilation, late=100 / dilation) for dilation in (5_000, 1_000)]
    newer = _run(1_000, late=0.11)
    other_seed = newer.model_copy(update={"seed": newer.seed + 1})
    assert merged([chosen, *with_given], [newer, other_seed]) == (chosen, with_given[0], newer, other_seed)
    [curve] = curves([chosen, *with_given]).values()
    assert [curve_cells(run)[0] for run in curve] == ["1,000", "5,000", "20,000 auto"]
    assert curves([chosen]) == {}
    text = document(PAGE, [chosen, *with_given])
    assert (
        "In 1 pair of a live run on softswitch and a virtual run of the same flows, the peak buffer differs by 5 %"
        in text
    )
    assert "| hadoop-50 | 1 | 5 % | 5 % |" in text
    assert "No pair of runs is stored yet" in document(PAGE, with_given)


def test_a_point_of_the_curve_has_lateness_error_and_verdict() -> None:
    late = curve_cells(_run(1_000, late=0.2, peak_bytes=11_700))
    assert late[:1] + late[2:5] == ("1,000", "20 %", "10 %", "+30 %")
    assert late[-1] == "invalid"
    assert curve_cells(_run(2_000, late=0.1))[-1] == "degraded"


def test_the_largest_error_within_each_limit_is_reported() -> None:
    runs = [
        _run(9_000, late=DEGRADED_ABOVE, peak_bytes=9_090),
        _run(8_000, late=DEGRADED_ABOVE / 2, peak_bytes=9_180),
        _run(7_000, late=INVALID_ABOVE, peak_bytes=11_700),
        _run(6_000, late=2 * INVALID_ABOVE, peak_bytes=18_000),
    ]
    assert list(errors_by_range(runs)) == [
        f"In {runs} the peak buffer differed by at most {largest}, and by more than {allowed} of them"
        for runs, largest, allowed in (
            ("2 measured runs below the first limit,", "2 %", "5 % in 0"),
            ("1 measured run between the limits,", "30 %", "25 % in 1"),
            ("1 measured run above the second limit,", "100 %", "25 % in 1"),
        )
    ]


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


def test_runs_are_added_to_the_store_the_page_and_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newer file replaces the run of an older one."""
    (tmp_path / "images").mkdir()
    store, page = tmp_path / "fidelity.json", tmp_path / "fidelity.md"
    monkeypatch.setattr(fidelity, "STORE", store)
    monkeypatch.setattr(fidelity, "DOCUMENT", page)
    page.write_text(PAGE)
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "no validation.json below" in capsys.readouterr().err
    older, point = _run(20_000, late=0.01, was_given=False), _run(1_000, late=0.2)
    newer = older.model_copy(update={"seed": 99})
    for age, runs in enumerate([(newer, point), (older,)]):
        folder = tmp_path / f"stored-{age}"
        folder.mkdir()
        write_validation(folder / "validation.json", Validation(runs=runs))
        os.utime(folder / "validation.json", (1000 - age, 1000 - age))
    assert [run.seed for run in runs_below([tmp_path])] == [older.seed, 99, point.seed]
    assert main([str(tmp_path)]) == 0
    assert read_validation(store).runs == (newer, point)
    assert len(store.read_text().splitlines()) == 4  # a line for each run
    assert (tmp_path / PICTURE).read_bytes().startswith(b"\x89PNG")
    assert main(["--check"]) == 0
    page.write_text(PAGE.replace("<!-- end answer -->", ""))
    assert main([]) == 2
    with pytest.raises(ResultError, match=r"no validation.json"):
        list(runs_below([tmp_path / "images"]))


def test_the_page_is_current() -> None:
    assert main(["--check"]) == 0, f"run make docs: {DOCUMENT.name} is not current"
