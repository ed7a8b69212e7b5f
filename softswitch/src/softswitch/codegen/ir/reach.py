# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Computes how many bytes at the start of a frame a program can read, so that the bytes behind need not be stored."""

from __future__ import annotations

from softswitch.codegen.ir.blocks import Advance, Extract, Program, State
from softswitch.codegen.ir.lifetimes import parts
from softswitch.codegen.ir.nodes import Const, Lookahead, Stack, UnionStack

UNBOUNDED = 0xFFFF_FFFF
_MOST_PLACES = 10_000
"""Number of distinct places in a parser after which its reach counts as unbounded."""

_DEEPEST = 200
"""Number of states one after the other after which the reach of a parser counts as unbounded."""

_Used = tuple[tuple[str, int], ...]
"""The number of elements extracted so far, by stack."""


def reach_bytes(program: Program) -> int:
    """Return the most bytes from the start of a frame that the program can read.

    UNBOUNDED if a checksum covers the payload, or if the parser has a loop that no header stack ends.
    """
    if any(calculation.with_payload for calculation in program.calculations.values()):
        return UNBOUNDED
    return _Reach(program).of(program.start_state, ())


class _Reach:
    """The longest path through a parser, from each state and number of extracted stack elements on."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._bytes: dict[tuple[str, _Used], int] = {}
        self._depth = 0

    def of(self, name: str | None, used: _Used) -> int:
        if name is None:
            return 0
        if (name, used) not in self._bytes:
            if len(self._bytes) > _MOST_PLACES or self._depth > _DEEPEST:
                return UNBOUNDED
            self._bytes[name, used] = UNBOUNDED  # if the state is reached again before it has ended
            self._depth += 1
            self._bytes[name, used] = self._through(self._program.states[name], dict(used))
            self._depth -= 1
        return self._bytes[name, used]

    def _through(self, state: State, used: dict[str, int]) -> int:
        position = farthest = 0
        for op in state.ops:
            farthest = max(farthest, position + _lookahead_bytes(op))
            if isinstance(op, Advance):
                if not isinstance(op.bits, Const) or op.bits.value < 0:
                    return UNBOUNDED
                position += op.bits.value // 8
            elif isinstance(op, Extract):
                if isinstance(op.target, Stack | UnionStack):
                    used[op.target.name] = used.get(op.target.name, 0) + 1
                    size = len(op.target.headers if isinstance(op.target, Stack) else op.target.unions)
                    if used[op.target.name] > size:
                        return max(farthest, position)
                header_type = op.target.types[op.member] if isinstance(op.target, UnionStack) else op.target.type
                position += sum(field.bits for field in header_type.fields) // 8
        farthest = max(farthest, position + _lookahead_bytes(state.key))
        now_used = tuple(sorted(used.items()))
        beyond = max((self.of(transition.next_state, now_used) for transition in state.transitions), default=0)
        return min(max(farthest, position + beyond), UNBOUNDED)


def _lookahead_bytes(part: object) -> int:
    """Return how far behind the current position the lookaheads of a part of the parser read."""
    return max(
        ((look.offset + look.bits + 7) // 8 for look in parts((part,)) if isinstance(look, Lookahead)), default=0
    )
