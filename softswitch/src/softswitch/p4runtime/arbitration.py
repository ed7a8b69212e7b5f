# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Arbitration: the choice of the primary among the clients of a role, and the notifications of its clients.

The primary is the live client with the highest election id that the role has ever seen. There may be no primary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from grpc import StatusCode

from softswitch.p4runtime import messages
from softswitch.p4runtime.status import invalid, not_found, refuse, status_of

MOST_CLIENTS = 16
"""The maximum number of live clients of a role."""
MOST_ROLES = 1024
"""The maximum number of roles whose highest election id is remembered. The one without clients for the longest time is
forgotten first."""
MOST_ROLE_NAME_BYTES = 1024


@dataclass(eq=False)
class Client:
    """A live client: a function that sends it messages, and what it requested in its latest arbitration."""

    send: Callable[[Any], None]
    role: str | None = None
    """The name of the role; None before the first arbitration."""
    election_id: int | None = None


@dataclass
class _Role:
    """The live clients of a role."""

    highest_id: int | None = None
    primary: Client | None = None
    clients: list[Client] = field(default_factory=list)


class Arbitration:
    """The clients of a device. `on_new_primary` is called whenever a client becomes primary."""

    def __init__(self, device_id: int, on_new_primary: Callable[[], None]) -> None:
        self._device_id = device_id
        self._on_new_primary = on_new_primary
        self._roles: dict[str, _Role] = {}

    def update(self, client: Client, message: Any) -> None:
        """Handle a client's arbitration message and notify the clients. Raise Refusal to end the client's stream."""
        name = message.role.name if message.HasField("role") else ""
        election_id = _number(message.election_id) if message.HasField("election_id") else None
        self._check(client, message, name)
        role = self._roles.get(name) or _Role()
        if election_id is not None and any(
            other.election_id == election_id for other in role.clients if other is not client
        ):
            # Clients such as finsy recognise the text. It begins as on BMv2 and goes on as in Stratum.
            raise invalid(
                f"Election id already exists: {election_id} is already used by another connection with the same role "
                f"'{name}'"
            )
        if client.role is None:
            if len(role.clients) >= MOST_CLIENTS:
                refuse(StatusCode.RESOURCE_EXHAUSTED, f"role '{name}' has {MOST_CLIENTS} clients already")
            client.role = name
            role.clients.append(client)
            self._keep(name, role)
        client.election_id = election_id
        self._elect(name, role, client)

    def leave(self, client: Client) -> None:
        """Remove a client whose stream has ended."""
        if client.role is None:
            return
        name, client.role = client.role, None
        role = self._roles[name]
        role.clients.remove(client)
        self._keep(name, role)
        if role.primary is client:
            role.primary = None
            self._notify(name, role, role.clients)

    def check_primary(self, request: Any) -> None:
        """Raise Refusal unless a request comes from the primary of its role."""
        role = self._roles.get(request.role)
        if role is None and request.role:
            raise not_found(f"no client has role '{request.role}'")
        election_id = _number(request.election_id) if request.HasField("election_id") else None
        if role is None or role.primary is None or role.primary.election_id != election_id:
            refuse(StatusCode.PERMISSION_DENIED, "Not primary")

    def is_primary(self, client: Client) -> bool:
        return client.role is not None and self._roles[client.role].primary is client

    def primaries(self) -> list[Client]:
        """Return the primary of each role that has one."""
        return [role.primary for role in self._roles.values() if role.primary is not None]

    def _check(self, client: Client, message: Any, name: str) -> None:
        """Raise Refusal for a message with another device or role, or with a role that cannot be."""
        is_new = client.role is None
        if message.device_id != self._device_id:
            code = StatusCode.NOT_FOUND if is_new else StatusCode.FAILED_PRECONDITION
            refuse(code, f"no device {message.device_id}; the device of this switch is {self._device_id}")
        if not is_new and name != client.role:
            refuse(StatusCode.FAILED_PRECONDITION, f"the role of this stream is '{client.role}', not '{name}'")
        if message.role.HasField("config"):
            raise invalid("roles have no configuration here: every role may use the whole pipeline")
        if len(name.encode()) > MOST_ROLE_NAME_BYTES:
            raise invalid(f"the name of the role has {len(name.encode())} bytes; at most {MOST_ROLE_NAME_BYTES}")

    def _keep(self, name: str, role: _Role) -> None:
        """Remember a role as the latest one, as long as it has clients or an election id that must not fall."""
        self._roles.pop(name, None)
        if role.clients or role.highest_id is not None:
            self._roles[name] = role
        if len(self._roles) > MOST_ROLES:
            del self._roles[next(name for name, role in self._roles.items() if not role.clients)]

    def _elect(self, name: str, role: _Role, client: Client) -> None:
        before = role.primary
        if client.election_id is not None and (role.highest_id is None or client.election_id >= role.highest_id):
            role.highest_id = client.election_id
            role.primary = client
        elif before is client:
            role.primary = None
        if role.primary is before and role.primary is not client:
            self._notify(name, role, [client])
            return
        if role.primary is client and before is not client:
            self._on_new_primary()
        self._notify(name, role, [other for other in role.clients if other is not client] + [client])

    def _notify(self, name: str, role: _Role, clients: list[Client]) -> None:
        for client in list(clients):
            answer = messages.v1.StreamMessageResponse()
            update = answer.arbitration
            update.device_id = self._device_id
            if name:
                update.role.name = name
            if role.highest_id is not None:
                update.election_id.high = role.highest_id >> 64
                update.election_id.low = role.highest_id & (1 << 64) - 1
            update.status.CopyFrom(_status(role, client))
            client.send(answer)


def _status(role: _Role, client: Client) -> Any:
    if role.primary is client:
        return status_of(StatusCode.OK, "Is primary")
    if role.primary is None:
        return status_of(StatusCode.NOT_FOUND, "Is backup, and there is no primary")
    return status_of(StatusCode.ALREADY_EXISTS, "Is backup")


def _number(message: Any) -> int:
    """Return a number of 128 bits."""
    return int(message.high) << 64 | int(message.low)
