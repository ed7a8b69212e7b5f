# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The document of the comparison with another simulator, from stored runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sfc_testbed.documents import simulators as report
from sfc_testbed.documents.pictures import plot_fcts
from sfc_testbed.simulators.comparison import (
    FILE_NAME,
    Both,
    GroupFigures,
    PeerRun,
    PeerValidation,
    write_peer_validation,
)
from sfc_testbed.simulators.tables import group_cells, queue_lines, summary_cells, uplink_lines

MEAN = Both(ours=2.2, peer=2.0)
GROUP = GroupFigures(group="incast", flows=30, mean=MEAN, p50=MEAN, p95=MEAN, p99=None)
RUN = PeerRun(
    label="16:1",
    command="./runner.py run incast",
    seed=1,
    flows=30,
    correlation=0.99,
    groups=(GROUP,),
    peak_queue_bytes=Both(ours=990_000, peer=1_000_000),
    points_us=((10.0, 11.0), (20.0, 19.0)),
)
BALANCED = RUN.model_copy(update={"label": "permutation", "spread_mean": Both(ours=0.3, peer=0.4)})
TEXT = "# Head\n<!-- begin summary -->\nold\n<!-- end summary -->\ntail\n"


def test_differences_are_shares_of_the_peers_figures() -> None:
    assert summary_cells(RUN) == ("16:1", "30", "0.9900", "+10.0 %", "-", "-1.0 %", "-", "-")
    assert group_cells(GROUP)[2:] == ("2.2 / 2 (+10.0 %)",) * 3 + ("-",)
    assert queue_lines(RUN) == ["longest queue of a port: 990 KB / 1 MB (-1.0 %)"]
    assert not uplink_lines(RUN)
    assert uplink_lines(BALANCED) == ["imbalance of uplinks in 100 us: mean 0.3 / 0.4 (-25.0 %), P99 -"]


def test_only_the_table_of_the_page_is_replaced() -> None:
    text = report.document(TEXT, PeerValidation(peer="HPCC simulator", runs=(RUN,)))
    assert text.startswith("# Head\n") and text.endswith("<!-- end summary -->\ntail\n")
    assert "old" not in text
    assert "| HPCC simulator | 1 | 10.0, at most 10.0 % | - | 1.0, at most 1.0 % | - | - |" in text
    assert report.document(text, PeerValidation(peer="HPCC simulator", runs=(RUN,))) == text


def test_runs_with_load_balancing_have_a_row_of_their_own() -> None:
    text = report.summary(PeerValidation(peer="HPCC simulator", runs=(RUN, BALANCED)))
    assert [line.split("|")[1].strip() for line in text.splitlines()[2:]] == [
        "HPCC simulator",
        "HPCC simulator, load balancing",
    ]


def test_new_runs_replace_stored_runs_of_the_same_label() -> None:
    newer, other = RUN.model_copy(update={"seed": 2}), RUN.model_copy(update={"label": "64:1"})
    assert report.merged([RUN, other], [newer]) == (newer, other)


def test_the_command_stores_runs_and_writes_document_and_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, document = tmp_path / "validation.json", tmp_path / "validation.md"
    monkeypatch.setattr(report, "STORE", store)
    monkeypatch.setattr(report, "DOCUMENT", document)
    (tmp_path / "images").mkdir()
    document.write_text(TEXT)
    write_peer_validation(store, PeerValidation(peer="HPCC simulator", runs=()))
    write_peer_validation(tmp_path / FILE_NAME, PeerValidation(peer="HPCC simulator", runs=(RUN,)))
    assert report.main([str(tmp_path)]) == 0
    assert "| HPCC simulator | 1 |" in document.read_text()
    assert (tmp_path / report.PICTURE).stat().st_size > 1_000
    (tmp_path / FILE_NAME).write_text("{}")
    assert report.main([str(tmp_path)]) == 2


def test_the_plot_has_a_point_for_each_stored_flow() -> None:
    [axes] = plot_fcts([RUN], "HPCC simulator").axes
    [points] = axes.collections
    assert np.asarray(points.get_offsets()).tolist() == [[11.0, 10.0], [19.0, 20.0]]


def test_the_page_is_current() -> None:
    assert report.main(["--check"]) == 0
