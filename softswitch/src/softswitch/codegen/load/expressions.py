# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads BMv2's typed values, expressions, primitive calls and calculations.

Owns the reading of `{"type": ..., "value": ...}` objects. It must know neither C nor where an expression is used.
"""

from __future__ import annotations

from softswitch.codegen.ir.blocks import Calculation, Program
from softswitch.codegen.ir.limits import (
    MOST_HEADER_BITS,
    MOST_MEMBERS,
    MOST_OBJECTS,
    MOST_PACKED_BYTES,
    WIDEST_BITS,
)
from softswitch.codegen.ir.nodes import (
    HEADERS_OF_STACK,
    VALID,
    Argument,
    Bool,
    Const,
    Expr,
    Field,
    FieldRef,
    HeaderRef,
    HeaderType,
    Local,
    Lookahead,
    Named,
    Op,
    Primitive,
    Stack,
    StackField,
    StackRef,
    UnionRef,
    UnionStackField,
    UnionStackRef,
)
from softswitch.codegen.ir.source import Json, shown

P4_14_PRIMITIVES = {
    **{"modify_field": ("assign", ""), "copy_header": ("assign_header", "")},
    **{"add_to_field": ("assign", "+"), "subtract_from_field": ("assign", "-"), "add": ("assign", "+")},
    **{"subtract": ("assign", "-"), "bit_xor": ("assign", "^"), "bit_or": ("assign", "|"), "bit_and": ("assign", "&")},
    **{"shift_left": ("assign", "<<"), "shift_right": ("assign", ">>")},
}
"""The primitives of P4_14 compilers that today's compiler writes as another primitive, with an operator or without."""
_UNARY = ("~", "-", "+", "not", "valid", "valid_union", "d2b", "b2d", "last_stack_index", "size_stack")
_OF_WIDTH = ("two_comp_mod", "sat_cast", "usat_cast")
_SHIFTS = ("<<", ">>")
_NAMED = ("calculation", "register_array", "counter_array", "meter_array", "string")


class ExpressionLoader:
    """A reader of expressions that refer to the headers of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def expression(self, item: Json) -> Expr:
        """Load a typed value or an expression tree."""
        kind = item["type"].text()
        value = item["value"]
        if kind == "expression":
            return self._operation(value) if value.get("op") is not None else self.expression(value)
        if kind == "hexstr":
            return Const(value.hexstr())
        if kind == "bool":
            return Bool(bool(value.value))
        if kind in ("local", "runtime_data"):
            return Local(value.integer(0, MOST_MEMBERS))
        if kind == "lookahead":
            return Lookahead(value[0].integer(0, MOST_HEADER_BITS, "the offset"), value[1].width(least=1))
        if kind in ("field", "stack_field", "union_stack_field"):
            return self._field(kind, value)
        return self._reference(kind, value)

    def field(self, value: Json) -> FieldRef:
        """Load a [header, field] pair."""
        name = value[0].text()
        header = self.program.headers.get(name)
        if header is None:
            raise value.error(f"unknown header '{name}'")
        return FieldRef(header, self.member(header.type, value[1]))

    def member(self, header_type: HeaderType, name: Json) -> Field:
        if name.text() == VALID.name:
            return VALID
        for field in header_type.fields:
            if field.name == name.text():
                return field
        raise name.error(f"header type '{header_type.name}' has no field '{name.text()}'")

    def argument(self, item: Json) -> Argument:
        kind = item["type"].text()
        if kind in _NAMED:
            return Named(kind, item["value"].text())
        return self.expression(item)

    def primitive(self, item: Json) -> Primitive:
        op = item["op"].text()
        if op == "log_msg":
            return Primitive(op, self._message(item["parameters"]), item)
        arguments = tuple(self.argument(p) for p in item.items("parameters"))
        if op in P4_14_PRIMITIVES:
            return self._of_p4_14(op, arguments, item)
        return Primitive(op, arguments, item)

    def _of_p4_14(self, op: str, arguments: tuple[Argument, ...], item: Json) -> Primitive:
        """Return a primitive that only compilers of P4_14 write as one of today's: an assignment, or a copy."""
        today, operator = P4_14_PRIMITIVES[op]
        if not operator:
            return Primitive(today, arguments, item)
        operands = (arguments[0], *arguments) if len(arguments) == 2 else arguments
        expressions = [operand for operand in operands if not isinstance(operand, Named)]
        if len(operands) != 3 or len(expressions) != 3:
            raise item.error(f"primitive '{op}' with these arguments is not supported")
        to, left, right = expressions
        return Primitive(today, (to, Op(operator, left, right, item)), item)

    def _message(self, parameters: Json) -> tuple[Argument, ...]:
        """Load the text of a log_msg and its values; without values, p4c writes an empty object instead of a list."""
        values = parameters[1].items("value") if parameters[1]["value"].value else ()
        text = self.argument(parameters[0])
        if not isinstance(text, Named):
            raise parameters[0].error("the first argument of log_msg is no string")
        return (text, *(self.expression(value) for value in values))

    def calculation(self, item: Json, name: str, c_name: str) -> Calculation:
        """Load a calculation, or a selector, which has the same form."""
        inputs: list[FieldRef | HeaderRef | tuple[int, int]] = []
        with_payload = False
        fields = n_bytes = 0
        for element in item.items("input"):
            kind = element["type"].text()
            if kind == "payload":
                with_payload = True
                continue
            operand = self.expression(element)
            if isinstance(operand, Const):
                inputs.append((operand.value, element["bitwidth"].width()))
            elif isinstance(operand, FieldRef | HeaderRef):
                inputs.append(operand)
            else:
                raise element.error(f"calculation input of type '{kind}' is not supported")
            fields += len(operand.header.type.fields) if isinstance(operand, HeaderRef) else 1
            n_bytes += _most_bytes(operand, element)
            if n_bytes > MOST_PACKED_BYTES or fields > MOST_OBJECTS:
                raise element.error(
                    f"the input of '{name}' up to here has {n_bytes} bytes in {fields} fields; "
                    f"the limits are {MOST_PACKED_BYTES} and {MOST_OBJECTS}"
                )
        return Calculation(name, c_name, item["algo"].text(), tuple(inputs), with_payload, item)

    def _operation(self, item: Json) -> Expr:
        op = item["op"].text()
        left = None if item.get("left") is None else self.expression(item["left"])
        right = item["right"]
        cond = item.get("cond")
        operand: Expr = Const(right.integer()) if isinstance(right.value, int) else self.expression(right)
        if left is None and op not in _UNARY:
            raise item.error(f"operation '{op}' without a left operand is not supported")
        if op == "?" and cond is None:
            raise item.error("operation '?' without a condition")
        if op in _OF_WIDTH and isinstance(operand, Const) and not 0 < operand.value <= WIDEST_BITS:
            raise right.error(f"a cast to {shown(operand.value)} bits; the limit is {WIDEST_BITS}")
        if op in _SHIFTS and isinstance(operand, Const) and operand.value < 0:
            raise right.error(f"a shift by {shown(operand.value)} bits")
        return Op(op, left, operand, item, None if cond is None else self.expression(cond))

    def _field(self, kind: str, value: Json) -> Expr:
        if kind == "field":
            if isinstance(value[0].value, dict):
                return self._field_of(value)
            return self.field(value)
        name = value[0].text()
        if kind == "stack_field":
            stack = self.program.stacks.get(name)
            if stack is None:
                raise value.error(f"unknown header stack '{name}'")
            return self._of_stack(stack, value[1])
        union_stack = self.program.union_stacks.get(name)
        if union_stack is None:
            raise value.error(f"unknown header union stack '{name}'")
        member = self.union_member(union_stack.name, value[1])
        return UnionStackField(union_stack, member, self.member(union_stack.types[member], value[2]))

    def _of_stack(self, stack: Stack, name: Json) -> Expr:
        """Load a field of the last extracted header. `last` and `next` are whole headers unless a field has that name;
        p4c writes both in the same form."""
        index = HEADERS_OF_STACK.get(name.text())
        if index is None or any(field.name == name.text() for field in stack.type.fields):
            return StackField(stack, self.member(stack.type, name))
        return Op("dereference_header_stack", StackRef(stack), Op(index, None, StackRef(stack), name), name)

    def _field_of(self, value: Json) -> Expr:
        """Load `isValid()` of a header that is chosen at run time, such as a stack element with a computed index."""
        if value[1].text() != VALID.name:
            raise value.error("a field of a header chosen at run time is not supported in this form")
        return Op("valid", None, self._operation(value[0]), value)

    def union_member(self, union_stack: str, name: Json) -> int:
        members = self.program.union_stacks[union_stack].members
        if name.text() not in members:
            raise name.error(f"header union stack '{union_stack}' has no member '{name.text()}'")
        return members.index(name.text())

    def _reference(self, kind: str, value: Json) -> Expr:
        program = self.program
        if not isinstance(value.value, str):
            raise value.error(f"operand of type '{kind}' is not supported: {shown(value.value)}")
        if kind == "header" and value.value in program.headers:
            return HeaderRef(program.headers[value.text()])
        if kind == "header_stack" and value.value in program.stacks:
            return StackRef(program.stacks[value.text()])
        if kind == "header_stack" and value.value in program.union_stacks:
            return UnionStackRef(program.union_stacks[value.text()])
        if kind == "header_union" and value.value in program.unions:
            return UnionRef(program.unions[value.text()])
        if kind == "header_union_stack" and value.value in program.union_stacks:
            return UnionStackRef(program.union_stacks[value.text()])
        raise value.error(f"operand of type '{kind}' is not supported: {shown(value.value)}")


def _most_bytes(operand: Const | FieldRef | HeaderRef, element: Json) -> int:
    """Return the most bytes of an input of a calculation."""
    if isinstance(operand, Const):
        return (element["bitwidth"].width() + 7) // 8
    fields = operand.header.type.fields if isinstance(operand, HeaderRef) else (operand.field,)
    return sum((field.bits + 7) // 8 for field in fields)
