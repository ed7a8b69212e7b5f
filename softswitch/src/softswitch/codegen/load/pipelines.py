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
from softswitch.codegen.ir.limits import MOST_CASES, MOST_ENTRIES, MOST_NUMBER, MOST_PACKED_BYTES
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import VALID, Action, FieldRef, HeaderRef
from softswitch.codegen.ir.source import Json
from softswitch.codegen.load.expressions import ExpressionLoader
from softswitch.codegen.load.state_size import StateSize

_ENTRY_BYTES = 64
"""An entry without its key and arguments, with its places in the index of the table."""
_MEMBER_BYTES = 128
_HIT, _MISS = "__HIT__", "__MISS__"


def load_pipelines(root: Json, program: Program, state: StateSize) -> None:
    """Load the program's profiles, tables, ingress and egress."""
    loader = _PipelineLoader(program, state)
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
    def __init__(self, program: Program, state: StateSize) -> None:
        self.program = program
        self.expressions = ExpressionLoader(program)
        self.scope = Scope("n")
        self.state = state
        self.profiles: dict[str, Profile] = {}

    def load(self, item: Json) -> Pipeline:
        for profile in item.items("action_profiles"):
            self._profile(profile, profile["name"].text())
        nodes: dict[str, Node] = {}
        for member, load in (
            ("tables", self._table),
            ("conditionals", self._conditional),
            ("action_calls", self._call),
        ):
            for element in item.items(member):
                node = load(element)
                if node.name in nodes:
                    raise element.error(f"more than one table or condition is named '{node.name}'")
                nodes[node.name] = node
        start = item.get("init_table")
        if start is not None and start.text() not in nodes:
            raise start.error(f"unknown table or condition '{start.text()}'")
        for node in nodes.values():
            for name in _following(node):
                if name is not None and name not in nodes:
                    raise node.where.error(f"unknown table or condition '{name}' after '{node.name}'")
        return Pipeline(item["name"].text(), item.get_text("init_table"), nodes)

    def _profile(self, item: Json, name: str) -> Profile:
        """Load a profile, or the profile of one table that old versions describe in the table."""
        c_name = self.scope.unique()
        selector = item.get("selector")
        calculation = None if selector is None else self.expressions.calculation(selector, name, c_name)
        most = item["max_size"].integer(0, MOST_ENTRIES, f"the size of action profile '{name}'")
        self.state.add(item, most, _MEMBER_BYTES)
        profile = Profile(len(self.program.profiles), name, c_name, most, calculation)
        self.profiles[name] = profile
        self.program.profiles.append(profile)
        return profile

    def _conditional(self, item: Json) -> Node:
        name = item["name"].text()
        condition = self.expressions.expression(item["expression"])
        return Conditional(
            name, self.scope.unique(), condition, item.get_text("true_next"), item.get_text("false_next"), item
        )

    def _call(self, item: Json) -> Node:
        name = item["name"].text()
        action = self._action(item["action_id"])
        if action.params:
            raise item.error(f"action '{action.name}', which has parameters, is called without arguments")
        return Call(name, self.scope.unique(), action, item.get_text("next_node"), item)

    def _table(self, item: Json) -> Node:
        name = item["name"].text()
        keys = tuple(self._key(k) for k in item.items("key"))
        if sum((key.ref.field.bits + 7) // 8 for key in keys) > MOST_PACKED_BYTES:
            raise item["key"].error(f"the key of table '{name}' has more than {MOST_PACKED_BYTES} bytes")
        actions = self._actions(item)
        ids = {a.name: a.id for a in actions}
        following = {
            action: None if node.value is None else node.text() for action, node in item["next_tables"].members()
        }
        next_default = item.get_text("base_default_next")
        by_hit = _HIT in following or _MISS in following
        default = item.get("default_entry")
        entries = tuple(self._entry(e, keys) for e in item.items("entries", MOST_CASES))
        if entries and item["type"].text() != "simple":
            raise item["entries"].error(f"entries of table '{name}', which has an action profile, are not supported")
        table = Table(
            id=len(self.program.tables),
            name=name,
            c_name=self.scope.unique(),
            keys=keys,
            actions=actions,
            max_entries=self._max_entries(item, len(entries), keys, actions),
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

    def _actions(self, item: Json) -> tuple[Action, ...]:
        """Return the actions of a table. Old versions name them, without their ids."""
        if item.get("action_ids") is not None:
            return tuple(map(self._action, item.items("action_ids")))
        by_name = {action.name: action for action in self.program.actions.values()}
        actions = []
        for name in item.items("actions"):
            if name.text() not in by_name:
                raise name.error(f"unknown action '{name.text()}'")
            actions.append(by_name[name.text()])
        return tuple(actions)

    def _action(self, number: Json) -> Action:
        action = self.program.actions.get(number.integer())
        if action is None:
            raise number.error(f"unknown action {number.integer()}")
        return action

    def _max_entries(self, item: Json, entries: int, keys: tuple[Key, ...], actions: tuple[Action, ...]) -> int:
        size = item.get("max_size")
        what = f"the size of table '{item['name'].text()}'"
        most = max(entries, 0 if size is None else size.integer(0, MOST_ENTRIES, what), 1)
        words = sum(2 + key.ref.field.bits // 32 for key in keys)
        words += max((sum(1 + param.bits // 64 for param in action.params) for action in actions), default=0)
        self.state.add(item, most if keys else 1, _ENTRY_BYTES + 8 * words)
        return most

    def _table_profile(self, item: Json) -> Profile | None:
        if item["type"].text() == "simple":
            return None
        if item.get("action_profile") is None and item.get("act_prof_name") is not None:
            return self._profile(item, item["act_prof_name"].text())
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
            if not isinstance(operand, HeaderRef):
                raise target.error("a match on the validity of this is not supported")
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
        return Key(text, kind, ref, None if mask is None else mask.hexstr() & ((1 << ref.field.bits) - 1))

    def _action_call(self, item: Json) -> ActionCall:
        action = self._action(item["action_id"])
        data = list(item.items("action_data"))
        if len(data) != len(action.params):
            raise item.error(f"{len(data)} arguments for action '{action.name}' with {len(action.params)} parameters")
        args = tuple(a.hexstr() & ((1 << p.bits) - 1) for a, p in zip(data, action.params, strict=True))
        return ActionCall(action, args)

    def _entry(self, item: Json, keys: tuple[Key, ...]) -> ConstEntry:
        matches = list(item.items("match_key"))
        if len(matches) != len(keys):
            raise item.error(f"an entry with {len(matches)} values for {len(keys)} keys")
        values = tuple(_match(m, k) for m, k in zip(matches, keys, strict=True))
        priority = item.get("priority")
        return ConstEntry(
            values,
            self._action_call(item["action_entry"]),
            0 if priority is None else priority.integer(-MOST_NUMBER, MOST_NUMBER, "the priority"),
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
        return value, item["prefix_length"].integer(0, key.ref.field.bits, "the length of the prefix")
    if kind in ("ternary", "optional"):
        return value, item["mask"].hexstr() & everything
    return value, everything


def _following(node: Node) -> list[str | None]:
    """Return all nodes that a node names as its next."""
    if isinstance(node, Conditional):
        return [node.next_true, node.next_false]
    if isinstance(node, Call):
        return [node.next_node]
    return [*node.next_by_action.values(), *(node.next_by_hit or ()), node.next_default]
