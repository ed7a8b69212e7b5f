# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A program that lacks what the run's entries and counters name is refused before any switch is."""

from __future__ import annotations

import json

import pytest

from testbed.errors import UsageError
from testbed.plan.plan import RunRequest, plan_network, plan_run
from testbed.program.given import GivenProgram
from tests.testbed.program.own import OURS, renamed

_TRIGGER = '"name" : "SfcIngress.bts.bts_trigger"'
_ACTION = '"SfcIngress.bts.ingress_bts"'


def _request(text: str, scheme: str = "sfc", switch: str = "auto") -> RunRequest:
    clock = "virtual" if switch == "auto" else "real"
    given = GivenProgram("mine.json", "/mine.json", "mine", text)
    return RunRequest("incast", scheme, switch, clock, program=given)  # type: ignore[arg-type]


def _refusal(text: str, **options: str) -> str:
    with pytest.raises(UsageError) as refused:
        plan_run(_request(text, **options))
    assert str(refused.value).startswith("--p4 mine.json: ")
    return str(refused.value).removeprefix("--p4 mine.json: ")


def test_ours_fits_every_scheme() -> None:
    """The check asks for nothing that is not there."""
    for scheme in ("irn", "pfc", "sfc-est", "sfc-p+hpcc", "ndp", "sfc+dcqcn", "sfc+qcn"):
        assert plan_run(_request(OURS, scheme=scheme)).program is not None


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
def test_what_has_another_name(old: str, new: str, expected: str) -> None:
    """The line names it, and the entry that wants it; what there is instead would fill the screen."""
    assert _refusal(renamed(old, new)).startswith(expected)


def test_only_what_the_scheme_uses_is_asked_for() -> None:
    """A program without BTS is enough for IRN; so each scheme and program is checked by itself."""
    without = renamed(_TRIGGER, '"name" : "SfcIngress.bts.trigger"')
    assert plan_run(_request(without, scheme="irn")).config.variant == "irn (mine)"
    with pytest.raises(UsageError, match="no table 'bts_trigger'"):
        plan_network(_request(without))


def test_what_bmv2_reads_of_its_own_is_asked_for_there_alone() -> None:
    """It has no other way to know how deep queues are."""
    without = renamed('"name" : "buffer_bytes"', '"name" : "used"')
    assert plan_run(_request(without)).program is not None
    assert _refusal(without, switch="bmv2") == "the program has no register 'buffer_bytes'"


def test_keys_parameters_and_cells_are_counted() -> None:
    """By the widths that the program declares."""
    program = json.loads(OURS)
    [action] = [each for each in program["actions"] if each["name"] == "SfcIngress.bts.ingress_bts"]
    tables = [table for pipeline in program["pipelines"] for table in pipeline["tables"]]
    [table] = [each for each in tables if each["name"] == "SfcIngress.bts.bts_trigger"]
    [drops] = [each for each in program["counter_arrays"] if each["name"] == "drops"]
    action["runtime_data"][0]["bitwidth"] = 8
    assert " does not fit 8 bits, which tor1 needs for `table_add bts_trigger " in _refusal(json.dumps(program))
    action["runtime_data"].append(action["runtime_data"][1])
    assert "action SfcIngress.bts.ingress_bts has 3 parameters, not 2" in _refusal(json.dumps(program))
    table["key"][0]["match_type"] = "ternary"
    assert "key class of table SfcIngress.bts.bts_trigger is ternary, not exact" in _refusal(json.dumps(program))
    table["key"] *= 2
    assert "table SfcIngress.bts.bts_trigger has 2 keys, not 1" in _refusal(json.dumps(program))
    drops["size"] = 16
    assert "its counter drops has 16 cells, and " in _refusal(json.dumps(program))
