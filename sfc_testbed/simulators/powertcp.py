# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The simulator of the PowerTCP paper (`powertcp-evaluation-burst` of ns3-datacenter): input files and its flows.

It grew out of the HPCC simulator and reads the same files, except for the first line of the topology. The plan's
scheme must be `pfc` with `+powertcp` or `+theta-powertcp`. It writes no table of its queues.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sfc_testbed.simulators import hpcc
from sfc_testbed.simulators.hpcc import CONFIGURATION, TOPOLOGY, Keys, lossless_configuration, write_files
from sfc_testbed.testbed.plan.plan import RunPlan

NAME, VARIABLE = "PowerTCP simulator", "SFC_TESTBED_POWERTCP"
"""The simulator's name, and the environment variable with the path of its program."""
SCHEMES: tuple[str, ...] = ("pfc+powertcp", "pfc+theta-powertcp")
FCT_FILE, FCT_MARK = hpcc.FCT_FILE, hpcc.FCT_MARK
finished_flows = hpcc.finished_flows

_ADDITIVE_BPS = 150_000_000
PARAMETERS = (f'transport.congestion_parameters={{"additive_bps": {_ADDITIVE_BPS}}}',)
"""The setting without which a plan is refused: the program adds 150 Mb/s at every line rate."""
_HPCC_MODE = 3


def write_input(plan: RunPlan, program: str, folder: Path) -> list[str]:
    """Write the simulator's input into a folder, and return the command to run there.

    Raises ValueError for a scheme that it does not simulate.
    """
    write_files(plan, configuration(plan), folder)
    counts, _, others = (folder / TOPOLOGY).read_text().partition("\n")
    nodes, switches, links = counts.split()
    (folder / TOPOLOGY).write_text(f"{nodes} {switches} {switches} {links}\n{others}")
    is_theta = plan.config.transport_settings["congestion"] == "theta-powertcp"
    options = {"algorithm": _HPCC_MODE, "wien": "true", "delayWien": str(is_theta).lower(), "windowCheck": 1}
    return [program, f"--conf={CONFIGURATION}", *(f"--{key}={value}" for key, value in options.items())]


def configuration(plan: RunPlan) -> Mapping[str, object]:
    """Return the configuration by key. Raise ValueError for another scheme, or for another value of a constant that is
    compiled into the program."""
    return lossless_configuration(plan, NAME, _CONTROLS)


def _keys(compiled: Mapping[str, float], target: float | None) -> Keys:
    """Return a function that gives the keys of a congestion control. `target` is None: it is a parameter."""

    def keys(parameters: Mapping[str, object]) -> Mapping[str, object]:
        for name, value in {"additive_bps": _ADDITIVE_BPS, **compiled}.items():
            if parameters[name] != value:
                raise ValueError(f"{name} {parameters[name]}: the {NAME} has {value} built in")
        return {
            "CC_MODE": _HPCC_MODE,
            "HAS_WIN": 1,
            "VAR_WIN": 1,
            "U_TARGET": parameters["target"] if target is None else target,
            "MI_THRESH": 0,
            "RATE_AI": f"{_ADDITIVE_BPS}bps",
            "RATE_HAI": f"{_ADDITIVE_BPS}bps",
            "MIN_RATE": f"{parameters['min_rate_bps']}bps",
            "FAST_REACT": 1,
        }

    return keys


_CONTROLS: Mapping[str, Keys] = {
    "powertcp": _keys({"gamma": 0.9}, None),
    "theta-powertcp": _keys({"gamma": 0.7, "allowance": 1.05}, 1.0),
}
