# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How long do small messages wait behind an incast, with sizes that I choose?

    .venv/bin/python examples/own_sizes.py

A row is a message: source, destination, bytes, start in ns, and the traffic class by which results are grouped. The
default network of such a list has 16 hosts: h1 to h8 under the switch tor1, h9 to h16 under tor2.
"""

import sfc_testbed as sfc

INCAST = [(f"h{number}", "h16", 100_000 * number, 4_000 * number, "incast") for number in range(1, 8)]
SMALL = [("h8", "h16", 1_000, 10_000 * number, "small") for number in range(20)]

for scheme in ("irn", "sfc"):
    run = sfc.run(scheme=scheme, flows=[*INCAST, *SMALL], quiet=True)
    slowest = {tag: max(rows["fct_us"]) for (tag,), rows in run.flows.group_by("tag")}
    print(
        f"{scheme}: a small message took up to {slowest['small']:.1f} us, one of the incast {slowest['incast']:.1f} us"
    )
