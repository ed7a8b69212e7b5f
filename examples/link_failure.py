# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What does a broken link between switches cost, and how many packets must be sent again?

    .venv/bin/python examples/link_failure.py

A link goes down 30 us after the start. The switches use another route 20 us later. broken_link.py does it live.
"""

import sfc_testbed as sfc

FAULTS = {"no fault": (), "broken link": "link:tor2-spine1,down=30us,detect=20us"}

for scheme in ("pfc", "irn", "sfc"):
    for name, faults in FAULTS.items():
        run = sfc.run("incast", scheme, faults=faults, settings={"degree": 8}, quiet=True)
        end_us = max(run.flows["finish_us"])
        resent = sum(run.flows["packets_resent"])
        print(f"{scheme}, {name}: all messages arrived after {end_us:.0f} us, {resent} packets were sent again")
