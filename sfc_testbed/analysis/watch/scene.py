# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What is known before a run: the network with the places of its nodes, thresholds, faults and planned flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sfc_testbed.analysis.plots.places import places_of
from sfc_testbed.analysis.watch.chunk import array_text, encoded
from sfc_testbed.request.spec import FaultSpan
from sfc_testbed.topologies.model import Topology

MOST_NODES = 16_384
"""The most hosts and switches of a page. Beyond that, a node has less than a tenth of a pixel."""


def node_numbers(topology: Topology) -> dict[str, int]:
    """Return the number of each node on the page: hosts first, then switches."""
    names = [*(host.name for host in topology.hosts), *(switch.name for switch in topology.switches)]
    return {name: number for number, name in enumerate(names)}


def scene_of(
    topology: Topology,
    flows: pl.DataFrame,
    *,
    title: str,
    label: str,
    queue_interval_us: float,
    link_interval_us: float,
    thresholds_bytes: Mapping[str, int],
    faults: Sequence[FaultSpan] = (),
    end_us: float | None = None,
    infers_pauses: bool = False,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the scene of a run, which JSON can hold.

    `flows`: the planned flows, with the columns flow_id, src, dst, tag, size_bytes and start_us of the trace, and
    ideal_fct_us if chunks do not have it. `label` tells the run apart from another run on the page. `end_us`: None
    while the run is going on. `infers_pauses`: whether the page marks ports that PFC probably stopped. `notes`:
    sentences about what the page leaves out.
    """
    nodes = node_numbers(topology)
    places = places_of(topology)
    tags = flows["tag"].unique(maintain_order=True).to_list()
    ends = [(nodes[link.a.node], link.a.number, nodes[link.b.node], link.b.number) for link in topology.links]
    a, a_port, b, b_port = np.array(ends, dtype=np.int64).reshape(-1, 4).T
    return {
        "title": title,
        "label": label,
        "hosts": len(topology.hosts),
        "names": list(nodes),
        "x": array_text(np.array([places[name][0] for name in nodes]), "f4"),
        "row": array_text(np.array([places[name][1] for name in nodes]), "f4"),
        "links": {
            **{name: array_text(values, "u2") for name, values in (("a", a), ("b", b))},
            **{name: array_text(values, "i2") for name, values in (("a_port", a_port), ("b_port", b_port))},
            "rate_bps": array_text(np.array([link.rate_bps for link in topology.links]), "f8"),
            "delay_ns": array_text(np.array([link.delay_ns for link in topology.links]), "f8"),
        },
        "queue_interval_us": queue_interval_us,
        "link_interval_us": link_interval_us,
        "thresholds_bytes": dict(thresholds_bytes),
        "faults": [{"label": fault.label, "begin_us": fault.begin_us, "end_us": fault.end_us} for fault in faults],
        "tags": tags,
        "flows": {
            **encoded("planned", flows, nodes),
            "tag": array_text(np.array([tags.index(tag) for tag in flows["tag"]], dtype=np.int64), "u2"),
        },
        "end_us": end_us,
        "infers_pauses": infers_pauses,
        "notes": list(notes),
    }
