# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How does the peak buffer grow with the degree of an incast? A figure of my own with error bars.

    .venv/bin/python examples/sweep_error_bars.py

Runs that are complete are not repeated: after an edit of the figure, the script takes a second.
"""

from matplotlib.figure import Figure

import sfc_testbed as sfc

SWEEP = {
    "name": "degrees",
    "scenario": "incast",
    "schemes": ["irn", "sfc"],
    "seeds": "1..3",
    "axes": {"degree": [4, 8, 12]},
    "settings": {"topology.hosts_per_tor": 12, "message_bytes": "250KB"},
}

if __name__ == "__main__":  # jobs are processes, which import this file
    sweep = sfc.sweep(SWEEP)
    print(sweep.table())

    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    means = sweep.table().frame
    for (scheme,), rows in means.group_by("scheme", maintain_order=True):
        mean, low, high = (rows[f"max_buffer_bytes{end}"] / 1000 for end in ("", "_low", "_high"))
        axes.errorbar(rows["degree"], mean, yerr=[mean - low, high - mean], capsize=3, label=str(scheme))
    axes.set(xlabel="senders", ylabel="peak buffer, KB")
    axes.legend()
    figure.savefig("degrees.pdf")
    print("degrees.pdf has the figure")
