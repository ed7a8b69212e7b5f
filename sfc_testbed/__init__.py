# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The testbed: `import sfc_testbed as sfc` offers the functions and classes of `__all__` (docs/api.md).

In a clone, some folders of the package are links to folders at the top of the tree. Python imports these from the top,
so that tracebacks, debuggers and coverage name the files that people edit. Type checkers follow the links. An editable
installation finds the package as a link in `src`.
"""

import os.path
from importlib import import_module
from typing import TYPE_CHECKING, Any

if os.path.islink(os.path.join(__path__[0], "hosts")):  # noqa: PTH114, PTH118 (every command imports this)
    __path__[0] = os.path.realpath(__path__[0])
    __path__.insert(0, os.path.dirname(__path__[0]))  # noqa: PTH120

if TYPE_CHECKING:
    from sfc_testbed.api.comparison import Comparison as Comparison
    from sfc_testbed.api.functions import check as check
    from sfc_testbed.api.functions import compare as compare
    from sfc_testbed.api.functions import load as load
    from sfc_testbed.api.functions import names as names
    from sfc_testbed.api.functions import open_network as open_network
    from sfc_testbed.api.functions import run as run
    from sfc_testbed.api.functions import run_script as run_script
    from sfc_testbed.api.functions import sweep as sweep
    from sfc_testbed.api.functions import use as use
    from sfc_testbed.api.interrupted import Interrupted as Interrupted
    from sfc_testbed.api.run import Run as Run
    from sfc_testbed.api.sweep import Sweep as Sweep
    from sfc_testbed.extend import Settings as Settings
    from sfc_testbed.extend import collective_algorithm as collective_algorithm
    from sfc_testbed.extend import congestion_control as congestion_control
    from sfc_testbed.extend import flow_control as flow_control
    from sfc_testbed.extend import load_balancing as load_balancing
    from sfc_testbed.extend import loss_recovery as loss_recovery
    from sfc_testbed.extend import scenario as scenario
    from sfc_testbed.extend import scheme as scheme
    from sfc_testbed.extend import switch_program as switch_program
    from sfc_testbed.extend import topology as topology
    from sfc_testbed.extend_results import claims as claims
    from sfc_testbed.extend_results import export_format as export_format
    from sfc_testbed.extend_results import plot as plot
    from sfc_testbed.extend_results import quantity as quantity
    from sfc_testbed.extend_results import section as section
    from sfc_testbed.hosts.transport.congestion import AckSample as AckSample
    from sfc_testbed.hosts.transport.congestion import CongestionControl as CongestionControl
    from sfc_testbed.hosts.transport.congestion import PathContext as PathContext
    from sfc_testbed.hosts.transport.flow_control import FlowControl as FlowControl
    from sfc_testbed.hosts.transport.load_balancing import LoadBalancing as LoadBalancing
    from sfc_testbed.hosts.transport.loss_recovery import LossRecovery as LossRecovery
    from sfc_testbed.hosts.transport.loss_recovery import PacketOrder as PacketOrder
    from sfc_testbed.hosts.transport.loss_recovery.base import NEVER as NEVER
    from sfc_testbed.hosts.transport.loss_recovery.base import Arrival as Arrival
    from sfc_testbed.reproduction.model.claims import Bound as Bound
    from sfc_testbed.reproduction.model.claims import Judged as Judged
    from sfc_testbed.reproduction.model.claims import Linear as Linear
    from sfc_testbed.reproduction.model.claims import NoneLower as NoneLower
    from sfc_testbed.reproduction.model.claims import Ratio as Ratio
    from sfc_testbed.reproduction.model.claims import SlopeRatio as SlopeRatio
    from sfc_testbed.reproduction.model.claims import Spread as Spread
    from sfc_testbed.reproduction.model.quantities import DROPS as DROPS
    from sfc_testbed.reproduction.model.quantities import INCAST_COMPLETION as INCAST_COMPLETION
    from sfc_testbed.reproduction.model.quantities import P50_SLOWDOWN as P50_SLOWDOWN
    from sfc_testbed.reproduction.model.quantities import P95_SLOWDOWN as P95_SLOWDOWN
    from sfc_testbed.reproduction.model.quantities import P99_SLOWDOWN as P99_SLOWDOWN
    from sfc_testbed.reproduction.model.quantities import PAUSE_FRAMES as PAUSE_FRAMES
    from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER as PEAK_BUFFER
    from sfc_testbed.reproduction.model.quantities import RECEIVER_THROUGHPUT as RECEIVER_THROUGHPUT
    from sfc_testbed.reproduction.model.quantities import slowdown as slowdown
    from sfc_testbed.request.errors import Error as Error
    from sfc_testbed.request.errors import UsageError as UsageError
    from sfc_testbed.request.extensions import unuse as unuse
    from sfc_testbed.scenarios.model.flow import FlowRequest as FlowRequest
    from sfc_testbed.scenarios.model.scenario import Scale as Scale
    from sfc_testbed.scenarios.model.scenario import ScenarioError as ScenarioError
    from sfc_testbed.scenarios.model.scenario import Workload as Workload
    from sfc_testbed.scenarios.traffic.collectives.schedule import CollectiveAlgorithm as CollectiveAlgorithm
    from sfc_testbed.testbed.control_plane.entries import TableEntry as TableEntry
    from sfc_testbed.testbed.errors import RunError as RunError
    from sfc_testbed.testbed.live.session.session import Network as Network
    from sfc_testbed.topologies.model import Topology as Topology
    from sfc_testbed.topologies.shapes import Shape as Shape
    from sfc_testbed.wire.dilation import Dilation as Dilation

_DEPRECATED: dict[str, str] = {}
"""Old names and their successors. They warn for two minor versions, and then go (docs/maintaining.md)."""

_PLACES = {
    **dict.fromkeys(
        ("check", "compare", "load", "names", "open_network", "run", "run_script", "sweep", "use"), "api.functions"
    ),
    "unuse": "request.extensions",
    "Error": "request.errors",
    "UsageError": "request.errors",
    "RunError": "testbed.errors",
    "Interrupted": "api.interrupted",
    "Network": "testbed.live.session.session",
    "Comparison": "api.comparison",
    "Run": "api.run",
    "Sweep": "api.sweep",
    **dict.fromkeys(
        (
            *("Settings", "collective_algorithm", "congestion_control", "flow_control", "load_balancing"),
            *("loss_recovery", "scenario", "scheme", "switch_program", "topology"),
        ),
        "extend",
    ),
    **dict.fromkeys(("claims", "export_format", "plot", "quantity", "section"), "extend_results"),
    **dict.fromkeys(
        ("Bound", "Judged", "Linear", "NoneLower", "Ratio", "SlopeRatio", "Spread"), "reproduction.model.claims"
    ),
    **dict.fromkeys(
        (
            *("DROPS", "INCAST_COMPLETION", "P50_SLOWDOWN", "P95_SLOWDOWN", "P99_SLOWDOWN", "PAUSE_FRAMES"),
            *("PEAK_BUFFER", "RECEIVER_THROUGHPUT", "slowdown"),
        ),
        "reproduction.model.quantities",
    ),
    **dict.fromkeys(("AckSample", "CongestionControl", "PathContext"), "hosts.transport.congestion"),
    "FlowControl": "hosts.transport.flow_control",
    "LoadBalancing": "hosts.transport.load_balancing",
    **dict.fromkeys(("LossRecovery", "PacketOrder"), "hosts.transport.loss_recovery"),
    **dict.fromkeys(("NEVER", "Arrival"), "hosts.transport.loss_recovery.base"),
    "CollectiveAlgorithm": "scenarios.traffic.collectives.schedule",
    "FlowRequest": "scenarios.model.flow",
    **dict.fromkeys(("Scale", "ScenarioError", "Workload"), "scenarios.model.scenario"),
    "Topology": "topologies.model",
    "Shape": "topologies.shapes",
    "TableEntry": "testbed.control_plane.entries",
    "Dilation": "wire.dilation",
}
"""The modules of the public names, which are imported when they are used."""

__all__ = [*_PLACES]


def __getattr__(name: str) -> Any:
    """Return a public name, and load its module."""
    if name in _DEPRECATED:
        from warnings import warn

        warn(f"sfc_testbed.{name} is now sfc_testbed.{_DEPRECATED[name]}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(__name__), _DEPRECATED[name])
    if name == "__version__":
        from importlib.metadata import version

        return version("sfc-testbed")
    if name not in _PLACES:
        from difflib import get_close_matches

        near = "".join(f"; did you mean {other}?" for other in get_close_matches(name, _PLACES, 1))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
