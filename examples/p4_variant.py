# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What changes if the switches decide otherwise, in P4?

    .venv/bin/python examples/p4_variant.py

p4/early.diff is the change of the testbed's P4 program, and p4/early.json the compiled program. Where p4c is installed,
name a P4 source instead. own_switch_program.py adds a program with a table and settings.
"""

from pathlib import Path

import sfc_testbed as sfc

P4 = Path(__file__).with_name("p4")

comparison = sfc.compare(
    "incast", "sfc", p4=["built-in", P4 / "early.json", P4 / "long_pause.json"], settings={"degree": 8}
)
print(comparison.table())
