# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the limits on what clients can make the server keep."""

import asyncio
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import grpc
import pytest
from grpc import StatusCode

from softswitch.codegen.ir.blocks import Array
from softswitch.control import CommandError
from softswitch.p4runtime import answers, outbox, pipeline, portions, storage
from softswitch.p4runtime.answers import Answers, WaitingBytes
from softswitch.p4runtime.digests import MOST_DIGEST_BYTES, Digests
from softswitch.p4runtime.indexes import MOST_CELLS, read_cells
from softswitch.p4runtime.info import ArrayInfo, DigestInfo, Info
from softswitch.p4runtime.messages import client_calls, v1
from softswitch.p4runtime.outbox import Outbox, UnreadBytes
from softswitch.p4runtime.server import MOST_CONNECTIONS
from softswitch.p4runtime.service import MOST_STREAMS
from softswitch.p4runtime.status import Refusal
from softswitch.p4runtime.storage import Storage
from softswitch_tests.p4runtime.controller import (
    DELETE,
    DEVICE_ID,
    INSERT,
    PATIENCE_S,
    Controller,
    Names,
    connected,
    exact,
    refused,
    update,
)
from softswitch_tests.p4runtime.frames import EXACT, frame
from softswitch_tests.p4runtime.running import Served, served
from softswitch_tests.p4runtime.test_profiles import group, member, one_shot
from softswitch_tests.p4runtime.test_replication import group as multicast
from softswitch_tests.pipeline.harness import PROGRAMS

MB = 1 << 20


def packet(n_bytes: int) -> Any:
    return v1.StreamMessageResponse(packet={"payload": bytes(n_bytes)})


def arbitration(n_bytes: int = 0) -> Any:
    return v1.StreamMessageResponse(arbitration={"role": {"name": "r" * n_bytes}})


def rest_of(unread: Outbox) -> list[Any]:
    """Return the messages of an ended stream."""

    async def messages() -> list[Any]:
        return [message async for message in unread.messages()]

    return asyncio.run(messages())


# Unread messages


@pytest.mark.parametrize("n_bytes", [0, 100, 60_000, MB])
def test_packets_above_the_limit_are_dropped(n_bytes: int) -> None:
    unread = Outbox(pytest.fail, UnreadBytes())
    for _ in range(20_000 if n_bytes < 1000 else 300):
        unread.put(packet(n_bytes))
        assert unread.unread_bytes <= outbox.MOST_UNREAD_BYTES
    size = packet(n_bytes).ByteSize() + outbox.BYTES_OF_A_MESSAGE
    unread.put(packet(outbox.MOST_UNREAD_BYTES))
    unread.end()
    assert len(rest_of(unread)) == outbox.MOST_UNREAD_BYTES // size
    assert unread.unread_bytes == 0
    assert unread.refusal is None


def test_a_client_that_misses_an_arbitration_is_ended() -> None:
    ended: list[bool] = []
    unread = Outbox(lambda: ended.append(True), UnreadBytes())
    for _ in range(20_000):
        unread.put(arbitration(1000))
        assert unread.unread_bytes <= outbox.MOST_UNREAD_BYTES
    assert ended == [True]
    assert unread.unread_bytes == 0
    assert rest_of(unread) == []
    assert unread.refusal is not None
    assert unread.refusal.code is StatusCode.RESOURCE_EXHAUSTED


def test_the_unread_messages_of_all_clients_are_limited() -> None:
    of_all = UnreadBytes()
    outboxes = [Outbox(pytest.fail, of_all) for _ in range(64)]
    for unread in outboxes:
        for _ in range(100):
            unread.put(packet(100_000))
    sizes = [unread.unread_bytes for unread in outboxes]
    assert sum(sizes) == of_all.value
    assert outbox.MOST_UNREAD_OF_ALL_BYTES < of_all.value < outbox.MOST_UNREAD_OF_ALL_BYTES + 64 * outbox.SURE_BYTES
    size = packet(100_000).ByteSize() + outbox.BYTES_OF_A_MESSAGE
    assert (max(sizes), min(sizes)) == (outbox.MOST_UNREAD_BYTES // size * size, outbox.SURE_BYTES // size * size)
    for unread in outboxes[:2]:
        unread.forget()
    outboxes[-1].put(packet(MB))
    assert outboxes[-1].unread_bytes > min(sizes)
    for unread in outboxes:
        unread.forget()
    assert of_all.value == 0


def test_a_client_that_never_reads_loses_its_stream(primary: Controller, server: Served) -> None:
    """It repeats its arbitration without reading the answers. Another client of the role sees it leave."""
    role = "r" * 1000
    message = v1.StreamMessageRequest(arbitration={"device_id": 3, "election_id": {"low": 9}, "role": {"name": role}})
    count = 3 * outbox.MOST_UNREAD_BYTES // message.ByteSize()
    with closing(Controller(server.address, None, role)) as watcher, grpc.insecure_channel(server.address) as channel:
        assert watcher.arbitrate().status.code == StatusCode.NOT_FOUND.value[0]
        stream = client_calls(channel)["StreamChannel"](iter([message] * count))
        assert watcher.next("arbitration").status.code == StatusCode.ALREADY_EXISTS.value[0]
        while watcher.next("arbitration").status.code != StatusCode.NOT_FOUND.value[0]:
            pass
        with pytest.raises(grpc.RpcError) as error:
            list(stream)
    assert error.value.code() is StatusCode.RESOURCE_EXHAUSTED
    assert "does not read its messages" in error.value.details()


def test_an_error_about_a_long_packet_has_no_copy_of_it(primary: Controller) -> None:
    wrong = [{"metadata_id": 9, "value": b"\x03"}]
    primary.send(packet={"payload": bytes(9000), "metadata": wrong})
    assert len(primary.next("error").packet_out.packet_out.payload) == 9000
    primary.send(packet={"payload": bytes(MB), "metadata": wrong})
    error = primary.next("error")
    assert error.WhichOneof("details") == "packet_out"
    assert error.ByteSize() < 1000
    long = v1.DigestListAck.FromString(
        v1.DigestListAck(digest_id=1).SerializeToString() + b"\xa2\x06\x80\x80\x40" + bytes(MB)
    )
    primary.send(digest_ack=long)
    assert primary.next("error").ByteSize() < 1000


# Streams


@pytest.fixture
def lone() -> Iterator[Served]:
    """Yield a server of this test alone."""
    with served() as server:
        yield server


def test_the_streams_of_all_roles_are_limited(lone: Served) -> None:
    with ExitStack() as stack:
        for number in range(MOST_STREAMS):
            client = stack.enter_context(closing(Controller(lone.address, 1, f"role-{number}")))
            assert client.arbitrate().status.code == 0
        extra = stack.enter_context(closing(Controller(lone.address, 1, "extra")))
        extra.send_arbitration()
        assert extra.end().code() is StatusCode.RESOURCE_EXHAUSTED
        assert client.arbitrate().status.code == 0


def test_streams_without_arbitration_count(lone: Served) -> None:
    with ExitStack() as stack:
        idle = [stack.enter_context(closing(Controller(lone.address))) for _ in range(MOST_STREAMS)]
        for client in idle:  # an error shows that the server has the stream
            client.send(packet={"payload": b"x"})
            assert client.next("error").canonical_code == StatusCode.PERMISSION_DENIED.value[0]
        extra = stack.enter_context(closing(Controller(lone.address)))
        assert extra.end().code() is StatusCode.RESOURCE_EXHAUSTED
        version = extra.calls["Capabilities"](v1.CapabilitiesRequest()).p4runtime_api_version
        assert version  # other calls go on


def test_connections_are_limited(lone: Served) -> None:
    """A client that is connected already goes on, and others can connect once connections have ended."""
    host, port = lone.address.rsplit(":", 1)

    def connect() -> bool:
        """Connect, and return whether the server begins to speak instead of closing the connection."""
        connection = stack.enter_context(socket.create_connection((host, int(port)), PATIENCE_S))
        try:
            return connection.recv(1) != b""
        except ConnectionError:
            return False

    with connected(lone.address) as client, ExitStack() as stack:
        assert [connect() for _ in range(MOST_CONNECTIONS + 9)] == [True] * (MOST_CONNECTIONS - 1) + [False] * 10
        assert client.arbitrate().status.code == 0
        stack.close()
        while not connect():  # the server closes the ended connections one after the other
            pass
        with closing(Controller(lone.address, 2)) as later:
            assert later.arbitrate().status.code == 0


def test_a_long_read_does_not_hold_up_other_calls(lone: Served) -> None:
    n_cells = 1 << 19
    program, document = Names("controlled"), json.loads((PROGRAMS / "controlled.json").read_bytes())
    for register in document["register_arrays"]:
        register["size"] = n_cells
    for described in program.p4info.registers:
        described.size = n_cells
    with connected(lone.address) as client:
        client.set_pipeline("controlled", p4info=program.p4info, p4_device_config=json.dumps(document).encode())
        request = v1.ReadRequest(device_id=DEVICE_ID, entities=[v1.Entity(register_entry={})])
        read = client.calls["Read"](request)
        n_answered = 0
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(next, read)
            while not first.done():
                assert client.calls["Capabilities"](v1.CapabilitiesRequest()).p4runtime_api_version
                n_answered += 1
        assert n_answered >= 5
        assert len(first.result().entities) + sum(len(answer.entities) for answer in read) == 2 * n_cells


def test_refused_streams_keep_nothing(lone: Served) -> None:
    for number in range(3 * MOST_STREAMS):
        with closing(Controller(lone.address, 1, f"{number}-" + "r" * MB)) as client:
            client.send_arbitration()
            assert client.end().code() is StatusCode.INVALID_ARGUMENT
    with connected(lone.address):
        pass


# Stored bytes


def test_storage_counts_what_is_stored() -> None:
    stored = Storage()
    stored.set("a", 10)
    stored.set("b", 20)
    stored.set("a", 5)
    assert stored.n_bytes == 25
    stored.check("a", storage.MOST_STORED_BYTES - 20)
    with pytest.raises(Refusal, match=f"at most {storage.MOST_STORED_BYTES}") as refusal:
        stored.check("a", storage.MOST_STORED_BYTES - 19)
    assert refusal.value.code is StatusCode.RESOURCE_EXHAUSTED
    stored.set("b", 0)
    stored.set("c", 0)
    assert stored.n_bytes == 5


def room(client: Controller, names: Names) -> None:
    """Fill the storage with metadata of entries but for 1 MiB, and leave the connection as it was."""
    for first in range(0, storage.MOST_STORED_BYTES // MB - 1, 16):
        count = min(16, storage.MOST_STORED_BYTES // MB - 1 - first)
        client.write(*(update(INSERT, table_entry=long_entry(names, first + number)) for number in range(count)))


def long_entry(names: Names, key: int, table: str = "In.exact_match", n_bytes: int = MB) -> Any:
    return names.entry(table, [exact(key)], names.action("In.forward", 2), metadata=bytes(n_bytes))


def test_stored_metadata_and_messages_are_limited(primary: Controller, names: Names) -> None:
    room(primary, names)
    too_long = {"metadata": bytes(MB + 1)}
    default = names.entry("In.policies", action=names.action("In.drop"), is_default_action=True, **too_long)
    several = one_shot(names, (1, 1))
    wrong = [
        update(INSERT, table_entry=long_entry(names, 9999, n_bytes=MB + 1)),
        update(v1.Update.MODIFY, table_entry=long_entry(names, 0, n_bytes=2 * MB + 1)),
        update(v1.Update.MODIFY, table_entry=default),
        update(INSERT, table_entry=names.entry("In.spread", [exact(1)], several, **too_long)),
        update(INSERT, packet_replication_engine_entry=multicast(1, [(1, 1)], **too_long)),
    ]
    assert refused(primary.write, *wrong) == ["RESOURCE_EXHAUSTED"] * len(wrong)
    primary.insert(packet_replication_engine_entry=multicast(1, [(1, 1)], metadata=bytes(MB - 100)))
    primary.delete(packet_replication_engine_entry=multicast(1, []))
    primary.modify(table_entry=long_entry(names, 0, n_bytes=2 * MB))
    assert refused(primary.insert, table_entry=long_entry(names, 9999, n_bytes=1)) == ["RESOURCE_EXHAUSTED"]
    primary.insert(table_entry=long_entry(names, 9999, n_bytes=0))
    primary.delete(table_entry=long_entry(names, 1, n_bytes=0))
    primary.insert(table_entry=long_entry(names, 9998, n_bytes=MB))


def test_groups_and_sessions_give_their_room_back(primary: Controller, names: Names) -> None:
    room(primary, names)
    primary.insert(action_profile_member=member(names, 1, 1))
    half = MB // 2
    unknown = b"\xa2\x06" + bytes([0x80 | half & 0x7F, 0x80 | half >> 7 & 0x7F, half >> 14]) + bytes(half)
    for _ in range(5):  # fields that nothing knows are stored too
        stored = v1.ActionProfileGroup.FromString(group(names, 1, (1, 1)).SerializeToString() + unknown)
        session = v1.CloneSessionEntry.FromString(v1.CloneSessionEntry(session_id=1).SerializeToString() + unknown)
        entity = v1.PacketReplicationEngineEntry(clone_session_entry=session)
        primary.insert(action_profile_group=stored)
        assert refused(primary.insert, packet_replication_engine_entry=entity) == ["RESOURCE_EXHAUSTED"]
        primary.modify(action_profile_group=group(names, 1, (1, 1)))
        primary.insert(packet_replication_engine_entry=entity)
        assert refused(primary.modify, action_profile_group=stored) == ["RESOURCE_EXHAUSTED"]
        primary.write(
            update(DELETE, action_profile_group=group(names, 1)),
            update(DELETE, packet_replication_engine_entry=entity),
        )


# Answers


def entities(count: int, n_bytes: int) -> list[Any]:
    return [v1.Entity(table_entry={"metadata": bytes(n_bytes)})] * count


@pytest.mark.parametrize(("count", "n_bytes"), [(0, 0), (1, 0), (100_000, 20), (10, MB), (5, 3 * MB)])
def test_answers_fit_into_the_messages_of_clients(count: int, n_bytes: int) -> None:
    waiting = WaitingBytes()
    collected = Answers(waiting)
    list(collected.add(entities(count, n_bytes)))
    taken = list(collected.taken())
    assert sum(len(v1.ReadResponse.FromString(answer).entities) for answer in taken) == count
    assert all(taken)
    assert all(len(answer) <= max(portions.MOST_PORTION_BYTES, n_bytes + 100) for answer in taken)
    assert waiting.value == 0


def test_the_answers_to_a_read_are_limited() -> None:
    waiting = WaitingBytes()
    collected = Answers(waiting)
    list(collected.add(entities(3, MB)))
    before = waiting.value
    with pytest.raises(Refusal, match=f"more than {answers.MOST_ANSWER_BYTES} bytes; read single") as refusal:
        list(collected.add(entities(answers.MOST_ANSWER_BYTES // MB, MB)))
    assert refusal.value.code is StatusCode.RESOURCE_EXHAUSTED
    assert waiting.value == before
    assert len(list(collected.taken())) == 3


def test_the_answers_that_wait_are_limited_except_short_ones() -> None:
    waiting = WaitingBytes()
    readers = [Answers(waiting) for _ in range(answers.MOST_WAITING_BYTES // answers.MOST_ANSWER_BYTES + 1)]
    for reader in readers[:-1]:
        list(reader.add(entities(answers.MOST_ANSWER_BYTES // MB - 1, MB)))
    with pytest.raises(Refusal, match="unread answers to all Reads"):
        list(readers[-1].add(entities(8, MB)))
    list(readers[-1].add(entities(1000, 100)))
    for reader in readers:
        reader.close()
    assert waiting.value == 0


def test_arrays_that_do_not_fit_are_read_cell_by_cell() -> None:
    array = ArrayInfo(1, Array.__new__(Array), None)
    object.__setattr__(array.array, "count", MOST_CELLS + 1)
    object.__setattr__(array.array, "name", "In.huge")
    for message in (v1.RegisterEntry(register_id=1), v1.RegisterEntry()):
        with pytest.raises(Refusal, match=f"In.huge has {MOST_CELLS + 1} cells") as refusal:
            list(read_cells({1: array}, message.register_id, "register", message))
        assert refusal.value.code is StatusCode.RESOURCE_EXHAUSTED
    one = v1.RegisterEntry(register_id=1, index={"index": MOST_CELLS})
    assert [list(cells) for _, cells in read_cells({1: array}, 1, "register", one)] == [[MOST_CELLS]]


# Notifications


def test_idle_timeouts_of_many_entries_are_several_messages(primary: Controller, names: Names) -> None:
    entries = [long_entry(names, key, n_bytes=100_000) for key in range(40)]
    for entry in entries:
        entry.idle_timeout_ns = 1_000_000
    primary.write(*(update(INSERT, table_entry=entry) for entry in entries))
    seen: set[str] = set()
    while len(seen) < len(entries):
        notification = primary.next("idle_timeout_notification")
        assert notification.ByteSize() <= portions.MOST_PORTION_BYTES + 100
        seen.update(str(entry.match) for entry in notification.table_entry)
    primary.set_pipeline("controlled")  # the next primary must not be notified of these entries


class DigestSource:
    """A switch with digests of one name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values = iter(range(1 << 40))

    def command(self, line: str) -> str:
        assert line == "digest_read"
        return "\n".join(f"{self.name} a={next(self.values)} b=1" for _ in range(20_000))


def wide_digests(count: int, bits: int) -> Any:
    """Return the objects of a program with digests of two fields, the first one of which has this width."""
    info = Info.__new__(Info)
    info.digests = {
        number: DigestInfo(number, f"d{number}", (bits, 8), Names("controlled").p4info.digests[0])
        for number in range(1, count + 1)
    }
    return info


@pytest.mark.parametrize("bits", [48, 2048, 60_000])
def test_digests_that_are_never_acknowledged_are_limited(bits: int) -> None:
    source = DigestSource("d1")
    digests = Digests(source, wide_digests(3, bits))
    for number in (1, 2, 3):
        config = {"ack_timeout_ns": 1 << 62}
        digests.write(INSERT, v1.DigestEntry(digest_id=number, config=config))
    n_lists = n_digests = 0
    for second in range(12):
        source.name = f"d{second % 3 + 1}"
        for answer in digests.lists(float(second)):
            n_lists, n_digests = n_lists + 1, n_digests + len(answer.data)
            assert answer.ByteSize() <= portions.MOST_PORTION_BYTES
    n_bytes = n_digests * (bits + 8) // 8
    assert 0 < n_digests <= 3 * 65_536
    assert n_bytes <= MOST_DIGEST_BYTES + (bits + 8) // 8
    assert n_lists > 1


# Saved pipelines


def test_reads_of_a_saved_pipeline_are_not_recorded_and_writes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    class Engine:
        def command(self, line: str) -> str:
            return line

    saved = pipeline.SavedPipeline.__new__(pipeline.SavedPipeline)
    monkeypatch.setattr(saved, "_engine", Engine(), raising=False)
    monkeypatch.setattr(saved, "_lines", [], raising=False)
    monkeypatch.setattr(saved, "_n_bytes", 0, raising=False)
    monkeypatch.setattr(pipeline, "_MOST_SAVED_BYTES", 1000)
    for _ in range(100):
        saved.command("table_dump In.routes")
        saved.command("counter_read In.by_port 1")
    assert saved.commands == ""
    with pytest.raises(CommandError, match="is full"):
        for _ in range(100):
            saved.command("counter_write In.by_port 1 2 3")
    assert 1000 < saved._n_bytes < 1200
    assert saved.command("register_read In.addresses") == "register_read In.addresses"


def test_long_frames_are_refused_without_a_trace(server: Served, primary: Controller) -> None:
    for _ in range(20):
        primary.send(packet={"payload": bytes(MB), "metadata": [{"metadata_id": 1, "value": b"\x03"}]})
        assert "the limit is 65535" in primary.next("error").message
    primary.send(packet={"payload": frame(EXACT, 5), "metadata": [{"metadata_id": 1, "value": b"\x03"}]})
    assert server.receive(3) == frame(EXACT, 5)
