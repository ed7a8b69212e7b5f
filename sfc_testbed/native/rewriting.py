# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The parts of a user's module that are compiled, and the parts that are interpreted.

The compiler knows a class only by the module that defines it, not as `sfc.CongestionControl`. It treats a class with an
unknown decorator as an ordinary, slow class. Therefore names of the engine's classes are replaced by imports from their
modules. Decorators of algorithms, calls such as `sfc.scheme(...)`, and whole scenarios, topologies and plots are
removed. They are interpreted after the compiled module was imported. All lines keep their numbers.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from importlib import import_module

from sfc_testbed.native.extended import UserModule

_OURS = "sfc_testbed"
_ALGORITHMS = {"congestion_control", "flow_control", "loss_recovery"}
"""The decorators of classes that are compiled."""
_KNOWN = {"dataclasses.dataclass", "typing.final"}
"""Other decorators of classes that the compiler knows."""
_OPTIONS = '# mypy: disallow-subclassing-any, disable-error-code="annotation-unchecked"'
"""The compiler would drop an unknown base class, and would take a note about an annotation for an error."""
_ATTRIBUTE = "_sfc_mypyc_attr"
_SUBCLASSES = f"@{_ATTRIBUTE}(allow_interpreted_subclasses=True)"
_IMPORT_ATTRIBUTE = f"from mypy_extensions import mypyc_attr as {_ATTRIBUTE}"
_Edit = tuple[int, int, int, int, str]
"""Line and column of begin and end of a passage, as in `ast`, and its replacement."""


class NotCompilable(Exception):
    """A statement that cannot be compiled. The message is one line with the file and the line."""


def compiled_text(module: UserModule, compiled: Collection[str]) -> str:
    """Return the text for the compiler. `compiled` are the engine's modules that are compiled with it.

    Raise NotCompilable.
    """
    return _Rewriting(module, compiled).text()


def interpreted_part(module: UserModule) -> ast.Module:
    """Return the statements that run after the compiled module was imported, with their line numbers."""
    tree = ast.parse(module.text)
    names = _imported_names(tree)
    statements: list[ast.stmt] = []
    for node in tree.body:
        if _is_interpreted(node, names) or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            statements.append(node)
        elif isinstance(node, ast.ClassDef):
            for decorator in reversed([each for each in node.decorator_list if _is_ours(each, names)]):
                call = ast.Call(decorator, [ast.Name(node.name, ast.Load())], [])
                assigned = ast.Assign([ast.Name(node.name, ast.Store())], call)
                statements.append(_at(assigned, decorator))
    return ast.Module(statements, [])


def _at(statement: ast.Assign, place: ast.expr) -> ast.stmt:
    """Return a statement with the line numbers of an expression in it."""
    inner = copy.deepcopy(statement)
    for node in ast.walk(inner):
        if "lineno" in getattr(node, "_attributes", ()) and not hasattr(node, "lineno"):
            ast.copy_location(node, place)
    return inner


class _Rewriting:
    """The changes of one module's text."""

    def __init__(self, module: UserModule, compiled: Collection[str]) -> None:
        self._module = module
        self._compiled = compiled
        self._tree = ast.parse(module.text)
        self._names = _imported_names(self._tree)
        self._lines = module.text.encode().splitlines(keepends=True)
        self._edits: list[_Edit] = []
        self._imports: dict[str, None] = {}
        """Statements that the text needs, in order."""

    def text(self) -> str:
        """Return the changed text."""
        for node in self._tree.body:
            if _is_interpreted(node, self._names):
                self._remove(node)
            elif isinstance(node, ast.ImportFrom):
                self._replace_import(node)
            else:
                self._change(node)
        self._add_imports()
        text = self._edited()
        return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{_OPTIONS}\n"

    def _remove(self, node: ast.stmt) -> None:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        column = node.col_offset if first == node.lineno else 0
        self._replace((first, column, node.end_lineno or first, node.end_col_offset or 0), "", "pass")

    def _replace(self, passage: tuple[int, int, int, int], before: str, after: str = "") -> None:
        """Replace a passage by text in its first and its last line."""
        self._edits.append((*passage, before + "\n" * (passage[2] - passage[0]) + after))

    def _replace_import(self, node: ast.ImportFrom) -> None:
        """Import the engine's classes from the modules that define them."""
        if node.level or not node.module or node.module.partition(".")[0] != _OURS:
            return
        known = {alias: self._place(f"{node.module}.{alias.name}") for alias in node.names}
        rest = [alias for alias, place in known.items() if place is None]
        if len(rest) == len(node.names):
            return
        parts = [
            f"from {place} import {alias.name} as {alias.asname or alias.name}"
            for alias, place in known.items()
            if place is not None
        ]
        if rest:
            parts.append(ast.unparse(ast.ImportFrom(node.module, rest, 0)))
        self._replace(_passage(node), "; ".join(parts))

    def _change(self, node: ast.stmt) -> None:
        removed: list[ast.expr] = []
        if isinstance(node, ast.ClassDef):
            removed = [each for each in node.decorator_list if _is_ours(each, self._names)]
            for decorator in node.decorator_list:
                if decorator not in removed and _name_of(decorator, self._names) not in _KNOWN:
                    raise NotCompilable(
                        f"{self._module.path}, line {decorator.lineno}: the decorator @{ast.unparse(decorator)} of a "
                        "class cannot be compiled; only dataclasses.dataclass can"
                    )
            for decorator in removed:
                at = self._lines[decorator.lineno - 1].rfind(b"@", 0, decorator.col_offset)
                _, _, *end = _passage(decorator)
                is_first = decorator is removed[0]
                self._replace((decorator.lineno, at, end[0], end[1]), _SUBCLASSES if is_first else "")
                self._imports[_IMPORT_ATTRIBUTE] = None
            self._untie(node)
        for inner in _within(node, removed):
            if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load):
                self._change_attribute(inner)
            elif isinstance(inner, ast.Name) and inner.id == "__file__":
                self._replace(_passage(inner), repr(self._module.path))

    def _change_attribute(self, node: ast.Attribute) -> None:
        name = _name_of(node, self._names)
        place = self._place(name) if name and _is_ours(node, self._names) else None
        if place is not None:
            alias = f"_sfc_{node.attr}"
            self._imports[f"from {place} import {node.attr} as {alias}"] = None
            self._replace(_passage(node), alias)

    def _untie(self, node: ast.ClassDef) -> None:
        """Change `X = X` in a class, which mypy takes for a cycle."""
        for inner in node.body:
            if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Name):
                name = inner.value.id
                if any(isinstance(target, ast.Name) and target.id == name for target in inner.targets):
                    self._replace(_passage(inner.value), f"globals()[{name!r}]")

    def _place(self, name: str) -> str | None:
        """Return the compiled module that defines the class with this full name, or None."""
        module, _, attribute = name.rpartition(".")
        try:
            value = getattr(import_module(module), attribute, None)
        except ImportError:
            return None
        is_known = isinstance(value, type) and value.__module__ in self._compiled and value.__qualname__ == attribute
        return value.__module__ if is_known and value is not None else None

    def _add_imports(self) -> None:
        """Add the imports to the line of the first import of the testbed, so that the lines keep their numbers."""
        if not self._imports:
            return
        node = next(node for node in self._tree.body if _imports_ours(node))
        added = "".join(f"; {statement}" for statement in self._imports)
        end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        number = next((place for place, edit in enumerate(self._edits) if edit[2:4] == end), None)
        if number is None:
            self._edits.append((*end, *end, added))
        else:  # the import itself is replaced
            edit = self._edits[number]
            text = edit[4].rstrip("\n")
            self._edits[number] = (*edit[:4], text + added + edit[4][len(text) :])

    def _edited(self) -> str:
        lines = list(self._lines)
        for first, begin, last, end, text in sorted(self._edits, reverse=True):
            rest = lines[last - 1][end:]
            lines[first - 1 : last] = [lines[first - 1][:begin] + text.encode() + rest]
            added = lines[first - 1].splitlines(keepends=True)
            lines[first - 1 : first] = added
        return b"".join(lines).decode()


def _passage(node: ast.expr | ast.stmt) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


def _within(node: ast.AST, omitted: Collection[ast.AST]) -> Iterator[ast.AST]:
    """Yield a node and all nodes in it, except those in `omitted`."""
    yield node
    for child in ast.iter_child_nodes(node):
        if child not in omitted:
            yield from _within(child, omitted)


def _imports_ours(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] == _OURS
    return isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == _OURS for alias in node.names)


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """Return the full names of what a module imports, by the names that it uses."""
    names: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and not node.level:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
    return names


def _name_of(node: ast.expr, names: dict[str, str]) -> str | None:
    """Return the full name of an expression, or of the function that it calls, if it is imported."""
    if isinstance(node, ast.Call):
        return _name_of(node.func, names)
    if isinstance(node, ast.Attribute):
        base = _name_of(node.value, names) if isinstance(node.value, (ast.Attribute, ast.Name)) else None
        return base and f"{base}.{node.attr}"
    return names.get(node.id) if isinstance(node, ast.Name) else None


def _is_ours(node: ast.expr, names: dict[str, str]) -> bool:
    return (_name_of(node, names) or "").startswith(f"{_OURS}.")


def _is_interpreted(node: ast.stmt, names: dict[str, str]) -> bool:
    """Return whether a statement is a call of the testbed, or a class or function with a decorator of the testbed that
    is not an algorithm's."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and _is_ours(node.value, names)
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        ours = [_name_of(each, names) or "" for each in node.decorator_list if _is_ours(each, names)]
        return any(name.rpartition(".")[2] not in _ALGORITHMS for name in ours)
    return False
