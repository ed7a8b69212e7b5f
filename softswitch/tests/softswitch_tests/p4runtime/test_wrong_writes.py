# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes mutated from valid ones: each is refused with a code or is legal, and the switch keeps forwarding."""

import random
from typing import Any

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import INSERT, Controller, Names, codes, exact, lpm, ternary, update
from softswitch_tests.p4runtime.frames import FIXED, arrives
from softswitch_tests.p4runtime.running import Served
from softswitch_tests.p4runtime.test_profiles import group, member, one_shot
from softswitch_tests.p4runtime.test_replication import group as multicast_group
from softswitch_tests.p4runtime.test_replication import session

MUTANTS = 1000
BATCH = 20
EXPECTED = {
    "OK",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "RESOURCE_EXHAUSTED",
    "UNIMPLEMENTED",
}
_NUMBERS = (0, 1, 2, 511, 512, 65_535, 65_536, (1 << 31) - 1)
_STRINGS = (b"", b"\x00", b"\x01", b"\xff", b"\xff" * 7, b"\x00" * 40 + b"\x07")


def valid_updates(names: Names) -> list[Any]:
    forward = names.action("In.forward", 2)
    policy = names.entry(
        "In.policies", [ternary(1, 1)], names.action("In.police", 1), priority=3, meter_config={"cir": 1, "pir": 2}
    )
    entities: list[dict[str, Any]] = [
        {"table_entry": names.entry("In.exact_match", [exact(5)], forward, idle_timeout_ns=10**12)},
        {"table_entry": names.entry("In.routes", [lpm(0xAA0000000000, 8)], names.action("In.route", 1))},
        {"table_entry": policy},
        {"table_entry": names.entry("In.spread", [exact(5)], one_shot(names, (1, 1), (2, 1)))},
        {"action_profile_member": member(names, 4, 1)},
        {"action_profile_group": group(names, 4, (4, 1))},
        {"counter_entry": {"counter_id": names["In.by_port"], "index": {"index": 1}, "data": {"packet_count": 1}}},
        {"meter_entry": {"meter_id": names["In.by_key"], "index": {"index": 1}, "config": {"cir": 1, "pir": 2}}},
        {"register_entry": {"register_id": names["In.signs"], "index": {"index": 1}, "data": {"bitstring": b"\x01"}}},
        {"packet_replication_engine_entry": multicast_group(3, [(1, 1), (2, 2)])},
        {"packet_replication_engine_entry": session(3, [(1, 1)])},
        {"digest_entry": {"digest_id": names["learnt_t"], "config": {"max_list_size": 5}}},
        {"direct_counter_entry": {"table_entry": names.entry("In.routes", [lpm(0xAA0000000000, 8)]), "data": {}}},
    ]
    return [update(INSERT, **entity) for entity in entities]


def mutate(message: Message, generator: random.Random) -> None:
    """Change one field at any depth."""
    fields = [field for field, _ in message.ListFields()]
    if not fields or generator.random() < 0.1:
        fields = list(message.DESCRIPTOR.fields)
    field = generator.choice(fields)
    value: Any = getattr(message, field.name)
    if generator.random() < 0.1:
        message.ClearField(field.name)
    elif isinstance(value, (int, bytes, str, float, bool)):
        setattr(message, field.name, _scalar(field, generator))
    elif not isinstance(value, Message):  # a repeated field
        if len(value) and isinstance(value[0], Message) and generator.random() < 0.8:
            mutate(generator.choice(value), generator)
        elif field.message_type is not None:
            value.add()
    else:
        value.SetInParent()
        mutate(value, generator)


def _scalar(field: FieldDescriptor, generator: random.Random) -> Any:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return generator.choice(_STRINGS)
    if field.type == FieldDescriptor.TYPE_STRING:
        return "x"
    if field.type == FieldDescriptor.TYPE_BOOL:
        return True
    if field.type == FieldDescriptor.TYPE_ENUM:
        return generator.randrange(5)
    signed = field.type in (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64)
    return generator.choice((-1, *_NUMBERS) if signed else _NUMBERS)


def test_mutated_writes_are_legal_or_refused(server: Served, primary: Controller, names: Names) -> None:
    generator = random.Random(34)
    valid = valid_updates(names)
    seen: set[str] = set()
    for _ in range(MUTANTS // BATCH):
        batch = []
        for _ in range(BATCH):
            mutant = v1.Update()
            mutant.CopyFrom(generator.choice(valid))
            mutant.type = generator.choice((v1.Update.INSERT, v1.Update.INSERT, v1.Update.MODIFY, v1.Update.DELETE))
            for _ in range(generator.randint(1, 2)):
                mutate(mutant.entity, generator)
            batch.append(mutant)
        try:
            primary.write(*batch)
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.UNKNOWN, (error, batch)
            results = codes(error)
            assert len(results) == BATCH
            seen.update(results)
    assert {"OK", "INVALID_ARGUMENT", "NOT_FOUND"} <= seen <= EXPECTED
    assert arrives(server, 3, FIXED, 1)
    for kind in ("table_entry", "action_profile_member", "action_profile_group", "meter_entry", "counter_entry"):
        primary.read(**{kind: {}})


def test_mutated_bytes_do_not_end_the_server(server: Served, primary: Controller, names: Names) -> None:
    """Bytes that are no message are refused by gRPC before the server sees them."""
    generator = random.Random(35)
    request = primary._signed("WriteRequest", updates=valid_updates(names)).SerializeToString()
    raw = primary.channel.unary_unary("/p4.v1.P4Runtime/Write")
    for _ in range(200):
        mutant = bytearray(request)
        for _ in range(generator.randint(1, 4)):
            mutant[generator.randrange(len(mutant))] = generator.randrange(256)
        try:
            raw(bytes(mutant))
        except (grpc.RpcError, DecodeError) as error:
            assert isinstance(error, grpc.RpcError)
    assert arrives(server, 3, FIXED, 1)
