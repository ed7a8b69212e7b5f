# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of packet-outs whose metadata differ from the header: missing fields are 0, everything else is refused."""

from typing import Any

import grpc
import pytest

from softswitch.codegen.ir.limits import MOST_HEADER_BITS, MOST_OBJECTS
from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import Controller, Names, refused
from softswitch_tests.p4runtime.frames import EXACT, frame
from softswitch_tests.p4runtime.running import Served

INVALID_ARGUMENT = 3


def metadata(*fields: tuple[int, bytes]) -> list[Any]:
    return [v1.PacketMetadata(metadata_id=number, value=value) for number, value in fields]


@pytest.mark.parametrize(
    "given",
    [
        metadata((1, b"\x03"), (2, b"\x00")),
        metadata((1, b"\x03")),
        metadata((2, b"\x7f"), (1, b"\x03")),
        metadata((1, b"\x00\x00\x03")),
    ],
    ids=["all", "without the last", "in another order", "with leading zeros"],
)
def test_a_packet_out_leaves_at_its_port(server: Served, primary: Controller, given: list[Any]) -> None:
    primary.send(packet={"payload": frame(EXACT, 5), "metadata": given})
    assert server.receive(3) == frame(EXACT, 5)
    assert primary.is_silent


def test_a_packet_out_may_be_as_long_as_a_frame(server: Served, primary: Controller) -> None:
    """The header of the packet-out has two bytes, which the program removes."""
    longest = 65_535 - 2
    for n_bytes in (longest + 1, longest):
        payload = frame(EXACT, 5) + bytes(n_bytes - len(frame(EXACT, 5)))
        primary.send(packet={"payload": payload, "metadata": metadata((1, b"\x03"))})
    error = primary.next("error")
    assert (error.canonical_code, error.message) == (
        INVALID_ARGUMENT,
        "the packet with its header has 65536 bytes; the limit is 65535",
    )
    assert len(server.receive(3)) == longest
    assert primary.is_silent


def test_missing_fields_are_zero(server: Served, primary: Controller) -> None:
    """The program forwards to port 0, which does not exist; the packet-out behind it shows that nothing was refused."""
    for given in (metadata((2, b"\x01")), []):
        primary.send(packet={"payload": frame(EXACT, 5), "metadata": given})
    primary.send(packet={"payload": frame(EXACT, 6), "metadata": metadata((1, b"\x03"))})
    assert server.receive(3) == frame(EXACT, 6)
    assert primary.is_silent


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (metadata((1, b"\x03"), (2, b"\x00"), (3, b"\x00")), "no metadata field 3"),
        (metadata((0, b"\x03")), "no metadata field 0"),
        (metadata((1, b"\x03"), (1, b"\x03")), "given twice"),
        (metadata((1, b"\x02\x00")), "does not fit in 9 bits"),
        (metadata((1, b"\x03"), (2, b"\x80")), "does not fit in 7 bits"),
        (metadata((1, b"")), "is empty"),
        (metadata((1, b"\xff" * 5000)), "of 5000 bytes does not fit in 9 bits"),
    ],
    ids=["extra", "id 0", "repeated", "too wide", "the second too wide", "empty", "far too wide"],
)
def test_a_wrong_field_is_refused(primary: Controller, given: list[Any], message: str) -> None:
    primary.send(packet={"payload": frame(EXACT, 5), "metadata": given})
    error = primary.next("error")
    assert error.canonical_code == INVALID_ARGUMENT
    assert message in error.message
    assert list(error.packet_out.packet_out.metadata) == given


def test_a_program_without_a_header_takes_bare_packets(server: Served, primary: Controller) -> None:
    p4info = Names("controlled").p4info
    p4info.ClearField("controller_packet_metadata")
    primary.set_pipeline("controlled", p4info=p4info)
    primary.send(packet={"payload": b"\x01\x80" + frame(EXACT, 5)})
    assert server.receive(3) == frame(EXACT, 5)
    primary.send(packet={"payload": frame(EXACT, 5), "metadata": metadata((1, b"\x03"))})
    assert "no metadata field 1" in primary.next("error").message
    primary.send(packet={})
    assert "the packet is empty" in primary.next("error").message


@pytest.mark.parametrize("bits", [(1 << 31) - 1, MOST_HEADER_BITS, 0, -1])
@pytest.mark.parametrize("action", ["VERIFY", "VERIFY_AND_SAVE", "VERIFY_AND_COMMIT", "RECONCILE_AND_COMMIT"])
def test_the_widths_of_a_header_are_limited(
    server: Served, primary: Controller, names: Names, action: str, bits: int
) -> None:
    """The switch goes on with its program."""
    p4info = Names("controlled").p4info
    for header in p4info.controller_packet_metadata:
        header.metadata[0].bitwidth = bits
    assert refused(primary.set_pipeline, "controlled", action, p4info=p4info) == ["INVALID_ARGUMENT"]
    primary.send(packet={"payload": frame(EXACT, 5), "metadata": metadata((1, b"\x03"))})
    assert server.receive(3) == frame(EXACT, 5)
    assert primary.read(table_entry=names.entry("In.exact_match")) == []


def test_the_number_of_fields_is_limited(primary: Controller) -> None:
    p4info = Names("controlled").p4info
    for number in range(MOST_OBJECTS):
        p4info.controller_packet_metadata[0].metadata.add(id=number + 3, bitwidth=1)
    with pytest.raises(grpc.RpcError) as error:
        primary.set_pipeline("controlled", "VERIFY", p4info=p4info)
    assert f"at most {MOST_OBJECTS}" in error.value.details()
