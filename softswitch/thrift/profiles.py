# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on action profiles: members and, with a selector, groups of them. Methods have the names of the calls."""

from __future__ import annotations

from typing import Any

from softswitch.control import Commands
from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program, action_of
from softswitch.thrift.refusals import Refused, TableCode, ask
from softswitch.thrift.tables import handle_word
from softswitch.thrift.values import data_bytes, data_words

_MEMBER = {
    "is full": TableCode.TABLE_FULL,
    "does not exist": TableCode.INVALID_MEMBER,
    "is in use": TableCode.MEMBER_USED,
}
_GROUP = {
    "is full": TableCode.TABLE_FULL,
    "does not exist": TableCode.INVALID_GROUP,
    "is in use": TableCode.GROUP_USED,
}


class Profiles:
    """Members and groups of one switch."""

    def __init__(self, control: Commands, program: Program) -> None:
        self._control = control
        self._program = program

    def bm_mt_act_prof_add_member(self, context: int, profile: str, action: str, data: list[bytes]) -> int:
        known = self._program.profile(profile)
        called = action_of(self._program.profile_actions(profile), action)
        words = ["act_prof_create_member", known.name, called.name, *data_words(called, data)]
        return int(ask(self._control, words, TableCode.ERROR, _MEMBER).split()[-1])

    def bm_mt_act_prof_modify_member(
        self, context: int, profile: str, member: int, action: str, data: list[bytes]
    ) -> None:
        known = self._program.profile(profile)
        called = action_of(self._program.profile_actions(profile), action)
        words = ["act_prof_modify_member", known.name, called.name, handle_word(member), *data_words(called, data)]
        ask(self._control, words, TableCode.ERROR, _MEMBER)

    def bm_mt_act_prof_delete_member(self, context: int, profile: str, member: int) -> None:
        words = ["act_prof_delete_member", self._program.profile(profile).name, handle_word(member)]
        ask(self._control, words, TableCode.ERROR, _MEMBER)

    def bm_mt_act_prof_create_group(self, context: int, profile: str) -> int:
        words = ["act_prof_create_group", self._program.profile(profile, has_groups=True).name]
        return int(ask(self._control, words, TableCode.ERROR, _GROUP).split()[-1])

    def bm_mt_act_prof_delete_group(self, context: int, profile: str, group: int) -> None:
        words = ["act_prof_delete_group", self._program.profile(profile, has_groups=True).name, handle_word(group)]
        ask(self._control, words, TableCode.ERROR, _GROUP)

    def bm_mt_act_prof_add_member_to_group(self, context: int, profile: str, member: int, group: int) -> None:
        self.bm_mt_act_prof_get_group(context, profile, group)
        words = ["act_prof_add_member_to_group", profile, handle_word(member), handle_word(group)]
        meanings = {"already": TableCode.MEMBER_IN_GROUP, "does not exist": TableCode.INVALID_MEMBER}
        ask(self._control, words, TableCode.ERROR, meanings)

    def bm_mt_act_prof_remove_member_from_group(self, context: int, profile: str, member: int, group: int) -> None:
        self.bm_mt_act_prof_get_group(context, profile, group)
        words = ["act_prof_remove_member_from_group", profile, handle_word(member), handle_word(group)]
        ask(self._control, words, TableCode.ERROR, {"does not exist": TableCode.MEMBER_NOT_IN_GROUP})

    def bm_mt_act_prof_get_members(self, context: int, profile: str) -> list[Any]:
        known = self._program.profile(profile)
        actions = self._program.profile_actions(profile)
        members = []
        for handle, words in self._dumped(known.name, "member"):
            action = action_of(actions, words[0])
            members.append(interface().Member(handle, action.name, data_bytes(action, words[1:])))
        return members

    def bm_mt_act_prof_get_member(self, context: int, profile: str, member: int) -> Any:
        for candidate in self.bm_mt_act_prof_get_members(context, profile):
            if candidate.handle == member:
                return candidate
        raise Refused(TableCode.INVALID_MEMBER, f"no member {member} in {profile}")

    def bm_mt_act_prof_get_groups(self, context: int, profile: str) -> list[Any]:
        known = self._program.profile(profile, has_groups=True)
        groups = self._dumped(known.name, "group")
        return [interface().Group(handle, [int(word) for word in words]) for handle, words in groups]

    def bm_mt_act_prof_get_group(self, context: int, profile: str, group: int) -> Any:
        for candidate in self.bm_mt_act_prof_get_groups(context, profile):
            if candidate.handle == group:
                return candidate
        raise Refused(TableCode.INVALID_GROUP, f"no group {group} in {profile}")

    def _dumped(self, profile: str, what: str) -> list[tuple[int, list[str]]]:
        """Return the handle and the words of each member or group in `act_prof_dump`."""
        lines = ask(self._control, ["act_prof_dump", profile], TableCode.ERROR).splitlines()
        parts = [line.removeprefix(f"{what} ").partition(":") for line in lines if line.startswith(f"{what} ")]
        return [(int(handle), rest.split()) for handle, _, rest in parts]
