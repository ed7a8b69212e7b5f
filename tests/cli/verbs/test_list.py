# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for finding settings: the output of `list`, and the suggestions for a wrong name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.cli.listing.settings import model_settings, record_settings
from sfc_testbed.cli.output import console
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.plan.network_settings import FOLLOW_FROM_NETWORK
from sfc_testbed.topologies.shapes import SHAPES
from tests.conftest import Refused
from tests.testbed.incasts import plan_incast, plan_virtual

MODELS = [*(scenario.workload for scenario in SCENARIOS.values()), *SHAPES.values(), SwitchSettings]
RECORDS: list[type[Any]] = [
    TransportSettings,
    *(row.Parameters for row in CONGESTION_CONTROLS.values()),
    *(row.Parameters for row in FLOW_CONTROLS.values()),
    *(row.Parameters for row in LOSS_RECOVERIES.values()),
]
ListOutput = Callable[..., str]


@pytest.fixture
def list_output(monkeypatch: pytest.MonkeyPatch) -> ListOutput:
    """Return a function that runs `list` on a wide terminal and returns its output."""
    monkeypatch.setattr(console, "width", 300)

    def show(*words: str) -> str:
        with console.capture() as capture:
            assert main(["list", *words]) == 0
        return capture.get()

    return show


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_setting_of_a_model_has_a_unit_a_default_and_a_meaning(model: type[Any]) -> None:
    for setting in model_settings(model):
        assert setting.meaning and setting.unit and setting.default, setting


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_setting_of_a_record_has_a_unit_and_a_meaning(record: type[Any]) -> None:
    """They come from the string below the field and are available for compiled records, too."""
    for setting in record_settings(record):
        assert setting.meaning and setting.unit, setting


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_shows_all_its_settings(name: str, list_output: ListOutput) -> None:
    text = list_output(name)
    for setting in model_settings(SCENARIOS[name].workload):
        assert any(line.startswith(f"{setting.name} ") for line in text.splitlines()), setting
    words = text.splitlines()[-1].split()
    plan_virtual(name, "sfc", words[-1])


def test_schemes_are_listed_with_their_settings_and_default_rate_control(list_output: ListOutput) -> None:
    text = list_output("--schemes")
    assert "+window" in text and "(the default: sfc is sfc+window)" in text
    assert any(line.startswith("sfc ") and "switch.pause_cache=true" in line for line in text.splitlines())
    for name in [*SCHEMES, *SwitchSettings.model_fields, *(row.name for row in record_settings(TransportSettings))]:
        assert name in text
    assert "2 BDP" in text
    for record in RECORDS:
        assert all(setting.name in text for setting in record_settings(record))


def test_topologies_show_their_settings(list_output: ListOutput) -> None:
    text = list_output("--topologies")
    for name, shape in SHAPES.items():
        assert f"{name}: " in text
        assert all(f"topology.{field}" in text for field in shape.model_fields)


def test_a_default_is_shown_for_each_scale_if_they_differ(list_output: ListOutput) -> None:
    rows = re.split(r"\n(?=\S)", list_output("incast"))
    shown = [" ".join(row.split()) for row in rows]
    assert "degree integer ci 8, laptop Senders. 24, paper 128" in shown
    assert any(row.startswith("message_bytes B 250000 Bytes") for row in shown)


def test_settings_that_follow_from_the_network_are_listed_as_such() -> None:
    clos, star = (plan_incast(topology=name).transport.as_dict() for name in ("paper-simulation", "star"))
    nested = ("congestion_parameters", "flow_control_parameters", "loss_recovery_parameters")
    differing = {name for name, value in clos.items() if star[name] != value and name not in nested}
    assert {"base_rtt_ns", "bdp_bytes"} <= differing <= set(FOLLOW_FROM_NETWORK)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("list incst", "nearest: incast"),
        ("list sfc", "sfc is not a scenario: ./runner.py list --schemes shows it"),
        ("list star", "star is not a scenario: ./runner.py list --topologies shows it"),
        ("list --picture x.svg", "--picture needs --topology NAME or FILE"),
        ("list --topology star --picture x.txt", "the name must end in .svg, .png, .pdf"),
        ("list --topology star --set degree=4", "--set degree: only topology.NAME"),
        ("list {long}", "unknown scenario 'xxx"),
        ("run incst", "nearest: incast"),
        ("run incast --scale laptp", "nearest: laptop"),
        ("run incast --scheme scf", "nearest: sfc"),
        ("run incast --scheme sfc+dcqn", "nearest: dcqcn"),
        ("run incast --topology str", "nearest: star"),
        ("run incast --fault lnk:tor1-spine1,down=1us", "nearest: link"),
        ("run incast --set degre=4", "degre: there is no such setting; nearest: degree"),
        ("run incast --set Degree=4", "nearest: degree"),
        ("run incast --set topology.host_per_tor=4", "nearest: hosts_per_tor"),
        ("run incast --set switch.q_th_byte=4", "nearest: q_th_bytes"),
        ("run incast --set switch.qth_bdp=4", "nearest: q_th_bdp"),
        ("run incast --set transport.rto_n=4", "nearest: rto_ns"),
        ("run incast --set transport.congestion=hpc", "nearest: hpcc"),
        ('run incast --set transport.congestion_parameters={{"windw_bytes":4}}', "nearest: window_bytes"),
        ("run incast --set {long}=4", "there is no such setting"),
    ],
)
def test_the_refusal_of_a_wrong_name_suggests_the_nearest(words: str, expected: str, refused: Refused) -> None:
    arguments = words.format(long="x" * 400).split()
    refused([*arguments, *(["--clock", "virtual"] if arguments[0] == "run" else [])], expected)


def test_a_name_without_a_similar_one_gets_no_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "incast", "--clock", "virtual", "--set", "colour=red"]) == 2
    assert "nearest" not in capsys.readouterr().err


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("words", [(), ("bystanders",), ("--schemes",), ("--topologies",)], ids=" ".join)
def test_nothing_is_cut_off_on_a_narrow_terminal(
    words: tuple[str, ...], width: int, list_output: ListOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 1_000)
    wide = set(list_output(*words).split())
    monkeypatch.setattr(console, "width", width)
    narrow = list_output(*words)
    assert "…" not in narrow and max(map(len, narrow.splitlines())) <= width
    together = "".join(narrow.split())
    lost = [word for word in wide if word not in together and len(word) <= 24]
    assert lost == []


def test_a_network_is_listed_with_its_neighbours_and_its_picture(list_output: ListOutput, tmp_path: Path) -> None:
    picture = tmp_path / "net.svg"
    text = list_output("--topology", "clos", "--set", "topology.hosts_per_tor=2", "--picture", str(picture))
    assert "4: h1 h2 h3 h4" in text
    assert "tor2     h3 h4 (100 Gb/s, 1 us); spine1 spine2 (400 Gb/s, 1.5 us)" in text
    assert "10 us, 125000 B" in text
    assert picture.read_text().count("<path") > 8
