# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Impaired links on live Mininet: flows finish, and each impairment is counted once.

Lateness is not checked, because other tests may run in parallel.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from testbed.targets.bmv2.installation import missing_bmv2
from tests.testbed import running

pytestmark = running.NEEDS_MININET

_BMV2 = pytest.mark.skipif(missing_bmv2() is not None, reason=f"no BMv2: {missing_bmv2()}")
_KINDS = {
    "loss:all,rate=1%": ("drops", "link_loss"),
    "bts-loss:all,rate=50%": ("drops", "link_bts_loss"),
    "corrupt:all,rate=1%": ("drops", "link_corrupted"),
    "duplicate:all,rate=5%": ("packets", "link_duplicated"),
    "reorder:all,rate=1%": ("flows", "packets_resent"),
    "jitter:all,max=2us": None,
}


_ON_WIRES = ("loss:all,rate=1%", "duplicate:all,rate=5%", "jitter:all,max=2us")
"""Faults that also run on BMv2, where softswitch's wires apply every kind alike; each takes a minute."""


@pytest.mark.parametrize(
    ("fault", "switch", "dilation"),
    [
        *((fault, "soft", "10000") for fault in _KINDS),
        *(pytest.param(fault, "bmv2", "50000", marks=_BMV2) for fault in _ON_WIRES),
    ],
)
def test_an_incast_outlives_bad_links(tmp_path: Path, fault: str, switch: str, dilation: str) -> None:
    """All flows complete, the impairment is counted, and all packets are accounted for."""
    words = ["incast", "--switch", switch, "--dilation", dilation, "--fault", fault, "--json", "--out", str(tmp_path)]
    done = running.run("run", *words)
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    verdict = f"{result['verdict']}: {result['verdict_reasons']} {result['drops']}"
    assert (result["flows"]["completed"], result["flows"]["corrupted"]) == (8, 0), verdict
    assert result["unexplained_loss"] == 0, verdict
    counter = _KINDS[fault]
    if counter is not None:
        assert result[counter[0]][counter[1]] > 0, verdict
