# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits the deparser, which makes room before the payload and writes the valid headers. It must not know checksums."""

from __future__ import annotations

from softswitch.codegen.emit.actions import CONTEXT_PARAMS, emit_primitives
from softswitch.codegen.emit.writer import Writer, literal
from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.nodes import Field
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.places import HeaderPlace, place_of
from softswitch.codegen.lower.stores import fixed_bytes
from softswitch.codegen.lower.wire import piece_of, store_fields


def emit_deparser(program: Program, out: Writer) -> None:
    """Emit `deparse`, which drops a packet whose buffer cannot grow enough."""
    with out.block(f"SW_INLINE void deparse({CONTEXT_PARAMS})"):
        out.log("debug", "Deparser 'deparser': start")
        emit_primitives(program, Expressions(program), program.deparser_primitives, out)  # may make headers valid
        out.line("uint32_t n_bytes = 0;")
        for header in program.deparser_order:
            place = place_of(header)
            out.line(f"n_bytes += {place.valid} ? {fixed_bytes(place)} : 0;")
        out.line("uint8_t *to = sw_packet_prepend(packet, n_bytes);")
        with out.block("if (!to)"):
            out.line("phv->shared.std.egress_spec = SW_DROP_PORT;")
            out.line("return;")
        for header in program.deparser_order:
            with out.block(f"if ({place_of(header).valid})"):
                out.log("debug", f"Deparsing header '{literal(header.name)}'")
                _emit_header(place_of(header), out)
        out.log("debug", "Deparser 'deparser': end")
    out.line()


def _emit_header(place: HeaderPlace, out: Writer) -> None:
    varbit = place.type.varbit
    fields = place.type.fields
    split = len(fields) if varbit is None else fields.index(varbit)
    _emit_fields(place, fields[:split], out)
    if varbit is not None:
        member = f"{place.fields}.{varbit.c_name}"
        out.line(f"memcpy(to, {member}.bytes, {member}.n_bytes);")
        out.line(f"to += {member}.n_bytes;")
        _emit_fields(place, fields[split + 1 :], out)


def _emit_fields(place: HeaderPlace, fields: tuple[Field, ...], out: Writer) -> None:
    if fields:
        out.lines(store_fields("to", [piece_of(f"{place.fields}.{f.c_name}", f) for f in fields]))
        out.line(f"to += {sum(f.bits for f in fields) // 8};")
