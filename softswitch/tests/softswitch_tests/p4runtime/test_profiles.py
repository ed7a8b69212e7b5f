# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of action profiles: members, groups with weights, and one-shot groups."""

import random
from collections import Counter
from typing import Any

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import DELETE, INSERT, Controller, Names, exact, refused, update
from softswitch_tests.p4runtime.frames import PLAIN, SPREAD, arrives, frame
from softswitch_tests.p4runtime.running import PORTS, Served


def member(names: Names, number: int, port: int, profile: str = "In.members") -> Any:
    action = names.action("In.forward", port)
    return v1.ActionProfileMember(action_profile_id=names[profile], member_id=number, action=action)


def group(names: Names, number: int, *members: tuple[int, int]) -> Any:
    """Return a group of members with weights."""
    listed = [v1.ActionProfileGroup.Member(member_id=which, weight=weight) for which, weight in members]
    return v1.ActionProfileGroup(action_profile_id=names["In.members"], group_id=number, members=listed)


def one_shot(names: Names, *choices: tuple[int, int]) -> Any:
    """Return an action set that forwards to ports with weights."""
    actions = [v1.ActionProfileAction(action=names.action("In.forward", port), weight=w) for port, w in choices]
    return v1.TableAction(action_profile_action_set={"action_profile_actions": actions})


def exits(server: Served, key: int, flows: int = 60) -> Counter[int]:
    """Return how many of the flows leave by each port.

    The frames are sent one by one, because the interfaces of BMv2 lose all but 32 frames of a burst.
    """
    generator = random.Random(1)
    ports: Counter[int] = Counter()
    for _ in range(flows):
        server.send(1, frame(SPREAD, key, generator.getrandbits(48)))
        ports[server.receive_at_any()] += 1
    return ports


def test_members_of_a_plain_profile(server: Served, primary: Controller, names: Names) -> None:
    mine = member(names, 70, 2, "In.plain_members")
    primary.insert(action_profile_member=mine)
    entry = names.entry("In.plain", [exact(4)], v1.TableAction(action_profile_member_id=70))
    primary.insert(table_entry=entry)
    assert arrives(server, 2, PLAIN, 4)
    changed = member(names, 70, 3, "In.plain_members")
    primary.modify(action_profile_member=changed)
    assert arrives(server, 3, PLAIN, 4)
    assert primary.read(action_profile_member=v1.ActionProfileMember()) == [changed]
    assert primary.read(table_entry=v1.TableEntry(table_id=names["In.plain"])) == [entry]
    primary.insert(action_profile_member=member(names, 71, 1, "In.plain_members"))
    primary.modify(table_entry=names.entry("In.plain", [exact(4)], v1.TableAction(action_profile_member_id=71)))
    assert arrives(server, 1, PLAIN, 4)
    primary.delete(action_profile_member=changed)
    assert refused(primary.delete, action_profile_member=member(names, 71, 1, "In.plain_members")) == [
        "FAILED_PRECONDITION"
    ]


def test_a_group_spreads_by_weight(server: Served, primary: Controller, names: Names) -> None:
    members = [update(INSERT, action_profile_member=member(names, number, number)) for number in PORTS]
    primary.write(*members)
    primary.insert(action_profile_group=group(names, 5, (1, 1), (2, 8)))
    action = v1.TableAction(action_profile_group_id=5)
    primary.insert(table_entry=names.entry("In.spread", [exact(1)], action))
    ports = exits(server, 1)
    assert set(ports) == {1, 2}
    assert ports[2] > 2 * ports[1]
    changed = group(names, 5, (3, 1))
    primary.modify(action_profile_group=changed)
    assert set(exits(server, 1)) == {3}
    assert primary.read(action_profile_group=v1.ActionProfileGroup()) == [changed]
    in_use = refused(
        primary.write,
        update(DELETE, action_profile_group=changed),
        update(DELETE, action_profile_member=member(names, 3, 0)),
    )
    assert in_use == ["FAILED_PRECONDITION", "FAILED_PRECONDITION"]
    primary.delete(table_entry=names.entry("In.spread", [exact(1)]))
    primary.delete(action_profile_group=changed)
    primary.write(*(update(DELETE, action_profile_member=member(names, number, 0)) for number in PORTS))
    assert primary.read(action_profile_member=v1.ActionProfileMember()) == []


def test_one_shot_groups_are_read_as_written(server: Served, primary: Controller, names: Names) -> None:
    entry = names.entry("In.spread", [exact(2)], one_shot(names, (2, 1), (3, 1)))
    primary.insert(table_entry=entry)
    assert set(exits(server, 2)) == {2, 3}
    assert primary.read(table_entry=v1.TableEntry(table_id=names["In.spread"])) == [entry]
    changed = names.entry("In.spread", [exact(2)], one_shot(names, (1, 1)))
    primary.modify(table_entry=changed)
    assert set(exits(server, 2)) == {1}
    assert refused(primary.insert, action_profile_member=member(names, 1, 1)) == ["INVALID_ARGUMENT"]
    for _ in range(20):  # members of removed groups must not fill the profile
        primary.delete(table_entry=names.entry("In.spread", [exact(2)]))
        primary.insert(table_entry=names.entry("In.spread", [exact(2)], one_shot(names, (2, 10), (3, 10))))
    primary.delete(table_entry=names.entry("In.spread", [exact(2)]))
    primary.insert(action_profile_member=member(names, 1, 1))


def test_wrong_members_and_groups_are_refused(primary: Controller, names: Names) -> None:
    primary.insert(action_profile_member=member(names, 1, 1))
    primary.insert(action_profile_group=group(names, 1, (1, 1)))
    watching = group(names, 2, (1, 1))
    watching.members[0].watch_port = b"\x63"
    cases = [
        (update(INSERT, action_profile_member=member(names, 1, 1)), "ALREADY_EXISTS"),
        (update(INSERT, action_profile_member=member(names, 0, 1)), "INVALID_ARGUMENT"),
        (
            update(INSERT, action_profile_member={"action_profile_id": names["In.members"], "member_id": 9}),
            "INVALID_ARGUMENT",
        ),
        (update(INSERT, action_profile_member={"action_profile_id": 77, "member_id": 9}), "INVALID_ARGUMENT"),
        (update(DELETE, action_profile_member=member(names, 8, 1)), "NOT_FOUND"),
        (update(INSERT, action_profile_group=group(names, 1)), "ALREADY_EXISTS"),
        (update(INSERT, action_profile_group=group(names, 2, (8, 1))), "NOT_FOUND"),
        (update(INSERT, action_profile_group=group(names, 2, (1, 0))), "INVALID_ARGUMENT"),
        (update(INSERT, action_profile_group=group(names, 2, (1, 1), (1, 1))), "INVALID_ARGUMENT"),
        (update(INSERT, action_profile_group=group(names, 2, (1, 1000))), "RESOURCE_EXHAUSTED"),
        (update(INSERT, action_profile_group=watching), "INVALID_ARGUMENT"),
        (update(DELETE, action_profile_group=group(names, 2)), "NOT_FOUND"),
        (
            update(INSERT, action_profile_group={"action_profile_id": names["In.plain_members"], "group_id": 1}),
            "INVALID_ARGUMENT",
        ),
        (update(INSERT, table_entry=names.entry("In.spread", [exact(1)], one_shot(names, (1, 1)))), "INVALID_ARGUMENT"),
    ]
    updates, expected = zip(*cases, strict=True)
    assert refused(primary.write, *updates) == list(expected)
