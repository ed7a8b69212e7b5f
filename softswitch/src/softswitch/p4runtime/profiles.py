# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Members and groups of action profiles, and the one-shot groups of table entries.

Clients choose the ids of members and groups, the switch chooses handles. A weight is realised by copies of a member: a
group contains as many of them as the weight. A member whose watch port is down leaves its groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from grpc import StatusCode

from softswitch.codegen.ir.blocks import ActionCall, Profile
from softswitch.control import Commands
from softswitch.operations import profiles
from softswitch.operations.tables import Group, Member
from softswitch.p4runtime import messages
from softswitch.p4runtime.actions import action_call, action_message
from softswitch.p4runtime.byte_strings import decoded, shortest
from softswitch.p4runtime.info import Info, ProfileInfo
from softswitch.p4runtime.status import invalid, not_found, refuse, refusing, unimplemented
from softswitch.p4runtime.storage import Storage

_PORT_BITS = 32


@dataclass
class _Copies:
    """The copies of a member in the switch."""

    call: ActionCall
    handles: list[int]


@dataclass
class _Choice:
    """A member of a group, with its weight and the port that it depends on."""

    copies: _Copies
    weight: int
    watch_port: int | None


@dataclass
class GroupState:
    """A group in the switch: its handle, its members, and the handles that it contains at present."""

    profile: Profile
    handle: int
    choices: list[_Choice] = field(default_factory=list)
    contained: set[int] = field(default_factory=set)
    message: Any = None


@dataclass
class _State:
    """The members and groups of one profile, by id."""

    info: ProfileInfo
    members: dict[int, _Copies] = field(default_factory=dict)
    groups: dict[int, GroupState] = field(default_factory=dict)
    one_shots: list[GroupState] = field(default_factory=list)

    def all_groups(self) -> Iterator[GroupState]:
        yield from self.groups.values()
        yield from self.one_shots


class Profiles:
    """The action profiles of a switch. `is_up` returns whether a port is up, or None if there is no such port."""

    def __init__(self, control: Commands, info: Info, is_up: Callable[[int], bool | None], storage: Storage) -> None:
        self.control = control
        self._storage = storage
        self._info = info
        self._is_up = is_up
        self._states = {number: _State(profile) for number, profile in info.profiles.items()}

    # Members

    def write_member(self, kind: int, message: Any) -> None:
        state = self._state(message.action_profile_id)
        number = _positive(message.member_id, "member")
        if kind == messages.v1.Update.INSERT:
            self._refuse_one_shots(state)
            if number in state.members:
                refuse(StatusCode.ALREADY_EXISTS, f"member {number} exists already")
            call = self._call(state, message)
            state.members[number] = self._new_copies(state.info.profile, call, 1)
            return
        copies = state.members.get(number)
        if copies is None:
            raise not_found(f"no member {number}")
        if kind == messages.v1.Update.MODIFY:
            call = self._call(state, message)
            with refusing():
                for handle in copies.handles:
                    profiles.modify_member(self.control, state.info.profile, handle, call)
            copies.call = call
        else:
            self._delete_copies(state.info.profile, copies)
            del state.members[number]

    def read_members(self, message: Any) -> Iterator[Any]:
        for number, state in self._selected(message.action_profile_id):
            for member, copies in state.members.items():
                if message.member_id in (0, member):
                    yield messages.v1.ActionProfileMember(
                        action_profile_id=number,
                        member_id=member,
                        action=action_message(state.info.actions, copies.call),
                    )

    def member(self, profile: ProfileInfo, number: int) -> Member:
        """Return the switch's member for a member id."""
        copies = self._states[profile.id].members.get(number)
        if copies is None:
            raise not_found(f"no member {number}")
        self._refuse_one_shots(self._states[profile.id])
        return Member(copies.handles[0])

    def member_id(self, profile: ProfileInfo, handle: int) -> int | None:
        """Return the id of a member, or None if a client of another protocol made it."""
        members = self._states[profile.id].members.items()
        return next((number for number, copies in members if copies.handles[0] == handle), None)

    # Groups

    def write_group(self, kind: int, message: Any) -> None:
        state = self._state(message.action_profile_id)
        if state.info.profile.selector is None:
            raise invalid(f"action profile {state.info.profile.name} has no groups")
        number = _positive(message.group_id, "group")
        key = "group", message.action_profile_id, number
        if kind != messages.v1.Update.DELETE:
            self._storage.check(key, message.ByteSize())
        if kind == messages.v1.Update.INSERT:
            self._insert_group(state, number, message)
            self._storage.set(key, message.ByteSize())
            return
        group = state.groups.get(number)
        if group is None:
            raise not_found(f"no group {number}")
        if kind == messages.v1.Update.MODIFY:
            if message.max_size != group.message.max_size:
                raise invalid(f"max_size of group {number} is {group.message.max_size} and cannot be changed")
            self._fill(state, group, message)
            self._storage.set(key, message.ByteSize())
        else:
            self._delete_group(group)
            del state.groups[number]
            self._storage.set(key, 0)
            self._trim(state)

    def read_groups(self, message: Any) -> Iterator[Any]:
        for _, state in self._selected(message.action_profile_id):
            for number, group in state.groups.items():
                if message.group_id in (0, number):
                    yield group.message

    def group(self, profile: ProfileInfo, number: int) -> Group:
        """Return the switch's group for a group id."""
        group = self._states[profile.id].groups.get(number)
        if group is None:
            raise not_found(f"no group {number}")
        return Group(group.handle)

    def group_id(self, profile: ProfileInfo, handle: int) -> int | None:
        """Return the id of a group, or None if a client of another protocol made it."""
        groups = self._states[profile.id].groups.items()
        return next((number for number, group in groups if group.handle == handle), None)

    # One-shot groups

    def add_one_shot(self, profile: ProfileInfo, message: Any) -> GroupState:
        """Create a group and its members for an action set."""
        state = self._states[profile.id]
        if profile.profile.selector is None:
            raise invalid(f"action profile {profile.profile.name} has no groups")
        if state.members or state.groups:
            raise invalid("the profile is programmed with members and groups, which excludes one-shot groups")
        wanted = self._one_shot_choices(profile, message)
        group: GroupState | None = None
        choices: list[_Choice] = []
        try:
            for call, weight, port in wanted:
                choices.append(_Choice(self._new_copies(profile.profile, call, weight), weight, port))
            with refusing():
                group = GroupState(profile.profile, profiles.add_group(self.control, profile.profile))
            group.choices = choices
            self._contain(group)
        except BaseException:
            self._drop_one_shot(profile.profile, group, choices)
            raise
        state.one_shots.append(group)
        return group

    def delete_one_shot(self, profile: ProfileInfo, group: GroupState) -> None:
        """Remove a one-shot group, which no entry uses any more, with its members."""
        self._states[profile.id].one_shots.remove(group)
        self._drop_one_shot(profile.profile, group, group.choices)

    # Watch ports

    @property
    def watches_ports(self) -> bool:
        """Whether a member of a group depends on a port."""
        groups = (group for state in self._states.values() for group in state.all_groups())
        return any(choice.watch_port is not None for group in groups for choice in group.choices)

    def follow_ports(self) -> None:
        """Let members whose watch port is down leave their groups, and the others return."""
        for state in self._states.values():
            for group in state.all_groups():
                self._contain(group)

    # Shared parts

    def _state(self, number: int) -> _State:
        self._info.profile(number)
        return self._states[number]

    def _selected(self, number: int) -> list[tuple[int, _State]]:
        return list(self._states.items()) if number == 0 else [(number, self._state(number))]

    @staticmethod
    def _refuse_one_shots(state: _State) -> None:
        if state.one_shots:
            raise invalid("the profile is programmed with one-shot groups, which excludes members and groups")

    @staticmethod
    def _call(state: _State, message: Any) -> ActionCall:
        if not message.HasField("action"):
            raise invalid("a member needs an action")
        return action_call(state.info.actions, message.action, f"action profile {state.info.profile.name}")

    def _new_copies(self, profile: Profile, call: ActionCall, count: int) -> _Copies:
        copies = _Copies(call, [])
        try:
            self._grow(profile, copies, count)
        except BaseException:
            self._delete_copies(profile, copies)
            raise
        return copies

    def _grow(self, profile: Profile, copies: _Copies, count: int) -> None:
        with refusing():
            while len(copies.handles) < count:
                copies.handles.append(profiles.add_member(self.control, profile, copies.call))

    def _delete_copies(self, profile: Profile, copies: _Copies) -> None:
        """Delete all copies; refused if a group or an entry uses the member, since both use its first copy."""
        with refusing():
            while copies.handles:
                profiles.delete_member(self.control, profile, copies.handles[0])
                del copies.handles[0]

    def _insert_group(self, state: _State, number: int, message: Any) -> None:
        self._refuse_one_shots(state)
        if number in state.groups:
            refuse(StatusCode.ALREADY_EXISTS, f"group {number} exists already")
        self._group_choices(state, message)
        with refusing():
            group = GroupState(state.info.profile, profiles.add_group(self.control, state.info.profile))
        state.groups[number] = group
        try:
            self._fill(state, group, message)
        except BaseException:
            self._delete_group(group)
            del state.groups[number]
            raise

    def _fill(self, state: _State, group: GroupState, message: Any) -> None:
        """Give a group the members of a message."""
        choices = self._group_choices(state, message)
        for choice in choices:
            self._grow(state.info.profile, choice.copies, choice.weight)
        group.choices = choices
        self._contain(group)
        group.message = messages.v1.ActionProfileGroup()
        group.message.CopyFrom(message)
        for member in group.message.members:
            _shorten_port(member)
        self._trim(state)

    def _contain(self, group: GroupState) -> None:
        """Bring the group's content in the switch up to date."""
        wanted: set[int] = set()
        for choice in group.choices:
            if choice.watch_port is None or self._is_up(choice.watch_port):
                wanted.update(choice.copies.handles[: choice.weight])
        with refusing():
            for handle in sorted(wanted - group.contained):
                profiles.add_to_group(self.control, group.profile, handle, group.handle)
                group.contained.add(handle)
            for handle in sorted(group.contained - wanted):
                profiles.remove_from_group(self.control, group.profile, handle, group.handle)
                group.contained.discard(handle)

    def _delete_group(self, group: GroupState) -> None:
        with refusing():
            profiles.delete_group(self.control, group.profile, group.handle)

    def _trim(self, state: _State) -> None:
        """Delete copies that no group needs any more, so that their room is free."""
        needed = {id(copies): 1 for copies in state.members.values()}
        for choice in (choice for group in state.groups.values() for choice in group.choices):
            needed[id(choice.copies)] = max(needed.get(id(choice.copies), 1), choice.weight)
        with refusing():
            for copies in state.members.values():
                while len(copies.handles) > needed[id(copies)]:
                    profiles.delete_member(self.control, state.info.profile, copies.handles[-1])
                    copies.handles.pop()

    def _drop_one_shot(self, profile: Profile, group: GroupState | None, choices: Sequence[_Choice]) -> None:
        if group is not None:
            self._delete_group(group)
        for choice in choices:
            self._delete_copies(profile, choice.copies)

    def _group_choices(self, state: _State, message: Any) -> list[_Choice]:
        """Return the members of a group's message. Raise Refusal if they are not valid."""
        numbers = [member.member_id for member in message.members]
        if len(set(numbers)) != len(numbers):
            raise invalid("a member of the group is given twice")
        choices = []
        for member in message.members:
            copies = state.members.get(member.member_id)
            if copies is None:
                raise not_found(f"no member {member.member_id}")
            choices.append(_Choice(copies, _weight(state.info.p4info, member), self._watch_port(member)))
        _check_size(state.info.p4info, [choice.weight for choice in choices], message.max_size)
        return choices

    def _one_shot_choices(self, profile: ProfileInfo, message: Any) -> list[tuple[ActionCall, int, int | None]]:
        if message.HasField("group_action") or message.action_selection_mode or message.size_semantics:
            raise unimplemented("group actions, selection modes and size semantics of a single group")
        where = f"action profile {profile.profile.name}"
        choices = [
            (action_call(profile.actions, item.action, where), _weight(profile.p4info, item), self._watch_port(item))
            for item in message.action_profile_actions
        ]
        _check_size(profile.p4info, [weight for _, weight, _ in choices], 0)
        return choices

    def _watch_port(self, message: Any) -> int | None:
        kind = message.WhichOneof("watch_kind")
        if kind is None:
            return None
        port = message.watch if kind == "watch" else decoded(message.watch_port, _PORT_BITS, "watch_port")
        if self._is_up(port) is None:
            raise invalid(f"watch port {port} does not exist")
        return int(port)


def stored_action_set(message: Any) -> Any:
    """Return a copy of a one-shot group to read back, in which values are as short as possible."""
    copy = messages.v1.TableAction()
    copy.CopyFrom(message)
    for item in copy.action_profile_action_set.action_profile_actions:
        _shorten_port(item)
        for param in item.action.params:
            param.value = shortest(param.value)
    return copy


def _shorten_port(message: Any) -> None:
    if message.WhichOneof("watch_kind") == "watch_port":
        message.watch_port = shortest(message.watch_port)


def _positive(number: int, what: str) -> int:
    if number == 0:
        raise invalid(f"0 is not the id of a {what}")
    return number


def _weight(p4info: Any, message: Any) -> int:
    """Return the number of copies for a weight."""
    if p4info.weights_disallowed:
        if message.weight:
            raise invalid(f"a weight of {message.weight}, and the profile allows no weights")
        return 1
    if message.weight <= 0:
        raise invalid(f"a weight of {message.weight} is not above 0")
    return int(message.weight)


def _check_size(p4info: Any, weights: Sequence[int], max_size: int) -> None:
    """Raise Refusal for a group that is larger than its own maximum or the profile's."""
    limit = p4info.max_group_size
    if max_size < 0 or (limit and max_size > limit):
        raise invalid(f"max_size {max_size} is not from 0 to {limit}")
    counts_members = p4info.HasField("sum_of_members")
    size = len(weights) if counts_members else sum(weights)
    limit = max_size or limit
    if limit and size > limit:
        raise invalid(f"the group has size {size}, which is above {limit}")
    most = p4info.sum_of_members.max_member_weight if counts_members else 0
    if most and weights and max(weights) > most:
        raise invalid(f"a weight of {max(weights)} is above {most}")
    if sum(weights) > p4info.size > 0:
        refuse(
            StatusCode.RESOURCE_EXHAUSTED,
            f"weights of {sum(weights)} in all, and the profile has {p4info.size} members",
        )
