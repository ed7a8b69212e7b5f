# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the errors of batches, which a client with gRPC's default limits must be able to receive and understand."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import pytest
from grpc import StatusCode

from softswitch.p4runtime import batches
from softswitch.p4runtime.batches import DEFAULT_METADATA_BYTES, MOST_PARTS, MOST_RANGES, SLICE, Batch
from softswitch.p4runtime.messages import client_calls, v1
from softswitch.p4runtime.status import MOST_TEXT_BYTES, Refusal
from softswitch_tests.p4runtime.controller import (
    DELETE,
    DEVICE_ID,
    INSERT,
    Controller,
    Names,
    codes,
    connected,
    exact,
    lpm,
    refused,
    update,
)
from softswitch_tests.p4runtime.running import Served, served

MOST_DETAILS = Batch([], "updates", DEFAULT_METADATA_BYTES).most_details
SIZES = [1, 50, MOST_DETAILS, MOST_DETAILS + 1, 1000, 4096]
_RANGES = re.compile(r"; refused, counted from 0: ([\d, -]+)")
_REST = re.compile(r"; not attempted: (\d+)-(\d+)")


@pytest.fixture
def plain(primary: Controller, server: Served) -> Iterator[Controller]:
    """Yield the primary client over a channel with gRPC's default limits."""
    with grpc.insecure_channel(server.address, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        primary.calls = client_calls(channel)
        yield primary


def refused_parts(error: grpc.RpcError) -> set[int]:
    """Return the numbers of the parts of a batch that an error reports as refused, in either form."""
    if error.code() is StatusCode.UNKNOWN:
        return {number for number, code in enumerate(codes(error)) if code != "OK"}
    match = _RANGES.search(error.details())
    assert match is not None, error
    parts: set[int] = set()
    for word in match[1].split(", "):
        first, _, last = word.partition("-")
        parts.update(range(int(first), int(last or first) + 1))
    rest = _REST.search(error.details())
    return parts | (set(range(int(rest[1]), int(rest[2]) + 1)) if rest else set())


def outcome(call: Any, *arguments: Any) -> set[int]:
    """Return the numbers of the refused parts of a call that must be refused."""
    with pytest.raises(grpc.RpcError) as error:
        call(*arguments)
    return refused_parts(error.value)


def keys(client: Controller, names: Names) -> set[int]:
    """Return the keys of the entries of a table."""
    entries = client.read(table_entry=names.entry("In.exact_match"))
    return {int.from_bytes(entry.match[0].exact.value, "big") for entry in entries}


def inserts(names: Names, chosen: Sequence[int]) -> list[Any]:
    action = names.action("In.forward", 2)
    return [update(INSERT, table_entry=names.entry("In.exact_match", [exact(key)], action)) for key in chosen]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("wrong", ["first", "last", "all but one", "every second"])
def test_a_client_learns_which_updates_were_applied(plain: Controller, names: Names, size: int, wrong: str) -> None:
    chosen = {"first": {0}, "last": {size - 1}, "all but one": set(range(1, size)) or {0}}
    bad = chosen.get(wrong, set(range(0, size, 2)))
    updates = inserts(names, range(size))
    for number in bad:
        updates[number].entity.table_entry.match[0].exact.value = b"\xff" * 40
    lost = outcome(plain.write, *updates)
    assert bad <= lost
    assert keys(plain, names) == set(range(size)) - lost
    if size <= MOST_DETAILS or wrong != "every second":
        assert lost == bad


def test_an_overfull_table_keeps_what_fits(plain: Controller, names: Names) -> None:
    """The case of a real controller: 100,000 inserts into a table of 4,096 entries, which has one already."""
    plain.write(*inserts(names, [60_000]))
    updates = inserts(names, [*range(60_000), *range(40_000)])
    with pytest.raises(grpc.RpcError) as error:
        plain.write(*updates)
    assert error.value.code() is StatusCode.RESOURCE_EXHAUSTED
    assert error.value.details().startswith("95905 of 100000 updates refused")
    assert "; refused, counted from 0: 4095-99999; " in error.value.details()
    assert keys(plain, names) == {60_000, *range(4095)}


def test_a_large_batch_without_errors_is_applied(plain: Controller, names: Names) -> None:
    """A success has no details, so its size does not matter."""
    for _ in range(2):
        plain.write(*inserts(names, range(4096)))
        entries = [names.entry("In.exact_match", [exact(key)]) for key in range(4096)]
        plain.write(*(update(DELETE, table_entry=entry) for entry in entries))
    counter = names["In.by_port"]
    modify = v1.Update(type=v1.Update.MODIFY, entity={"counter_entry": {"counter_id": counter, "index": {"index": 1}}})
    plain.write(*[modify] * 100_000)


def test_deletes_that_find_nothing_are_reported(plain: Controller, names: Names) -> None:
    plain.write(*inserts(names, range(0, 2000, 500)))
    entries = [names.entry("In.exact_match", [exact(key)]) for key in range(2000)]
    lost = outcome(plain.write, *(update(DELETE, table_entry=entry) for entry in entries))
    assert lost == set(range(2000)) - set(range(0, 2000, 500))
    assert keys(plain, names) == set()


def test_mixed_kinds_are_reported(plain: Controller, names: Names) -> None:
    route = names.entry("In.routes", [lpm(0xAA0000000000, 8)], names.action("In.route", 1))
    updates = [*inserts(names, range(500)), update(INSERT, table_entry=route), *inserts(names, range(500))]
    assert outcome(plain.write, *updates) == set(range(501, 1001))
    assert len(plain.read(table_entry=v1.TableEntry(table_id=route.table_id))) == 1


@pytest.mark.parametrize("size", SIZES)
def test_a_client_learns_which_requests_of_a_read_were_refused(plain: Controller, names: Names, size: int) -> None:
    good = v1.Entity(counter_entry={"counter_id": names["In.by_port"], "index": {"index": 1}})
    bad = v1.Entity(counter_entry={"counter_id": names["In.by_port"], "index": {"index": 16}})
    request = v1.ReadRequest(device_id=DEVICE_ID, entities=[good] * (size - 1) + [bad])
    received: list[Any] = []
    with pytest.raises(grpc.RpcError) as error:
        for answer in plain.calls["Read"](request):
            received += answer.entities
    assert refused_parts(error.value) == {size - 1}
    assert len(received) == size - 1


def test_long_names_do_not_make_an_error_too_long(plain: Controller) -> None:
    name = "ü\n" * 100_000
    request = v1.WriteRequest(device_id=DEVICE_ID, role=name)
    with pytest.raises(grpc.RpcError) as error:
        plain.calls["Write"](request)
    assert error.value.code() is StatusCode.NOT_FOUND
    assert len(error.value.details().encode()) <= MOST_TEXT_BYTES
    config = v1.ForwardingPipelineConfig(p4_device_config=b"{}")
    config.p4info.tables.add().preamble.name = name
    assert refused(plain.call_set, "VERIFY", config=config) == ["INVALID_ARGUMENT"]


@pytest.mark.parametrize("size", [1, MOST_DETAILS])
def test_long_values_do_not_make_an_error_too_long(plain: Controller, names: Names, size: int) -> None:
    updates = inserts(names, range(size))
    for item in updates:
        item.entity.table_entry.match[0].exact.value = b"\xff" * 10_000
    assert outcome(plain.write, *updates) == set(range(size))


def test_a_client_with_a_higher_limit_gets_an_error_for_each_update(names: Names) -> None:
    """The limit of the client is an option of the server, since gRPC does not say it. The table has 4,096 places."""
    with (
        served(target=("--grpc-client-metadata", str(1 << 20))) as server,
        connected(server.address, "controlled") as client,  # accepts as much
    ):
        results = refused(client.write, *inserts(names, range(4100)))
    assert results == ["OK"] * 4096 + ["RESOURCE_EXHAUSTED"] * 4


def attempted(results: Sequence[Refusal | None], metadata_bytes: int = DEFAULT_METADATA_BYTES) -> Batch:
    """Return a batch of parts with these results, as far as they were attempted."""
    batch = Batch(results, "updates", metadata_bytes)
    for part in batch.slices():
        batch.results += part
    return batch


REFUSAL = Refusal(StatusCode.INVALID_ARGUMENT, "ü" * 10_000)


@pytest.mark.parametrize("size", [1, 2, MOST_DETAILS // 2, MOST_DETAILS, MOST_DETAILS + 1, 5000, 100_000])
@pytest.mark.parametrize("period", [1, 2, 3, 1000])
def test_the_report_fits_into_the_limit(size: int, period: int) -> None:
    report = attempted([REFUSAL if number % period == 0 else None for number in range(size)]).report()
    assert report is not None
    text_bytes = sum(1 if byte in range(0x20, 0x7F) else 3 for byte in report.text.encode())
    details_bytes = 0 if report.details is None else report.details.ByteSize()
    assert text_bytes + details_bytes + 500 <= DEFAULT_METADATA_BYTES
    assert (report.details is not None) == (size <= MOST_DETAILS)
    if report.details is not None:
        assert len(report.details.details) == size


def test_a_batch_with_too_many_ranges_ends_early() -> None:
    batch = attempted([REFUSAL, None] * 5000)
    assert MOST_RANGES * 2 < len(batch.results) <= MOST_RANGES * 2 + SLICE
    report = batch.report()
    assert report is not None
    assert f"not attempted: {len(batch.results)}-9999" in report.text
    assert len(attempted([REFUSAL, None] * 5000, 1 << 20).results) == 10_000


@pytest.mark.parametrize("size", [SLICE * (MOST_RANGES + 1), 100_000])
def test_one_range_is_attempted_to_its_end(size: int) -> None:
    batch = attempted([None, *[REFUSAL] * (size - 1)])
    assert len(batch.results) == size
    report = batch.report()
    assert report is not None
    assert f"; refused, counted from 0: 1-{size - 1}; " in report.text


def test_a_batch_without_refusals_has_no_report() -> None:
    assert attempted([None] * 100_000).report() is None


def test_the_parts_of_a_batch_are_limited(plain: Controller) -> None:
    with pytest.raises(Refusal, match=f"{MOST_PARTS + 1} updates in a call; at most {MOST_PARTS}"):
        Batch([None] * (MOST_PARTS + 1), "updates", DEFAULT_METADATA_BYTES)
    assert refused(plain.write, *[v1.Update()] * (MOST_PARTS + 1)) == ["RESOURCE_EXHAUSTED"]
    request = v1.ReadRequest(device_id=DEVICE_ID, entities=[v1.Entity()] * (MOST_PARTS + 1))
    assert refused(lambda: list(plain.calls["Read"](request))) == ["RESOURCE_EXHAUSTED"]
    assert batches.MOST_PARTS > 100_000
