# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Refuses a processor without the instructions for which NumPy and polars are compiled, x86-64-v2.

Without this check such a processor ends the process with "Illegal instruction". All 64-bit processors since 2009 have
these instructions, but a virtual machine may hide them (docs/installation.md).
"""

from __future__ import annotations

import platform
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from sfc_testbed.request.errors import UsageError

_NEED_INSTRUCTIONS = ("numpy", "polars")
_COMMON, _EXTENDED = 0, 2
"""The numbers by which glibc knows the leaves 1 and 0x80000001 of CPUID."""
_ECX: Final = 2
_BITS = {
    "SSE3": (_COMMON, 0),
    "SSSE3": (_COMMON, 9),
    "CX16": (_COMMON, 13),
    "SSE4.1": (_COMMON, 19),
    "SSE4.2": (_COMMON, 20),
    "POPCNT": (_COMMON, 23),
    "LAHF": (_EXTENDED, 0),
}
"""The instructions of x86-64-v2 beyond x86-64, by leaf and bit in register ECX (x86-64 psABI, section 3.1.1)."""


def missing_instructions() -> list[str]:
    """Return the names of the instructions that this processor lacks; none where the C library cannot say."""
    if platform.machine() != "x86_64":
        return []
    import ctypes

    try:
        leaf = ctypes.CDLL(None).__x86_get_cpuid_feature_leaf
    except AttributeError:  # a C library other than glibc 2.33 or later
        return []
    leaf.restype, leaf.argtypes = ctypes.POINTER(ctypes.c_uint32 * 4), [ctypes.c_uint]
    registers = {number: leaf(number).contents[_ECX] for number in (_COMMON, _EXTENDED)}
    return [name for name, (number, bit) in _BITS.items() if not registers[number] >> bit & 1]


def lacking_instructions() -> str | None:
    """Return which instructions the processor lacks and what to do about it, or None if it has all of them."""
    missing = missing_instructions()
    if not missing:
        return None
    return (
        f"this processor lacks {', '.join(missing)}, which NumPy and polars need (x86-64-v2); in a virtual machine "
        "choose a processor model that has them, such as host or Nehalem"
    )


def check_before_use() -> None:
    """Check the processor when NumPy or polars is first imported."""
    if not any(name in sys.modules for name in _NEED_INSTRUCTIONS):
        sys.meta_path.insert(0, _Check())


class _Check:
    """Finds no module, but refuses the processor before a module is loaded that would crash."""

    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        if name in _NEED_INSTRUCTIONS:
            lacking = lacking_instructions()
            if lacking is not None:
                raise UsageError(lacking)
            sys.meta_path.remove(self)
        return None
