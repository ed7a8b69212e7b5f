# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""User programs for tests: the testbed's program with a changed behaviour or changed declarations."""

from __future__ import annotations

import json

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import OWN_PROGRAM

OURS = (ROOT / OWN_PROGRAM).read_text(encoding="utf-8")
TRIGGER = "meta.is_egress_watched == 0 && meta.queue_bytes > meta.q_th_bytes"
"""A condition in include/control/bts/bts_cause.p4."""


def renamed(old: str, new: str) -> str:
    """Return the testbed's program with a text replaced. Both texts have the separators of p4c's JSON."""
    text = json.dumps(json.loads(OURS), separators=(", ", " : "))
    assert old in text
    return text.replace(old, new)


def early() -> str:
    """Return a program whose queues trigger a BTS at half of Q_th: `meta.queue_bytes > (meta.q_th_bytes >> 1)`."""
    program = json.loads(OURS)
    conditions = [condition for pipeline in program["pipelines"] for condition in pipeline["conditionals"]]
    [trigger] = [condition for condition in conditions if TRIGGER in str(condition.get("source_info"))]
    comparison = trigger["expression"]["value"]["right"]["value"]
    shift = {"op": ">>", "left": comparison["right"], "right": {"type": "hexstr", "value": "0x01"}}
    comparison["right"] = {"type": "expression", "value": shift}
    return json.dumps(program)
