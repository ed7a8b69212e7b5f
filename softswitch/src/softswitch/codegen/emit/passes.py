# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits the entry points of pipeline.h: the two passes and the copies between packets.

Owns the order of v1model's blocks. It must not know their contents.
"""

from __future__ import annotations

from collections.abc import Mapping

from softswitch.codegen.emit.actions import CONTEXT, CONTEXT_PARAMS
from softswitch.codegen.emit.writer import Writer
from softswitch.codegen.ir.blocks import FieldList, Program
from softswitch.codegen.ir.lifetimes import used_fields
from softswitch.codegen.ir.loops import endless_states
from softswitch.codegen.ir.names import c_comment
from softswitch.codegen.lower.places import field_lvalue, std_member
from softswitch.codegen.lower.values import bits_mask
from softswitch.codegen.lower.wire import Piece, piece_of, store_fields

_SIGNATURE = "struct sw_pipeline *pipeline, struct sw_packet *packet"
_SET_BEFORE_INGRESS = {"ingress_port": 9, "ingress_global_timestamp": 48, "instance_type": 32, "packet_length": 32}
"""The widths of the values that the target stores before ingress, by member of struct sw_standard_metadata."""
_SET_BEFORE_EGRESS = {
    **{"egress_port": 9, "instance_type": 32, "packet_length": 32, "egress_rid": 16, "qid": 3},
    **{
        "egress_global_timestamp": 48,
        "enq_timestamp": 32,
        "enq_time": 48,
        "enq_qdepth": 19,
        "deq_timedelta": 32,
        "deq_qdepth": 19,
    },
}
"""The widths of the values that the target stores before egress."""


def emit_passes(program: Program, out: Writer) -> None:
    """Emit `program_ingress`, `program_egress`, `program_parse`, `program_copy_fields` and `program_copy_headers`."""
    if program.digests:
        _emit_digests(program, out)
    _emit_ingress(program, out)
    _emit_egress(program, out)
    _emit_parse(out)
    _emit_copy_fields(program, out)
    _emit_copy_headers(out)


def _emit_ingress(program: Program, out: Writer) -> None:
    with out.block(f"static void program_ingress({_SIGNATURE})"):
        _emit_context(out)
        _emit_cuts(program, _SET_BEFORE_INGRESS, out)
        out.line("phv->pass.ingress_bytes = sw_packet_bytes(packet);")
        out.line(f"phv->shared.std.parser_error = parse({CONTEXT});")
        if endless_states(program.states):
            out.line("if (phv->shared.requests.endless)")
            out.line("    return;")
        out.line(f"phv->shared.std.checksum_error = !verify_checksums({CONTEXT});")
        out.log("debug", "Pipeline 'ingress': start")
        out.line(f"control_ingress({CONTEXT});")
        out.log("debug", "Pipeline 'ingress': end")
        if program.digests:
            out.line("if (phv->pass.digest)")
            out.line(f"    learn({CONTEXT});")
        out.line("phv->pass.exiting = false;")
    out.line()


def _emit_context(out: Writer) -> None:
    """Emit the places of a packet's fields: the phv, and the fields of one pass, which start at 0."""
    out.line("struct phv *phv = (struct phv *)packet->phv;")
    out.line("struct local fields = {0}, *local = &fields;")


def _emit_cuts(program: Program, widths: Mapping[str, int], out: Writer) -> None:
    """Cut what the target stores to the width of the program's field, as in BMv2; P4_14 programs choose the widths."""
    used = used_fields(program)
    for (header, name), member in program.std_fields.items():
        field = next((f for f in program.headers[header].type.fields if f.name == name), None)
        if field is not None and (header, name) in used and field.bits < widths.get(member, 0):
            out.line(f"phv->shared.std.{member} &= {bits_mask(field.bits):#x};")


def _emit_egress(program: Program, out: Writer) -> None:
    with out.block(f"static void program_egress({_SIGNATURE})"):
        _emit_context(out)
        if "enq_time" in program.std_fields.values():
            out.line(
                "phv->shared.std.enq_time = phv->shared.std.egress_global_timestamp - phv->shared.std.deq_timedelta;"
            )
        _emit_cuts(program, _SET_BEFORE_EGRESS, out)
        out.log("debug", "Pipeline 'egress': start")
        out.line(f"control_egress({CONTEXT});")
        out.log("debug", "Pipeline 'egress': end")
        out.line("phv->pass.exiting = false;")
        out.line("if (phv->shared.std.egress_spec == SW_DROP_PORT)")
        out.line("    return;")
        out.line(f"update_checksums({CONTEXT});")
        out.line(f"deparse({CONTEXT});")
    out.line()


def _emit_parse(out: Writer) -> None:
    out.comment("An ingress clone is parsed again; metadata that the parser wrote does not survive.")
    with out.block(f"static void program_parse({_SIGNATURE})"):
        _emit_context(out)
        out.line("uint32_t ingress_bytes = sw_packet_bytes(packet);")
        out.line(f"parse({CONTEXT});")
        out.line("size_t metadata = offsetof(struct phv, pass);")
        out.line("memset((uint8_t *)phv + metadata, 0, PHV_RESET_BYTES - metadata);")
        out.line("phv->pass.ingress_bytes = ingress_bytes;")
    out.line()


def _emit_copy_headers(out: Writer) -> None:
    with out.block("static void program_copy_headers(const struct sw_packet *from, struct sw_packet *to)"):
        out.line("const struct phv *source = (const struct phv *)from->phv;")
        out.line("struct phv *phv = (struct phv *)to->phv;")
        out.line("phv->valid = source->valid;")
        out.line("phv->next = source->next;")
        out.line("phv->pass.ingress_bytes = source->pass.ingress_bytes;")
        out.line("memcpy((uint8_t *)phv + PHV_RESET_BYTES, (const uint8_t *)source + PHV_RESET_BYTES,")
        out.line("       sizeof *phv - PHV_RESET_BYTES);")
    out.line()


def _emit_copy_fields(program: Program, out: Writer) -> None:
    signature = "int32_t field_list, const struct sw_packet *from, struct sw_packet *to"
    with out.block(f"static void program_copy_fields({signature})"):
        out.line("const struct phv *source = (const struct phv *)from->phv;")
        out.line("struct phv *phv = (struct phv *)to->phv;")
        with out.block("switch (field_list)"):
            for field_list in program.field_lists.values():
                out.line(f"case {field_list.id}: {c_comment(field_list.name)}")
                out.lines(f"    {line}" for line in _copies(program, field_list))
                out.line("    break;")
            out.line("default:")
            out.line("    break;")
    out.line()


def _copies(program: Program, field_list: FieldList) -> list[str]:
    lines = []
    for ref in field_list.fields:
        if ref.field.hidden:
            continue
        to = field_lvalue(program, ref)
        source = field_lvalue(program, ref, "source")
        if std_member(program, ref.header, ref.field) is not None:
            lines.append(f"{to} = {source};")
        else:
            lines.append(f"memcpy(&{to}, &{source}, sizeof {to});")
    return lines


def _emit_digests(program: Program, out: Writer) -> None:
    """Emit `learn`, which packs the fields of the requested digest, each padded to whole bytes."""
    with out.block(f"SW_INLINE void learn({CONTEXT_PARAMS})"):
        with out.block("switch (phv->pass.digest)"):
            for number, digest in enumerate(program.digests.values()):
                pieces: list[Piece] = []
                for ref in digest.fields:
                    if ref.field.bits % 8:
                        pieces.append(Piece("0ull", 8 - ref.field.bits % 8))
                    pieces.append(piece_of(field_lvalue(program, ref), ref.field))
                n_bytes = sum(p.bits for p in pieces) // 8
                with out.block(f"case {digest.id}: {c_comment(digest.name)}"):
                    out.line(f"uint8_t bytes[{max(n_bytes, 1)}];")
                    out.lines(store_fields("bytes", pieces))
                    out.line(f"sw_digest_push(pipeline, {number}, bytes, {n_bytes});")
                    out.line("break;")
            out.line("default:")
            out.line("    break;")
        out.line("phv->pass.digest = 0;")
    out.line()
