# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Numbering of requested flows and of their queue pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.flow_table import FlowTable, flow_table
from sfc_testbed.scenarios.model.waiting import in_order_of_start

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sfc_testbed.scenarios.model.flow_table import Column


def number_flows(requests: Iterable[FlowRequest]) -> FlowTable:
    """Number flows from 1 in order of start, and queue pairs from 1 at each host and in each direction.

    A persistent queue pair gets its numbers with its first flow. ScenarioError if a message can never become ready.
    """
    import numpy as np

    flows = flow_table(requests)
    order = np.argsort(flows.start_ns, kind="stable")
    flows = in_order_of_start(flows) if flows.waits else flows.independent(order)
    first = _first_on_queue_pair(flows)
    firsts = np.flatnonzero(first == np.arange(len(flows)))
    return replace(
        flows,
        source_qpn=_counted(flows.src, firsts)[first],
        destination_qpn=_counted(flows.dst, firsts)[first],
    )


def _first_on_queue_pair(flows: FlowTable) -> NDArray[np.int32]:
    """Return for each flow the position of the first flow on its queue pair."""
    import numpy as np

    first = np.arange(len(flows), dtype=np.int32)
    standing = np.flatnonzero(flows.queue_pair)
    if standing.size:
        ends = flows.src[standing].astype(np.int64) * len(flows.hosts) + flows.dst[standing]
        _, places, pairs = np.unique(
            np.stack([ends, flows.queue_pair[standing]]), axis=1, return_index=True, return_inverse=True
        )
        first[standing] = standing[places][pairs.ravel()]
    return first


def _counted(hosts: Column, places: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return, for each of these places, how many of them up to it have the same host; 0 for all other places."""
    import numpy as np

    order = places[np.argsort(hosts[places], kind="stable")]
    ordered = hosts[order]
    numbers = np.zeros(len(hosts), dtype=np.int32)
    numbers[order] = np.arange(order.size) - np.searchsorted(ordered, ordered) + 1
    return numbers
