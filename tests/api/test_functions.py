# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the arguments of the public functions and their errors."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfc_testbed as sfc
from sfc_testbed.cli.app import main
from sfc_testbed.reproduction.model.claims import Ratio
from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER
from tests.api.reading import SMALL


def test_settings_have_units_parts_and_numbers_of_numpy(tmp_path: Path) -> None:
    settings = {"degree": np.int64(2), "message_bytes": "20KB", "switch": {"q_th_bytes": "300KB"}}
    run = sfc.run("incast", settings=settings, out=tmp_path, duration_ms=2)
    assert run.config.settings == {"degree": 2, "message_bytes": 20_000, "switch.q_th_bytes": 300_000}
    assert run.config.duration_ms == 2


def test_flows_are_rows_frames_or_a_file(tmp_path: Path) -> None:
    rows = [("h1", "h2", "20KB"), {"src": "h3", "dst": "h2", "size_bytes": 5_000, "start_us": 2.5, "tag": "late"}]
    first = sfc.run(flows=rows, topology="star", out=tmp_path)
    assert first.flows["start_us"].to_list() == [0.0, 2.5]
    assert first.flows["tag"].to_list() == ["flow", "late"]
    [file] = tmp_path.glob("flows-*.csv")
    assert first.config.flow_file == file
    again = sfc.run(flows=first.flows, topology="star", scheme="irn", out=tmp_path)
    assert again.flows.select("src", "dst", "start_us").equals(first.flows.select("src", "dst", "start_us"))
    assert again.config.flow_file != file
    assert sfc.run(flows=str(file), topology="star", out=tmp_path).flows.equals(first.flows)


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        ([("h1", "h2")], "--flows: row 1 is not src, dst, size_bytes, start_ns, tag: "),
        ([{"src": "h1", "dst": "h2"}], "--flows: row 1 has no size_bytes"),
        ([("h1", "h99", 1)], "line 2: .*h99"),
        (5, "--flows: not a file, rows or a data frame: 5"),
        ([], "the file has no flows"),
    ],
)
def test_refused_flows_leave_nothing(flows: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(sfc.UsageError, match=message):
        sfc.run(flows=flows, topology="star", out=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scenario": "incst"}, ["incst"]),
        ({"scheme": "fsc"}, ["incast", "--scheme", "fsc"]),
        ({"settings": {"degre": 3}}, ["incast", "--set", "degre=3"]),
        ({"settings": {"degree": 3_000}}, ["incast", "--set", "degree=3000"]),
        ({"scale": "huge"}, ["incast", "--scale", "huge"]),
        ({"topology": "moebius"}, ["incast", "--topology", "moebius"]),
        ({"retry": True}, ["incast", "--retry"]),
        ({"p4": "missing.p4"}, ["incast", "--p4", "missing.p4"]),
        ({"faults": "loss"}, ["incast", "--fault", "loss"]),
        ({"seed": -1}, ["incast", "--seed", "-1"]),
    ],
)
def test_bad_input_is_refused_with_the_line_of_the_command(
    arguments: dict[str, Any], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(sfc.UsageError) as refused:
        sfc.run(**{"scenario": "incast", "out": tmp_path, **arguments})
    line = str(refused.value)
    assert "\n" not in line
    assert list(tmp_path.iterdir()) == []
    assert main(["run", *words, "--clock", "virtual", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"runner.py: {line}\n"


def test_claims_are_objects_or_a_file_and_may_name_their_quantity(tmp_path: Path) -> None:
    less = Ratio("less", "at most 1 %", PEAK_BUFFER, scheme="sfc", base="irn", at_most=0.01)
    named: Any = "peak buffer"
    small = sfc.Bound("the buffer is small", "at most 1 MB", named, "sfc", at_most=1e6)
    comparison = sfc.compare("incast", "irn,sfc", settings=SMALL, claims=[less, small], out=tmp_path)
    assert [(held.claim, held.holds) for held in comparison.claims] == [("less", False), ("the buffer is small", True)]
    with pytest.raises(sfc.UsageError, match=r"--claims missing\.py: No such file"):
        sfc.compare("incast", claims="missing.py", out=tmp_path)


def test_live_runs_do_not_run_in_jobs(tmp_path: Path) -> None:
    with pytest.raises(sfc.UsageError):  # not root, or the jobs
        sfc.compare("incast", clock="real", dilation=1_000_000, jobs=2, out=tmp_path)


def test_sweep_of_a_mapping_is_checked_as_its_file(tmp_path: Path) -> None:
    with pytest.raises(sfc.UsageError, match="sweep: scenaro: there is no such setting; nearest: scenario"):
        sfc.sweep({"name": "mine", "scenaro": "incast", "schemes": ["sfc"]}, out=tmp_path)


def test_errors_have_their_public_names_and_can_be_pickled() -> None:
    for kind in (sfc.UsageError, sfc.RunError, sfc.Interrupted):
        assert kind.__module__ == "sfc_testbed"
        error = pickle.loads(pickle.dumps(kind("why")))
        assert (type(error), str(error)) == (kind, "why")
    assert issubclass(sfc.UsageError, sfc.Error)
    assert issubclass(sfc.RunError, sfc.Error)
    assert issubclass(sfc.Interrupted, KeyboardInterrupt)
    assert not issubclass(sfc.Interrupted, Exception)


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, sfc_testbed; print([name for name in sys.modules if name.startswith('sfc_testbed.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_names_are_listed_and_unknown_ones_refused() -> None:
    assert {"run", "compare", "Run", "congestion_control"} <= set(dir(sfc))
    assert "os" not in dir(sfc)
    assert sfc.__version__ == metadata.version("sfc-testbed")
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = sfc.runn


def test_a_deprecated_name_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sfc._DEPRECATED, "execute", "run")
    with pytest.warns(DeprecationWarning, match=r"sfc_testbed\.execute is now sfc_testbed\.run"):
        assert sfc.execute is sfc.run


def test_type_checkers_know_every_name() -> None:
    text = Path(str(sfc.__file__)).read_text()
    assert all(f"import {name} as {name}\n" in text or f" as {name}\n" in text for name in sfc.__all__)
