# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of watch ports, with a switch in this process and ports whose state the test sets."""

from softswitch.codegen.load.program import load_program
from softswitch.engine import SwitchEngine
from softswitch.p4runtime.entities import Entities
from softswitch.p4runtime.info import Info
from softswitch.p4runtime.messages import v1
from softswitch_tests.codegen.documents import compiled
from softswitch_tests.p4runtime.controller import INSERT, Names, exact, update
from softswitch_tests.p4runtime.test_profiles import group, member

PROGRAM = "controlled"


def contents(switch: SwitchEngine) -> list[list[int]]:
    """Return the members of each group in the switch."""
    lines = switch.command("act_prof_dump In.members").splitlines()
    return [[int(word) for word in line.split()[2:]] for line in lines if line.startswith("group")]


def test_members_leave_groups_while_their_watch_port_is_down(switch: SwitchEngine, names: Names) -> None:
    ports = {1: True, 2: False}
    info = Info(names.p4info, load_program(compiled(PROGRAM), PROGRAM))
    entities = Entities(switch, info, ports.get)
    for number in (1, 2):
        entities.write(update(INSERT, action_profile_member=member(names, number, number)))
    watching = group(names, 4, (1, 1), (2, 2))
    watching.members[1].watch_port = b"\x02"
    assert not entities.profiles.watches_ports
    entities.write(update(INSERT, action_profile_group=watching))
    assert entities.profiles.watches_ports
    assert contents(switch) == [[0]]
    ports[2] = True
    entities.profiles.follow_ports()
    assert contents(switch) == [[0, 1, 2]]
    ports[2] = False
    entities.profiles.follow_ports()
    assert contents(switch) == [[0]]
    entities.write(update(v1.Update.DELETE, action_profile_group=watching))
    shot = v1.TableAction()
    for port in (1, 2):
        action = names.action("In.forward", port)
        shot.action_profile_action_set.action_profile_actions.add(action=action, weight=1, watch=port)
    for number in (1, 2):
        entities.write(update(v1.Update.DELETE, action_profile_member=member(names, number, 0)))
    entities.write(update(INSERT, table_entry=names.entry("In.spread", [exact(1)], shot)))
    assert contents(switch) == [[0]]
