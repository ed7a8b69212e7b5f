# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Translates BMv2 JSON to C: load it, check the version, build a small typed form, emit one concept after the other.

It does not compile or run the C that it writes.
"""

from __future__ import annotations

from pathlib import Path

from softswitch.codegen.emit.actions import emit_actions
from softswitch.codegen.emit.calculations import emit_calculations, emit_checksums
from softswitch.codegen.emit.control import emit_control
from softswitch.codegen.emit.deparser import emit_deparser
from softswitch.codegen.emit.parser import emit_parser
from softswitch.codegen.emit.passes import emit_passes
from softswitch.codegen.emit.program import emit_program
from softswitch.codegen.emit.tables import emit_tables
from softswitch.codegen.emit.types import emit_types
from softswitch.codegen.emit.writer import Writer
from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.source import CodegenError
from softswitch.codegen.load.document import read_document
from softswitch.codegen.load.program import load_program

# Warnings that generated code may cause, because it contains parts that a program does not use.
_TOLERATED = (
    "unused-function",
    "unused-parameter",
    "unused-variable",
    "unused-label",
    "unused-but-set-variable",
    "type-limits",
    "sign-compare",
)


def generate(json_path: Path, *, logs: bool = False) -> str:
    """Return the C code of a compiled P4 program (v1model). Raises CodegenError, also for text that is not JSON.

    With `logs` the code logs the way of every packet; it needs SW_PACKET_LOG (c/runtime/packet_log.h).
    """
    program = load_program(read_document(json_path.read_bytes(), str(json_path)), json_path.stem)
    out = Writer(logs=logs)
    try:
        _emit(program, out)
    except CodegenError as error:
        raise CodegenError(f"{error}{program.version_note}") from error
    return out.text()


def _emit(program: Program, out: Writer) -> None:
    out.comment(f"Generated from {program.name}.json. Do not edit.")
    out.line('#include "runtime/runtime.h"')
    out.line()
    out.lines(f'#pragma GCC diagnostic ignored "-W{name}"' for name in _TOLERATED)
    out.line()
    emit_types(program, out)
    emit_calculations(program, out)
    emit_actions(program, out)
    emit_tables(program, out)
    emit_parser(program, out)
    emit_checksums(program, out)
    emit_control(program, program.ingress, out)
    emit_control(program, program.egress, out)
    emit_deparser(program, out)
    emit_passes(program, out)
    emit_program(program, out)
