# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""In-band telemetry: the layout byte by byte, stripping, echoes and lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hosts.transport.fake_star import with_record, with_tos
from tests.wire.test_roce import framer
from wire import ipv4
from wire.constants import INT_MAX_HOPS
from wire.int_header import HopRecord, Telemetry, echo, has_telemetry, pack, request, strip, unpack
from wire.roce.decoder import RoceDecoder, parse_header
from wire.roce.packets import data_frame_bytes, pack_psn_word

RECORD = HopRecord(0x01020304, 0x05060708, 0x090A0B0C, 0x0D0E0F10)
records = st.builds(HopRecord, *[st.integers(0, 2**32 - 1)] * 4)


def test_the_layout_is_the_documented_one() -> None:
    """Shim, then 16 bytes a hop, newest first; the stamp comes last."""
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
    """Whatever the fields."""
    telemetry = Telemetry(is_echo, tuple(hops), stamp)
    assert unpack(pack(telemetry)) == telemetry


@given(st.binary(max_size=200), st.lists(records, max_size=INT_MAX_HOPS), st.booleans())
def test_a_packet_survives_the_switches_it_passes(body: bytes, hops: list[HopRecord], is_marked: bool) -> None:
    """Each pushes a record and may mark: the receiver strips them, and the plain packet's ICRC is right."""
    made = framer(tos=0x6A)
    sent = made.frame(0, pack_psn_word(3), body, shim=request(telemetry=True, stamp_us=None))
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
    header = RoceDecoder().header(plain)
    assert header is not None
    assert header.icrc_is_right(plain)
    assert header.body(plain) == body
    assert header.congestion_experienced == is_marked
    if not is_marked:
        assert plain == made.frame(0, pack_psn_word(3), body)
    decoder = RoceDecoder()
    for _ in range(2):
        as_sent = decoder.header(sent)
        assert as_sent is not None
        assert as_sent.icrc_is_right(sent)
        assert (as_sent.shim(sent), as_sent.psn_word(sent), as_sent.body(sent)) == (shim, 3, body)
        assert (as_sent.opcode, as_sent.tos, as_sent.destination_qpn) == (header.opcode, header.tos, 7)


def test_paths_of_one_flow_are_told_apart() -> None:
    """The same packet with more or fewer records, and the plain one, by turns: each is read where it begins."""
    decoder = RoceDecoder()
    frame = framer().frame(0, pack_psn_word(3), b"body", shim=request(telemetry=True, stamp_us=None))
    frames = [framer().frame(0, pack_psn_word(3), b"body"), frame]
    for _ in range(INT_MAX_HOPS):
        frames.append(with_record(frames[-1], RECORD))
    for each in (*frames, *frames):
        header = decoder.header(each)
        assert header is not None
        assert header.icrc_is_right(each)
        assert (header.psn_word(each), header.body(each)) == (3, b"body")
    for records in (INT_MAX_HOPS + 1, 255):
        lying = frames[-1][:42] + bytes([records]) + frames[-1][43:] + bytes(5_000)
        assert decoder.header(lying) is None


@given(st.data())
def test_a_packet_is_read_as_the_plain_one_in_it_however_it_was_damaged(data: st.DataObject) -> None:
    """Cut, padded or changed anywhere before the payload: refused as the plain one is, or read alike, twice over."""
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
        found = decoder.header(sent)
        assert (found is None) == (expected is None)
        if found is None or expected is None:
            continue
        assert (found.shim(sent), found.shim_bytes) == (shim, len(shim))
        for read in ("body", "psn_word", "acknowledge_kind", "selective_psn", "icrc_is_right"):
            assert getattr(found, read)(sent) == getattr(expected, read)(plain), read
        for name in ("opcode", "tos", "source_ip", "destination_ip", "destination_qpn", "becn", "is_data"):
            assert getattr(found, name) == getattr(expected, name), name


def test_an_echo_says_so_and_measures_the_delay() -> None:
    """The records come back as they are; the stamp brings the one-way delay, also over a wrap."""
    hops = (RECORD, HopRecord(1, 2, 3, 4))
    assert unpack(echo(pack(Telemetry(False, hops, None)), 99)) == Telemetry(True, hops, None)
    sent = pack(Telemetry(False, hops, HopRecord(0, (1 << 32) - 3, 0, 0)))
    assert unpack(echo(sent, (1 << 32) + 4)) == Telemetry(True, hops, HopRecord(0, (1 << 32) - 3, 7, 0))


def good(shim: bytes = b"\x00\x00\x00\x00") -> bytearray:
    """A frame with this shim."""
    return bytearray(framer().frame(0, pack_psn_word(0), bytes(8), shim=shim))


def with_length(frame: bytearray, ip_length: int) -> bytes:
    """The frame with another IPv4 length and a right header checksum."""
    frame[16:18] = ip_length.to_bytes(2, "big")
    frame[24:26] = bytes(2)
    frame[24:26] = ipv4.checksum(bytes(frame[14:34])).to_bytes(2, "big")
    return bytes(frame)


@pytest.mark.parametrize(
    "frame",
    [
        good(b"\x06\x00\x00\x00" + bytes(96)),
        good(b"\x00\x04\x00\x00"),
        good(b"\x00\x00\x00\x01"),
        good(b"\x00\x02\x00\x00"),
        good(b"\x05\x00\x00\x00"),
        with_length(good(), 60),
        good()[:44],
        good()[:36] + b"\x12\xb7" + good()[38:],
        good()[:14] + b"\x46" + good()[15:],
    ],
    ids=["6 hops", "flag", "reserved", "no stamp", "short", "length", "cut", "port", "IP options"],
)
def test_lies_are_refused(frame: bytearray) -> None:
    """None, and never an exception."""
    assert strip(bytes(frame)) is None


@given(st.binary(max_size=120))
def test_rubbish_is_refused(rubbish: bytes) -> None:
    """What has no right outer headers is no packet with telemetry."""
    assert strip(rubbish) is None


@given(st.binary(max_size=120))
def test_nothing_is_made_up_behind_right_outer_headers(rubbish: bytes) -> None:
    """With right lengths, too: refused, or cut in two where the shim says, records and rest byte for byte."""
    frame = with_length(good()[:42] + rubbish, 28 + len(rubbish))
    frame = frame[:38] + (8 + len(rubbish)).to_bytes(2, "big") + frame[40:]
    stripped = strip(frame)
    shim_bytes = 4 + 16 * rubbish[0] if rubbish else 4
    is_right = (
        4 <= shim_bytes <= len(rubbish)
        and rubbish[0] <= INT_MAX_HOPS
        and rubbish[1] <= 3
        and rubbish[2:4] == bytes(2)
        and not (rubbish[1] & 2 and not rubbish[0])
    )
    assert (stripped is not None) == is_right
    if stripped is not None:
        plain, shim = stripped
        assert shim == rubbish[:shim_bytes]
        assert plain[42:] == rubbish[shim_bytes:]
