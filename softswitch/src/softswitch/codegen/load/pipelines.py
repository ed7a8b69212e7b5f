# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads tables, action profiles and control flow of a BMv2 JSON. It must not know C."""

from __future__ import annotations

from softswitch.codegen.ir.blocks import (
    ActionCall,
    Array,
    Call,
    Conditional,
    ConstEntry,
    Key,
    Node,
    Pipeline,
    Profile,
    Program,
    Table,
)
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import VALID, FieldRef, HeaderRef
from softswitch.codegen.ir.source import Json
from softswitch.codegen.load.expressions import ExpressionLoader

MOST_ENTRIES = 1 << 24
_HIT, _MISS = "__HIT__", "__MISS__"


def load_pipelines(root: Json, program: Program) -> None:
    """Load the program's profiles, tables, ingress and egress."""
    loader = _PipelineLoader(program)
    for item in root.items("pipelines"):
        name = item["name"].text()
        if name not in ("ingress", "egress"):
            raise item["name"].error(f"pipeline '{name}' is not part of v1model")
        pipeline = loader.load(item)
        if name == "ingress":
            program.ingress = pipeline
        else:
            program.egress = pipeline


class _PipelineLoader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.expressions = ExpressionLoader(program)
        self.scope = Scope()
        self.profiles: dict[str, Profile] = {}

    def load(self, item: Json) -> Pipeline:
        for profile in item.items("action_profiles"):
            self._profile(profile)
        nodes: dict[str, Node] = {}
        for member, load in (
            ("tables", self._table),
            ("conditionals", self._conditional),
            ("action_calls", self._call),
        ):
            for element in item.items(member):
                node = load(element)
                nodes[node.name] = node
        start = item.get("init_table")
        return Pipeline(item["name"].text(), None if start is None else start.text(), nodes)

    def _profile(self, item: Json) -> None:
        name = item["name"].text()
        c_name = self.scope.unique(name)
        selector = item.get("selector")
        calculation = None if selector is None else self.expressions.calculation(selector, name, c_name)
        profile = Profile(len(self.program.profiles), name, c_name, item["max_size"].integer(), calculation)
        self.profiles[name] = profile
        self.program.profiles.append(profile)

    def _conditional(self, item: Json) -> Node:
        name = item["name"].text()
        condition = self.expressions.expression(item["expression"])
        return Conditional(
            name, self.scope.unique(name), condition, _next(item, "true_next"), _next(item, "false_next"), item
        )

    def _call(self, item: Json) -> Node:
        name = item["name"].text()
        action = self.program.actions[item["action_id"].integer()]
        return Call(name, self.scope.unique(name), action, _next(item, "next_node"), item)

    def _table(self, item: Json) -> Node:
        name = item["name"].text()
        keys = tuple(self._key(k) for k in item.items("key"))
        actions = tuple(self.program.actions[i.integer()] for i in item.items("action_ids"))
        ids = {a.name: a.id for a in actions}
        following = item["next_tables"].value
        next_default = _next(item, "base_default_next")
        by_hit = _HIT in following or _MISS in following
        default = item.get("default_entry")
        entries = tuple(self._entry(e, keys) for e in item.items("entries"))
        if entries and item["type"].text() != "simple":
            raise item["entries"].error(f"entries of table '{name}', which has an action profile, are not supported")
        table = Table(
            id=len(self.program.tables),
            name=name,
            c_name=self.scope.unique(name),
            keys=keys,
            actions=actions,
            max_entries=self._max_entries(item, len(entries)),
            profile=self._table_profile(item),
            counter=self._counter(item, name) if item.flag("with_counters") else None,
            meter=self._named_meter(item),
            default=None if default is None else self._action_call(default),
            default_is_const=default is not None
            and (default.flag("action_const") or default.flag("action_entry_const")),
            entries=entries,
            entries_are_const=item.get("entries") is not None,
            supports_timeout=item.flag("support_timeout"),
            next_by_action={ids[n]: following[n] for n in following if n in ids},
            next_by_hit=(following.get(_HIT, next_default), following.get(_MISS, next_default)) if by_hit else None,
            next_default=next_default,
            where=item,
        )
        self.program.tables.append(table)
        return table

    def _max_entries(self, item: Json, entries: int) -> int:
        size = item.get("max_size")
        most = max(entries, 0 if size is None else size.integer(), 1)
        if most > MOST_ENTRIES:
            raise item["max_size"].error(f"table of {most} entries is larger than {MOST_ENTRIES}")
        return most

    def _table_profile(self, item: Json) -> Profile | None:
        if item["type"].text() == "simple":
            return None
        name = item["action_profile"].text()
        if name not in self.profiles:
            raise item["action_profile"].error(f"unknown action profile '{name}'")
        return self.profiles[name]

    def _counter(self, item: Json, table: str) -> Array:
        """Return the direct counter bound to a table."""
        for counter in self.program.counters.values():
            if counter.table == table:
                return counter
        raise item.error(f"table '{table}' has counters but no direct counter is bound to it")

    def _named_meter(self, item: Json) -> Array | None:
        meter = item.get("direct_meters")
        if meter is None:
            return None
        if meter.text() not in self.program.meters:
            raise meter.error(f"unknown meter '{meter.text()}'")
        return self.program.meters[meter.text()]

    def _key(self, item: Json) -> Key:
        kind = item["match_type"].text()
        target = item["target"]
        mask = item.get("mask")
        name = item.get("name")
        if kind == "valid":
            operand = self.expressions.expression(
                Json({"type": "header", "value": target.value}, target.path, target.source)
            )
            assert isinstance(operand, HeaderRef)
            ref = FieldRef(operand.header, VALID)
            kind = "exact"
        elif not isinstance(target.value, list):
            raise target.error("match on an expression is not supported")
        else:
            ref = self.expressions.field(target)
        if kind not in ("exact", "lpm", "ternary", "range", "optional"):
            raise item["match_type"].error(f"match kind '{kind}' is not supported")
        if kind == "range" and ref.field.bits > 64:
            raise item.error(f"range match on {ref.field.bits} bits is not supported")
        if ref.field.varbit:
            raise item.error("match on a varbit is not supported")
        text = name.text() if name is not None else f"{ref.header.name}.{ref.field.name}"
        return Key(text, kind, ref, None if mask is None else mask.hexstr())

    def _action_call(self, item: Json) -> ActionCall:
        number = item["action_id"].integer()
        if number not in self.program.actions:
            raise item["action_id"].error(f"unknown action {number}")
        action = self.program.actions[number]
        args = tuple(
            a.hexstr() & ((1 << p.bits) - 1) for a, p in zip(item.items("action_data"), action.params, strict=True)
        )
        return ActionCall(action, args)

    def _entry(self, item: Json, keys: tuple[Key, ...]) -> ConstEntry:
        values = tuple(_match(m, k) for m, k in zip(item.items("match_key"), keys, strict=True))
        priority = item.get("priority")
        return ConstEntry(
            values, self._action_call(item["action_entry"]), 0 if priority is None else priority.integer()
        )


def _match(item: Json, key: Key) -> tuple[int, int]:
    """Return the value of a key element of an entry, and its mask, range end or prefix length."""
    kind = item["match_type"].text()
    everything = (1 << key.ref.field.bits) - 1
    if kind == "valid":
        return int(bool(item["key"].value)), 0
    if kind == "range":
        return item["start"].hexstr() & everything, item["end"].hexstr() & everything
    value = item["key"].hexstr() & everything
    if kind == "lpm":
        return value, item["prefix_length"].integer()
    if kind in ("ternary", "optional"):
        return value, item["mask"].hexstr() & everything
    return value, everything


def _next(item: Json, key: str) -> str | None:
    following = item.get(key)
    return None if following is None else following.text()
