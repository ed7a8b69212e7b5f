# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of what codegen finds out about a program as a whole: fields that live in one pass, and the parser's reach."""

import json
from pathlib import Path

import pytest

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.reach import UNBOUNDED, reach_bytes
from softswitch.codegen.load.program import load_program
from softswitch_tests.pipeline.harness import PROGRAMS

SFC = Path(__file__).resolve().parents[3] / "switch-bmv2" / "artifacts" / "sfc.json"


def loaded(name: str) -> Program:
    """Return a program of tests/softswitch/programs, or sfc.p4."""
    path = SFC if name == "sfc" else PROGRAMS / f"{name}.json"
    return load_program(json.loads(path.read_text(encoding="utf-8")), name)


def test_a_field_of_one_pass_is_local_to_it() -> None:
    fields = loaded("sfc").local_fields
    assert fields["forwarding_std", "egress_spec"] == "ingress"
    assert set(fields.values()) == {"ingress", "egress"}


@pytest.mark.parametrize("name", ["again", "sfc"])
def test_a_field_that_another_pass_may_read_is_not_local(name: str) -> None:
    program = loaded(name)
    copied = {(ref.header.name, ref.field.name) for fields in program.field_lists.values() for ref in fields.fields}
    assert copied
    assert not copied & set(program.local_fields)


@pytest.mark.parametrize(
    ("name", "bytes_"),
    [
        pytest.param("l3", 34, id="Ethernet and IPv4"),
        pytest.param("sfc", 138, id="Ethernet, IPv4, UDP, and INT with five records before the BTH"),
        pytest.param("hashing", UNBOUNDED, id="a checksum covers the payload"),
    ],
)
def test_reach_is_the_longest_path_through_the_parser(name: str, bytes_: int) -> None:
    assert reach_bytes(loaded(name)) == bytes_
