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
    from sfc_testbed.api.comparison import Comparison as Comparison
    from sfc_testbed.api.functions import compare as compare
    from sfc_testbed.api.functions import load as load
    from sfc_testbed.api.functions import open_network as open_network
    from sfc_testbed.api.functions import run as run
    from sfc_testbed.api.functions import run_script as run_script
    from sfc_testbed.api.functions import sweep as sweep
    from sfc_testbed.api.functions import use as use
    from sfc_testbed.api.interrupted import Interrupted as Interrupted
    from sfc_testbed.api.run import Run as Run
    from sfc_testbed.api.sweep import Sweep as Sweep
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
    from sfc_testbed.request.errors import Error as Error
    from sfc_testbed.request.errors import UsageError as UsageError
    from sfc_testbed.scenarios.model.flow import FlowRequest as FlowRequest
    from sfc_testbed.scenarios.model.scenario import Scale as Scale
    from sfc_testbed.scenarios.model.scenario import Workload as Workload
    from sfc_testbed.testbed.control_plane.entries import TableEntry as TableEntry
    from sfc_testbed.testbed.errors import RunError as RunError
    from sfc_testbed.topologies.model import Topology as Topology
    from sfc_testbed.topologies.shapes import Shape as Shape
    from sfc_testbed.wire.dilation import Dilation as Dilation

_PLACES = {
    **dict.fromkeys(("compare", "load", "open_network", "run", "run_script", "sweep", "use"), "api.functions"),
    "Error": "request.errors",
    "UsageError": "request.errors",
    "RunError": "testbed.errors",
    "Interrupted": "api.interrupted",
    "Comparison": "api.comparison",
    "Run": "api.run",
    "Sweep": "api.sweep",
    **dict.fromkeys(
        (
            *("Settings", "congestion_control", "flow_control", "loss_recovery", "scenario", "scheme"),
            *("switch_program", "topology"),
        ),
        "extend",
    ),
    **dict.fromkeys(("AckSample", "CongestionControl", "PathContext"), "hosts.transport.congestion"),
    "FlowControl": "hosts.transport.flow_control",
    "LossRecovery": "hosts.transport.loss_recovery",
    "FlowRequest": "scenarios.model.flow",
    **dict.fromkeys(("Scale", "Workload"), "scenarios.model.scenario"),
    "Topology": "topologies.model",
    "Shape": "topologies.shapes",
    "TableEntry": "testbed.control_plane.entries",
    "Dilation": "wire.dilation",
}
"""The modules of the public names, which are imported when they are used."""

__all__ = [*_PLACES]


def __getattr__(name: str) -> Any:
    """Return a public name, and load its module."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
