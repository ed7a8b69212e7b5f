# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits calculations (the packing of fields and the hash over them) and checksum verification and update.

As in BMv2, fields of invalid headers are skipped and fields are packed bit by bit. It must not know who calls a hash.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import starmap

from softswitch.codegen.emit.actions import CONTEXT_PARAMS
from softswitch.codegen.emit.value_sets import mask_pieces
from softswitch.codegen.emit.writer import Writer, literal
from softswitch.codegen.ir.blocks import Calculation, Checksum, Program
from softswitch.codegen.ir.nodes import FieldRef, Header, HeaderRef
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.places import calculation_call, field_lvalue, place_of
from softswitch.codegen.lower.stores import Target, store_low
from softswitch.codegen.lower.values import bits_mask
from softswitch.codegen.lower.wire import Piece, packed_words, piece_of, store_fields

_FUNCTIONS = {
    "crc16": "crc16",
    "crc16_custom": "crc16",
    "crc32": "crc32",
    "crc32_custom": "crc32",
    "crcCCITT": "crc_ccitt",
    "csum16": "csum16",
    "cksum16": "csum16",
    "xor16": "xor16",
    "xor32": "xor32",
    "identity": "identity",
}


@dataclass
class _Segment:
    """Pieces that are present together: always (`header` is None), or when a header is valid."""

    header: Header | None
    pieces: list[Piece]
    varbit: str = ""  # the lvalue of a varbit that follows the pieces
    varbit_bytes: int = 0  # the largest size of the varbit

    @property
    def bits(self) -> int:
        return sum(p.bits for p in self.pieces)


def emit_calculations(program: Program, out: Writer) -> None:
    """Emit a function `calculate_<name>` for each calculation and selector."""
    selectors = [p.selector for p in program.profiles if p.selector is not None]
    for calculation in [*program.calculations.values(), *selectors]:
        with calculation.where.locating():
            _emit_calculation(program, calculation, out)


def _emit_calculation(program: Program, calculation: Calculation, out: Writer) -> None:
    segments = _segments(program, calculation)
    out.comment(f"{calculation.algorithm} for {calculation.name}, {calculation.where.source}".rstrip(", "))
    context = "const struct sw_pipeline *pipeline, const struct sw_packet *packet, struct phv *phv, struct local *local"
    with out.block(f"SW_INLINE uint64_t calculate_{calculation.c_name}({context})"):
        if _is_sum(calculation, segments):
            _emit_sum(segments, out)
        else:
            _emit_hash(program, calculation, segments, out)
    out.line()


def _emit_hash(program: Program, calculation: Calculation, segments: list[_Segment], out: Writer) -> None:
    """Emit the packing of the fields, and a call of the hash function."""
    room = sum((s.bits + 7) // 8 + s.varbit_bytes + 1 for s in segments)
    out.line(f"uint8_t bytes[{max(room, 1)}];")
    if all(s.bits % 8 == 0 for s in segments[:-1]):
        out.line("uint8_t *to = bytes;")
        for segment in segments:
            _emit_segment(segment, out)
        length = "(size_t)(to - bytes)"
    else:
        _emit_bitwise(segments, out)
        length = "(bits + 7) / 8"
    payload = (
        "packet->buffer + packet->head, sw_packet_payload_bytes(packet)" if calculation.with_payload else "NULL, 0"
    )
    out.line(f"return {_function(program, calculation)}bytes, {length}, {payload});")


def _is_sum(calculation: Calculation, segments: list[_Segment]) -> bool:
    """Whether a calculation is an Internet checksum that can be added up from words, without storing the fields."""
    return (
        _FUNCTIONS.get(calculation.algorithm) == "csum16"
        and not calculation.with_payload
        and all(s.bits % 16 == 0 and not s.varbit for s in segments)
        and all(piece.bits <= 64 and not piece.wide for s in segments for piece in s.pieces)
    )


def _emit_sum(segments: list[_Segment], out: Writer) -> None:
    out.line("uint64_t sum = 0;")
    for segment in segments:
        words = packed_words(segment.pieces, segment.bits)
        lines = [f"sum += sw_halves(({text}) & {bits_mask(width):#x}ull);" for _, width, text in words]
        _emit_if_valid(segment.header, lines, out)
    out.line("return sw_csum16_of(sum);")


def _function(program: Program, calculation: Calculation) -> str:
    """Return the start of the C call of the hash function, up to the data argument."""
    if calculation in program.custom_crcs:
        return f"sw_hash_crc(&pipeline->crcs[{program.custom_crcs.index(calculation)}], "
    name = _FUNCTIONS.get(calculation.algorithm)
    if name is None:
        raise calculation.where["algo"].error(f"hash algorithm '{calculation.algorithm}' is not supported")
    return f"sw_hash_{name}("


def _segments(program: Program, calculation: Calculation) -> list[_Segment]:
    segments: list[_Segment] = []
    for item in calculation.inputs:
        if isinstance(item, FieldRef):
            _add_field(program, item, segments)
        elif isinstance(item, HeaderRef):
            for field in item.header.type.fields:
                _add_field(program, FieldRef(item.header, field), segments)
        else:
            value, bits = item
            _segment_for(None, segments).pieces += starmap(Piece, mask_pieces(bits, value))
    return segments


def _add_field(program: Program, ref: FieldRef, segments: list[_Segment]) -> None:
    always = ref.header.metadata or ref.field.hidden
    segment = _segment_for(None if always else ref.header, segments)
    lvalue = field_lvalue(program, ref)
    if ref.field.varbit:
        segment.varbit, segment.varbit_bytes = lvalue, (ref.field.bits + 7) // 8
    else:
        segment.pieces.append(piece_of(lvalue, ref.field))


def _segment_for(header: Header | None, segments: list[_Segment]) -> _Segment:
    """Return the last segment if it can take more pieces of this header, otherwise a new segment."""
    last = segments[-1] if segments else None
    if last is None or last.header != header or last.varbit:
        segments.append(_Segment(header, []))
    return segments[-1]


def _emit_segment(segment: _Segment, out: Writer) -> None:
    lines = store_fields("to", segment.pieces)
    if segment.pieces:
        lines.append(f"to += {(segment.bits + 7) // 8};")
    if segment.varbit:
        lines += [f"memcpy(to, {segment.varbit}.bytes, {segment.varbit}.n_bytes);", f"to += {segment.varbit}.n_bytes;"]
    _emit_if_valid(segment.header, lines, out)


def _emit_if_valid(header: Header | None, lines: list[str], out: Writer) -> None:
    """Emit lines that run if a header is valid, or always."""
    if header is None:
        out.lines(lines)
        return
    with out.block(f"if ({place_of(header).valid})"):
        out.lines(lines)


def _emit_bitwise(segments: list[_Segment], out: Writer) -> None:
    """Emit the packing of segments that end inside a byte; positions are known only at run time."""
    out.line("uint32_t bits = 0;")
    out.line("memset(bytes, 0, sizeof bytes);")
    for segment in segments:
        lines = []
        for piece in segment.pieces:
            call = "sw_put_bytes" if piece.wide else "sw_put_bits"
            lines += [f"{call}(bytes, bits, {piece.bits}, {piece.text});", f"bits += {piece.bits};"]
        if segment.varbit:
            lines += [
                f"for (uint32_t i = 0; i < {segment.varbit}.n_bytes; i++, bits += 8)",
                f"    sw_put_bits(bytes, bits, 8, {segment.varbit}.bytes[i]);",
            ]
        _emit_if_valid(segment.header, lines, out)


def emit_checksums(program: Program, out: Writer) -> None:
    """Emit `verify_checksums`, which returns true if all checksums are correct, and `update_checksums`."""
    with out.block(f"SW_INLINE bool verify_checksums({CONTEXT_PARAMS})"):
        out.line("bool right = true;")
        for checksum in program.checksums:
            if checksum.verify:
                with checksum.where.locating():
                    _emit_verify(program, checksum, out)
        out.line("return right;")
    out.line()
    with out.block(f"SW_INLINE void update_checksums({CONTEXT_PARAMS})"):
        for checksum in program.checksums:
            if checksum.update:
                with checksum.where.locating():
                    _emit_update(program, checksum, out)
    out.line()


def _condition(program: Program, checksum: Checksum) -> str:
    return "true" if checksum.condition is None else Expressions(program).boolean(checksum.condition)


def _emit_verify(program: Program, checksum: Checksum, out: Writer) -> None:
    valid = place_of(checksum.target.header).valid
    out.comment(f"{checksum.name}, {checksum.where.source}".rstrip(", "))
    out.line(f"if ({valid} && {_condition(program, checksum)})")
    value = Expressions(program).low(checksum.target, 64)
    out.line(f"    right &= {calculation_call(checksum.calculation)} == {value};")
    if out.logs:
        out.line(
            f"if ({valid} && {_condition(program, checksum)} && {calculation_call(checksum.calculation)} != {value})"
        )
        out.log("error", f"Checksum '{literal(checksum.name)}' is not correct")


def _emit_update(program: Program, checksum: Checksum, out: Writer) -> None:
    field = checksum.target.field
    to = Target(field_lvalue(program, checksum.target), field.bits, field.signed)
    out.comment(f"{checksum.name}, {checksum.where.source}".rstrip(", "))
    out.line(f"if ({_condition(program, checksum)})")
    out.line(f"    {store_low(to, calculation_call(checksum.calculation))}")
    if out.logs:
        out.line(f"if ({_condition(program, checksum)})")
        out.log("debug", f"Updating checksum '{literal(checksum.name)}'")
