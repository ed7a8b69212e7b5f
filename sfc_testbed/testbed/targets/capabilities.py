# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Capabilities of this machine, checked before anything is created: `doctor` prints all, runs require some."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from os_helpers.cache import CacheRefused, private_cache
from os_helpers.compiler import compiler_words
from sfc_testbed.native.first_use import lacking
from sfc_testbed.place import how_to_install, how_to_install_p4_tools, is_clone
from sfc_testbed.request.processor import lacking_instructions
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.program.sources import check_artifacts
from sfc_testbed.testbed.system.containers import engine_listens, missing_engine, missing_image
from sfc_testbed.testbed.system.namespace import can_make_namespaces, private_network
from sfc_testbed.testbed.targets.bmv2.installation import missing_bmv2
from sfc_testbed.wire.ethernet import ORDINARY_MTU_BYTES

_OR_VIRTUAL = ", or --clock virtual, which does not need root"
_NODE_SHELL = ("mnexec", "-n", "env", "bash", "--norc", "-c", "ifconfig lo")
_SHELL_SECONDS = 10.0
_NO_REALTIME = (
    "not permitted; it takes CAP_SYS_NICE and, if this kernel divides real-time among control groups, a part of it: "
    "in a container, use docker run --privileged, and --cpu-rt-runtime if that is not enough"
)
_CHROOT = "in a chroot, its folder must be a mount point (mount --bind FOLDER FOLDER before chroot FOLDER)"


@dataclass(frozen=True, slots=True)
class Capability:
    """A capability that a run may need. `probe` returns None, or what is missing and what to do."""

    name: str
    needed_for: str
    probe: Callable[[], str | None]
    needs_root: bool = False
    """Whether the probe needs root to give an answer."""

    @property
    def is_unknown(self) -> bool:
        """Whether this process lacks the rights for the probe."""
        return self.needs_root and os.geteuid() != 0


def _compiler() -> str | None:
    compiler = compiler_words()[0]
    if shutil.which(compiler):
        return None
    return f"no C compiler ({compiler}) on the PATH; {how_to_install('gcc', 'libc6-dev')}"


def _refusal(check: Callable[[], object]) -> str | None:
    try:
        check()
    except (CacheRefused, UsageError) as error:
        return str(error)
    return None


def _root() -> str | None:
    return None if os.geteuid() == 0 else f"not root; use sudo{_OR_VIRTUAL}"


def _namespaces() -> str | None:
    reason = can_make_namespaces()
    return None if reason is None else f"cannot make network namespaces: {reason}"


def _veth(mtu_bytes: int = ORDINARY_MTU_BYTES) -> str | None:
    from sfc_testbed.hosts.io.links import Links  # pyroute2 is slow to import, and only live runs need it

    try:
        with private_network(), Links() as links:
            links.add_pair("probe0", "probe1", mtu_bytes=mtu_bytes)
    except OSError as error:
        return f"cannot make veth pairs: {error.strerror}"
    return None


def _realtime() -> str | None:
    """Set real-time priority for a moment, and reset it."""
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError as error:
        return _NO_REALTIME if isinstance(error, PermissionError) else f"{error.strerror}"
    os.sched_setscheduler(0, policy, parameter)
    return None


def _node_shell() -> str | None:
    """Start a shell as Mininet does for a node, with its own namespaces."""
    try:
        done = subprocess.run(_NODE_SHELL, capture_output=True, text=True, check=False, timeout=_SHELL_SECONDS)
    except subprocess.TimeoutExpired:
        return f"the shell of a node has not answered within {_SHELL_SECONDS:g} s"
    except FileNotFoundError as error:
        return f"no {error.filename} on the PATH; {how_to_install('mininet')}"
    if done.returncode == 0:
        return None
    output = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    hint = f"; {_CHROOT}" if _is_chroot() else ""
    return f"the shell of a node ends at once: {output[-1]}{hint}"


def _is_chroot() -> bool:
    """Return whether the root folder is not a mount point, so that `mount` cannot change its propagation."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return all(line.split()[4] != "/" for line in mounts)


def _mininet() -> str | None:
    if importlib.util.find_spec("mininet"):
        return None
    environment = "" if is_clone() else ", and use an environment of python3 -m venv --system-site-packages"
    return f"the Python module mininet is not installed; {how_to_install('mininet')}{environment}"


def _tool(name: str, hint: str) -> Callable[[], str | None]:
    return lambda: None if shutil.which(name) else f"no {name} on the PATH; {hint}"


def _netem() -> str | None:
    from sfc_testbed.testbed.targets.common.wires import missing_netem  # for BMv2 only

    return missing_netem()


def _docker() -> str | None:
    missing = missing_engine()
    return missing if missing is None or engine_listens() else f"{missing}; apt-get install docker.io installs one"


def _mpi() -> str | None:
    if importlib.util.find_spec("mpi4py") is None:
        pip = ".venv/bin/pip install '.[mpi]'" if is_clone() else f"{sys.executable} -m pip install mpi4py"
        return f"the Python module mpi4py is not installed; {pip}"
    return None if shutil.which("mpirun") else "no mpirun on the PATH; apt-get install openmpi-bin"


EVERY_RUN = "every run"
LIVE_RUN = "--clock real"
BMV2_RUN = "--switch bmv2"
CONTAINER_RUN = "--hosts docker:IMAGE"
_NEED_FOR_P4C = f"{'make p4 (or Docker), ' if is_clone() else ''}--p4 FILE.p4"

CAPABILITIES: tuple[Capability, ...] = (
    Capability("processor", EVERY_RUN, lacking_instructions),
    Capability("C compiler", EVERY_RUN, _compiler),
    Capability("cache of compiled code", EVERY_RUN, partial(_refusal, private_cache)),
    Capability("compiled host engine", "hosts at full speed", lacking),
    Capability("root", LIVE_RUN, _root),
    Capability("network namespaces", LIVE_RUN, _namespaces, needs_root=True),
    Capability("veth", LIVE_RUN, _veth, needs_root=True),
    Capability("Mininet", LIVE_RUN, _mininet),
    Capability("mnexec", LIVE_RUN, _tool("mnexec", how_to_install("mininet"))),
    Capability("node shells", LIVE_RUN, _node_shell, needs_root=True),
    Capability("real-time priority", LIVE_RUN, _realtime, needs_root=True),
    Capability("tshark", "looking at captures", _tool("tshark", how_to_install("tshark"))),
    Capability("P4 program", "runs without --p4", partial(_refusal, check_artifacts)),
    Capability("p4c", _NEED_FOR_P4C, _tool("p4c-bm2-ss", how_to_install_p4_tools())),
    Capability("BMv2", BMV2_RUN, missing_bmv2),
    Capability("setpriv", BMV2_RUN, _tool("setpriv", how_to_install("util-linux"))),
    Capability("netem", "delays of --switch bmv2 in the kernel, else by softswitch", _netem, needs_root=True),
    Capability("Docker", CONTAINER_RUN, _docker),
    Capability("MPI", "--exchange mpi, one run on many machines", _mpi),
)


def require(
    clock: str,
    switch: str,
    mtu_bytes: int = ORDINARY_MTU_BYTES,
    hosts: str | None = None,
    *,
    has_virtual: bool = True,
) -> None:
    """Raise UsageError that names the first missing capability for a run with this clock, switch and MTU.

    `hosts` is as in `RunSpec`. `has_virtual` is whether the command could use `--clock virtual` instead.
    """
    needed = [EVERY_RUN]
    if clock == "real":
        needed.append(LIVE_RUN)
    needed.append(f"--switch {switch}")
    if hosts is not None:
        needed.append(CONTAINER_RUN)
    for capability in CAPABILITIES:
        if capability.needed_for in needed:
            missing = capability.probe()
            if missing is not None:
                is_live = capability.needed_for == LIVE_RUN and not has_virtual
                needed_for = "a live network" if is_live else capability.needed_for
                explanation = missing.removesuffix(_OR_VIRTUAL) if is_live else missing
                raise UsageError(f"{needed_for} needs {capability.name}: {explanation}")
    refused = _veth(mtu_bytes) if clock == "real" and mtu_bytes > ORDINARY_MTU_BYTES else None
    if refused is not None:
        raise UsageError(f"{LIVE_RUN} needs interfaces for longer frames: {refused}; lower transport.payload_bytes")
    missing_image_reason = None if hosts is None else missing_image(hosts.partition(":")[2])
    if missing_image_reason is not None:
        raise UsageError(f"--hosts {hosts}: {missing_image_reason}")
