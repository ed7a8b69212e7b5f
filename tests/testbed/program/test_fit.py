# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the check that a program declares everything that a run's entries and counters name."""

from __future__ import annotations

import json

import pytest

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import plan_network, plan_run
from sfc_testbed.testbed.program.user_program import compiled_program
from tests.testbed.program.own import OURS, renamed

_TRIGGER = '"name" : "SfcIngress.bts.bts_trigger"'
_ACTION = '"SfcIngress.bts.ingress_bts"'


def _request(text: str, scheme: str = "sfc", switch: str = "auto") -> RunSpec:
    clock = "virtual" if switch == "auto" else "real"
    user_program = compiled_program("mine.json", "/mine.json", "mine", text)
    return RunSpec("incast", scheme, switch, clock, program=user_program)  # type: ignore[arg-type]


def _refusal(text: str, **options: str) -> str:
    with pytest.raises(UsageError) as refused:
        plan_run(_request(text, **options))
    assert str(refused.value).startswith("--p4 mine.json: ")
    return str(refused.value).removeprefix("--p4 mine.json: ")


def test_the_testbeds_program_fits_every_scheme() -> None:
    for scheme in ("irn", "pfc", "sfc-est", "sfc-p+hpcc", "sfc-prototype-p", "ndp", "sfc+dcqcn", "sfc+qcn"):
        assert plan_run(_request(OURS, scheme=scheme)).spec.program is not None


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            _TRIGGER,
            '"name" : "SfcIngress.bts.trigger"',
            "the program has no table 'bts_trigger', which tor1 needs for `table_add bts_trigger ingress_bts ",
        ),
        (
            _ACTION,
            '"SfcIngress.bts.other"',
            "the program has no action of SfcIngress.bts.bts_trigger 'ingress_bts', which tor1 needs for `table_add ",
        ),
        ('"name" : "pfc_events"', '"name" : "pauses"', "the program has no counter 'pfc_events'"),
        ('"name" : "cache_max_entries"', '"name" : "most"', "the program has no register 'cache_max_entries'"),
    ],
    ids=["table", "action", "counter", "register"],
)
def test_the_message_names_the_missing_object_and_the_entry_that_needs_it(old: str, new: str, expected: str) -> None:
    """The existing names are not listed, since they would fill the screen."""
    assert _refusal(renamed(old, new)).startswith(expected)


def test_only_declarations_that_the_scheme_uses_are_required() -> None:
    without = renamed(_TRIGGER, '"name" : "SfcIngress.bts.trigger"')
    assert plan_run(_request(without, scheme="irn")).config.variant == "irn (mine)"
    with pytest.raises(UsageError, match="no table 'bts_trigger'"):
        plan_network(_request(without))


def test_registers_that_only_bmv2_reads_are_required_only_on_bmv2() -> None:
    """Queue depths on BMv2 are known only from the program's registers."""
    without = renamed('"name" : "buffer_bytes"', '"name" : "used"')
    assert plan_run(_request(without)).spec.program is not None
    assert _refusal(without, switch="bmv2") == "the program has no register 'buffer_bytes'"


def test_widths_and_numbers_of_keys_parameters_and_cells_are_checked() -> None:
    program = json.loads(OURS)
    [action] = [known for known in program["actions"] if known["name"] == "SfcIngress.bts.ingress_bts"]
    tables = [table for pipeline in program["pipelines"] for table in pipeline["tables"]]
    [table] = [known for known in tables if known["name"] == "SfcIngress.bts.bts_trigger"]
    [drops] = [counter for counter in program["counter_arrays"] if counter["name"] == "drops"]
    action["runtime_data"][0]["bitwidth"] = 8
    assert " does not fit 8 bits, which tor1 needs for `table_add bts_trigger " in _refusal(json.dumps(program))
    action["runtime_data"].append(action["runtime_data"][1])
    assert "action SfcIngress.bts.ingress_bts has 3 parameters, not 2" in _refusal(json.dumps(program))
    table["key"][0]["match_type"] = "ternary"
    assert "key class of table SfcIngress.bts.bts_trigger is ternary, not exact" in _refusal(json.dumps(program))
    table["key"] *= 2
    assert "table SfcIngress.bts.bts_trigger has 2 keys, not 1" in _refusal(json.dumps(program))
    drops["size"] = 16
    assert "counter drops has 16 cells, but cell " in _refusal(json.dumps(program))
