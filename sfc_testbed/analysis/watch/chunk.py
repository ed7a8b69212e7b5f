# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The measurements of a time span, as the page that plays a run takes them.

A chunk has parts, and a part has the columns of a trace (`telemetry.schema`) under the same names. A column is an array
in base64 behind the name of its type, such as `f4:`. Nodes are numbers (`scene.node_numbers`). Chunks of one run must
follow each other in time; each may have any of the parts.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

Columns: TypeAlias = "pl.DataFrame | Mapping[str, Sequence[Any] | NDArray[Any]]"
"""The rows of a part, as a frame or as the values of each column."""

CAUSES = ("unknown", "queue", "cache", "estimator", "feedback", "sub_rtt")
"""The causes of signals by their numbers in a chunk."""
NO_NODE = 65_535
"""The number of a node that is not in the network, such as the unknown switch of a signal."""

_CAUSE_NUMBERS = {name: number for number, name in enumerate(CAUSES)}
_NODE, _CAUSE = "node", "cause"
_FLOW_TIMES = {name: "f8" for name in ("start_us", "finish_us", "received_us", "ideal_fct_us")}
PARTS: Mapping[str, Mapping[str, str]] = {
    "queues": {
        "time_us": "f4", "switch": _NODE, "port": "i2", "class": "i1", "depth_bytes": "u4", "high_water_bytes": "u4",
    },
    "links": {"time_us": "f4", "switch": _NODE, "port": "i2", "sent_bytes": "u4", "received_bytes": "u4"},
    "signals": {
        "sent_us": "f8", "received_us": "f8", "host": _NODE, "flow_id": "u4", "switch": _NODE, "cause": _CAUSE,
        "pause_us": "f4", "queue_depth_bytes": "u4", "obeyed": "u1", "paused_until_us": "f8",
    },
    "goodput": {"from_us": "f4", "until_us": "f4", "flow_id": "u4", "delivered_bytes": "f4"},
    "planned": {
        "flow_id": "u4", "src": _NODE, "dst": _NODE, "size_bytes": "f8", "start_us": "f8", "ideal_fct_us": "f8",
    },
    "flows": {
        "flow_id": "u4", **_FLOW_TIMES, "paused_us": "f4", "packets_resent": "u4", "timeouts": "u4", "after": "u4",
    },
    "drops": {"time_us": "f4", "switch": _NODE, "lost_bytes": "u4"},
    "pauses": {"time_us": "f8", "until_us": "f8", "node": _NODE, "port": "i2", "class": "i1"},
}  # fmt: skip
"""The columns of each part, and the types of their values. Not a trace: `planned` (flows that are not in the scene),
`drops` (bytes that a switch lost in the interval before `time_us`), `pauses` (PFC frames that `node` sent from `port`),
and `after` of `flows` (the flow that ended last of those that a flow waited for; 0: none)."""


def chunk_of(nodes: Mapping[str, int], until_us: float, **parts: Columns) -> dict[str, Any]:
    """Return a chunk, which JSON can hold. `until_us`: the time up to which the run has been measured.

    Columns that are missing are left out, and rows of several chunks follow each other in time.
    """
    return {"until_us": until_us, **{name: encoded(name, rows, nodes) for name, rows in parts.items()}}


def array_text(values: NDArray[Any], kind: str) -> str:
    """Return an array as its type, a colon and its bytes in base64. A missing number is 0, or NaN as a float."""
    if values.dtype.kind == "f" and kind[0] != "f":
        values = np.nan_to_num(values)
    return f"{kind}:{b64encode(values.astype(f'<{kind}').tobytes()).decode()}"


def encoded(part: str, rows: Columns, nodes: Mapping[str, int]) -> dict[str, str]:
    """Return the columns of a part that the rows have, as texts."""
    names = rows.columns if isinstance(rows, pl.DataFrame) else rows
    return {name: _column_text(rows[name], kind, nodes) for name, kind in PARTS[part].items() if name in names}


def _column_text(values: pl.Series | Sequence[Any] | NDArray[Any], kind: str, nodes: Mapping[str, int]) -> str:
    if kind == _NODE:
        return array_text(_numbered(values, nodes, NO_NODE), "u2")
    if kind == _CAUSE:
        return array_text(_numbered(values, _CAUSE_NUMBERS, 0), "u1")
    if isinstance(values, pl.Series):
        return array_text(values.to_numpy(), kind)
    return array_text(np.array([np.nan if value is None else value for value in values]), kind)


def _numbered(values: pl.Series | Sequence[Any] | NDArray[Any], numbers: Mapping[str, int], other: int) -> NDArray[Any]:
    """Return the numbers of names; `other` for an unknown name."""
    if not isinstance(values, pl.Series):
        return np.array([numbers.get(name, other) for name in values], dtype=np.uint16)
    names = values.unique()
    known = [numbers.get(name, other) for name in names]
    numbered: NDArray[np.uint16] = values.replace_strict(names, known, return_dtype=pl.UInt16).to_numpy()
    return numbered
