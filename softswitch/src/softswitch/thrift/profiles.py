# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on action profiles: members and, with a selector, groups of them. Methods have the names of the calls."""

from __future__ import annotations

from typing import Any

from softswitch.control import Commands
from softswitch.operations import profiles
from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import Refused, TableCode, refusing
from softswitch.thrift.tables import unsigned_handle
from softswitch.thrift.values import action_call, data_bytes

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
        call = action_call(self._program.profile_actions(profile), action, data)
        with refusing(TableCode.ERROR, _MEMBER):
            return profiles.add_member(self._control, known, call)

    def bm_mt_act_prof_modify_member(
        self, context: int, profile: str, member: int, action: str, data: list[bytes]
    ) -> None:
        known = self._program.profile(profile)
        call = action_call(self._program.profile_actions(profile), action, data)
        with refusing(TableCode.ERROR, _MEMBER):
            profiles.modify_member(self._control, known, unsigned_handle(member), call)

    def bm_mt_act_prof_delete_member(self, context: int, profile: str, member: int) -> None:
        known = self._program.profile(profile)
        with refusing(TableCode.ERROR, _MEMBER):
            profiles.delete_member(self._control, known, unsigned_handle(member))

    def bm_mt_act_prof_create_group(self, context: int, profile: str) -> int:
        known = self._program.profile(profile, has_groups=True)
        with refusing(TableCode.ERROR, _GROUP):
            return profiles.add_group(self._control, known)

    def bm_mt_act_prof_delete_group(self, context: int, profile: str, group: int) -> None:
        known = self._program.profile(profile, has_groups=True)
        with refusing(TableCode.ERROR, _GROUP):
            profiles.delete_group(self._control, known, unsigned_handle(group))

    def bm_mt_act_prof_add_member_to_group(self, context: int, profile: str, member: int, group: int) -> None:
        self.bm_mt_act_prof_get_group(context, profile, group)
        known = self._program.profile(profile)
        with refusing(
            TableCode.ERROR, {"already": TableCode.MEMBER_IN_GROUP, "does not exist": TableCode.INVALID_MEMBER}
        ):
            profiles.add_to_group(self._control, known, unsigned_handle(member), unsigned_handle(group))

    def bm_mt_act_prof_remove_member_from_group(self, context: int, profile: str, member: int, group: int) -> None:
        self.bm_mt_act_prof_get_group(context, profile, group)
        known = self._program.profile(profile)
        with refusing(TableCode.ERROR, {"does not exist": TableCode.MEMBER_NOT_IN_GROUP}):
            profiles.remove_from_group(self._control, known, unsigned_handle(member), unsigned_handle(group))

    def bm_mt_act_prof_get_members(self, context: int, profile: str) -> list[Any]:
        known = self._program.profile(profile)
        with refusing(TableCode.ERROR):
            members = profiles.members(self._control, known, self._program.profile_actions(profile))
        return [interface().Member(handle, call.action.name, data_bytes(call)) for handle, call in members.items()]

    def bm_mt_act_prof_get_member(self, context: int, profile: str, member: int) -> Any:
        for candidate in self.bm_mt_act_prof_get_members(context, profile):
            if candidate.handle == member:
                return candidate
        raise Refused(TableCode.INVALID_MEMBER, f"no member {member} in {profile}")

    def bm_mt_act_prof_get_groups(self, context: int, profile: str) -> list[Any]:
        known = self._program.profile(profile, has_groups=True)
        with refusing(TableCode.ERROR):
            groups = profiles.groups(self._control, known)
        return [interface().Group(handle, members) for handle, members in groups.items()]

    def bm_mt_act_prof_get_group(self, context: int, profile: str, group: int) -> Any:
        for candidate in self.bm_mt_act_prof_get_groups(context, profile):
            if candidate.handle == group:
                return candidate
        raise Refused(TableCode.INVALID_GROUP, f"no group {group} in {profile}")
