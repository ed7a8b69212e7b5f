# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What this machine can do, asked before anything is created. `doctor` prints all of it, a live run needs most."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from softswitch.cache import CacheRefused, private_cache
from testbed.errors import UsageError
from testbed.system.namespace import can_make_namespaces, private_network
from testbed.targets.bmv2.installation import missing_bmv2
from testbed.targets.common.wires import has_netem

_PROVISION = "run tools/provision.sh"


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing a run may need. `probe` gives None when it is there, else what is missing and what to do about it."""

    name: str
    needed_for: str
    probe: Callable[[], str | None]


def _compiler() -> str | None:
    compiler = os.environ.get("CC", "cc")
    return None if shutil.which(compiler) else f"no C compiler ({compiler}) on the PATH; {_PROVISION}"


def _cache() -> str | None:
    try:
        private_cache()
    except CacheRefused as error:
        return str(error)
    return None


def _root() -> str | None:
    return None if os.geteuid() == 0 else "not root; use sudo, or --clock virtual, which needs none"


def _namespaces() -> str | None:
    reason = can_make_namespaces()
    return None if reason is None else f"cannot make network namespaces: {reason}"


def _veth() -> str | None:
    from hosts.io.links import Links  # pyroute2 is slow to load, and only live runs want it

    try:
        with private_network(), Links() as links:
            links.add_pair("probe0", "probe1")
    except OSError as error:
        return f"cannot make veth pairs: {error.strerror}"
    return None


def _mininet() -> str | None:
    return None if importlib.util.find_spec("mininet") else f"the Python module mininet is not installed; {_PROVISION}"


def _netem() -> str | None:
    return None if has_netem() else "this kernel has no qdisc netem"


def _tool(name: str) -> Callable[[], str | None]:
    return lambda: None if shutil.which(name) else f"no {name} on the PATH; {_PROVISION}"


EVERY_RUN = "every run"
LIVE_RUN = "--clock real"
BMV2_RUN = "--switch bmv2"

CAPABILITIES: tuple[Capability, ...] = (
    Capability("C compiler", EVERY_RUN, _compiler),
    Capability("cache of compiled code", EVERY_RUN, _cache),
    Capability("root", LIVE_RUN, _root),
    Capability("network namespaces", LIVE_RUN, _namespaces),
    Capability("veth", LIVE_RUN, _veth),
    Capability("Mininet", LIVE_RUN, _mininet),
    Capability("mnexec", LIVE_RUN, _tool("mnexec")),
    Capability("tshark", "looking at captures", _tool("tshark")),
    Capability("p4c", "make p4 (or Docker)", _tool("p4c-bm2-ss")),
    Capability("BMv2", BMV2_RUN, missing_bmv2),
    Capability("setpriv", BMV2_RUN, _tool("setpriv")),
    Capability("netem", "delays of --switch bmv2 in the kernel; softswitch delays without", _netem),
)


def require(clock: str, switch: str) -> None:
    """UsageError that names the first thing a run with this clock and switch lacks."""
    needed = [EVERY_RUN]
    if clock == "real":
        needed.append(LIVE_RUN)
    needed.append(f"--switch {switch}")
    for capability in CAPABILITIES:
        if capability.needed_for in needed:
            missing = capability.probe()
            if missing is not None:
                raise UsageError(f"{capability.needed_for} needs {capability.name}: {missing}")
