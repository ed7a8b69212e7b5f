# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds the metadata fields that only one pass of a packet uses, so that they need not travel with the packet.

Such a field is 0 at the start of its pass, as in a packet that carries it: nothing outside the pass writes it. A field
of a field list is not among them, because clone, resubmit and recirculate copy it to the next pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.nodes import FieldRef, HeaderRef, Named

FieldName = tuple[str, str]
"""The names of a header instance and of its field."""


def pass_of_fields(program: Program) -> dict[FieldName, str]:
    """Return the pass, "ingress" or "egress", of each metadata field that only this pass uses."""
    ingress, egress, copied = _uses_of_passes(program)
    only_ingress, only_egress = ingress - egress - copied, egress - ingress - copied
    return {name: "ingress" for name in only_ingress} | {name: "egress" for name in only_egress}


def used_fields(program: Program) -> set[FieldName]:
    """Return the metadata fields that any part of the program uses."""
    return set().union(*_uses_of_passes(program))


def _uses_of_passes(program: Program) -> tuple[set[FieldName], set[FieldName], set[FieldName]]:
    """Return the metadata fields that ingress uses, that egress uses, and that are copied between packets."""
    verified = [checksum for checksum in program.checksums if checksum.verify]
    updated = [checksum for checksum in program.checksums if checksum.update]
    ingress = _uses(program, (program.states, verified, program.ingress, program.digests))
    egress = _uses(program, (program.egress, updated, program.deparser_primitives))
    return ingress, egress, _uses(program, (program.field_lists,))


def parts(roots: Iterable[object]) -> Iterator[object]:
    """Yield the given parts of the typed form and all parts below them, each once."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            stack += part.values()
        elif isinstance(part, list | tuple):
            stack += part
        elif is_dataclass(part) and not isinstance(part, FieldRef | HeaderRef):
            stack += [getattr(part, member.name) for member in fields(part) if member.name != "where"]


def _uses(program: Program, blocks: Sequence[object]) -> set[FieldName]:
    """Return the metadata fields that blocks and the calculations that they name refer to."""
    named = {part.name for part in parts(blocks) if isinstance(part, Named)}
    calculations = [calculation for name, calculation in program.calculations.items() if name in named]
    names: set[FieldName] = set()
    for part in parts((*blocks, calculations)):
        if isinstance(part, FieldRef) and part.header.metadata:
            names.add((part.header.name, part.field.name))
        elif isinstance(part, HeaderRef) and part.header.metadata:
            names.update((part.header.name, field.name) for field in part.header.type.fields)
    return names
