# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of in-band telemetry: layout, stripping, echoes and malformed frames."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.contract.frames import with_record, with_tos
from sfc_testbed.wire import ipv4
from sfc_testbed.wire.constants import INT_MAX_HOPS
from sfc_testbed.wire.int_header import (
    HopRecord,
    Telemetry,
    echo,
    has_telemetry,
    next_path,
    pack,
    path_of,
    request,
    strip,
    unpack,
)
from sfc_testbed.wire.roce.decoder import RoceDecoder, parse_header
from sfc_testbed.wire.roce.packets import data_frame_bytes, pack_psn_word
from tests.wire.test_roce import framer, header_of

RECORD = HopRecord(0x01020304, 0x05060708, 0x090A0B0C, 0x0D0E0F10)
records = st.builds(HopRecord, *[st.integers(0, 2**32 - 1)] * 4)


def test_the_layout_is_the_documented_one() -> None:
    """The shim comes first, then 16 bytes per hop, the newest first. The stamp comes last."""
    stamp = HopRecord(0, 7, 0, 0)
    assert pack(Telemetry(True, (RECORD,), stamp)).hex() == (
        "02030000" + "0102030405060708090a0b0c0d0e0f10" + "00000000000000070000000000000000"
    )
    assert request(telemetry=True, stamp_us=None).hex() == "00000000"
    assert request(telemetry=False, stamp_us=None) == b""
    assert request(telemetry=False, stamp_us=9) == pack(Telemetry(True, (), HopRecord(0, 9, 0, 0)))
    assert request(telemetry=True, stamp_us=(1 << 32) + 9) == pack(Telemetry(False, (), HopRecord(0, 9, 0, 0)))


@given(st.booleans(), st.lists(records, max_size=4), st.none() | records)
def test_telemetry_round_trips(is_echo: bool, hops: list[HopRecord], stamp: HopRecord | None) -> None:
    telemetry = Telemetry(is_echo, tuple(hops), stamp)
    assert unpack(pack(telemetry)) == telemetry


@given(st.binary(max_size=200), st.lists(records, max_size=INT_MAX_HOPS), st.booleans())
def test_a_packet_survives_the_switches_it_passes(body: bytes, hops: list[HopRecord], is_marked: bool) -> None:
    """Each switch pushes a record and may set an ECN mark. The ICRC of the packet without telemetry stays correct."""
    builder = framer(tos=0x6A)
    sent = builder.frame(0, pack_psn_word(3), body, shim=request(telemetry=True, stamp_us=None))
    assert len(sent) == data_frame_bytes(len(body), is_last=False) + 4
    assert sent[36:38] == (49792).to_bytes(2, "big")
    for hop in hops:
        sent = with_record(sent, hop)
    if is_marked:
        sent = with_tos(sent, 0x6B)
    assert has_telemetry(sent)
    stripped = strip(sent)
    assert stripped is not None
    plain, shim = stripped
    assert unpack(shim) == Telemetry(False, tuple(reversed(hops)), None)
    header = header_of(plain, RoceDecoder().header)
    assert header.icrc_is_right(plain)
    assert header.body(plain) == body
    assert header.congestion_experienced == is_marked
    if not is_marked:
        assert plain == builder.frame(0, pack_psn_word(3), body)
    decoder = RoceDecoder()
    for _ in range(2):
        as_sent = header_of(sent, decoder.header)
        assert as_sent.icrc_is_right(sent)
        assert (as_sent.shim(sent), as_sent.psn_word(sent), as_sent.body(sent)) == (shim, 3, body)
        assert (as_sent.opcode, as_sent.tos, as_sent.destination_qpn) == (header.opcode, header.tos, 7)


def test_packets_of_one_flow_with_different_numbers_of_records_are_decoded() -> None:
    """The decoder caches headers. The cached header of a packet must not be used for one with more or fewer records."""
    decoder = RoceDecoder()
    frame = framer().frame(0, pack_psn_word(3), b"body", shim=request(telemetry=True, stamp_us=None))
    frames = [framer().frame(0, pack_psn_word(3), b"body"), frame]
    for _ in range(INT_MAX_HOPS):
        frames.append(with_record(frames[-1], RECORD))
    for frame in (*frames, *frames):
        header = header_of(frame, decoder.header)
        assert header.icrc_is_right(frame)
        assert (header.psn_word(frame), header.body(frame)) == (3, b"body")
    for count in (INT_MAX_HOPS + 1, 255):
        malformed = frames[-1][:42] + bytes([count]) + frames[-1][43:] + bytes(5_000)
        assert decoder.header(malformed) is None


@given(st.data())
def test_a_damaged_packet_is_decoded_like_its_plain_packet(data: st.DataObject) -> None:
    """A packet is cut, padded or changed. It is refused if the plain packet inside is, else both give the same fields.

    The second look-up comes from the decoder's cache.
    """
    hops = data.draw(st.lists(records, max_size=INT_MAX_HOPS))
    opcode, body = data.draw(
        st.sampled_from([(0, b"some data"), (0x11, bytes(4)), (0x11, bytes(8)), (0x81, bytes(16))])
    )
    frame = framer().frame(opcode, pack_psn_word(3), body, shim=request(telemetry=True, stamp_us=None))
    for hop in hops:
        frame = with_record(frame, hop)
    damaged = bytearray(frame + bytes(data.draw(st.sampled_from([0, 6]))))
    for place in data.draw(st.lists(st.integers(0, len(frame) - 1), max_size=2)):
        damaged[place] = data.draw(st.integers(0, 255))
    sent = bytes(damaged[: data.draw(st.sampled_from([len(damaged), len(damaged), 58, 50, 45]))])
    stripped = strip(sent) if has_telemetry(sent) else None
    plain, shim = stripped or (sent, b"")
    expected = parse_header(plain)
    decoder = RoceDecoder()
    for _ in range(2):
        header = decoder.header(sent)
        assert (header is None) == (expected is None)
        if header is None or expected is None:
            continue
        assert (header.shim(sent), header.shim_bytes) == (shim, len(shim))
        for method in ("body", "psn_word", "acknowledge_kind", "selective_psn", "icrc_is_right"):
            assert getattr(header, method)(sent) == getattr(expected, method)(plain), method
        for name in ("opcode", "tos", "source_ip", "destination_ip", "destination_qpn", "becn", "is_data"):
            assert getattr(header, name) == getattr(expected, name), name


def test_an_echo_has_its_flag_and_the_one_way_delay() -> None:
    """The records come back unchanged. The delay is correct even if the clock wraps in the meantime."""
    hops = (RECORD, HopRecord(1, 2, 3, 4))
    assert unpack(echo(pack(Telemetry(False, hops, None)), 99)) == Telemetry(True, hops, None)
    sent = pack(Telemetry(False, hops, HopRecord(0, (1 << 32) - 3, 0, 0)))
    assert unpack(echo(sent, (1 << 32) + 4)) == Telemetry(True, hops, HopRecord(0, (1 << 32) - 3, 7, 0))


def frame_with_shim(shim: bytes = b"\x00\x00\x00\x00") -> bytearray:
    return bytearray(framer().frame(0, pack_psn_word(0), bytes(8), shim=shim))


def with_length(frame: bytearray, ip_length: int) -> bytes:
    """Return the frame with another IPv4 length and a correct header checksum."""
    frame[16:18] = ip_length.to_bytes(2, "big")
    frame[24:26] = bytes(2)
    frame[24:26] = ipv4.checksum(bytes(frame[14:34])).to_bytes(2, "big")
    return bytes(frame)


@pytest.mark.parametrize(
    "frame",
    [
        frame_with_shim(b"\x06\x00\x00\x00" + bytes(96)),
        frame_with_shim(b"\x00\x10\x00\x00"),
        frame_with_shim(b"\x00\x00\x00\x01"),
        frame_with_shim(b"\x00\x02\x00\x00"),
        frame_with_shim(b"\x05\x00\x00\x00"),
        with_length(frame_with_shim(), 60),
        frame_with_shim()[:44],
        frame_with_shim()[:36] + b"\x12\xb7" + frame_with_shim()[38:],
        frame_with_shim()[:14] + b"\x46" + frame_with_shim()[15:],
    ],
    ids=["6 hops", "flag", "reserved", "no stamp", "short", "length", "cut", "port", "IP options"],
)
def test_malformed_telemetry_is_refused(frame: bytearray) -> None:
    assert strip(bytes(frame)) is None


@given(st.binary(max_size=120))
def test_random_bytes_behind_valid_outer_headers_are_refused_or_split(rubbish: bytes) -> None:
    """The lengths in the outer headers are correct. A frame with a valid shim is split after the shim's records."""
    frame = with_length(frame_with_shim()[:42] + rubbish, 28 + len(rubbish))
    frame = frame[:38] + (8 + len(rubbish)).to_bytes(2, "big") + frame[40:]
    stripped = strip(frame)
    is_compact = rubbish[1:2] and rubbish[1] & 4
    shim_bytes = 4 + 16 * rubbish[0] if rubbish else 4
    if is_compact:
        shim_bytes = 60 if rubbish[1] & 2 else 44
    is_valid = (
        4 <= shim_bytes <= len(rubbish)
        and rubbish[0] <= INT_MAX_HOPS
        and rubbish[1] <= 7
        and rubbish[2:4] == bytes(2)
        and (is_compact or not (rubbish[1] & 2 and not rubbish[0]))
    )
    assert (stripped is not None) == is_valid
    if stripped is not None:
        plain, shim = stripped
        assert shim == rubbish[:shim_bytes]
        assert plain[42:] == rubbish[shim_bytes:]


def test_a_name_of_a_path_needs_its_flag_and_returns_in_the_echo() -> None:
    shim = request(telemetry=True, stamp_us=None, names_path=True)
    assert shim == b"\x00\x08\x00\x00"
    named = b"\x00\x08\x12\x34"
    frame = frame_with_shim(named)
    stripped = strip(bytes(frame))
    assert stripped is not None
    assert stripped[1] == named
    assert path_of(echo(named, 0)) == 0x1234
    assert path_of(b"\x00\x00\x12\x34") == 0
    assert request(telemetry=False, stamp_us=None, names_path=True) == b""


def test_paths_of_large_networks_have_different_names() -> None:
    """Paths from one host to another: over 64 spines in a Clos, and over 16 x 16 upper switches in a fat tree."""
    over_spines = {next_path(next_path(next_path(0, 1, 33 + n), 100 + n, 2), 2, 5) for n in range(64)}
    assert len(over_spines) == 64
    in_fat_tree = set()
    for aggregation, core in itertools.product(range(16), range(16)):
        path = next_path(0, 7, 17 + aggregation)
        path = next_path(path, 129 + aggregation, 17 + core)
        path = next_path(path, 300 + 16 * aggregation + core, 3)
        path = next_path(path, 145 + aggregation, 4)
        in_fat_tree.add(next_path(path, 20, 9))
    assert len(in_fat_tree) >= 255
