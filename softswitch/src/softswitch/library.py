# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The ctypes declarations of softswitch's shared object: its structures and functions."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from os_helpers.cache import CacheRefused


class Config(ctypes.Structure):
    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("epoch_ns", ctypes.c_int64),
        ("sample_ns", ctypes.c_int64),
        ("link_sample_ns", ctypes.c_int64),
        ("memory_limit", ctypes.c_uint64),
        ("all_ports", ctypes.c_bool),
        ("bmv2_ports", ctypes.c_bool),
    )


class Text(ctypes.Structure):
    _fields_ = (
        ("bytes", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("lost", ctypes.c_bool),
    )


class Outbox(ctypes.Structure):
    _fields_ = (
        ("items", ctypes.c_void_p),
        ("bytes", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
        ("n_bytes", ctypes.c_uint64),
    )


class Note(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_void_p), ("n_bytes", ctypes.c_uint64))


_HANDLE, _U32, _I64, _U64, _TEXT = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p
_FRAME = ctypes.c_char_p

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "sw_switch_create": (_HANDLE, (ctypes.c_void_p, ctypes.c_void_p)),
    "sw_switch_destroy": (None, (_HANDLE,)),
    "sw_switch_layout": (_U64, ()),
    "sw_switch_statistics": (None, (_HANDLE, _TEXT)),
    "sw_switch_end_links": (None, (_HANDLE,)),
    "sw_switch_telemetry": (ctypes.c_size_t, (_HANDLE, ctypes.c_void_p)),
    "sw_control_execute": (ctypes.c_int, (_HANDLE, _FRAME, _TEXT)),
    "sw_text_clear": (None, (_TEXT,)),
    "sw_text_free": (None, (_TEXT,)),
    "sw_fabric_create": (_HANDLE, ()),
    "sw_fabric_destroy": (None, (_HANDLE,)),
    "sw_fabric_add": (ctypes.c_int, (_HANDLE, _HANDLE, _U64)),
    "sw_fabric_connect": (ctypes.c_int, (_HANDLE, _U32, _U32, _U32, _U32)),
    "sw_fabric_receive": (ctypes.c_int, (_HANDLE, _U32, _U32, _FRAME, _U32, _I64)),
    "sw_fabric_drain": (_U64, (_HANDLE, _I64)),
    "sw_fabric_put": (ctypes.c_int, (_HANDLE, _FRAME, _U64, _FRAME, _U64)),
    "sw_fabric_lead": (ctypes.c_int, (_HANDLE, _U32, _U32, _U32, _U32, _U32)),
    "sw_fabric_outgoing": (ctypes.c_void_p, (_HANDLE, _U32)),
    "sw_fabric_forget_outgoing": (None, (_HANDLE,)),
    "sw_fabric_put_outgoing": (ctypes.c_int, (_HANDLE, ctypes.c_void_p, _U64, ctypes.c_void_p, _U64)),
    "sw_fabric_run_ahead": (_U64, (_HANDLE, _I64)),
    "sw_fabric_step": (_U64, (_HANDLE, _U32, _U32, _FRAME, _U32, _I64)),
    "sw_fabric_settle": (None, (_HANDLE,)),
    "sw_fabric_replan": (None, (_HANDLE,)),
    "sw_fabric_next_ns": (_I64, (_HANDLE,)),
    "sw_fabric_outbox": (ctypes.c_void_p, (_HANDLE,)),
    "sw_fabric_set_block": (ctypes.c_int, (_HANDLE, _FRAME, _U32)),
    "sw_fabric_reach_bytes": (_U32, (_HANDLE,)),
    "sw_fabric_watch": (ctypes.c_int, (_HANDLE, _U32, _U32)),
    "sw_fabric_seen": (ctypes.c_void_p, (_HANDLE, ctypes.c_bool)),
    "sw_fabric_forget_seen": (None, (_HANDLE,)),
    "sw_fabric_log_departures": (None, (_HANDLE,)),
    "sw_fabric_departures": (ctypes.c_void_p, (_HANDLE,)),
    "sw_meeting_bytes": (_U64, (_U32, _U64)),
    "sw_meeting_join": (_HANDLE, (ctypes.c_void_p, _U32, _U64, _U32)),
    "sw_meeting_leave": (None, (_HANDLE,)),
    "sw_meeting_send_frames": (ctypes.c_int, (_HANDLE, _HANDLE)),
    "sw_meeting_send_note": (ctypes.c_int, (_HANDLE, _FRAME, _U64)),
    "sw_meeting_receive_frames": (ctypes.c_int, (_HANDLE, _HANDLE)),
    "sw_meeting_receive_notes": (None, (_HANDLE, ctypes.c_void_p)),
    "sw_meeting_waits": (None, (_HANDLE, ctypes.c_void_p, ctypes.c_void_p)),
}


def load(library: Path) -> ctypes.CDLL:
    """Load the shared object and declare its functions. Raise CacheRefused if the system cannot load it."""
    try:
        loaded = ctypes.CDLL(str(library))
    except OSError as error:
        raise CacheRefused(
            f"{library} cannot be loaded ({error}); unless it was removed just now, set XDG_CACHE_HOME to a folder on "
            "a file system from which programs may run (not noexec)"
        ) from error
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded
