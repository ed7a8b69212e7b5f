# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits header structs, the phv and the fields of one pass. In the phv, validity, stack counters and metadata come
first, then the headers.

Only the first part must be zeroed for a new packet. It must not know how fields are used.
"""

from __future__ import annotations

from softswitch.codegen.emit.writer import Writer
from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.names import c_comment
from softswitch.codegen.ir.nodes import Field, Header, HeaderType
from softswitch.codegen.lower.places import c_type, std_member


def emit_types(program: Program, out: Writer) -> None:
    """Emit the header structs, `struct phv`, `struct local` and PHV_RESET_BYTES."""
    for header_type in program.types.values():
        _emit_struct(header_type, out)
    stacked = {h.name for s in program.stacks.values() for h in s.headers}
    stacked |= {m.name for s in program.union_stacks.values() for u in s.unions for m in u.members}
    singles = [h for h in program.headers.values() if h.name not in stacked]
    plain = [h for h in singles if not h.metadata]
    with out.block("struct phv", ";"):
        out.line("struct sw_phv shared;")
        _emit_validity(program, plain, out)
        _emit_pass(out)
        _emit_metadata(program, singles, None, out)
        out.line("uint8_t headers[0];")
        for header in plain:
            out.line(f"struct hdr_{header.type.c_name} {header.place}; {c_comment(header.name)}")
        for array, header_type, size in program.arrays:
            # The last element absorbs accesses that are out of bounds.
            out.line(f"struct hdr_{header_type.c_name} {array}[{size + 1}]; {c_comment(header_type.name)}")
    out.line()
    with out.block("struct local", ";"):
        for pass_ in ("ingress", "egress"):
            with out.block("struct", f" {pass_};"):
                _emit_metadata(program, singles, pass_, out)
                out.line("uint8_t none;")
    out.line()
    out.line("#define PHV_RESET_BYTES offsetof(struct phv, headers)")
    out.line()


def _emit_metadata(program: Program, headers: list[Header], pass_: str | None, out: Writer) -> None:
    """Emit the metadata fields of one pass. For the pass None, emit the fields that a packet carries between passes."""
    for header in headers:
        own = [field for field in header.type.fields if std_member(program, header, field) is None]
        members = [field for field in own if program.local_fields.get((header.name, field.name)) == pass_]
        if header.metadata and members:
            with out.block("struct", f" {header.place}; {c_comment(header.name)}"):
                out.lines(map(_member, members))


def _emit_struct(header_type: HeaderType, out: Writer) -> None:
    out.comment(header_type.name)
    with out.block(f"struct hdr_{header_type.c_name}", ";"):
        for field in header_type.fields:
            out.line(_member(field))
        if not header_type.fields:
            out.line("uint8_t empty;")
    out.line()


def _member(field: Field) -> str:
    if field.varbit:
        bytes_ = max((field.bits + 7) // 8, 1)
        return f"struct {{ uint16_t n_bytes; uint8_t bytes[{bytes_}]; }} {field.c_name}; {c_comment(field.name)}"
    name = c_type(field.bits, field.signed)
    comment = c_comment(f"{field.name}, {field.bits} bits")
    if name is None:
        return f"uint8_t {field.c_name}[{(field.bits + 7) // 8}]; {comment}"
    return f"{name} {field.c_name}; {comment}"


def _emit_validity(program: Program, plain: list[Header], out: Writer) -> None:
    with out.block("struct", " valid;"):
        for header in plain:
            out.line(f"uint8_t {header.place};")
        for array, _, size in program.arrays:
            out.line(f"uint8_t {array}[{size + 1}];")
        out.line("uint8_t none;")
    with out.block("struct", " next;"):
        for stack in program.stacks.values():
            out.line(f"uint32_t {stack.array};")
        for union_stack in program.union_stacks.values():
            out.line(f"uint32_t {union_stack.c_name};")
        out.line("uint32_t none;")


def _emit_pass(out: Writer) -> None:
    with out.block("struct", " pass;"):
        out.line("uint32_t ingress_bytes; /* the frame as it came in: what counters and meters count */")
        out.line("int32_t digest;         /* list to learn at the end of ingress; 0 is none */")
        out.line("bool exiting;")
