# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits a C function for each table: pack the key, look it up, run the action, report the result to the control flow.

It must not know which node follows a table.
"""

from __future__ import annotations

from softswitch.codegen.emit.actions import CONTEXT, CONTEXT_PARAMS, constant_arguments, entry_arguments
from softswitch.codegen.emit.writer import Writer, literal
from softswitch.codegen.ir.blocks import Key, Profile, Program, Table
from softswitch.codegen.ir.names import c_comment
from softswitch.codegen.ir.nodes import FieldRef
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.places import c_type, calculation_call, field_lvalue, place_of
from softswitch.codegen.lower.stores import field_target, store_low
from softswitch.codegen.lower.values import bits_mask

_LPM_MOST_WORDS = 8  # SW_LPM_MOST_WORDS


def is_fixed(table: Table) -> bool:
    """Whether a table can only run its default action; p4c creates such tables for direct action calls."""
    return not table.keys and table.default is not None and table.default_is_const and table.profile is None


def emit_fixed(table: Table) -> str:
    """Return the C call that replaces a fixed table."""
    assert table.default is not None
    action = table.default.action
    return f"action_{action.c_name}({CONTEXT}{constant_arguments(action, table.default.args)});"


def emit_tables(program: Program, out: Writer) -> None:
    """Emit `apply_<name>` for every table that can have entries or another default action."""
    for table in program.tables:
        if not is_fixed(table):
            with table.where.locating():
                _emit_table(program, table, out)


def _emit_table(program: Program, table: Table, out: Writer) -> None:
    out.comment(f"table {table.name}" + (f", {table.where.source}" if table.where.source else ""))
    with out.block(f"SW_INLINE struct sw_applied apply_{table.c_name}({CONTEXT_PARAMS})"):
        out.line(f"const struct sw_table *table = &pipeline->tables[{table.id}];")
        out.log("trace", f"Applying table '{literal(table.name)}'")
        _emit_lookup(program, table, out)
        if table.supports_timeout and table.keys:
            out.line("if (hit)")
            out.line("    table->hit_us[entry->index] = pipeline->now_us;")
        if table.counter is not None or table.meter is not None:
            _emit_direct(program, table, out)
        if out.logs:
            out.line(f"sw_log_lookup(pipeline, packet, table, {'key' if table.keys else 'NULL'}, entry);")
        out.line("struct sw_applied applied = {entry->action, hit != NULL};")
        if table.profile is not None:
            _emit_indirection(table.profile, out)
        if out.logs:
            out.line("sw_log_action(pipeline, packet, entry);")
        with out.block("switch (applied.action)"):
            for action in table.actions:
                if not action.primitives and not out.logs:
                    continue
                out.line(f"case {action.id}: {c_comment(action.name)}")
                out.line(f"    action_{action.c_name}({CONTEXT}{entry_arguments(action, 'entry')});")
                out.line("    break;")
            out.line("default:")
            out.line("    break;")
        out.line("return applied;")
    out.line()


def _emit_direct(program: Program, table: Table, out: Writer) -> None:
    """Emit direct counters and meters, which act only on hits; the meter comes after the counter."""
    with out.block("if (hit)"):
        if table.counter is not None:
            out.line(
                f"sw_counter_count(&pipeline->counters[{table.counter.id}], entry->index, phv->pass.ingress_bytes);"
            )
        if table.meter is not None:
            if table.meter.result is None:
                raise table.where.error(f"direct meter of table '{table.name}' has no result field")
            cells = f"&pipeline->meters[{table.meter.id}]"
            color = f"(uint64_t)sw_meter_execute({cells}, entry->index, phv->pass.ingress_bytes, pipeline->now_us)"
            out.line(store_low(field_target(program, table.meter.result), color))


def _emit_indirection(profile: Profile, out: Writer) -> None:
    """Emit the step from an entry to its member, or to the member that the hash picks from its group.

    An empty group runs no action.
    """
    out.line(f"const struct sw_profile *profile = &pipeline->profiles[{profile.id}];")
    with out.block("if (entry->kind == SW_ENTRY_MEMBER)"):
        out.line("entry = sw_profile_member(profile, entry->reference);")
        out.line("applied.action = entry->action;")
    if profile.selector is not None:
        with out.block("else if (entry->kind == SW_ENTRY_GROUP && profile->groups[entry->reference].count > 0)"):
            out.line("const struct sw_group *group = &profile->groups[entry->reference];")
            out.line(f"uint64_t pick = {calculation_call(profile.selector)} % group->count;")
            out.line("entry = sw_profile_member(profile, group->members[pick]);")
            out.line("applied.action = entry->action;")


def _emit_lookup(program: Program, table: Table, out: Writer) -> None:
    if not table.keys:
        out.line("const struct sw_entry *hit = NULL, *entry = table->miss;")
        return
    words = _pack(program, table)
    kinds = {k.kind for k in table.keys}
    look_up = "ternary" if kinds & {"ternary", "range", "optional"} else "lpm" if "lpm" in kinds else "exact"
    if look_up == "lpm" and len(words) > _LPM_MOST_WORDS:
        raise table.where.error(
            f"longest-prefix table '{table.name}' with a key of {len(words)} words is not supported"
        )
    if sum(k.kind == "lpm" for k in table.keys) > 1:
        raise table.where.error(f"table '{table.name}' has more than one lpm key")
    with out.block(f"const uint64_t key[{len(words)}] =", ";"):
        out.lines(f"{' | '.join(word)}," for word in words)
    out.line(f"const struct sw_entry *hit = sw_table_{look_up}(table, key, {len(words)});")
    out.line("const struct sw_entry *entry = hit ? hit : table->miss;")


def _pack(program: Program, table: Table) -> list[list[str]]:
    """Return the C texts of each word of a key, by the rule in table.h. Elements over 128 bits are read as bytes."""
    words: list[list[str]] = []
    left = 0
    for key in table.keys:
        bits = key.ref.field.bits
        if bits > 64:
            words += [[w] for w in _long_words(program, key)]
            left = 0
            continue
        if bits > left:
            words.append([])
            left = 64
        left -= bits
        text = _guarded(key, _short_text(program, key))
        words[-1].append(f"{text} << {left}" if left else text)
    return words


def _guarded(key: Key, text: str) -> str:
    """Return text that is zero if the key's header is invalid, as in BMv2."""
    header = key.ref.header
    if header.metadata or key.ref.field.hidden:
        return text
    return f"({place_of(header).valid} ? {text} : 0)"


def _short_text(program: Program, key: Key) -> str:
    bits = key.ref.field.bits
    text = Expressions(program).low(key.ref, 64)
    mask = bits_mask(bits) if key.mask is None else key.mask
    if key.ref.field.signed or mask != bits_mask(bits):
        text = f"({text} & {mask:#x}ull)"
    return text


def _long_words(program: Program, key: Key) -> list[str]:
    """Return the words of a long key, from the most significant on, with the key's static mask applied."""
    texts = _long_texts(program, key.ref)
    mask = key.mask
    if mask is not None and mask != bits_mask(key.ref.field.bits):
        shifts = range(64 * (len(texts) - 1), -1, -64)
        texts = [f"({text} & {mask >> at & bits_mask(64):#x}ull)" for text, at in zip(texts, shifts, strict=True)]
    return [_guarded(key, text) for text in texts]


def _long_texts(program: Program, ref: FieldRef) -> list[str]:
    bits = ref.field.bits
    lvalue = field_lvalue(program, ref)
    top = bits % 64 or 64
    if c_type(bits, ref.field.signed) is not None:
        high = f"(uint64_t)((sw_u128){lvalue} >> 64)"
        return [f"({high} & {bits_mask(top):#x}ull)" if ref.field.signed else high, f"(uint64_t){lvalue}"]
    n_bytes = (bits + 7) // 8
    first = n_bytes % 8 or 8
    texts = [f"sw_get{8 * first}({lvalue})"]
    return texts + [f"sw_get64({lvalue} + {at})" for at in range(first, n_bytes, 8)]
