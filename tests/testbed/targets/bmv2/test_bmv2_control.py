# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for text commands on BMv2: Thrift calls, answers and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from sfc_testbed.testbed.control_plane.commands import pipeline_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.program.declared import Program
from sfc_testbed.testbed.targets.bmv2.control import Bmv2Control
from sfc_testbed.testbed.targets.bmv2.slots import slot_commands
from sfc_testbed.testbed.targets.bmv2.thrift import Refusal, ThriftError, interface
from sfc_testbed.testbed.targets.common.commands import PROGRAM
from sfc_testbed.testbed.targets.common.counters import one_by_one, read_counts
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.counters import BtsEvent, DropReason
from sfc_testbed.wire.dilation import Dilation
from softswitch.control import CommandError

DECLARED_PROGRAM = Program.read(PROGRAM)


class FakeConnection:
    """A connection that records calls and returns prepared answers by method."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, tuple[Any, ...]]] = []
        self.answers: dict[str, Any] = {}

    def call(self, service: str, method: str, *arguments: Any) -> Any:
        self.calls.append((service, method, arguments))
        answer = self.answers.get(method)
        if isinstance(answer, Exception):
            raise answer
        return answer(arguments) if callable(answer) else answer

    def close(self) -> None:
        pass


@pytest.fixture
def fake() -> FakeConnection:
    return FakeConnection()


@pytest.fixture
def control(fake: FakeConnection) -> Bmv2Control:
    return Bmv2Control(fake, DECLARED_PROGRAM)  # type: ignore[arg-type]


def test_an_entry_goes_out_with_full_names_and_padded_fields(control: Bmv2Control, fake: FakeConnection) -> None:
    fake.answers["bm_mt_add_entry"] = 4
    answer = control.command("table_add ipv4_lpm next_hop 10.1.0.2/32 => 3 06:00:00:01:00:03 02:00:0a:01:00:02")
    assert answer == "Entry has been added with handle 4"
    [(service, method, arguments)] = fake.calls
    assert (service, method) == ("standard", "bm_mt_add_entry")
    table, keys, action, data, options = arguments[1:]
    assert (table, action) == ("SfcIngress.forwarding.ipv4_lpm", "SfcIngress.forwarding.next_hop")
    [key] = keys
    assert (key.type, key.lpm.key, key.lpm.prefix_bits) == (1, b"\x0a\x01\x00\x02", 32)
    assert (key.exact, key.ternary, key.range) == (None, None, None)
    assert data == [b"\x00\x03", bytes.fromhex("060000010003"), bytes.fromhex("02000a010002")]
    assert options.priority is None


def test_mirroring_and_queue_commands_call_the_simple_switch_service(
    control: Bmv2Control, fake: FakeConnection
) -> None:
    for line in ("mirroring_add 1 510", "set_queue_depth 900000000", "set_queue_rate 236 3 7"):
        assert control.command(line) == ""
    assert fake.calls == [
        ("simple_switch", "mirroring_session_add", (1, interface().MirroringSession(port=510))),
        ("simple_switch", "set_all_egress_queue_depths", (900_000_000,)),
        ("simple_switch", "set_egress_priority_queue_rate", (3, 7, 236)),
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("table_add nowhere set_class 1 => 2", "table_add: no table 'nowhere', there are: "),
        ("table_add dscp_to_class next_hop 1 => 2", "table_add: no action of SfcIngress"),
        ("table_add dscp_to_class set_class 1 2 => 3", "has 1 keys, not 2"),
        ("table_add dscp_to_class set_class 1 => 3 4", "has 1 parameters, not 2"),
        ("table_add dscp_to_class set_class 64 => 3", "'64' does not fit 6 bits"),
        ("table_add dscp_to_class set_class x => 3", "'x' is not a number"),
        ("table_add ipv4_lpm ecmp 10.0.0.0 => 1 2", "not VALUE/LENGTH"),
        ("table_add ipv4_lpm ecmp 10.0.0/8 => 1 2", "'10.0.0' is not a number"),
        ("register_read queue_bytes 4096", "index '4096' is outside queue_bytes, which has 4096"),
        ("counter_read drops -1", "outside drops"),
        ("counter_read nothing 0", "no counter 'nothing'"),
        ("register_read", "register_read: cannot read"),
        ("set_queue_depth 64 1 3", "they would stay counted for ever"),
        ("port_rate 1 1000", "no command 'port_rate' on BMv2"),
    ],
)
def test_the_error_names_the_wrong_word_and_nothing_is_sent(
    control: Bmv2Control, fake: FakeConnection, line: str, words: str
) -> None:
    with pytest.raises(CommandError) as refused:
        control.command(line)
    assert words in str(refused.value)
    assert not fake.calls


def test_an_error_code_of_bmv2_becomes_a_text(control: Bmv2Control, fake: FakeConnection) -> None:
    fake.answers["bm_mt_add_entry"] = Refusal(17)
    with pytest.raises(CommandError, match="table_add: there is an entry with this key already"):
        control.command("table_add dscp_to_class set_class 26 => 3")


def test_counters_are_read_as_on_softswitch(control: Bmv2Control, fake: FakeConnection) -> None:
    """`read_counts` works on either target without knowing which one it reads."""
    dropped = (2 << 4) | DropReason.BUFFER_FULL

    def counter(arguments: tuple[Any, ...]) -> Any:
        cells = {("drops", dropped): 5, ("bts_events", BtsEvent.SENT_QUEUE): 8}
        packets = cells.get((arguments[1], arguments[2]), 0)
        return interface().Count(bytes=100 * packets, packets=packets)

    fake.answers |= {"bm_counter_read": counter, "bm_register_read": 12, "bm_register_read_all": [4, 0, 5]}
    counts = read_counts(one_by_one(control.command), [1, 2])
    assert counts.drops == {"buffer_full": 5}
    assert (counts.bts_sent, counts.max_suppression_entries) == (8, 12)
    assert control.command("register_read suppression_state") == "suppression_state= 4, 0, 5"


def test_a_register_of_unexpected_size_is_an_error(control: Bmv2Control, fake: FakeConnection) -> None:
    """The queues without a cell would look empty otherwise."""
    fake.answers["bm_register_read_all"] = [1, 2]
    with pytest.raises(ThriftError, match="has 4096 cells, BMv2 gave 2"):
        control.register_values("queue_bytes")


@pytest.mark.parametrize("settings", [SwitchSettings(), SwitchSettings(bts="ingress", pause_cache=True, sfc_p=True)])
def test_every_command_of_a_run_goes_out_as_its_text_would(
    control: Bmv2Control, fake: FakeConnection, settings: SwitchSettings
) -> None:
    topology = shape("clos", {}).build()
    for switch in topology.switches:
        for command in pipeline_commands(topology, switch.name, settings, Dilation(1000), seed=1):
            fake.calls.clear()
            assert control.command(command) == control.command(str(command))
            assert fake.calls[0] == fake.calls[1]
        for line in slot_commands(topology, switch.name, 1000, Dilation(1000)):
            control.command(line)
    assert fake.calls


def test_table_dump_prints_entries_in_the_notation_of_table_add(control: Bmv2Control, fake: FakeConnection) -> None:
    kinds = interface()
    lpm = kinds.Match(type=kinds.MatchType.LPM, lpm=kinds.Lpm(b"\x0a\x01\x00\x02", 32))
    data = [b"\x00\x03", bytes.fromhex("060000010003"), bytes.fromhex("02000a010002")]
    action = kinds.EntryAction(type=1, action="SfcIngress.forwarding.next_hop", data=data)
    fake.answers["bm_mt_get_entries"] = [kinds.Entry(keys=[lpm], handle=4, action=action)]
    fake.answers["bm_mt_get_default_entry"] = kinds.EntryAction(
        type=1, action="SfcIngress.forwarding.no_route", data=[]
    )
    assert control.command("table_dump ipv4_lpm").splitlines() == [
        "entry 4: 10.1.0.2/32 => SfcIngress.forwarding.next_hop 3 06:00:00:01:00:03 02:00:0a:01:00:02",
        "default: SfcIngress.forwarding.no_route",
    ]


def test_help_lists_the_commands_and_show_tables_the_tables_with_their_keys(control: Bmv2Control) -> None:
    assert {"table_dump", "port_rate", "help"} <= set(control.command("help").split())
    assert control.command("help table_add").startswith("table_add: ")
    with pytest.raises(CommandError, match="no command 'nonsense'"):
        control.command("help nonsense")
    tables = control.command("show_tables").splitlines()
    [routes] = [line for line in tables if line.startswith("SfcIngress.forwarding.ipv4_lpm")]
    assert "mk=dst_addr(lpm, 32)" in routes
    assert "SfcIngress.forwarding.next_hop" in control.command("table_info ipv4_lpm")
