# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Multicast groups and clone sessions.

A group has a node for each instance number, with the ports of that instance. A clone session to several replicas, or to
one with an instance number, uses a multicast group of its own above the ids that clients may choose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from grpc import StatusCode

from softswitch.control import Commands
from softswitch.operations.mirror_sessions import MirrorSession, MirrorSessions
from softswitch.operations.values import run
from softswitch.p4runtime import messages
from softswitch.p4runtime.byte_strings import decoded, shortest
from softswitch.p4runtime.status import invalid, not_found, refuse, refusing, unimplemented
from softswitch.p4runtime.storage import Storage

_RESERVED_GROUP = 1 << 15
"""The lowest id of the groups of clone sessions."""
_MOST_INSTANCE = (1 << 16) - 1
_MOST_PORT = 510
_PORT_BITS = 32


@dataclass
class _Group:
    """A multicast group: the client's message, and the switch's nodes by instance number."""

    message: Any
    nodes: dict[int, int] = field(default_factory=dict)


class Replication:
    """The multicast groups and clone sessions of a switch that clients of this protocol made."""

    def __init__(self, control: Commands, storage: Storage) -> None:
        self.control = control
        self._storage = storage
        self._groups: dict[int, _Group] = {}
        self._sessions: dict[int, _Group] = {}

    def write(self, kind: int, message: Any) -> None:
        which = message.WhichOneof("type")
        if which == "multicast_group_entry":
            self._write_group(kind, message.multicast_group_entry)
        elif which == "clone_session_entry":
            self._write_session(kind, message.clone_session_entry)
        else:
            raise invalid("an entry of the replication engine needs a group or a clone session")

    def read(self, message: Any) -> Iterator[Any]:
        which = message.WhichOneof("type")
        if which == "multicast_group_entry":
            for number, group in self._groups.items():
                if message.multicast_group_entry.multicast_group_id in (0, number):
                    yield messages.v1.PacketReplicationEngineEntry(multicast_group_entry=group.message)
        elif which == "clone_session_entry":
            for number, session in self._sessions.items():
                if message.clone_session_entry.session_id in (0, number):
                    yield messages.v1.PacketReplicationEngineEntry(clone_session_entry=session.message)
        else:
            raise invalid("a request for the replication engine needs a group or a clone session")

    def _write_group(self, kind: int, message: Any) -> None:
        number = message.multicast_group_id
        if number == 0:
            raise invalid("0 is not the id of a multicast group")
        if number >= _RESERVED_GROUP:
            refuse(StatusCode.OUT_OF_RANGE, f"multicast group {number} is above {_RESERVED_GROUP - 1}")
        group = _found(kind, self._groups.get(number), f"multicast group {number}")
        with refusing():
            if kind == messages.v1.Update.DELETE:
                assert group is not None
                self._destroy(number, group)
                del self._groups[number]
                self._storage.set(("multicast group", number), 0)
                return
            self._storage.check(("multicast group", number), message.ByteSize())
            ports = _ports_by_instance(message.replicas)
            group = self._groups.setdefault(number, _Group(None))
            if kind == messages.v1.Update.INSERT:
                self._create(number)
            self._fill(number, group, ports)
        group.message = _stored(message)
        self._storage.set(("multicast group", number), message.ByteSize())

    def _write_session(self, kind: int, message: Any) -> None:
        number = message.session_id
        if not 0 < number < _RESERVED_GROUP:
            raise invalid(f"clone session {number} is not from 1 to {_RESERVED_GROUP - 1}")
        session = _found(kind, self._sessions.get(number), f"clone session {number}")
        with refusing():
            if kind == messages.v1.Update.DELETE:
                assert session is not None
                MirrorSessions(self.control).delete(number)
                self._destroy(_RESERVED_GROUP + number, session)
                del self._sessions[number]
                self._storage.set(("clone session", number), 0)
                return
            self._storage.check(("clone session", number), message.ByteSize())
            _check_options(message)
            ports = _ports_by_instance(message.replicas)
            if session is None:
                session = self._sessions[number] = _Group(None)
                self._create(_RESERVED_GROUP + number)
            self._fill(_RESERVED_GROUP + number, session, ports)
            target = MirrorSession(group=_RESERVED_GROUP + number, most_bytes=message.packet_length_bytes)
            MirrorSessions(self.control).set(number, target)
        session.message = _stored(message)
        self._storage.set(("clone session", number), message.ByteSize())

    def _create(self, group: int) -> None:
        run(self.control, "mc_mgrp_create", group)

    def _fill(self, number: int, group: _Group, ports: dict[int, list[int]]) -> None:
        """Give a group the ports of each instance."""
        for instance in set(group.nodes) - set(ports):
            self._remove_node(number, group.nodes.pop(instance))
        for instance, members in ports.items():
            if instance in group.nodes:
                run(self.control, "mc_node_update", group.nodes[instance], *members)
            else:
                node = int(run(self.control, "mc_node_create", instance, *members).split()[-1])
                run(self.control, "mc_node_associate", number, node)
                group.nodes[instance] = node

    def _remove_node(self, number: int, node: int) -> None:
        run(self.control, "mc_node_dissociate", number, node)
        run(self.control, "mc_node_destroy", node)

    def _destroy(self, number: int, group: _Group) -> None:
        while group.nodes:
            self._remove_node(number, group.nodes.popitem()[1])
        run(self.control, "mc_mgrp_destroy", number)


def _found(kind: int, known: _Group | None, what: str) -> _Group | None:
    """Return the existing object. Raise Refusal if it must not exist yet, or does not exist."""
    if kind == messages.v1.Update.INSERT and known is not None:
        refuse(StatusCode.ALREADY_EXISTS, f"{what} exists already")
    if kind != messages.v1.Update.INSERT and known is None:
        raise not_found(f"no {what}")
    return known


def _check_options(session: Any) -> None:
    if session.class_of_service:
        raise unimplemented(f"class of service {session.class_of_service}: a clone keeps the priority that P4 gives it")
    if session.packet_length_bytes < 0:
        raise invalid(f"a packet length of {session.packet_length_bytes} bytes is below 0")


def _ports_by_instance(replicas: Any) -> dict[int, list[int]]:
    ports: dict[int, list[int]] = {}
    for replica in replicas:
        if replica.backup_replicas:
            raise unimplemented("backup replicas")
        port = replica.egress_port
        if replica.WhichOneof("port_kind") == "port":
            port = decoded(replica.port, _PORT_BITS, "the port of a replica")
        if port > _MOST_PORT:
            raise invalid(f"port {port} of a replica is above {_MOST_PORT}")
        if replica.instance > _MOST_INSTANCE:
            raise invalid(f"instance {replica.instance} of a replica is above {_MOST_INSTANCE}")
        members = ports.setdefault(replica.instance, [])
        if port in members:
            raise invalid(f"the replica to port {port} with instance {replica.instance} is given twice")
        members.append(port)
    return ports


def _stored(message: Any) -> Any:
    """Return a copy to read back, in which ports are as short as possible."""
    copy = type(message)()
    copy.CopyFrom(message)
    for replica in copy.replicas:
        if replica.WhichOneof("port_kind") == "port":
            replica.port = shortest(replica.port)
    return copy
