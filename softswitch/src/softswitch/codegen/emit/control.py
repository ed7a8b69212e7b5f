# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits the control flow of ingress and egress as structured C.

BMv2's graph of tables and conditions becomes ifs and switches, whose branches meet at the nearest node common to all
of them. A node that is also reached from another place gets a label to jump to. The module only calls tables.
"""

from __future__ import annotations

from functools import reduce
from graphlib import TopologicalSorter

from softswitch.codegen.emit.actions import CONTEXT, CONTEXT_PARAMS, can_drop, can_exit
from softswitch.codegen.emit.tables import emit_fixed, is_fixed
from softswitch.codegen.emit.writer import Writer, literal
from softswitch.codegen.ir.blocks import Call, Conditional, Node, Pipeline, Program, Table
from softswitch.codegen.ir.loops import back_edges
from softswitch.codegen.ir.names import c_comment, c_string
from softswitch.codegen.lower.expressions import Expressions

_DEEPEST_BLOCK = 100


def emit_control(program: Program, pipeline: Pipeline, out: Writer) -> None:
    """Emit `control_ingress` or `control_egress`."""
    jumped_to: set[str] = set()
    # A dry run finds the labels that are needed.
    _ControlEmitter(program, pipeline, Writer(logs=out.logs), jumped_to).emit()
    _ControlEmitter(program, pipeline, out, jumped_to).emit()


def successors(node: Node) -> list[str | None]:
    """Return the nodes that may follow, without duplicates."""
    if isinstance(node, Conditional):
        following = [node.next_true, node.next_false]
    elif isinstance(node, Call):
        following = [node.next_node]
    elif is_fixed(node):
        following = [_after_fixed(node)]
    elif node.next_by_hit is not None:
        following = list(node.next_by_hit)
    else:
        following = [*(node.next_by_action.get(a.id, node.next_default) for a in node.actions), node.next_default]
    return list(dict.fromkeys(following))


def _after_fixed(table: Table) -> str | None:
    """Return the node after a fixed table, which always misses and runs its default action."""
    assert table.default is not None
    if table.next_by_hit is not None:
        return table.next_by_hit[1]
    return table.next_by_action.get(table.default.action.id, table.next_default)


class _ControlEmitter:
    def __init__(self, program: Program, pipeline: Pipeline, out: Writer, jumped_to: set[str]) -> None:
        self.program = program
        self.nodes = pipeline.nodes
        self.pipeline = pipeline
        self.out = out
        self.jumped_to = jumped_to
        self.emitted: set[str] = set()
        self.later: list[str] = []
        """Nodes that are emitted at the end, because blocks would nest too deep."""
        edges = back_edges(self.nodes, lambda name: [n for n in successors(self.nodes[name]) if n is not None])
        self.loop_heads = {head for _, head in edges}
        self.meetings = _Meetings(self.nodes, edges)
        self.branch = ""
        """The last decision before the current node, as text for drop reports; empty if several paths lead here."""

    def emit(self) -> None:
        with self.out.block(f"SW_INLINE void control_{self.pipeline.name}({CONTEXT_PARAMS})"):
            self._run(self.pipeline.start, None)
            while self.later:
                name = self.later.pop()
                if name not in self.emitted:
                    self.out.line("return;")
                    self._run(name, None)
        self.out.line()

    def _run(self, name: str | None, stop: str | None) -> None:
        """Emit the nodes from `name` up to, but not including, `stop`."""
        while name != stop:
            if name is None:
                self.out.line("return;")
                return
            node = self.nodes[name]
            is_deep = self.out.depth > _DEEPEST_BLOCK
            if name in self.emitted or is_deep:
                self.jumped_to.add(name)
                self.later += [name] if is_deep else []
                self.out.line(f"goto node_{node.c_name};")
                return
            self.emitted.add(name)
            if name in self.jumped_to:
                self.out.label(f"node_{node.c_name}")
                self.branch = ""
            if name in self.loop_heads:
                kind = "table" if isinstance(node, Table) else "node"
                self.out.count_turn(f"{kind} {name}", node.where.source, "return;")
            with node.where.locating():
                name = self._emit_node(node)

    def _emit_node(self, node: Node) -> str | None:
        """Emit a node and its branches; return the node where the branches meet."""
        if isinstance(node, Conditional):
            return self._conditional(node)
        self._name_branch(node)
        if isinstance(node, Call):
            self.out.line(f"action_{node.action.c_name}({CONTEXT});")
            self._leave_if(can_exit(node.action))
            return node.next_node
        return self._table(node)

    def _name_branch(self, node: Call | Table) -> None:
        """Emit the branch name for drop reports, before a node that may drop."""
        actions = (node.action,) if isinstance(node, Call) else node.actions
        if any(map(can_drop, actions)):
            is_table = isinstance(node, Table) and not is_fixed(node)
            words = ([f"table {node.name}"] if is_table else []) + ([self.branch] if self.branch else [])
            place = c_string(", ".join(words)) if words else "NULL"
            self.out.line(f"phv->shared.requests.branch = {place};")

    def _run_in(self, branch: str, name: str | None, stop: str | None) -> None:
        """Call `_run` inside a branch whose decision is described by the text `branch`."""
        outer, self.branch = self.branch, branch
        self._run(name, stop)
        self.branch = outer

    def _leave_if(self, possible: bool) -> None:
        if possible:
            self.out.line("if (phv->pass.exiting)")
            self.out.line("    return;")

    def _conditional(self, node: Conditional) -> str | None:
        meeting = self.meetings.of(node.name)
        self.out.comment(node.where.source)
        condition = Expressions(self.program).boolean(node.condition)
        if self.out.logs:
            text = c_string(f'{node.where.log_place}Condition "{node.where.fragment or node.name}" ({node.name})')
            condition = f"sw_log_condition(pipeline, packet, {condition}, {text})"
        yes, no = node.next_true, node.next_false
        place = node.where.source
        holds, fails = (f"{place} {word}" if place else "" for word in ("holds", "does not hold"))
        if yes == meeting and no != meeting:
            condition, yes, no, holds, fails = f"!{condition}", no, yes, fails, holds
        with self.out.block(f"if {_in_parentheses(condition)}"):
            self._run_in(holds, yes, meeting)
        if no != meeting:
            with self.out.block("else"):
                self._run_in(fails, no, meeting)
        return meeting

    def _table(self, table: Table) -> str | None:
        if is_fixed(table):
            assert table.default is not None
            self.out.log("trace", f"Applying table '{literal(table.name)}'")
            self.out.log("debug", f"Table '{literal(table.name)}': miss")
            if table.default.action.primitives or self.out.logs:
                self.out.line(emit_fixed(table))
            self._leave_if(can_exit(table.default.action))
            return _after_fixed(table)
        following = successors(table)
        call = f"apply_{table.c_name}({CONTEXT})"
        leaves = any(can_exit(a) for a in table.actions)
        if len(following) == 1:
            self.out.line(f"{call};")
            self._leave_if(leaves)
            return following[0]
        meeting = self.meetings.of(table.name)
        with self.out.block(""):
            self.out.line(f"struct sw_applied applied = {call};")
            self._leave_if(leaves)
            if table.next_by_hit is not None:
                self._hit_or_miss(table.name, table.next_by_hit, meeting)
            else:
                self._by_action(table, meeting)
        return meeting

    def _hit_or_miss(self, table: str, following: tuple[str | None, str | None], meeting: str | None) -> None:
        hit, miss = following
        if hit == meeting:
            with self.out.block("if (!applied.hit)"):
                self._run_in(f"a miss in {table}", miss, meeting)
            return
        with self.out.block("if (applied.hit)"):
            self._run_in(f"a hit in {table}", hit, meeting)
        if miss != meeting:
            with self.out.block("else"):
                self._run_in(f"a miss in {table}", miss, meeting)

    def _by_action(self, table: Table, meeting: str | None) -> None:
        groups: dict[str | None, list[str]] = {}
        for action in table.actions:
            following = table.next_by_action.get(action.id, table.next_default)
            groups.setdefault(following, []).append(f"case {action.id}: {c_comment(action.name)}")
        with self.out.block("switch (applied.action)"):
            for following, cases in groups.items():
                if following == table.next_default:
                    continue
                self.out.lines(cases)
                with self.out.block(""):
                    self._run(following, meeting)
                self.out.line("break;")
            self.out.line("default:")
            with self.out.block(""):
                self._run(table.next_default, meeting)
            self.out.line("break;")


def _in_parentheses(text: str) -> str:
    """Return the text in one pair of parentheses; text that has a pair already is unchanged."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text if position == len(text) - 1 and text[0] == "(" else f"({text})"
    return f"({text})"


class _Meetings:
    """The nodes where the branches of each node meet again: the immediate post-dominators. Edges that lead back to the
    head of a loop do not count."""

    def __init__(self, nodes: dict[str, Node], back: set[tuple[str, str]]) -> None:
        self._meeting: dict[str | None, str | None] = {None: None}
        self._depth: dict[str | None, int] = {None: 0}
        graph = {
            name: [n for n in successors(node) if n is None or (name, n) not in back] for name, node in nodes.items()
        }
        for name in TopologicalSorter({name: filter(None, after) for name, after in graph.items()}).static_order():
            meeting = reduce(self._common, graph[name] or [None])
            self._meeting[name] = meeting
            self._depth[name] = self._depth[meeting] + 1

    def of(self, name: str) -> str | None:
        """Return the node where the branches of node `name` meet."""
        return self._meeting[name]

    def _common(self, one: str | None, other: str | None) -> str | None:
        """Return the first node that is on all ways from two nodes to the end."""
        while one != other:
            if self._depth[one] >= self._depth[other]:
                one = self._meeting[one]
            else:
                other = self._meeting[other]
        return one
