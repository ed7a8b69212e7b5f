# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run with every kind of output: BTS of two causes, a trace of congestion controls, captures, page and plots."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.commands import typed

WORDS = ("incast", "--scheme", "sfc+hpcc", "--clock", "virtual", "--pcap", "h1,tor1:spine1")
SETTINGS = ("transport.cc_trace_ns=500", "switch.q_th_bytes=60000", "switch.q_tg_bytes=30000")


@pytest.fixture(scope="session")
def stored_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute the run and `report`, and return the run's folder."""
    out = tmp_path_factory.mktemp("runs")
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    assert typed(["run", *WORDS, *settings, "--out", str(out)])[0] == 0
    [folder] = out.iterdir()
    assert typed(["report", str(folder)])[0] == 0
    return folder
