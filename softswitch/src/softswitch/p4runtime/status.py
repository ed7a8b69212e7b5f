# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Refusals with canonical codes, and the status messages that report them to clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from grpc import StatusCode

from softswitch.control import CommandError
from softswitch.p4runtime import messages

DETAILS_KEY = "grpc-status-details-bin"
"""The key of the trailing metadata that holds a google.rpc.Status."""

MOST_TEXT_BYTES = 500
"""The maximum length of the text of a refusal. gRPC's clients accept 8 KiB, in which a byte may take three."""

_MEANINGS = {
    "already": StatusCode.ALREADY_EXISTS,
    "is full": StatusCode.RESOURCE_EXHAUSTED,
    "no memory": StatusCode.RESOURCE_EXHAUSTED,
    "does not exist": StatusCode.NOT_FOUND,
    "has no member": StatusCode.NOT_FOUND,
    "has no group": StatusCode.NOT_FOUND,
    "is const": StatusCode.PERMISSION_DENIED,
    "is in use": StatusCode.FAILED_PRECONDITION,
}
"""The code for a phrase in an error of the switch; other errors are invalid arguments."""


class Refusal(Exception):
    """A request, or a part of a request, is refused. The middle of a long text is left out."""

    def __init__(self, code: StatusCode, text: str) -> None:
        super().__init__(_shortened(text))
        self.code = code

    def kept(self) -> Refusal:
        """Return the refusal without its traceback, whose frames would keep a client's whole request in memory."""
        return Refusal(self.code, str(self))


def _shortened(text: str) -> str:
    """Return a text that is short enough for the answer to a call, whatever names are in it."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= MOST_TEXT_BYTES:
        return text
    half = MOST_TEXT_BYTES // 2 - 10
    return f"{encoded[:half].decode(errors='ignore')} [...] {encoded[-half:].decode(errors='ignore')}"


def invalid(text: str) -> Refusal:
    return Refusal(StatusCode.INVALID_ARGUMENT, text)


def not_found(text: str) -> Refusal:
    return Refusal(StatusCode.NOT_FOUND, text)


def unimplemented(text: str) -> Refusal:
    return Refusal(StatusCode.UNIMPLEMENTED, text)


@contextmanager
def refusing() -> Iterator[None]:
    """Raise Refusal in place of a CommandError, with the code that belongs to the error."""
    try:
        yield
    except CommandError as error:
        raise refusal_of(error) from None


def refusal_of(error: CommandError) -> Refusal:
    codes = (code for phrase, code in _MEANINGS.items() if phrase in str(error))
    return Refusal(next(codes, StatusCode.INVALID_ARGUMENT), str(error))


def number(code: StatusCode) -> int:
    """Return the number of a code in google.rpc.Code."""
    value: int = code.value[0]
    return value


def status_of(code: StatusCode, text: str) -> Any:
    """Return a google.rpc.Status."""
    return messages.rpc.Status(code=number(code), message=text)


def refuse(code: StatusCode, text: str) -> NoReturn:
    raise Refusal(code, text)
