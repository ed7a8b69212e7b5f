# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for chunks: values and names come back from their texts, whether they were a frame or rows."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
from numpy.typing import NDArray

from sfc_testbed.analysis.watch.chunk import CAUSES, NO_NODE, PARTS, chunk_of
from sfc_testbed.telemetry.schema import SCHEMAS, SIGNALS
from tests.analysis.conftest import frame_of

NODES = {"h1": 0, "h2": 1, "tor1": 2}
ROWS = [
    (1.25, 3.5, "h1", 7, "tor1", "queue", 12.0, 275_080, True, True, 15.5),
    (None, 4.5, "h2", None, "unknown", "sub_rtt", 0.0, 0, False, False, None),
]


def values(text: str) -> NDArray[np.generic]:
    """Return the array of a text, as the page reads it."""
    kind, _, coded = text.partition(":")
    return np.frombuffer(b64decode(coded), dtype=f"<{kind}")


def test_rows_of_a_trace_come_back() -> None:
    chunk = json.loads(json.dumps(chunk_of(NODES, 5.0, signals=frame_of(SIGNALS, ROWS))))
    columns = {name: values(text).tolist() for name, text in chunk["signals"].items()}
    assert chunk["until_us"] == 5.0
    assert columns["host"] == [0, 1] and columns["switch"] == [2, NO_NODE]
    assert [CAUSES[number] for number in columns["cause"]] == ["queue", "sub_rtt"]
    assert columns["flow_id"] == [7, 0]
    assert columns["queue_depth_bytes"] == [275_080, 0] and columns["obeyed"] == [1, 0]
    assert columns["received_us"] == [3.5, 4.5]
    assert columns["sent_us"][0] == 1.25 and np.isnan(columns["sent_us"][1])


def test_columns_of_values_give_the_same_texts_as_a_frame() -> None:
    columns = dict(zip(SIGNALS.column_names, zip(*ROWS, strict=True), strict=True))
    assert chunk_of(NODES, 5.0, signals=columns) == chunk_of(NODES, 5.0, signals=frame_of(SIGNALS, ROWS))


def test_an_absent_column_is_left_out() -> None:
    assert set(chunk_of(NODES, 5.0, flows={"flow_id": [1], "finish_us": [4.0]})["flows"]) == {"flow_id", "finish_us"}


def test_parts_have_columns_of_their_traces() -> None:
    for name in PARTS.keys() & SCHEMAS.keys():
        assert PARTS[name].keys() - {"after"} <= set(SCHEMAS[name].column_names)
