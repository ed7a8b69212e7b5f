# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What happens when eight hosts send to one host at the same time, under SFC?

    .venv/bin/python examples/first_run.py

The run is simulated, so it needs no root and is never late. Its folder in `runs/` has a page, `report.html`.
"""

import sfc_testbed as sfc

run = sfc.run("incast", "sfc", settings={"degree": 8, "message_bytes": "250KB"})

print(run.table())
print(f"verdict: {run.verdict}")
print(f"page: {run.page()}")
