# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the comparison of live and virtual runs on the terminal and on a page."""

from __future__ import annotations

import pytest

from sfc_testbed.analysis.report.validation import validated_run_table, validation_summary, write_validation_page
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.validation.comparison import compare_clocks
from sfc_testbed.analysis.validation.metrics import METRICS
from sfc_testbed.analysis.validation.record import ValidatedRun, Validation
from tests.analysis.conftest import FolderMaker
from tests.analysis.narrow import lost, printed


def _run(make: FolderMaker, *, peak_bytes: float = 3e6, place: str = "") -> ValidatedRun:
    virtual = make("sfc", config={"clock": "virtual"})
    return compare_clocks(load_run(virtual), load_run(make("sfc", peak_bytes=peak_bytes)), place)


def test_tables_mark_figures_outside_their_tolerance(make_run_folder: FolderMaker) -> None:
    """The peak buffer is 50 % higher in the live run."""
    run = _run(make_run_folder, peak_bytes=4.5e6)
    assert {finding.metric for finding in run.outside} == {"peak_buffer_bytes", "mean_buffer_bytes"}
    tables = validated_run_table(run), validation_summary(Validation(runs=(run,)))
    text = "".join(printed(table, 160) for table in tables)
    [peak] = [line for line in text.splitlines() if line.strip().startswith("peak buffer") and "±" in line]
    assert peak.split()[-3:] == ["±5", "%", "no"]
    assert "+50 %" in peak
    assert f"{len(run.metrics) - 2} of {len(run.metrics)}" in text
    assert "P95 slowdown, hadoop" in text
    assert "zero on both clocks: pause obeyed" in text


def test_a_summary_fits_80_columns(make_run_folder: FolderMaker) -> None:
    run = _run(make_run_folder, peak_bytes=4.5e6).model_copy(update={"dilation": 100_000})
    text = printed(validation_summary(Validation(runs=(run,))))
    [row] = [line for line in text.splitlines() if "hadoop-50 sfc" in line]
    assert row.split()[2:6] == ["100,000", "faithful", "+50", "%"]
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("width", [80, 60])
def test_no_figure_is_lost_on_a_narrow_terminal(make_run_folder: FolderMaker, width: int) -> None:
    run = _run(make_run_folder, peak_bytes=4.5e6)
    findings = [
        finding.model_copy(update={"spread": (finding.virtual * 0.9, finding.virtual)})
        for finding in run.metrics
        if finding.virtual
    ]
    run = run.model_copy(update={"jitter_runs": 3, "jitter_ns": 200, "metrics": tuple(findings)})
    assert lost(validated_run_table(run), width) == []
    assert lost(validation_summary(Validation(runs=(run,))), width) == []


def test_a_page_shows_every_run_and_figure(make_run_folder: FolderMaker) -> None:
    run = _run(make_run_folder, place="degree <8>")
    folder = make_run_folder().parent
    page = write_validation_page(folder, Validation(runs=(run,), left_out=("incast pfc: why",)), pictures=True)
    html = page.read_text()
    assert html.count("<figure>") == 1
    assert (folder / "buffer-1.png").exists()
    assert "hadoop-50 sfc, degree &lt;8&gt;" in html
    assert "incast pfc: why" in html
    assert all(metric.meaning.replace("'", "&#39;") in html for metric in METRICS)
    assert f'href="{run.live_folder}/report.html"' in html


def test_links_quote_the_names_of_folders(make_run_folder: FolderMaker) -> None:
    """The folder names in a validation.json of other origin cannot turn a link into a script."""
    run = _run(make_run_folder)
    folder = make_run_folder().parent
    (folder / run.live_folder).rename(folder / "javascript:alert(1)#")
    run = run.model_copy(update={"live_folder": "javascript:alert(1)#"})
    html = write_validation_page(folder, Validation(runs=(run,))).read_text()
    assert 'href="javascript%3Aalert%281%29%23/report.html"' in html


def test_page_begins_with_agreement_and_verdict(make_run_folder: FolderMaker) -> None:
    good = _run(make_run_folder)
    degraded = _run(make_run_folder, peak_bytes=4.5e6, place="degree 8").model_copy(update={"verdict": "degraded"})
    count, walls = len(good.metrics), (good.live_wall_s or 0) + (degraded.live_wall_s or 0)
    first = _first(make_run_folder, Validation(runs=(good,)))
    assert first.startswith(f"Live and virtual agree within tolerance in all {count} figures of 1 pair of runs. ")
    assert first.endswith(" The verdict is faithful.")
    first = _first(make_run_folder, Validation(runs=(good, degraded)))
    assert f"in {2 * count - 2} of {2 * count} figures of 2 pairs of runs" in first
    where = "hadoop-50 sfc, degree 8"
    assert f"These are outside tolerance: {where}: peak buffer +50 %; {where}: mean of all buffers " in first
    assert "The largest difference in peak buffer is 50 %. " in first
    assert f"The wall time of the live runs was {walls:.1f} s." in first
    assert first.endswith(" The verdict is degraded in 1 of 2 pairs (hadoop-50 sfc, degree 8).")


def test_page_with_failed_comparisons_has_no_good_verdict(make_run_folder: FolderMaker) -> None:
    failed = Validation(runs=(_run(make_run_folder),), failures=("incast pfc: why",))
    assert _first(make_run_folder, failed).endswith(" The comparison is incomplete: 1 pair could not be compared.")
    assert "so there is no verdict" in _first(make_run_folder, Validation(runs=(), failures=("incast pfc: why",)))


def _first(make: FolderMaker, validation: Validation) -> str:
    html = write_validation_page(make().parent, validation).read_text()
    return html.partition('<p class="first">')[2].partition("</p>")[0]
