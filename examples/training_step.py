# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How long does a training step take, and how long beside an incast?

    .venv/bin/python examples/training_step.py

training_step.csv is the workload: h9 sends parameters to four hosts, these compute for 5 us and send gradients, and h9
sends new parameters when it has all gradients. The column `after` names the rows that a message waits for.
"""

from pathlib import Path

import polars as pl

import sfc_testbed as sfc

step = pl.read_csv(Path(__file__).with_name("training_step.csv"))
incast = pl.DataFrame(
    [(f"h{number}", "h9", 400_000, 0, "incast", "", 0) for number in range(5, 9)], schema=step.schema, orient="row"
)

for name, flows in (("alone", step), ("with an incast", pl.concat([step, incast]))):
    for scheme in ("irn", "sfc"):
        run = sfc.run(scheme=scheme, flows=flows, quiet=True)
        end_us = max(run.flows.filter(pl.col("tag") != "incast")["finish_us"])
        buffer_bytes = run.result.max_buffer_bytes or 0
        print(f"{name}, {scheme}: the step took {end_us:.1f} us, peak buffer {buffer_bytes / 1000:.0f} KB")
