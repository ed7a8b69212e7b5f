# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the parts of a user's module that are compiled and interpreted. All lines keep their numbers."""

from __future__ import annotations

import ast

import pytest

from sfc_testbed.native.extended import UserModule
from sfc_testbed.native.rewriting import NotCompilable, compiled_text, interpreted_part
from sfc_testbed.native.sources import algorithms, engine, module_name
from tests.extended import MINE

COMPILED = {module_name(source) for source in (*engine().modules, *algorithms())}
BASE = "sfc_testbed.hosts.transport.congestion.base"
ATTRIBUTE = "@_sfc_mypyc_attr(allow_interpreted_subclasses=True)"


def rewritten(text: str) -> list[str]:
    """Return the lines for the compiler, without the line of options at the end."""
    lines = compiled_text(UserModule("package.mine", "/home/me/mine.py", text), COMPILED).splitlines()
    assert lines[-1].startswith("# mypy: ")
    assert len(lines) == len(text.splitlines()) + 1
    return lines[:-1]


def test_algorithms_are_compiled_and_the_rest_of_the_testbeds_things_are_interpreted() -> None:
    before, after = MINE.splitlines(), rewritten(MINE)
    changed = [line for line in after if line not in before and line != "pass"]
    assert changed == [
        "import sfc_testbed as sfc; from mypy_extensions import mypyc_attr as _sfc_mypyc_attr; "
        f"from {BASE} import CongestionControl as _sfc_CongestionControl; "
        "from sfc_testbed.hosts.transport.flow_control.base import FlowControl as _sfc_FlowControl",
        ATTRIBUTE,
        "class HalfBdp(_sfc_CongestionControl):",
        "    Parameters = globals()['Parameters']",
        ATTRIBUTE,
        "class Deaf(_sfc_FlowControl):",
    ]
    assert not any("Rounds" in line or "Line" in line or "cached" in line for line in after)
    for number, line in enumerate(before):
        if line.strip().startswith(("class HalfBdp", "super().__init__", "self.window_bytes")):
            assert after[number].split("(")[0] == line.split("(")[0]


def test_the_interpreted_part_has_the_line_numbers_of_the_file() -> None:
    part = interpreted_part(UserModule("package.mine", "/home/me/mine.py", MINE))
    lines = MINE.splitlines()
    assert [lines[node.lineno - 1].partition("(")[0] for node in part.body] == [
        "@sfc.congestion_control",
        "@sfc.flow_control",
        "class Rounds",
        "class Line",
        "sfc.scheme",
    ]
    compile(part, "mine.py", "exec")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from sfc_testbed import AckSample", f"from {BASE} import AckSample as AckSample"),
        (
            "from sfc_testbed.hosts.transport.congestion import CongestionControl as Base, CONGESTION_CONTROLS",
            f"from {BASE} import CongestionControl as Base; "
            "from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS",
        ),
        ("from sfc_testbed.wire.units import NS_PER_S", "from sfc_testbed.wire.units import NS_PER_S"),
        ("from math import pi", "from math import pi"),
        ("PLACE = __file__", "PLACE = '/home/me/mine.py'"),
    ],
)
def test_imports_name_the_modules_that_the_compiler_knows(line: str, expected: str) -> None:
    assert rewritten(f"{line}\n") == [expected]


def test_statements_over_several_lines_keep_the_lines_after_them() -> None:
    text = (
        "from sfc_testbed import (\n    AckSample,\n    CongestionControl,\n    congestion_control,\n)\n\n"
        "@congestion_control(\n    'mine',\n    'ä summary',\n)\n"
        "class Mine(CongestionControl):\n    x = 'ü'; y = AckSample\n"
    )
    lines = rewritten(text)
    assert lines[0] == (
        f"from {BASE} import AckSample as AckSample; from {BASE} import CongestionControl as CongestionControl; "
        "from sfc_testbed import congestion_control; from mypy_extensions import mypyc_attr as _sfc_mypyc_attr"
    )
    assert lines[6:12] == [ATTRIBUTE, "", "", "", "class Mine(CongestionControl):", "    x = 'ü'; y = AckSample"]
    ast.parse("\n".join(lines))


def test_an_unknown_decorator_of_a_class_is_refused_with_its_line() -> None:
    """The compiler would make it an ordinary class, and drop the bounds of its fields."""
    text = "from pydantic.dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass P:\n    a: float = 1\n"
    with pytest.raises(NotCompilable, match=r"^/home/me/mine.py, line 4: the decorator @dataclass\(frozen=True\)"):
        rewritten(text)
    assert rewritten(text.replace("pydantic.dataclasses", "dataclasses"))
