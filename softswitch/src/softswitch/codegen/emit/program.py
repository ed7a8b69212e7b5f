# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits the program descriptor: names for control commands, const entries, and the entry points of pipeline.h.

It must not know how anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from softswitch.codegen.emit.writer import Writer
from softswitch.codegen.ir.blocks import ActionCall, Array, Key, Program, Table
from softswitch.codegen.ir.names import c_string
from softswitch.codegen.ir.reach import reach_bytes

_KINDS = {
    "exact": "SW_MATCH_EXACT",
    "lpm": "SW_MATCH_LPM",
    "ternary": "SW_MATCH_TERNARY",
    "range": "SW_MATCH_RANGE",
    "optional": "SW_MATCH_OPTIONAL",
}


def emit_program(program: Program, out: Writer) -> None:
    """Emit the tables of names, `install` and `sw_program`."""
    _emit_actions(program, out)
    _emit_tables(program, out)
    for name, arrays in (("registers", program.registers), ("counters", program.counters), ("meters", program.meters)):
        _array(out, f"struct sw_array_info {name}[]", (_array_row(a) for a in arrays.values()))
    _emit_digests(program, out)
    if program.value_sets:
        sets = (f"{{{c_string(s.name)}, {s.bits}}}" for s in program.value_sets.values())
        _array(out, "struct sw_field_info value_sets[]", sets)
    _array(out, "struct sw_crc_info crcs[]", (f"{{{c_string(c.name)}, {c.custom_bits}}}" for c in program.custom_crcs))
    _emit_install(program, out)
    _emit_descriptor(program, out)


def _array(out: Writer, head: str, rows: Iterable[str]) -> None:
    """Emit a static const array with at least one element, as C requires."""
    with out.block(f"static const {head} =", ";"):
        written = list(rows)
        out.lines(f"{row}," for row in written or ["{0}"])
    out.line()


def _emit_actions(program: Program, out: Writer) -> None:
    for action in program.actions.values():
        if action.params:
            params = [f"{{{c_string(p.name)}, {p.bits}}}" for p in action.params]
            _array(out, f"struct sw_field_info params_{action.c_name}[]", params)
    rows = []
    for number in range(len(program.actions)):
        action = program.actions[number]
        name = f"params_{action.c_name}" if action.params else "NULL"
        rows.append(f"{{{c_string(action.name)}, {name}, {len(action.params)}}}")
    _array(out, "struct sw_action_info actions[]", rows)


def _emit_tables(program: Program, out: Writer) -> None:
    rows = []
    for table in program.tables:
        if table.keys:
            keys = (f"{{{c_string(k.name)}, {k.ref.field.bits}, {_KINDS[k.kind]}}}" for k in table.keys)
            _array(out, f"struct sw_key_info keys_{table.c_name}[]", keys)
        if table.actions:
            _array(out, f"uint16_t actions_{table.c_name}[]", (str(a.id) for a in table.actions))
        rows.append(_table_row(table))
    _array(out, "struct sw_table_info tables[]", rows)
    profiles = (f"{{{c_string(p.name)}, {p.max_members}, {_bool(p.selector is not None)}}}" for p in program.profiles)
    _array(out, "struct sw_profile_info profiles[]", profiles)


def _table_row(table: Table) -> str:
    members = {
        "name": c_string(table.name),
        "keys": f"keys_{table.c_name}" if table.keys else "NULL",
        "actions": f"actions_{table.c_name}" if table.actions else "NULL",
        "n_keys": len(table.keys),
        "n_actions": len(table.actions),
        "max_entries": table.max_entries,
        "action_profile": -1 if table.profile is None else table.profile.id,
        "direct_counter": -1 if table.counter is None else table.counter.id,
        "direct_meter": -1 if table.meter is None else table.meter.id,
        "default_action": -1 if table.default is None else table.default.action.id,
        "default_is_const": _bool(table.default_is_const),
        "entries_are_const": _bool(table.entries_are_const),
        "supports_timeout": _bool(table.supports_timeout),
    }
    return "{" + ", ".join(f".{name} = {value}" for name, value in members.items()) + "}"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _array_row(array: Array) -> str:
    members = {
        "name": c_string(array.name),
        "count": array.count,
        "bits": array.bits,
        "is_direct": _bool(array.direct),
        "counts_bytes": _bool(array.counts_bytes),
        "meter_rates": array.rates,
    }
    return "{" + ", ".join(f".{name} = {value}" for name, value in members.items()) + "}"


def _emit_digests(program: Program, out: Writer) -> None:
    rows = []
    for number, digest in enumerate(program.digests.values()):
        fields = (f"{{{c_string(f'{f.header.name}.{f.field.name}')}, {f.field.bits}}}" for f in digest.fields)
        _array(out, f"struct sw_field_info digest_{number}[]", fields)
        rows.append(f"{{{c_string(digest.name)}, digest_{number}, {len(digest.fields)}}}")
    _array(out, "struct sw_digest_info digests[]", rows)


def _bytes(value: int, bits: int) -> str:
    n_bytes = (bits + 7) // 8
    data = ", ".join(f"{b:#04x}" for b in value.to_bytes(n_bytes, "big"))
    return f"{{(const uint8_t[]){{{data}}}, {n_bytes}}}"


def _args(call: ActionCall) -> str:
    values = [_bytes(value, p.bits) for value, p in zip(call.args, call.action.params, strict=True)]
    return "(const struct sw_value[]){" + ", ".join(values) + "}" if values else "NULL"


def _matches(keys: Sequence[Key], values: Sequence[tuple[int, int]]) -> str:
    rows = []
    for key, (value, extra) in zip(keys, values, strict=True):
        bits = key.ref.field.bits
        if key.kind == "lpm":
            rows.append(f"{{.value = {_bytes(value, bits)}, .prefix_bits = {extra}}}")
        elif key.kind == "exact":
            rows.append(f"{{.value = {_bytes(value, bits)}}}")
        else:
            rows.append(f"{{.value = {_bytes(value, bits)}, .mask = {_bytes(extra, bits)}}}")
    return "(const struct sw_match[]){" + ", ".join(rows) + "}"


def _emit_install(program: Program, out: Writer) -> None:
    defaults = [
        f"{{{t.id}, {t.default.action.id}, {_args(t.default)}}}"
        for t in program.tables
        if t.default is not None and t.profile is None
    ]
    entries = [
        f"{{{t.id}, {e.call.action.id}, {e.priority}, {_matches(t.keys, e.keys)}, {_args(e.call)}}}"
        for t in program.tables
        for e in t.entries
    ]
    _array(out, "struct sw_const_default const_defaults[]", defaults)
    _array(out, "struct sw_const_entry const_entries[]", entries)
    with out.block("static int install(struct sw_pipeline *pipeline)"):
        out.line(
            f"return sw_pipeline_install(pipeline, const_defaults, {len(defaults)}, const_entries, {len(entries)});"
        )
    out.line()


def _emit_descriptor(program: Program, out: Writer) -> None:
    with out.block("const struct sw_program sw_program =", ";"):
        out.line(".abi = SW_PROGRAM_ABI,")
        out.line(f".name = {c_string(program.name)},")
        out.line(".phv_bytes = sizeof(struct phv),")
        out.line(f".reach_bytes = {reach_bytes(program):#x},")
        out.line(".phv_reset_bytes = PHV_RESET_BYTES,")
        counts = {
            "actions": len(program.actions),
            "tables": len(program.tables),
            "profiles": len(program.profiles),
            "registers": len(program.registers),
            "counters": len(program.counters),
            "meters": len(program.meters),
            "digests": len(program.digests),
            "crcs": len(program.custom_crcs),
        }
        if program.value_sets:
            counts["value_sets"] = len(program.value_sets)
        for name, count in counts.items():
            out.line(f".{name} = {name},")
            out.line(f".n_{name} = {count},")
        out.line(".init = install,")
        for name in ("ingress", "egress", "copy_fields", "parse", "copy_headers"):
            out.line(f".{name} = program_{name},")
