# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The testbed: `import sfc_testbed as sfc` offers the functions and classes of `__all__` (docs/api.md).

In a clone, some folders of the package are links to folders at the top of the tree. Python imports these from the top,
so that tracebacks, debuggers and coverage name the files that people edit. Type checkers follow the links.
"""

import os.path
from importlib import import_module
from typing import TYPE_CHECKING, Any

if os.path.islink(os.path.join(__path__[0], "hosts")):  # noqa: PTH114, PTH118 (every command imports this)
    __path__.insert(0, os.path.dirname(__path__[0]))  # noqa: PTH120

if TYPE_CHECKING:
    from sfc_testbed.extend import Settings as Settings
    from sfc_testbed.extend import congestion_control as congestion_control
    from sfc_testbed.extend import flow_control as flow_control
    from sfc_testbed.extend import loss_recovery as loss_recovery
    from sfc_testbed.extend import scenario as scenario
    from sfc_testbed.extend import scheme as scheme
    from sfc_testbed.extend import switch_program as switch_program
    from sfc_testbed.extend import topology as topology
    from sfc_testbed.hosts.transport.congestion import AckSample as AckSample
    from sfc_testbed.hosts.transport.congestion import CongestionControl as CongestionControl
    from sfc_testbed.hosts.transport.congestion import PathContext as PathContext
    from sfc_testbed.hosts.transport.flow_control import FlowControl as FlowControl
    from sfc_testbed.hosts.transport.loss_recovery import LossRecovery as LossRecovery
    from sfc_testbed.request.extensions import use as use
    from sfc_testbed.scenarios.model.flow import FlowRequest as FlowRequest
    from sfc_testbed.scenarios.model.scenario import Scale as Scale
    from sfc_testbed.scenarios.model.scenario import Workload as Workload
    from sfc_testbed.testbed.control_plane.entries import TableEntry as TableEntry
    from sfc_testbed.topologies.model import Topology as Topology
    from sfc_testbed.topologies.shapes import Shape as Shape
    from sfc_testbed.wire.dilation import Dilation as Dilation

_MODULES = {
    "AckSample": "sfc_testbed.hosts.transport.congestion",
    "CongestionControl": "sfc_testbed.hosts.transport.congestion",
    "Dilation": "sfc_testbed.wire.dilation",
    "FlowControl": "sfc_testbed.hosts.transport.flow_control",
    "FlowRequest": "sfc_testbed.scenarios.model.flow",
    "LossRecovery": "sfc_testbed.hosts.transport.loss_recovery",
    "PathContext": "sfc_testbed.hosts.transport.congestion",
    "Scale": "sfc_testbed.scenarios.model.scenario",
    "Settings": "sfc_testbed.extend",
    "Shape": "sfc_testbed.topologies.shapes",
    "TableEntry": "sfc_testbed.testbed.control_plane.entries",
    "Topology": "sfc_testbed.topologies.model",
    "Workload": "sfc_testbed.scenarios.model.scenario",
    "congestion_control": "sfc_testbed.extend",
    "flow_control": "sfc_testbed.extend",
    "loss_recovery": "sfc_testbed.extend",
    "scenario": "sfc_testbed.extend",
    "scheme": "sfc_testbed.extend",
    "switch_program": "sfc_testbed.extend",
    "topology": "sfc_testbed.extend",
    "use": "sfc_testbed.request.extensions",
}
"""The module of each public name. A module is loaded when one of its names is first used."""

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    """Return a public name, and load its module."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
