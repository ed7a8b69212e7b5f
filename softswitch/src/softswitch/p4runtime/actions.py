# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts actions between messages and the program's actions with arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softswitch.codegen.ir.blocks import ActionCall
from softswitch.p4runtime import messages
from softswitch.p4runtime.byte_strings import decoded, encoded
from softswitch.p4runtime.info import ActionInfo
from softswitch.p4runtime.status import invalid


def action_call(actions: Mapping[int, ActionInfo], message: Any, where: str) -> ActionCall:
    """Return the action and the arguments in a message. Raise Refusal if they do not fit one of the actions."""
    info = actions.get(message.action_id)
    if info is None:
        raise invalid(f"{where} has no action {message.action_id}")
    given = {param.param_id: param.value for param in message.params}
    if len(given) != len(message.params):
        raise invalid(f"a parameter of {info.action.name} is given twice")
    for unknown in set(given) - set(info.params):
        raise invalid(f"{info.action.name} has no parameter {unknown}")
    args = []
    for number, param in zip(info.params, info.action.params, strict=True):
        if number not in given:
            raise invalid(f"parameter {param.name} of {info.action.name} is missing")
        args.append(decoded(given[number], param.bits, f"parameter {param.name} of {info.action.name}"))
    return ActionCall(info.action, tuple(args))


def action_message(actions: Mapping[int, ActionInfo], call: ActionCall) -> Any:
    """Return the message of an action with its arguments."""
    info = next(info for info in actions.values() if info.action.name == call.action.name)
    message = messages.v1.Action(action_id=info.id)
    for number, value in zip(info.params, call.args, strict=True):
        message.params.add(param_id=number, value=encoded(value))
    return message
