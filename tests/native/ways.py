# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m tests.native.ways FOLDER WORKERS...`: runs every scenario below on each of these numbers of processes.

It prints the suffix of the engine's modules, compiled or interpreted. A run is in FOLDER/NAME-WORKERS.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from sfc_testbed.hosts.transport import nic
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.execute import Clock, execute
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.virtual.simulation import simulate
from sfc_testbed.testbed.virtual.workers import simulate_shared

SMALL = ("degree=6", "message_bytes=40000")

_REQUEST = partial(RunSpec, clock="virtual", seed=7)
SCENARIOS: Mapping[str, RunSpec] = {
    "sfc": _REQUEST(
        "incast", "sfc", settings=parse_settings((*SMALL, "switch.q_th_bytes=20000", "switch.q_tg_bytes=10000"))
    ),
    "pfc": _REQUEST("incast", "pfc", settings=parse_settings((*SMALL, "switch.buffer_bytes=120000"))),
    "faults": _REQUEST(
        "incast",
        "irn",
        settings=parse_settings(SMALL),
        faults=("link:tor2-spine1,down=2us,up=60us", "jitter:all,max=2us"),
    ),
    "telemetry": _REQUEST("datacentre", "sfc+hpcc", duration_ms=0.05),
    "delays": _REQUEST("hadoop-50", "onramp+dcqcn", duration_ms=0.05),
    "pulls": _REQUEST("incast", "ndp", settings=parse_settings(SMALL)),
}


def main(folder: Path, counts: Sequence[int]) -> None:
    """Run all scenarios in sequence."""
    print(Path(nic.__file__).suffix)
    for name, request in SCENARIOS.items():
        for workers in counts:
            plan = plan_run(request)
            clock: Clock = simulate if workers == 1 else partial(simulate_shared, workers=workers)
            execute(plan, folder, Silent(), clock, page=False).folder.rename(folder / f"{name}-{workers}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]])
