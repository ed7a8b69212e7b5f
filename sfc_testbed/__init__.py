# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The testbed.

In a clone, some folders of the package are links to folders at the top of the tree. Python imports these from the top,
so that tracebacks, debuggers and coverage name the files that people edit. Type checkers follow the links.
"""

import os.path

if os.path.islink(os.path.join(__path__[0], "hosts")):  # noqa: PTH114, PTH118 (every command imports this)
    __path__.insert(0, os.path.dirname(__path__[0]))  # noqa: PTH120

_PLACES = {
    "use": "request.extensions",
    **dict.fromkeys(
        ("congestion_control", "flow_control", "loss_recovery", "scenario", "scheme", "topology"), "extend"
    ),
    **dict.fromkeys(("CongestionControl", "AckSample", "PathContext"), "hosts.transport.congestion"),
    "FlowControl": "hosts.transport.flow_control",
    "LossRecovery": "hosts.transport.loss_recovery",
    "Workload": "scenarios.model.scenario",
    "Scale": "scenarios.model.scenario",
    "FlowRequest": "scenarios.model.flow",
    "Shape": "topologies.shapes",
    "Topology": "topologies.model",
}
"""The modules of the public names, which are imported when they are used."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
