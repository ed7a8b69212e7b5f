# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds the metadata fields that only one pass of a packet uses, so that they need not travel with the packet.

Such a field is 0 at the start of its pass, as in a packet that carries it: nothing outside the pass writes it. A field
of a field list is not among them, because clone, resubmit and recirculate copy it to the next pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.nodes import FieldRef, HeaderRef, Named

FieldName = tuple[str, str]
"""The names of a header instance and of its field."""


def pass_of_fields(program: Program) -> dict[FieldName, str]:
    """Return the pass, "ingress" or "egress", of each metadata field that only this pass uses."""
    verified = [checksum for checksum in program.checksums if checksum.verify]
    updated = [checksum for checksum in program.checksums if checksum.update]
    ingress = _uses(program, (program.states, verified, program.ingress, program.digests))
    egress = _uses(program, (program.egress, updated, program.deparser_primitives))
    copied = _uses(program, (program.field_lists,))
    only_ingress, only_egress = ingress - egress - copied, egress - ingress - copied
    return {name: "ingress" for name in only_ingress} | {name: "egress" for name in only_egress}


def _uses(program: Program, roots: Iterable[object]) -> set[FieldName]:
    """Return the metadata fields that the program refers to from the given blocks."""
    refs = list(_references(program, roots, set()))
    whole = [ref.header for ref in refs if isinstance(ref, HeaderRef)]
    names = {(ref.header.name, ref.field.name) for ref in refs if isinstance(ref, FieldRef) and ref.header.metadata}
    return names | {(header.name, f.name) for header in whole if header.metadata for f in header.type.fields}


def _references(program: Program, roots: Iterable[object], seen: set[int]) -> Iterator[FieldRef | HeaderRef]:
    """Yield the references to fields and headers below the given parts of the typed form, each part once."""
    stack = list(roots)
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, FieldRef | HeaderRef):
            yield part
        elif isinstance(part, Named):
            stack.append(program.calculations.get(part.name))
        elif isinstance(part, dict):
            stack += part.values()
        elif isinstance(part, list | tuple):
            stack += part
        elif is_dataclass(part):
            stack += [getattr(part, member.name) for member in fields(part) if member.name != "where"]
