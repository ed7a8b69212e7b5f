# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Does SFC need less buffer than IRN, or was that one lucky seed?

    .venv/bin/python examples/compare_seeds.py

Each seed draws other senders and start times. The table shows means with 95 % confidence intervals.
"""

import sfc_testbed as sfc

comparison = sfc.compare("incast", ["irn", "sfc"], seeds="1..3", settings={"degree": 8})

print(comparison.table())
table = comparison.table()
table.to_csv("comparison.csv")
table.to_latex("comparison.tex")
print("comparison.csv has the exact figures, comparison.tex the table for a paper")
