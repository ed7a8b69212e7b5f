# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Programs of somebody's own: ours as p4c compiled it, changed in what it does or in what it declares."""

from __future__ import annotations

import json

from testbed.program.sources import OWN_PROGRAM, ROOT

OURS = (ROOT / OWN_PROGRAM).read_text(encoding="utf-8")
TRIGGER = "meta.is_egress_watched == 0 && meta.queue_bytes > meta.q_th_bytes"
"""The condition in include/control/bts/bts_cause.p4."""


def renamed(old: str, new: str) -> str:
    """Ours, with another name for something; both as they stand in the JSON."""
    assert old in OURS
    return OURS.replace(old, new)


def early() -> str:
    """Ours, except that a queue triggers a BTS at half of Q_th: `meta.queue_bytes > (meta.q_th_bytes >> 1)`."""
    program = json.loads(OURS)
    conditions = [each for pipeline in program["pipelines"] for each in pipeline["conditionals"]]
    [found] = [each for each in conditions if each["source_info"]["source_fragment"] == TRIGGER]
    compared = found["expression"]["value"]["right"]["value"]
    shift = {"op": ">>", "left": compared["right"], "right": {"type": "hexstr", "value": "0x01"}}
    compared["right"] = {"type": "expression", "value": shift}
    return json.dumps(program)
