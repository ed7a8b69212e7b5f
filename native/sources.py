# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Python sources that are compiled, and their digests.

The engine's modules are compiled together, because their classes use each other's memory layout. Only a table that is
never compiled refers to an algorithm. An edited algorithm, or one that the compiler refuses, therefore runs interpreted
beside the compiled engine.
"""

from __future__ import annotations

import ast
import hashlib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

ENGINE = (
    "wire/addresses.py",
    "wire/bts.py",
    "wire/constants.py",
    "wire/crc.py",
    "wire/ethernet.py",
    "wire/int_header.py",
    "wire/int_slots.py",
    "wire/ipv4.py",
    "wire/pfc.py",
    "wire/queue_pause.py",
    "wire/tail.py",
    "wire/roce/decoder.py",
    "wire/roce/framer.py",
    "wire/roce/packets.py",
    "wire/udp.py",
    "wire/units.py",
    "wire/words.py",
    "telemetry/figures.py",
    "hosts/transport/congestion/base.py",
    "hosts/transport/congestion/samples.py",
    "hosts/transport/congestion/telemetry.py",
    "hosts/transport/congestion/trace.py",
    "hosts/transport/flow_control/base.py",
    "hosts/transport/loss_recovery/base.py",
    "hosts/transport/counters.py",
    "hosts/transport/nic.py",
    "hosts/transport/number_rows.py",
    "hosts/transport/programs.py",
    "hosts/transport/queue_pairs.py",
    "hosts/transport/receive_buffer.py",
    "hosts/transport/receiver.py",
    "hosts/transport/pacing.py",
    "hosts/transport/sender.py",
    "hosts/transport/transmission.py",
    "hosts/transport/scheduling/pull_pacer.py",
    "hosts/transport/scheduling/ended_flows.py",
    "hosts/transport/scheduling/timed_frames.py",
    "hosts/transport/scheduling/timers.py",
    "hosts/transport/scheduling/wire_schedule.py",
    "hosts/transport/trimmed_headers.py",
    "hosts/io/event_loop.py",
    "hosts/io/late_bins.py",
    "hosts/io/lateness.py",
    "hosts/io/packet_socket.py",
    "hosts/io/spacing.py",
    "hosts/io/timer.py",
    "testbed/virtual/host_rounds.py",
)
"""Modules on a packet's path. Settings and records are not compiled, since they are built once."""

NATIVE = {"hosts.io.kernel_calls": ("hosts/io/kernel_calls.c", "softswitch/src/softswitch/c/ports/burst.c")}
"""Modules written in C. A Python module of the same name is used on machines without a compiler."""
NATIVE_INCLUDES = "softswitch/src/softswitch/c"
_NATIVE_HEADERS = ("softswitch/src/softswitch/c/ports/burst.h",)

GROUP = "sfc_testbed_engine"
"""Name of the group of modules that are compiled together, and of their shared library."""
EXTENSIONS = "extensions.json"
"""The translator's list of extension modules for the C compiler."""
MANIFEST = "manifest.json"
"""A build's list of modules for imports."""
ALGORITHM_FOLDERS = ("congestion", "flow_control", "loss_recovery")
_RECIPE = ("native/sources.py", "native/build.py", "native/translate.py")
_NO_ALGORITHM = ("__init__.py", "base.py", "samples.py", "telemetry.py", "trace.py")


def algorithms() -> list[str]:
    """Return the files of all algorithms, relative to the root of the tree."""
    folders = [ROOT / "hosts" / "transport" / name for name in ALGORITHM_FOLDERS]
    files = [path for folder in folders for path in sorted(folder.glob("*.py")) if path.name not in _NO_ALGORITHM]
    return [str(path.relative_to(ROOT)) for path in files]


def module_name(source: str) -> str:
    """Return the name under which a source file is imported."""
    return source.removesuffix(".py").replace("/", ".")


def digest_of(source: str) -> str:
    """Return the digest of a source file's content."""
    return hashlib.sha256((ROOT / source).read_bytes()).hexdigest()[:24]


def build_name() -> str:
    """Return the name of the build of the current sources, which begins with `builds_prefix`."""
    parts = [f"{name} {digest_of(name)}" for name in algorithms()]
    return builds_prefix() + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def builds_prefix() -> str:
    """Return the common prefix of all builds of the engine's current modules, for this Python and this recipe."""
    native = [name for sources in NATIVE.values() for name in sources]
    files = (*ENGINE, *native, *_NATIVE_HEADERS, *_RECIPE)
    parts = [EXTENSION_SUFFIXES[0], *(f"{name} {digest_of(name)}" for name in files)]
    return f"engine-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}-"


def imports_of(source: str) -> list[str]:
    """Return the modules that a file imports from."""
    tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
    return [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]


def dropped_details(source: str) -> dict[str, dict[str, Any]]:
    """Return, by class, the details that the compiler drops: the docstring, and the annotations of a dataclass.

    The compiler keeps the bare types but not the metadata of `Annotated`, such as the bounds of a parameter.
    """
    tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
    return {
        node.name: {"doc": ast.get_docstring(node), "annotations": _annotations(node) if _is_dataclass(node) else None}
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


def _annotations(node: ast.ClassDef) -> dict[str, str]:
    return {
        item.target.id: ast.unparse(item.annotation)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
