# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of fuzz targets. To add a target, add a module and a row."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fuzz.target import Target
from tests.fuzz.targets import (
    agent_lines,
    command_lines,
    control_lines,
    input_files,
    nic_frames,
    run_folders,
    switch_frames,
)

TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        command_lines.TARGET,
        input_files.SETTINGS,
        input_files.SWEEPS,
        input_files.FLOW_LISTS,
        input_files.SIZES,
        agent_lines.TARGET,
        run_folders.TARGET,
        nic_frames.TARGET,
        switch_frames.TARGET,
        control_lines.TARGET,
    )
}
