# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What does an incast do to a network, and what stops it? The runs of the lesson in docs/lecture.md.

    .venv/bin/python examples/lecture/lesson.py [PART ...]

20 hosts of other racks send 500 KB each to h32, while the other 11 hosts send small messages to the hosts of h32's
rack. Each part compares schemes with the same messages; without a name all parts run. The runs are simulated and need
no root.
"""

import sys
from pathlib import Path

import polars as pl

import sfc_testbed as sfc

LIAR = str(Path(__file__).parents[1] / "p4" / "long_pause.json")  # a switch whose pauses are twice as long
PARTS = {  # schemes, and P4 programs of the switches
    "nothing": (["irn"], ["built-in"]),
    "pfc": (["irn", "pfc"], ["built-in"]),
    "hpcc": (["pfc", "pfc+hpcc"], ["built-in"]),
    "sfc": (["irn", "pfc", "sfc", "sfc+hpcc"], ["built-in"]),
    "cache": (["ingress-bts", "sfc"], ["built-in"]),
    "attacker": (["sfc"], ["built-in", LIAR]),
}
SETTINGS = {
    "degree": 20,
    "message_bytes": "500KB",
    "small_us": 600,
    "topology": {"tors": 4, "hosts_per_tor": 8},
    "switch": {"buffer_bytes": "3MB"},
}


def deepest_kb(run: sfc.Run, layer: str) -> float:
    """Return the peak depth of the ports' queues in the switches of a layer, tor or spine."""
    of_ports = run.queues.filter(pl.col("switch").str.starts_with(layer), pl.col("port") >= 0)
    return max(of_ports["high_water_bytes"].to_list(), default=0) / 1000


def main() -> None:
    names = sys.argv[1:] or list(PARTS)
    if unknown := sorted(set(names) - set(PARTS)):
        raise sfc.UsageError(f"no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    for name in names:
        schemes, programs = PARTS[name]
        compared = sfc.compare("bystanders", schemes, topology="clos", settings=SETTINGS, p4=programs)
        print(f"\n{name}\n{compared.table()}\n")
        for run in compared.runs:
            of_others = run.flows.filter(pl.col("tag") == "small", pl.col("dst") != "h32")["slowdown"].to_list()
            tor, spine = (f"{deepest_kb(run, layer):,.0f} KB" for layer in ("tor", "spine"))
            print(f"{run.config.variant}: deepest queue of a ToR {tor}, of a spine {spine}, pause frames", end=" ")
            frames = run.result.pfc.sent if run.result.pfc else 0
            print(f"{frames}, slowest small message to another host {max(of_others):.2f} times its idle time")
            print(f"  {run.folder}")


if __name__ == "__main__":
    sys.exit(sfc.run_script(main))
