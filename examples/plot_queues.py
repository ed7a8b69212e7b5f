# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which queue is the longest, and when? A figure of my own from the traces of a stored run.

    .venv/bin/python examples/plot_queues.py [FOLDER]

FOLDER is the folder of a stored run; without it, the script makes a run. Traces are Parquet files, which
`polars.read_parquet` or pandas can read as well. docs/traces.md lists the columns.
"""

import sys

import polars as pl
from matplotlib.figure import Figure

import sfc_testbed as sfc

run = sfc.load(sys.argv[1]) if len(sys.argv) > 1 else sfc.run("incast", "sfc", settings={"degree": 8})
assert isinstance(run, sfc.Run), "the folder has no single run"

is_of_data = (pl.col("port") > 0) & (pl.col("depth_bytes") > 0)
queues = run.queues.filter(is_of_data)
longest = (
    queues.group_by("switch", "port").agg(pl.col("high_water_bytes").max()).sort("high_water_bytes", descending=True)
)
print(longest.head(5))

figure = Figure(figsize=(6, 3), layout="constrained")
axes = figure.subplots()
for switch, port in longest.head(3).select("switch", "port").iter_rows():
    one = run.queues.filter(switch=switch, port=port).sort("time_us")
    axes.step(one["time_us"], one["depth_bytes"] / 1000, where="post", label=f"{switch} port {port}")
axes.set(xlabel="model time, us", ylabel="queue, KB")
axes.legend()
figure.savefig("queues.png")
print("queues.png has the figure")
