# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a run's settings become entries that the tables of the compiled Tofino 2 program have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from sfc_testbed.place import ROOT
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.control_plane.tofino2 import (
    RATE_CODES,
    RECIRCULATION_PORT,
    Row,
    UnsupportedEntry,
    device_port,
    tofino2_entries,
)
from sfc_testbed.testbed.plan.fixed_point import commands_at
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire import pfc
from sfc_testbed.wire.dilation import Dilation
from tools.tofino2 import STORED

TABLES = json.loads((ROOT / STORED).read_text())["tables"]


def clos(**parameters: int) -> Topology:
    return shape("clos", parameters).build()


NETWORK = clos(spines=2, tors=2, hosts_per_tor=8)
WITH_PAUSE_FRAMES = SCHEMES["sfc-p"].switch
BTS_SCHEMES = ("ingress-bts", "sfc", "sfc-est", "sfc-p")


def entries(switch: Mapping[str, Any], name: str = "tor1", network: Topology = NETWORK) -> list[Row]:
    return tofino2_entries(commands_at(network, SwitchSettings(**switch), Dilation(1), 1)[name])


@pytest.mark.parametrize("deployment", ["tors", "all"])
@pytest.mark.parametrize("scheme", [*BTS_SCHEMES, "irn"])
@pytest.mark.parametrize("name", ["tor2", "spine1"])
def test_the_program_has_each_entry(scheme: str, deployment: str, name: str) -> None:
    for row in entries({**SCHEMES[scheme].switch, "deployment": deployment}, name):
        written = row.as_json()
        if row.table.startswith("$") or row.table.endswith(".filtered"):
            continue  # tables of the chip; their names are not the program's
        table = TABLES[written["table_name"]]
        assert not row.key or sorted(written["key"]) == sorted(table["keys"])
        assert sorted(written["data"]) == sorted(table["actions"][written["action"]])


def test_each_key_has_one_entry() -> None:
    rows = entries(WITH_PAUSE_FRAMES)
    keys = [(row.table, str(sorted(row.key.items(), key=str))) for row in rows]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("deployment", ["tors", "all"])
def test_a_spine_triggers_only_if_all_switches_run_sfc(deployment: str) -> None:
    rows = entries({**SCHEMES["sfc"].switch, "deployment": deployment}, "spine1")
    assert any(row.action == "ingress_bts" for row in rows) == (deployment == "all")


def test_ports_are_those_of_the_front_panel() -> None:
    ports = [device_port(port) for port in range(1, 33)]
    assert len(set(ports)) == 32 and RECIRCULATION_PORT not in ports
    assert all(port & 127 >= 8 for port in ports)


@pytest.mark.parametrize("gbps", RATE_CODES)
def test_quanta_are_those_of_the_testbed(gbps: int) -> None:
    network = clos(spines=2, tors=2, hosts_per_tor=2, host_rate_bps=gbps * 10**9)
    rows = [row for row in entries(WITH_PAUSE_FRAMES, network=network) if row.action == "set_quanta"]
    most_us = max(int(str(row.key["pause_us"])) for row in rows)
    assert {row.key["pause_us"]: row.data["of_pause"] for row in rows} == {
        pause_us: pfc.quanta_for(pause_us * 1000, gbps * 10**9) for pause_us in range(most_us + 1)
    }
    assert pfc.quanta_for((most_us + 1) * 1000, gbps * 10**9) == pfc.quanta_for(10**9, gbps * 10**9)


@pytest.mark.parametrize("scheme", ["pfc", "bfc", "egress-bts", "sfc-prototype", "sfc-prototype-p"])
def test_a_mechanism_that_only_v1model_has_is_refused_in_one_line(scheme: str) -> None:
    with pytest.raises(UnsupportedEntry, match=r"^switch-tofino2 has no[^\n]+$"):
        entries(SCHEMES[scheme].switch)


def test_a_rate_without_a_code_is_refused() -> None:
    with pytest.raises(
        UnsupportedEntry, match=r"^switch-tofino2 has no code for a port of about 40 Gb/s; it has 25, 50"
    ):
        entries(SCHEMES["sfc"].switch, network=clos(spines=2, tors=2, hosts_per_tor=2, host_rate_bps=40 * 10**9))


def test_a_period_far_from_the_programs_is_refused() -> None:
    refusal = r"^switch-tofino2 has suppression periods of 2, 4, 8, 16 us; this run has 100 us$"
    with pytest.raises(UnsupportedEntry, match=refusal):
        entries({**SCHEMES["sfc"].switch, "suppression_ns": 100_000})


@pytest.mark.parametrize(
    ("period_ns", "action"), [(1_500, "by_clock_2us"), (4_000, "by_clock_4us"), (20_000, "by_clock_16us")]
)
def test_a_period_becomes_the_nearest(period_ns: int, action: str) -> None:
    rows = entries({**SCHEMES["sfc"].switch, "suppression_ns": period_ns})
    assert [row.action for row in rows if row.table.endswith("suppression")] == [action]


def test_a_switch_with_more_ports_than_the_chip_is_refused() -> None:
    with pytest.raises(UnsupportedEntry, match=r"^a Tofino 2 has 32 ports"):
        entries(SCHEMES["irn"].switch, network=clos(spines=2, tors=2, hosts_per_tor=31))
