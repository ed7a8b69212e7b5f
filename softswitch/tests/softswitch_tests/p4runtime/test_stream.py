# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the stream: mastership, packets to and from the CPU port, digests, idle timeouts, and dead clients."""

import itertools
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import grpc
import pytest

from softswitch.p4runtime.arbitration import MOST_CLIENTS
from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import DEVICE_ID, Controller, Names, exact, refused
from softswitch_tests.p4runtime.frames import DIGEST, EXACT, arrives, frame
from softswitch_tests.p4runtime.running import Served
from softswitch_tests.p4runtime.test_packet_out import metadata

OK, NOT_FOUND, ALREADY_EXISTS = 0, 5, 6
_ROLES = itertools.count(1)
Connect = Callable[..., Controller]


@pytest.fixture
def connect(server: Served) -> Iterator[Connect]:
    """Return a function that connects a client; all its clients have a role that no other test uses."""
    role = f"role-{next(_ROLES)}"
    with ExitStack() as stack:

        def make(election_id: int | None = 1) -> Controller:
            return stack.enter_context(closing(Controller(server.address, election_id, role)))

        yield make


def test_two_controllers_compete_for_mastership(primary: Controller, connect: Connect, names: Names) -> None:
    """The primary of the default role only sets the pipeline."""
    entry = names.entry("In.exact_match", [exact(7)], names.action("In.forward", 2))
    first, second = connect(10), connect(9)
    answer = first.arbitrate()
    assert (answer.status.code, answer.election_id.low, answer.role.name) == (OK, 10, first.role)
    assert second.arbitrate().status.code == ALREADY_EXISTS
    assert refused(second.insert, table_entry=entry) == ["PERMISSION_DENIED"]
    second.election_id = (1 << 64) + 3
    answer = second.arbitrate()
    assert (answer.status.code, answer.election_id.high, answer.election_id.low) == (OK, 1, 3)
    told = first.next("arbitration")
    assert (told.status.code, told.election_id.high) == (ALREADY_EXISTS, 1)
    assert refused(first.insert, table_entry=entry) == ["PERMISSION_DENIED"]
    second.insert(table_entry=entry)
    second.close()
    assert first.next("arbitration").status.code == NOT_FOUND
    assert first.arbitrate().status.code == NOT_FOUND
    first.election_id = (1 << 64) + 4
    assert first.arbitrate().status.code == OK
    first.delete(table_entry=entry)
    first.election_id = None
    assert first.arbitrate().status.code == NOT_FOUND
    assert first.is_silent


def test_wrong_arbitration_ends_the_stream(connect: Connect) -> None:
    for fields, code in (
        ({"device_id": DEVICE_ID + 1}, grpc.StatusCode.NOT_FOUND),
        ({"role": {"config": {"type_url": "x"}}}, grpc.StatusCode.INVALID_ARGUMENT),
    ):
        client = connect()
        client.role = ""
        client.send_arbitration(**fields)
        assert client.end().code() is code
    first, twin, moving = connect(1), connect(1), connect(2)
    first.arbitrate()
    twin.send_arbitration()
    assert twin.end().code() is grpc.StatusCode.INVALID_ARGUMENT
    moving.arbitrate()
    moving.role = "another"
    moving.send_arbitration()
    assert moving.end().code() is grpc.StatusCode.FAILED_PRECONDITION


def test_clients_of_a_role_are_limited(connect: Connect) -> None:
    clients = [connect(None) for _ in range(MOST_CLIENTS + 1)]
    for client in clients[:-1]:
        assert client.arbitrate().status.code == NOT_FOUND
    clients[-1].send_arbitration()
    assert clients[-1].end().code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_requests_need_the_device_and_a_primary(primary: Controller, names: Names) -> None:
    entry = names.entry("In.exact_match", [exact(7)], names.action("In.forward", 2))
    for fields, code in (
        ({"device_id": 1}, "NOT_FOUND"),
        ({"device_id": DEVICE_ID, "role": "nobody"}, "NOT_FOUND"),
        ({"device_id": DEVICE_ID}, "PERMISSION_DENIED"),
        ({"device_id": DEVICE_ID, "election_id": {"low": 1}}, "PERMISSION_DENIED"),
    ):
        request = v1.WriteRequest(updates=[v1.Update(type=1, entity={"table_entry": entry})], **fields)
        assert refused(primary.calls["Write"], request) == [code]
    assert refused(primary.calls["Capabilities"], v1.CapabilitiesRequest(device_id=1)) == ["NOT_FOUND"]
    answer = primary.calls["Capabilities"](v1.CapabilitiesRequest(device_id=DEVICE_ID))
    assert answer.p4runtime_api_version.startswith("1.4.")


@pytest.fixture
def backup(primary: Controller, connect: Connect) -> Controller:
    """Return a second client of the default role."""
    client = connect()
    client.role, client.election_id = "", 1
    client.arbitrate()
    return client


def test_packets_go_to_and_from_the_cpu_port(
    server: Served, primary: Controller, backup: Controller, names: Names
) -> None:
    primary.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.punt", 0x55)))
    server.send(2, frame(EXACT, 1))
    packet = primary.next("packet")
    assert packet.payload == frame(EXACT, 1)
    assert list(packet.metadata) == metadata((1, b"\x02"), (2, b"\x55"))
    primary.send(packet={"payload": frame(EXACT, 5), "metadata": metadata((1, b"\x03"), (2, b"\x00"))})
    assert server.receive(3) == frame(EXACT, 5)
    assert backup.is_silent


def test_messages_of_a_backup_are_refused(server: Served, backup: Controller) -> None:
    messages: list[dict[str, Any]] = [
        {"packet": {"payload": frame(EXACT, 5), "metadata": metadata((1, b"\x03"), (2, b"\x00"))}},
        {"digest_ack": {"digest_id": 1, "list_id": 1}},
        {"other": {}},
    ]
    for message, details in zip(messages, ("packet_out", "digest_list_ack", "other"), strict=True):
        backup.send(**message)
        error = backup.next("error")
        assert error.canonical_code == grpc.StatusCode.PERMISSION_DENIED.value[0]
        assert error.WhichOneof("details") == details
    assert server.nothing_at(3)


def test_digests_are_listed_once_until_acknowledged(server: Served, primary: Controller, names: Names) -> None:
    number = names["learnt_t"]
    arrives(server, 1, DIGEST, address=0xAA)  # not enabled yet
    config = {"max_timeout_ns": 10**10, "max_list_size": 2, "ack_timeout_ns": 10**12}
    entry = v1.DigestEntry(digest_id=number, config=config)
    primary.insert(digest_entry=entry)
    assert primary.read(digest_entry=v1.DigestEntry()) == [entry]
    assert refused(primary.insert, digest_entry=entry) == ["ALREADY_EXISTS"]
    for address in (0xAA, 0xAA, 0xBB):
        arrives(server, 1, DIGEST, address=address, enters=2)
    digests = primary.next("digest")
    values = [[member.bitstring for member in item.struct.members] for item in digests.data]
    assert (digests.digest_id, values) == (number, [[b"\xaa", b"\x02"], [b"\xbb", b"\x02"]])
    for address in (0xAA, 0xBB, 0xCC):  # the first two are not acknowledged
        arrives(server, 1, DIGEST, address=address, enters=2)
    primary.send(digest_ack={"digest_id": number, "list_id": digests.list_id})
    primary.send(digest_ack={"digest_id": 1, "list_id": 1})
    assert primary.next("error").canonical_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    arrives(server, 1, DIGEST, address=0xAA, enters=2)
    [third, again] = primary.next("digest").data
    assert [item.struct.members[0].bitstring for item in (third, again)] == [b"\xcc", b"\xaa"]
    primary.modify(digest_entry=v1.DigestEntry(digest_id=number, config={"max_list_size": 1}))
    arrives(server, 1, DIGEST, address=0xDD, enters=3)
    assert len(primary.next("digest").data) == 1
    primary.delete(digest_entry=entry)
    assert refused(primary.modify, digest_entry=entry) == ["NOT_FOUND"]


def test_idle_entries_are_reported_once_per_timeout(server: Served, primary: Controller, names: Names) -> None:
    action = names.action("In.forward", 1)
    timed = names.entry("In.exact_match", [exact(1)], action, idle_timeout_ns=300_000_000, metadata=b"t")
    patient = names.entry("In.exact_match", [exact(2)], action, idle_timeout_ns=10**15)
    primary.insert(table_entry=timed)
    primary.insert(table_entry=patient)
    first = primary.next("idle_timeout_notification")
    [entry] = first.table_entry
    assert (list(entry.match), entry.metadata, entry.idle_timeout_ns) == ([exact(1)], b"t", 300_000_000)
    second = primary.next("idle_timeout_notification")
    assert second.timestamp - first.timestamp > 100_000_000
    primary.delete(table_entry=timed)
    arrives(server, 1, EXACT, 2)
    request = names.entry("In.exact_match", [exact(2)], time_since_last_hit={})
    [before] = primary.read(table_entry=request)
    arrives(server, 1, EXACT, 2)
    [after] = primary.read(table_entry=request)
    assert before.time_since_last_hit.elapsed_ns > 0
    assert after.time_since_last_hit.elapsed_ns >= 0
    assert before.idle_timeout_ns == after.idle_timeout_ns == 10**15
    [silent] = primary.read(table_entry=names.entry("In.exact_match", [exact(2)]))
    assert not silent.HasField("time_since_last_hit")


_DYING = """
import sys, time
from softswitch_tests.p4runtime.controller import Controller
client = Controller(sys.argv[1], 5, sys.argv[2])
client.arbitrate()
print("primary", flush=True)
while True:
    client.send(packet={"payload": bytes(60)})
    time.sleep(0.001)
"""


def test_a_client_that_is_killed_in_mid_stream_loses_mastership(
    server: Served, primary: Controller, connect: Connect, names: Names
) -> None:
    waiting = connect(4)
    words = [sys.executable, "-c", _DYING, server.address, waiting.role]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as dying:
        assert dying.stdout is not None
        assert dying.stdout.readline() == b"primary\n"
        assert waiting.arbitrate().status.code == ALREADY_EXISTS
        dying.send_signal(signal.SIGKILL)
        assert waiting.next("arbitration").status.code == NOT_FOUND
    waiting.election_id = 6
    assert waiting.arbitrate().status.code == OK
    waiting.insert(table_entry=names.entry("In.exact_match", [exact(7)], names.action("In.forward", 2)))
    assert arrives(server, 2, EXACT, 7)
