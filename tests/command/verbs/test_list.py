# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings can be found: what `list` shows, and what a wrong name is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from command.app import main
from command.listing import tables
from command.listing.settings import Setting, model_settings, record_settings
from command.output import console
from hosts.transport.congestion import CONGESTION_CONTROLS
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from hosts.transport.settings import TransportSettings
from scenarios.catalogue import SCENARIOS
from scenarios.schemes import SCHEMES
from testbed.plan.network_settings import FOLLOW_FROM_NETWORK
from testbed.plan.plan import RunRequest, plan_run
from topologies.settings import SwitchSettings
from topologies.shapes import SHAPES

MODELS = [*(scenario.workload for scenario in SCENARIOS.values()), *SHAPES.values(), SwitchSettings]
RECORDS: list[type[Any]] = [
    TransportSettings,
    *(row.Parameters for row in CONGESTION_CONTROLS.values()),
    *(row.Parameters for row in FLOW_CONTROLS.values()),
    *(row.Parameters for row in LOSS_RECOVERIES.values()),
]
Shown = Callable[..., str]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What `list` prints on a wide terminal; it must be done with it."""
    monkeypatch.setattr(console, "width", 300)

    def show(*words: str) -> str:
        with console.capture() as capture:
            assert main(["list", *words]) == 0
        return capture.get()

    return show


@pytest.mark.parametrize("model", MODELS, ids=lambda each: each.__name__)
def test_every_setting_of_a_model_says_its_unit_default_and_meaning(model: type[Any]) -> None:
    """An addition that says nothing fails here."""
    for setting in model_settings(model):
        assert setting.meaning and setting.unit and setting.default, setting


@pytest.mark.parametrize("record", RECORDS, ids=lambda each: each.__name__)
def test_every_setting_of_a_record_says_its_unit_default_and_meaning(record: type[Any]) -> None:
    """From the string below the field, compiled or not."""
    for setting in record_settings(record):
        assert setting.meaning and setting.unit, setting


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_shows_all_its_settings(name: str, shown: Shown) -> None:
    """And what each scale makes of them; the example that it ends with is one that can be planned."""
    text = shown(name)
    for setting in model_settings(SCENARIOS[name].workload):
        assert any(line.startswith(f"{setting.name} ") for line in text.splitlines()), setting
    words = text.splitlines()[-1].split()
    plan_run(RunRequest(name, clock="virtual", settings=(words[-1],)))


def test_schemes_show_what_they_set_and_which_rate_control_is_the_default(shown: Shown) -> None:
    """With every setting of switches, hosts and algorithms."""
    text = shown("--schemes")
    assert "+window" in text and "(the default: sfc is sfc+window)" in text
    assert any(line.startswith("sfc ") and "switch.pause_cache=true" in line for line in text.splitlines())
    for name in [*SCHEMES, *SwitchSettings.model_fields, *(each.name for each in record_settings(TransportSettings))]:
        assert name in text
    assert "2 BDP" in text
    for record in RECORDS:
        assert all(setting.name in text for setting in record_settings(record))


def test_topologies_show_their_settings(shown: Shown) -> None:
    """Every shape with its own defaults."""
    text = shown("--topologies")
    for name, shape in SHAPES.items():
        assert f"{name}: " in text
        assert all(f"topology.{field}" in text for field in shape.model_fields)


def test_a_default_is_told_for_each_scale_where_they_differ() -> None:
    """As one value where they do not."""
    [degree] = [each for each in model_settings(SCENARIOS["incast"].workload) if each.name == "degree"]
    assert tables._at_scales(degree, SCENARIOS["incast"]) == "ci 8, laptop 24, paper 128"
    same = Setting("message_bytes", "B", "250000", "Bytes.")
    assert tables._at_scales(same, SCENARIOS["incast"]) == "250000"


def test_what_follows_from_the_network_is_not_shown_with_a_number() -> None:
    """Settings of NICs that differ between two networks are those that are told to follow."""
    requests = [RunRequest("incast", clock="virtual", topology=name) for name in ("paper-simulation", "star")]
    here, there = (plan_run(request).transport.as_dict() for request in requests)
    nested = ("congestion_parameters", "flow_control_parameters", "loss_recovery_parameters")
    differing = {name for name, value in here.items() if there[name] != value and name not in nested}
    assert {"base_rtt_ns", "bdp_bytes"} <= differing <= set(FOLLOW_FROM_NETWORK)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("list incst", "nearest: incast"),
        ("list sfc", "sfc is not a scenario: ./runner.py list --schemes shows it"),
        ("list star", "star is not a scenario: ./runner.py list --topologies shows it"),
        ("list {long}", "no scenario 'xxx"),
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
def test_a_wrong_name_is_told_the_nearest(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In the one line of the refusal, exit 2."""
    typed = words.format(long="x" * 400).split()
    assert main([*typed, *(["--clock", "virtual"] if typed[0] == "run" else [])]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    assert expected in said.err


def test_nothing_is_near_what_is_far(capsys: pytest.CaptureFixture[str]) -> None:
    """No guess is better than a wrong one."""
    assert main(["run", "incast", "--clock", "virtual", "--set", "colour=red"]) == 2
    assert "nearest" not in capsys.readouterr().err


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("words", [(), ("bystanders",), ("--schemes",), ("--topologies",)], ids=" ".join)
def test_nothing_is_cut_off_on_a_narrow_terminal(
    words: tuple[str, ...], width: int, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a wide terminal shows, a narrow one does: no word is lost, and none is cut short."""
    monkeypatch.setattr(console, "width", 1_000)
    wide = set(shown(*words).split())
    monkeypatch.setattr(console, "width", width)
    narrow = shown(*words)
    assert "…" not in narrow and max(map(len, narrow.splitlines())) <= width
    together = "".join(narrow.split())
    lost = [word for word in wide if word not in together and len(word) <= 24]
    assert lost == []
