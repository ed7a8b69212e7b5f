# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Builds the hand-written program `steered.c`, and makes frames that control its actions.

Owns the layout of a steered frame; must not know what the tests check.
"""

import functools
import os
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path

from os_helpers.compiler import compiler_words
from softswitch.build import MAIN_SOURCE, SOURCE_DIR

PROGRAM = Path(__file__).with_suffix(".c")
DROP_PORT = 511
RECIRCULATION_PORT = 510
ETHERNET_BYTES = 14

SANITIZE_VARIABLE = "SFC_TEST_SANITIZE"
"""The environment variable that selects libraries with ASan and UBSan, which the process must preload."""

SANITIZED = SANITIZE_VARIABLE in os.environ

_REPORT = struct.Struct(">13I")
_HEADER = struct.Struct(">HBBHBBHBBH")
_REPORT_ETHERTYPE = 0x88B5
_FLAGS = ("-std=gnu11", "-O1", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror")
_SANITIZER_FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")


class Op(IntFlag):
    """The operations that a frame can request, with the numbers of `enum operation`."""

    CLONE_INGRESS = 1
    RESUBMIT = 2
    MULTICAST = 4
    CLONE_EGRESS = 8
    RECIRCULATE = 16
    TRUNCATE_INGRESS = 32
    TRUNCATE_EGRESS = 64
    DROP_EGRESS = 128


class Flag(IntFlag):
    """The flags of a frame, with the numbers of `enum flag`."""

    FOR_EVER = 1
    POP_EARLY = 2
    SPREAD = 4


@dataclass(frozen=True)
class Report:
    """The metadata that egress saw, in the order of `write_report`."""

    instance_type: int
    ingress_port: int
    egress_port: int
    packet_length: int
    enq_timestamp: int
    enq_qdepth: int
    deq_timedelta: int
    deq_qdepth: int
    rid: int
    mark: int
    qid: int
    egress_us: int
    ingress_us: int


def steer(
    port: int,
    size: int = 100,
    *,
    class_: int = 0,
    ops: int = 0,
    second: int = 0,
    session: int = 0,
    group: int = 0,
    queue: int = 0,
    truncate: int = 0,
    mark: int = 0,
    flags: int = 0,
    tag: int = 0,
) -> bytes:
    """Return a frame of `size` bytes (at least the two headers) that ends in the byte `tag`.

    A frame has either a multicast `group` or a `queue` of its class.
    """
    head = _HEADER.pack(port, class_, ops, second, session, group or queue, truncate, mark, flags, _REPORT_ETHERTYPE)
    return (head + bytes(max(size, len(head) + _REPORT.size) - len(head) - 1) + bytes([tag]))[: max(size, 67)]


def steer_small(port: int, size: int, *, class_: int = 0) -> bytes:
    """Return a frame of any size from 14 bytes on, without a report."""
    return _HEADER.pack(port, class_, 0, 0, 0, 0, 0, 0, 0, 0x0800) + bytes(size - ETHERNET_BYTES)


def report(frame: bytes) -> Report:
    """Return the report that egress wrote into a steered frame."""
    return Report(*_REPORT.unpack_from(frame, ETHERNET_BYTES))


@functools.cache
def library() -> Path:
    return _build("steered.so", ("-shared",), SANITIZED, with_main=False)


@functools.cache
def executable(*, sanitize: bool = False) -> Path:
    return _build("steered", (), sanitize, with_main=True)


@functools.cache
def _directory() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="steered-")


def _build(name: str, kind: tuple[str, ...], sanitize: bool, *, with_main: bool) -> Path:
    sources = [s for s in sorted(SOURCE_DIR.rglob("*.c")) if with_main or s != MAIN_SOURCE]
    flags = _FLAGS + (_SANITIZER_FLAGS if sanitize else ())
    output = Path(_directory().name) / f"{'sanitized-' if sanitize else ''}{name}"
    words: list[str | Path] = [*flags, *kind, f"-I{SOURCE_DIR}", "-o", output, PROGRAM, *sources, "-lm", "-lpthread"]
    subprocess.run([*compiler_words(), *words], check=True)
    return output
