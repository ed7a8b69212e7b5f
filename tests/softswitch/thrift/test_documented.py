# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that the table of calls in docs/targets/thrift.md names each refused call, and only calls that exist."""

import re
from pathlib import Path

from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from softswitch.thrift.calls import Calls
from softswitch.thrift.interface import SERVICES
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import NEVER
from softswitch_tests.pipeline.harness import PROGRAMS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "targets" / "thrift.md"
L3 = PROGRAMS / "l3.json"


def test_every_call_is_implemented_or_refused_as_documented() -> None:
    with SwitchEngine(build_library(L3)) as engine:
        methods = Calls(engine, Program.read(L3), print).methods
    known = {name for service in SERVICES for name in methods[service]}
    assert set(NEVER) < known
    rows = re.findall(r"^\| (`.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {name: text for names, text in rows for name in re.findall(r"`(\w+)`", names)}
    assert set(documented) <= known
    refused = set(NEVER) | {"bm_set_toeplitz_hash_key", "bm_mt_indirect_reset_default_entry"}
    assert {name for name, text in documented.items() if text.startswith("refused")} == refused
