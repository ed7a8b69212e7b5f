# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Nodes that restart or stall on live Mininet: flows complete, and every packet is accounted for.

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


@pytest.mark.parametrize(
    ("switch", "dilation", "fault", "lost_as"),
    [
        ("soft", "10000", "restart:tor2,at=30us", "restart"),
        ("soft", "10000", "stall:tor2,at=30us,for=40us,ring=4", "receive_ring"),
        ("soft", "10000", "stall:h16,at=30us,for=40us,ring=4", "receive_ring"),
        pytest.param("bmv2", "50000", "stall:h16,at=30us,for=40us,ring=4", "receive_ring", marks=_BMV2),
    ],
)
def test_an_incast_outlives_a_fault_of_a_node(
    tmp_path: Path, switch: str, dilation: str, fault: str, lost_as: str
) -> None:
    """All flows complete, and losses are counted as losses of the fault."""
    words = ["incast", "--switch", switch, "--dilation", dilation, "--fault", fault, "--json", "--out", str(tmp_path)]
    done = running.run("run", *words)
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    verdict = f"{result['verdict']}: {result['verdict_reasons']}"
    assert (result["flows"]["completed"], result["flows"]["corrupted"]) == (8, 0), verdict
    assert result["drops"][lost_as] > 0, verdict
    assert result["unexplained_loss"] == 0, verdict
    assert result["packets"]["in_flight"] == 0, verdict
