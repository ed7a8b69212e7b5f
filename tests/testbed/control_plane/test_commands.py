# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Control plane commands: which follow from topology, settings and dilation, and their text for `simple_switch_CLI`."""

from __future__ import annotations

import json
import re
from ipaddress import IPv4Address, IPv4Network

import pytest

from sfc_testbed.place import ROOT
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.control_plane.commands import (
    change_commands,
    pipeline_commands,
    settings_commands,
    wire_commands,
)
from sfc_testbed.testbed.control_plane.entries import (
    ChangedEntry,
    ClearedTable,
    Command,
    FlowQueues,
    MirrorSession,
    RegisterCell,
    TableEntry,
)
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.plan.plan import plan_network
from sfc_testbed.testbed.program.sources import OWN_PROGRAM
from sfc_testbed.testbed.program.user_program import declarations_of
from sfc_testbed.topologies.model import Port
from sfc_testbed.topologies.routes import routes
from sfc_testbed.topologies.shapes import SHAPES, shape
from sfc_testbed.wire.dilation import Dilation
from tests.switch_bmv2.bench_switch import DILATION as BENCH_DILATION
from tests.switch_bmv2.bench_switch import BenchSwitch, bench_switch

SFC = SwitchSettings(bts="ingress", pause_cache=True)
PROGRAM = declarations_of(None)
MAC = "06:00:00:01:00:03"


def test_tors_and_spines_spread_traffic_over_all_parallel_links() -> None:
    built = shape("clos", {"tors": 3, "spines": 2, "hosts_per_tor": 2, "uplinks": 2}).build()
    ports = {(route.prefix.prefixlen, route.ports) for route in routes(built)["tor1"]}
    assert ports == {(32, (1,)), (32, (2,)), (16, (3, 4, 5, 6))}
    built = shape("paper-testbed", {}).build()
    assert [route.ports for route in routes(built)["spine1"]] == [(1, 2, 3, 4), (5, 6, 7, 8)]


def test_routes_lead_to_every_host_without_a_loop() -> None:
    """The last next hop of every route leads from any switch to the host in at most four hops."""
    built = shape("clos", {"tors": 3, "spines": 2, "hosts_per_tor": 2}).build()
    tables = routes(built)
    for switch in built.switches:
        for host in built.hosts:
            node, hops = switch.name, 0
            while node != host.name:
                matching = [route for route in tables[node] if host.ip in route.prefix]
                best = max(matching, key=lambda route: route.prefix.prefixlen)
                node = built.ports[node][best.ports[-1] - 1].peer.node
                hops += 1
                assert hops <= 4


def test_deployment_setting_selects_the_switches_with_bts() -> None:
    built = shape("clos", {}).build()
    everywhere = SFC.model_copy(update={"deployment": "all"})

    def has_trigger(switch: str, settings: SwitchSettings) -> bool:
        commands = pipeline_commands(built, switch, settings, Dilation(1000), seed=1)
        return any(isinstance(command, TableEntry) and command.table == "bts_trigger" for command in commands)

    assert has_trigger("tor1", SFC)
    assert not has_trigger("spine1", SFC)
    assert has_trigger("spine1", everywhere)


@pytest.mark.parametrize("name", list(SHAPES))
def test_every_server_facing_port_has_the_address_of_its_host(name: str) -> None:
    """Ports between switches have no entry."""
    built = shape(name, {}).build()
    addresses = {}
    for switch in built.switches:
        for command in pipeline_commands(built, switch.name, SwitchSettings(), Dilation(1000), seed=1):
            match command:
                case TableEntry(table="ingress_role", keys=(int(port),), parameters=(address,)):
                    addresses[Port(switch.name, port)] = address
    plugs = {link.a if link.b.node == host else link.b: host for host, link in built.host_link.items()}
    assert addresses == {plug: built.host[host].ip for plug, host in plugs.items()}


def test_link_rates_and_delays_are_dilated() -> None:
    """A dilation of 1000 makes 100 Mb/s and 1 ms of 100 Gb/s and 1 us. Host links are delayed in both directions."""
    built = shape("clos", {}).build()
    lines = wire_commands(built, "tor1", Dilation(1000))
    assert "port_rate 1 100000000" in lines
    assert "port_delay 1 1000000" in lines
    assert "port_ingress_delay 1 1000000" in lines
    assert "port_delay 5 1500000" in lines
    assert not any(line.startswith("port_ingress_delay 5") for line in lines)


@pytest.mark.parametrize("new", ["sfc", "irn", "pfc+dcqcn", "sfc-est+hpcc", "sfc-p", "egress-bts", "sfc-prototype-p"])
@pytest.mark.parametrize("old", ["sfc", "irn", "pfc+hpcc", "sfc-est", "sfc-p+dcqcn", "sfc-prototype"])
@pytest.mark.parametrize("switch", ["tor1", "spine1"])
def test_a_changed_switch_has_the_tables_of_a_new_one(switch: str, old: str, new: str) -> None:
    built = shape("clos", {}).build()
    before, after = (_switch_settings(scheme) for scheme in (old, new))
    with bench_switch(built, switch, before) as changed, bench_switch(built, switch, after) as fresh:
        old_commands, new_commands = (
            settings_commands(built, switch, settings, BENCH_DILATION) for settings in (before, after)
        )
        for command in change_commands(old_commands, new_commands, PROGRAM.initial_action):
            changed.engine.command(str(command))
        assert _tables(changed) == _tables(fresh)


def test_a_mechanism_of_both_schemes_stays_on_during_a_change() -> None:
    built = shape("clos", {}).build()
    old, new = (settings_commands(built, "tor1", _switch_settings(name), BENCH_DILATION) for name in ("sfc", "sfc-est"))
    changes = change_commands(old, new, PROGRAM.initial_action)
    defaults = [change for change in changes if isinstance(change, TableEntry) and not change.keys]
    assert len({entry.table for entry in defaults}) == len(defaults)
    assert TableEntry("suppression", "off") not in changes


@pytest.mark.parametrize("scheme", [*SCHEMES, "irn+qcn"])
def test_table_and_action_names_are_unambiguous_for_simple_switch_cli(scheme: str) -> None:
    """simple_switch_CLI accepts any suffix of a table or action name that is unique in the program."""
    compiled = json.loads((ROOT / OWN_PROGRAM).read_text())
    tables = [table["name"] for pipeline in compiled["pipelines"] for table in pipeline["tables"]]
    actions = {
        action for pipeline in compiled["pipelines"] for table in pipeline["tables"] for action in table["actions"]
    }
    built, settings = shape("clos", {}).build(), _switch_settings(scheme)
    commands = pipeline_commands(built, "tor1", settings, BENCH_DILATION, seed=1)
    entries = [command for command in commands if isinstance(command, TableEntry)]
    assert entries
    for entry in entries:
        assert len([name for name in tables if f".{name}".endswith(f".{entry.table}")]) == 1, entry
        assert len([name for name in actions if f".{name}".endswith(f".{entry.action}")]) == 1, entry


def _switch_settings(scheme: str) -> SwitchSettings:
    return plan_network(RunSpec("none", scheme)).switch_settings


def _tables(switch: BenchSwitch) -> dict[str, set[str]]:
    names = [line.split()[0] for line in switch.engine.command("show_tables").splitlines()]
    shortened = re.compile(r"^entry \d+: ")
    return {
        name: {
            shortened.sub("", line).replace("SfcIngress.bts.", "").replace("suppression.", "")
            for line in switch.engine.command(f"table_dump {name}").splitlines()
        }
        for name in names
    }


def test_ecn_thresholds_can_follow_the_rate_of_a_port() -> None:
    """The thresholds of a scheme are those of the host's rate; a port of four times the rate marks at four times."""
    built = shape("clos", {"hosts_per_tor": 1}).build()
    settings = SwitchSettings(ecn_kmin_bytes=100_000, ecn_kmax_bytes=400_000, ecn_pmax=0.2)
    for by_rate, uplink in ((False, (100_000, 400_000)), (True, (400_000, 1_600_000))):
        commands = settings_commands(built, "tor1", settings.model_copy(update={"ecn_by_rate": by_rate}), Dilation(1))
        entries = {
            command.keys[0]: command.parameters
            for command in commands
            if isinstance(command, TableEntry) and command.table == "ecn"
        }
        assert entries[1][:2] == (100_000, 400_000)
        assert entries[2][:2] == uplink
        assert entries[2][2] == round(0.2 * 2**32 / (uplink[1] - uplink[0]))


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            TableEntry("ipv4_lpm", "next_hop", (IPv4Network("10.1.0.0/16"),), (3, MAC)),
            f"table_add ipv4_lpm next_hop 10.1.0.0/16 => 3 {MAC}",
        ),
        (
            TableEntry("watched", "watch", (IPv4Address("10.1.0.2"), 3), (7,)),
            "table_add watched watch 10.1.0.2 3 => 7",
        ),
        (TableEntry("watched", "ignore", (3,)), "table_add watched ignore 3 =>"),
        (TableEntry("dilation", "divide", parameters=(5, 6)), "table_set_default dilation divide 5 6"),
        (TableEntry("load_balancing", "by_random"), "table_set_default load_balancing by_random"),
        (RegisterCell("member_ports", 97, 4), "register_write member_ports 97 4"),
        (ChangedEntry(4, "ipv4_lpm", "ecmp", (1, 2)), "table_modify ipv4_lpm ecmp 4 => 1 2"),
        (ClearedTable("ecn"), "table_clear ecn"),
        (MirrorSession(1, 510), "mirroring_add 1 510"),
        (MirrorSession(1, None), "mirroring_delete 1"),
        (FlowQueues(2, 3, 32, 1500), "port_queues 2 3 32 1500"),
    ],
)
def test_a_command_has_the_text_of_simple_switch_cli(command: Command, text: str) -> None:
    assert str(command) == text
