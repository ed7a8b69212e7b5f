# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Exports the network of a run as node-link JSON, which NetworkX and `--topology` read."""

from __future__ import annotations

import json
from pathlib import Path

from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_topology
from sfc_testbed.topologies.files.node_link import as_node_link

NETWORK_FILE = "network.json"


def export_network(folder: Path, out: Path) -> Path:
    """Write the network of a run into a folder; return its path. UsageError if the run's network is unknown."""
    run = load_run(folder)
    try:
        topology = stored_topology(run.config)
    except UsageError as error:
        raise UsageError(f"{folder}: cannot be exported: {error}") from error
    out.mkdir(parents=True, exist_ok=True)
    replace_text(out / NETWORK_FILE, json.dumps(as_node_link(topology), indent=1) + "\n")
    return out / NETWORK_FILE
