# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds the loops of a program, whose turns the switch has to count because a program may never leave them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeVar

from softswitch.codegen.ir.blocks import Advance, Extract, ParserOp, State
from softswitch.codegen.ir.nodes import Const, UnionStack

Node = TypeVar("Node", bound=Hashable)


def back_edges(nodes: Iterable[Node], following: Callable[[Node], Collection[Node]]) -> set[tuple[Node, Node]]:
    """Return edges of a graph without which it has no loops, as (from, to): those that lead back on a depth-first
    search."""
    edges: set[tuple[Node, Node]] = set()
    open_nodes: set[Node] = set()
    closed: set[Node] = set()
    for start in nodes:
        stack = [] if start in closed else [(start, iter(following(start)))]
        open_nodes.update(node for node, _ in stack)
        while stack:
            node, rest = stack[-1]
            child = next((child for child in rest if child not in closed), None)
            if child is None:
                closed.add(node)
                open_nodes.discard(node)
                stack.pop()
            elif child in open_nodes:
                edges.add((node, child))
            else:
                open_nodes.add(child)
                stack.append((child, iter(following(child))))
    return edges


def endless_states(states: Mapping[str, State]) -> set[str]:
    """Return parser states of which every loop has one, unless a state of the loop always moves ahead in the frame:
    then the loop ends with the frame."""
    waiting = {name: state for name, state in states.items() if not any(map(_moves_ahead, state.ops))}

    def following(name: str) -> list[str]:
        return [t.next_state for t in waiting[name].transitions if t.next_state is not None and t.next_state in waiting]

    return {head for _, head in back_edges(waiting, following)}


def _moves_ahead(op: ParserOp) -> bool:
    """Whether an operation moves ahead by a byte at least, or ends the parser."""
    if isinstance(op, Advance):
        return isinstance(op.bits, Const) and op.bits.value >= 8
    if not isinstance(op, Extract):
        return False
    header_type = op.target.types[op.member] if isinstance(op.target, UnionStack) else op.target.type
    return header_type.fixed_bits >= 8
