# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Operations on action profiles: members and, with a selector, groups of them."""

from __future__ import annotations

from collections.abc import Sequence

from softswitch.codegen.ir.blocks import ActionCall, Profile
from softswitch.codegen.ir.nodes import Action
from softswitch.control import Commands
from softswitch.operations.tables import call_of
from softswitch.operations.values import run


def add_member(control: Commands, profile: Profile, call: ActionCall) -> int:
    """Create a member and return its handle."""
    answer = run(control, "act_prof_create_member", profile.name, call.action.name, *call.args)
    return int(answer.split()[-1])


def modify_member(control: Commands, profile: Profile, member: int, call: ActionCall) -> None:
    run(control, "act_prof_modify_member", profile.name, call.action.name, member, *call.args)


def delete_member(control: Commands, profile: Profile, member: int) -> None:
    run(control, "act_prof_delete_member", profile.name, member)


def add_group(control: Commands, profile: Profile) -> int:
    """Create an empty group and return its handle."""
    return int(run(control, "act_prof_create_group", profile.name).split()[-1])


def delete_group(control: Commands, profile: Profile, group: int) -> None:
    run(control, "act_prof_delete_group", profile.name, group)


def add_to_group(control: Commands, profile: Profile, member: int, group: int) -> None:
    run(control, "act_prof_add_member_to_group", profile.name, member, group)


def remove_from_group(control: Commands, profile: Profile, member: int, group: int) -> None:
    run(control, "act_prof_remove_member_from_group", profile.name, member, group)


def members(control: Commands, profile: Profile, actions: Sequence[Action]) -> dict[int, ActionCall]:
    """Return the members by handle."""
    return {handle: call_of(actions, words) for handle, words in _dumped(control, profile, "member")}


def groups(control: Commands, profile: Profile) -> dict[int, list[int]]:
    """Return the members of each group by handle."""
    return {handle: [int(word) for word in words] for handle, words in _dumped(control, profile, "group")}


def _dumped(control: Commands, profile: Profile, what: str) -> list[tuple[int, list[str]]]:
    """Return the handle and the words of each member or group in `act_prof_dump`."""
    lines = run(control, "act_prof_dump", profile.name).splitlines()
    parts = [line.removeprefix(f"{what} ").partition(":") for line in lines if line.startswith(f"{what} ")]
    return [(int(handle), rest.split()) for handle, _, rest in parts]
