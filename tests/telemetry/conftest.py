# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fixtures of the telemetry tests."""

from __future__ import annotations

import pytest

from telemetry.rows import SignalRow


@pytest.fixture
def signal_row() -> SignalRow:
    """Return a row of the signals trace whose BTS was obeyed."""
    return SignalRow(
        sent_us=1.0,
        received_us=6.5,
        host="h1",
        flow_id=3,
        switch="tor1",
        cause="queue",
        pause_us=20.0,
        queue_depth_bytes=375_000,
        cacheable=True,
        obeyed=True,
        paused_until_us=26.5,
    )
