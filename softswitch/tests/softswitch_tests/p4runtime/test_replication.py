# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of multicast groups and clone sessions."""

from collections.abc import Sequence
from typing import Any

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import DELETE, INSERT, MODIFY, Controller, Names, exact, refused, update
from softswitch_tests.p4runtime.frames import EXACT, arrives, frame, request_of
from softswitch_tests.p4runtime.running import Served

Replicas = Sequence[tuple[int, int]]


def group(number: int, replicas: Replicas, **fields: object) -> Any:
    """Return a multicast group of replicas with port and instance."""
    listed = [v1.Replica(port=bytes([port]), instance=instance) for port, instance in replicas]
    entry = {"multicast_group_id": number, "replicas": listed, **fields}
    return v1.PacketReplicationEngineEntry(multicast_group_entry=entry)


def session(number: int, replicas: Replicas, **fields: int) -> Any:
    listed = [v1.Replica(egress_port=port, instance=instance) for port, instance in replicas]
    entry = {"session_id": number, "replicas": listed, **fields}
    return v1.PacketReplicationEngineEntry(clone_session_entry=entry)


def test_a_group_reaches_its_replicas(server: Served, primary: Controller, names: Names) -> None:
    first = group(7, [(2, 1), (3, 5)], metadata=b"mine")
    primary.insert(packet_replication_engine_entry=first)
    primary.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.flood", 7)))
    server.send(1, frame(EXACT, 1))
    assert [request_of(server.receive(port)).color for port in (2, 3)] == [1, 5]
    changed = group(7, [(3, 5), (1, 5), (1, 9)])
    primary.modify(packet_replication_engine_entry=changed)
    server.send(1, frame(EXACT, 1))
    assert sorted(request_of(server.receive(port)).color for port in (1, 1, 3)) == [5, 5, 9]
    assert server.nothing_at(2)
    every = v1.PacketReplicationEngineEntry(multicast_group_entry={})
    assert primary.read(packet_replication_engine_entry=every) == [changed]
    primary.delete(packet_replication_engine_entry=group(7, []))
    assert primary.read(packet_replication_engine_entry=every) == []
    primary.insert(packet_replication_engine_entry=group(7, [(2, 0)]))
    assert arrives(server, 2, EXACT, 1).color == 0


def test_a_clone_session_reaches_its_replicas(server: Served, primary: Controller, names: Names) -> None:
    primary.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.copy_to", 50)))
    assert arrives(server, 1, EXACT, 1)
    first = session(50, [(2, 0), (3, 4)])
    primary.insert(packet_replication_engine_entry=first)
    server.send(1, frame(EXACT, 1))
    assert [request_of(server.receive(port)).color for port in (1, 2, 3)] == [0, 0, 4]
    primary.modify(packet_replication_engine_entry=session(50, [(3, 0)]))
    server.send(1, frame(EXACT, 1))
    assert [request_of(server.receive(port)).color for port in (1, 3)] == [0, 0]
    every = v1.PacketReplicationEngineEntry(clone_session_entry={})
    assert primary.read(packet_replication_engine_entry=every) == [session(50, [(3, 0)])]
    primary.delete(packet_replication_engine_entry=session(50, []))
    assert arrives(server, 1, EXACT, 1)
    assert server.nothing_at(3)


def test_copies_of_a_session_with_a_packet_length_are_cut(server: Served, primary: Controller, names: Names) -> None:
    primary.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.copy_to", 50)))
    cut = session(50, [(2, 0), (3, 4)], packet_length_bytes=20)
    primary.insert(packet_replication_engine_entry=cut)
    server.send(1, frame(EXACT, 1))
    assert [len(server.receive(port)) for port in (1, 2, 3)] == [len(frame(EXACT, 1)), 20, 20]
    every = v1.PacketReplicationEngineEntry(clone_session_entry={})
    assert primary.read(packet_replication_engine_entry=every) == [cut]
    primary.modify(packet_replication_engine_entry=session(50, [(2, 0)]))
    server.send(1, frame(EXACT, 1))
    assert [len(server.receive(port)) for port in (1, 2)] == [len(frame(EXACT, 1))] * 2


def test_wrong_groups_and_sessions_are_refused(primary: Controller) -> None:
    known = group(1, [(1, 1)])
    primary.insert(packet_replication_engine_entry=known)
    backup = v1.Replica(egress_port=1, backup_replicas=[v1.BackupReplica(port=b"\x02")])
    with_backup = v1.PacketReplicationEngineEntry(multicast_group_entry={"multicast_group_id": 2, "replicas": [backup]})
    cases = [
        (INSERT, known, "ALREADY_EXISTS"),
        (MODIFY, group(2, []), "NOT_FOUND"),
        (DELETE, group(2, []), "NOT_FOUND"),
        (INSERT, group(0, []), "INVALID_ARGUMENT"),
        (INSERT, group(1 << 15, []), "OUT_OF_RANGE"),
        (INSERT, group(2, [(1, 1), (1, 1)]), "INVALID_ARGUMENT"),
        (INSERT, group(2, [(1, 1 << 16)]), "INVALID_ARGUMENT"),
        (INSERT, with_backup, "UNIMPLEMENTED"),
        (INSERT, session(0, []), "INVALID_ARGUMENT"),
        (INSERT, session(1 << 15, []), "INVALID_ARGUMENT"),
        (INSERT, session(1, [(511, 0)]), "INVALID_ARGUMENT"),
        (INSERT, session(1, [], class_of_service=1), "UNIMPLEMENTED"),
        (INSERT, session(1, [], packet_length_bytes=-1), "INVALID_ARGUMENT"),
        (DELETE, session(1, []), "NOT_FOUND"),
        (INSERT, v1.PacketReplicationEngineEntry(), "INVALID_ARGUMENT"),
    ]
    updates = [update(kind, packet_replication_engine_entry=entry) for kind, entry, _ in cases]
    assert refused(primary.write, *updates) == [code for *_, code in cases]
