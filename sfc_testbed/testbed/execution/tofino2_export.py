# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Exports the switches' table entries of a run for the Tofino 2 program, a file of BF Runtime JSON for each switch."""

from __future__ import annotations

import json
from pathlib import Path

from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.control_plane.tofino2 import UnsupportedEntry, tofino2_entries
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_topology
from sfc_testbed.testbed.plan.fixed_point import commands_at
from sfc_testbed.wire.dilation import Dilation

FOLDER = "tofino2"


def export_tofino2(folder: Path, out: Path | None) -> list[Path]:
    """Write the entries of all switches of a run; return the paths. UsageError if the program lacks a mechanism."""
    run = load_run(folder)
    try:
        topology = stored_topology(run.config)
    except UsageError as error:
        raise UsageError(f"{folder}: cannot be exported: {error}") from error
    assert run.config is not None
    settings = SwitchSettings(**run.config.switch_settings)
    commands = commands_at(topology, settings, Dilation(1), run.config.seed)
    try:
        rows = {switch: tofino2_entries(of_switch) for switch, of_switch in commands.items()}
    except UnsupportedEntry as error:
        raise UsageError(f"{folder}: cannot be exported: {error}") from error
    target = folder / FOLDER if out is None else out
    target.mkdir(parents=True, exist_ok=True)
    for switch, of_switch in rows.items():
        replace_text(target / f"{switch}.json", json.dumps([row.as_json() for row in of_switch], indent=1) + "\n")
    return [target / f"{switch}.json" for switch in rows]
