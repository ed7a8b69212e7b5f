# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which Python sources are compiled, and what they are known by.

The engine's own modules are compiled together: their classes know each other's memory. An algorithm is known to nobody
but its table, which is never compiled; so one that was edited, or that the compiler refuses, runs as it is written
beside the compiled rest.
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
    "wire/ipv4.py",
    "wire/pfc.py",
    "wire/roce/decoder.py",
    "wire/roce/framer.py",
    "wire/roce/packets.py",
    "wire/udp.py",
    "wire/units.py",
    "wire/words.py",
    "hosts/transport/congestion/base.py",
    "hosts/transport/congestion/samples.py",
    "hosts/transport/congestion/trace.py",
    "hosts/transport/flow_control/base.py",
    "hosts/transport/loss_recovery/base.py",
    "hosts/transport/counting.py",
    "hosts/transport/nic.py",
    "hosts/transport/programs.py",
    "hosts/transport/queue_pairs.py",
    "hosts/transport/receive_buffer.py",
    "hosts/transport/receiver.py",
    "hosts/transport/sender.py",
    "hosts/transport/transmission.py",
    "hosts/transport/scheduling/pull_pacer.py",
    "hosts/transport/scheduling/ended_flows.py",
    "hosts/transport/scheduling/flow_pause.py",
    "hosts/transport/scheduling/timed_frames.py",
    "hosts/transport/scheduling/timers.py",
    "hosts/transport/scheduling/wire_schedule.py",
    "hosts/transport/trimmed_headers.py",
    "hosts/io/event_loop.py",
    "hosts/io/late_bins.py",
    "hosts/io/lateness.py",
    "hosts/io/spacing.py",
    "testbed/virtual/host_rounds.py",
)
"""What a packet goes through. Settings and records stay as they are: they are built once, and read by pydantic."""

NATIVE = {"hosts.io.kernel.calls": ("hosts/io/kernel/calls.c", "softswitch/src/ports/burst.c")}
"""Modules that are written in C beside a Python one of the same name, which is for where there is no compiler."""
NATIVE_INCLUDES = "softswitch/src"
_NATIVE_HEADERS = ("softswitch/src/ports/burst.h",)

GROUP = "sfc_testbed_engine"
"""Of modules that are compiled together, and of the library that holds them."""
EXTENSIONS = "extensions.json"
"""What the translator leaves for the C compiler, and ..."""
MANIFEST = "manifest.json"
"""... what a build leaves for imports."""
ALGORITHM_FOLDERS = ("congestion", "flow_control", "loss_recovery")
_RECIPE = ("compiled/sources.py", "compiled/build.py", "compiled/translate.py")
_NO_ALGORITHM = ("__init__.py", "base.py", "samples.py", "trace.py")


def algorithms() -> list[str]:
    """The files of all algorithms, from the root."""
    folders = [ROOT / "hosts" / "transport" / name for name in ALGORITHM_FOLDERS]
    files = [path for folder in folders for path in sorted(folder.glob("*.py")) if path.name not in _NO_ALGORITHM]
    return [str(path.relative_to(ROOT)) for path in files]


def module_name(source: str) -> str:
    """As it is imported."""
    return source.removesuffix(".py").replace("/", ".")


def digest_of(source: str) -> str:
    """Of a file's content."""
    return hashlib.sha256((ROOT / source).read_bytes()).hexdigest()[:24]


def build_name() -> str:
    """Of the build of the sources as they are now; it begins with `builds_prefix`."""
    parts = [f"{name} {digest_of(name)}" for name in algorithms()]
    return builds_prefix() + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def builds_prefix() -> str:
    """Of all builds that the engine's own modules can come from, for this Python and this recipe."""
    native = [name for sources in NATIVE.values() for name in sources]
    files = (*ENGINE, *native, *_NATIVE_HEADERS, *_RECIPE)
    parts = [EXTENSION_SUFFIXES[0], *(f"{name} {digest_of(name)}" for name in files)]
    return f"engine-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}-"


def imports_of(source: str) -> list[str]:
    """Modules that a file imports from."""
    tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
    return [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]


def written(source: str) -> dict[str, dict[str, Any]]:
    """Class -> what the compiler drops and people and pydantic read: its docstring, and of a dataclass the annotations,
    of which the compiler keeps the bare type but not what `Annotated` adds, the bounds of a parameter."""
    tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
    return {
        node.name: {"doc": ast.get_docstring(node), "annotations": _annotations(node) if _is_dataclass(node) else None}
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(each) for each in node.decorator_list)


def _annotations(node: ast.ClassDef) -> dict[str, str]:
    return {
        item.target.id: ast.unparse(item.annotation)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
