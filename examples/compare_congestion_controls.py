# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Is my congestion control better than HPCC, and does SFC improve it?

    .venv/bin/python examples/compare_congestion_controls.py

own_congestion_control.py is the file with the class. Edit it, and start this script again.
"""

from pathlib import Path

import sfc_testbed as sfc

comparison = sfc.compare(
    "incast",
    ["irn+hpcc", "irn+halving", "sfc+halving"],
    settings={"degree": 8, "transport.cc_trace_rtt": 0.1},
    use=Path(__file__).with_name("own_congestion_control.py"),
)
print(comparison.table())

for run in comparison.runs:
    smallest = min(run.congestion["cwnd_bytes"])
    print(f"{run.result.scheme}: the smallest window of any flow was {smallest} B")
