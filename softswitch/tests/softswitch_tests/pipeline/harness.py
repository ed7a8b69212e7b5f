# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Switches that run the small P4 programs of these tests, and frames through them."""

from pathlib import Path

from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from softswitch_tests.programs.steered import SANITIZED

PROGRAMS = Path(__file__).resolve().parents[1] / "programs" / "artifacts"


def switch_with(program: str, *, seed: int = 1) -> SwitchEngine:
    return SwitchEngine(build_library(PROGRAMS / f"{program}.json", sanitize=SANITIZED), seed=seed)


def sent(switch: SwitchEngine, frame: bytes, port: int = 0, now_ns: int = 0) -> tuple[int, bytes]:
    """Send a frame that must not be dropped; return (port, frame) of its departure."""
    [(departure_port, _, departed)] = switch.step(port, frame, now_ns)
    return departure_port, departed
