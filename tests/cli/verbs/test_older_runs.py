# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that stored runs of older releases are readable, with the same figures.

`runs-RELEASE.tar.xz` contains folders as that release wrote them, without pages and pictures. `printed.txt` is the
output of its `report`. The runs have two to eight senders and a few packets:

    sfc         an incast with early BTS and a capture of one port
    irn         an incast
    faulty      irn+hpcc with lossy links, a trace of congestion control, and a setting that no longer exists
    flows       sfc-p with a flow list whose messages wait for others
    live        an incast on Mininet
    killed      an incast whose runner was killed, with its journal
    thresholds  the table of a sweep

An archive of another release, with the same commands (`config.json` contains them), is tested once it is beside this
file.
"""

from __future__ import annotations

import json
import shlex
import tarfile
from pathlib import Path

import pytest

from sfc_testbed.analysis.metrics.buffers import buffer_by_switch
from sfc_testbed.analysis.metrics.flows import slowdown_by_class, throughput_gbps
from sfc_testbed.analysis.metrics.signals import signal_figures
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.cli.app import main
from tests.conftest import Refused

ARCHIVES = sorted(Path(__file__).parent.glob("runs-*.tar.xz"))
COMPLETE = ["sfc", "irn", "faulty", "flows", "live"]
FILES = ("result.json", "config.json", "flows.parquet", "queues.parquet", "signals.parquet", "goodput.parquet")


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name)
def runs(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder with the runs of a release."""
    with tarfile.open(request.param) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # before Python 3.11.4 there is none
        archive.extractall(tmp_path / "runs")
    return tmp_path / "runs"


def _lines(text: str) -> list[str]:
    """Return the words of each line, without rules of tables."""
    lines = [" ".join(line.replace("─", " ").split()) for line in text.splitlines()]
    return [line for line in lines if line]


@pytest.mark.parametrize(("name", "status"), [*((name, 0) for name in COMPLETE), ("killed", 3)])
def test_report_prints_the_figures_that_the_older_release_printed(
    name: str, status: int, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line of the older report begins a line of the new report, whose tables may have further columns."""
    folder = runs / name
    before = {file: (folder / file).read_bytes() for file in FILES if (folder / file).exists()}
    assert main(["report", str(folder)]) == status
    output = capsys.readouterr()
    printed = _lines(output.out)
    for line in _lines((folder / "printed.txt").read_text()):
        assert any(other.startswith(line) for other in printed), line
    assert output.err == ""
    assert {file: (folder / file).read_bytes() for file in before} == before
    assert (folder / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("name", COMPLETE)
def test_figures_computed_from_the_traces_equal_the_stored_figures(name: str, runs: Path) -> None:
    run = load_run(runs / name)
    assert run.problems == ()
    assert run.config is not None
    assert run.result.fct_slowdown == slowdown_by_class(run.flows)
    assert run.result.throughput_gbps == pytest.approx(throughput_gbps(run.flows))
    assert run.result.buffer_bytes == buffer_by_switch(run.queues)
    assert run.result.signals == signal_figures(run.signals)
    assert run.result.packets is not None
    assert run.result.packets.sent >= int(run.flows["packets_sent"].sum()) > 0


def test_columns_and_fields_that_the_older_release_lacks_are_empty(runs: Path) -> None:
    faulty = load_run(runs / "faulty")
    assert faulty.congestion.collect().height > 0
    assert faulty.config is not None
    assert faulty.config.faults == ("loss:all,rate=2%",)
    assert [span.end_us for span in faulty.fault_spans] == [None]
    assert faulty.result.resent is None
    assert faulty.config.uses == ()
    assert load_run(runs / "live").lateness.height > 0
    assert load_run(runs / "sfc").signals.collect().height == 3


def test_report_compares_older_runs(runs: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The runs are compared with each other and with a run of this release, and claims about them are checked."""
    claims = runs / "claims.py"
    claims.write_text(
        "from sfc_testbed.reproduction.model.claims import Ratio\n"
        "from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER\n"
        'CLAIMS = (Ratio("a smaller buffer", "half", PEAK_BUFFER, scheme="sfc", base="irn", at_most=0.5),)\n'
    )
    older = [str(runs / name) for name in ("irn", "sfc")]
    assert main(["report", *older, "--claims", str(claims), "--out", str(runs / "page")]) == 0
    printed = _lines(capsys.readouterr().out)
    assert "irn faithful 3/3 63.5 KB (1x) 1.39 - - 0/0 0" in printed
    assert "sfc faithful 3/3 21.2 KB (0.333x) 1.15 - - 0/0 3" in printed
    assert any("a smaller buffer" in line and line.endswith("holds") for line in printed)
    assert main(["report", str(runs / "live"), str(folder), "--out", str(runs / "page")]) == 0


def test_trace_shows_the_events_and_packets_of_an_older_run(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "1", "--run", str(runs / "sfc")]) == 0
    printed = _lines(capsys.readouterr().out)
    assert "FCT 12.6 µs, slowdown 1.15; 10 packets sent, 0 resent; paused for 1 µs" in printed
    assert "4.38 tor2 BTS queue above Q_th (20.1 KB), pause for 1 µs" in printed
    assert "5.30 tor2 forwarded packets 0-9 to h6, until 7.58" in printed
    assert "8.99 h2 paused by tor2, until 9.99" in printed


def test_export_converts_older_runs(runs: Path) -> None:
    for name in COMPLETE:
        assert main(["export", str(runs / name), "--format", "perfetto"]) == 0
        if name != "flows":  # the HPCC simulator has no messages that wait for others
            assert main(["export", str(runs / name)]) == 0
            assert len((runs / name / "hpcc" / "fct.txt").read_text().splitlines()) in (2, 3)


def test_the_page_of_an_older_sweep_is_drawn(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(runs / "thresholds")]) == 0
    assert "The median slowdown is 1." in capsys.readouterr().out
    assert (runs / "thresholds" / "report.html").is_file()


def test_a_setting_that_no_longer_exists_is_named_with_its_replacement(runs: Path, refused: Refused) -> None:
    command = json.loads((runs / "faulty" / "config.json").read_text())["command"]
    refused(
        shlex.split(command)[1:], "--set switch.pause_grain_ns: no longer exists; leave it out, or use switch.pause_"
    )


def test_a_run_of_a_later_release_is_read_without_its_additions(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Additions are fields. A new format version is refused in one line with the release and the next step."""
    folder = runs / "irn"
    for file, part in (("result.json", "packets"), ("config.json", "physics")):
        content = json.loads((folder / file).read_text())
        content["later"] = content[part]["later"] = {"a": 1}
        (folder / file).write_text(json.dumps(content))
    assert main(["report", str(folder)]) == 0
    capsys.readouterr()
    config = json.loads((folder / "config.json").read_text())
    config["versions"]["sfc-testbed"] = "7.1.0"
    (folder / "config.json").write_text(json.dumps(config))
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**result, "schema_version": 2}))
    assert main(["report", str(folder)]) == 2
    assert capsys.readouterr().err.endswith(
        "result.json: result version 2 (written by SFC Testbed 7.1.0), this release reads 1; "
        "upgrade SFC Testbed to read it\n"
    )
