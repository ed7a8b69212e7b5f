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


def drops_of(switch: SwitchEngine) -> dict[str, int]:
    """Return how many packets were dropped for each reason that occurred."""
    return {reason: count for reason, count in switch.statistics()["drops"].items() if count}


def sent(switch: SwitchEngine, frame: bytes, port: int = 0, now_ns: int = 0) -> tuple[int, bytes]:
    """Send a frame that must not be dropped; return (port, frame) of its departure."""
    [(departure_port, _, departed)] = switch.step(port, frame, now_ns)
    return departure_port, departed


def crc(data: bytes, bits: int, polynomial: int, initial: int, final: int, data_in: bool, result_out: bool) -> int:
    """Return a CRC computed bit by bit, as the catalogue defines it."""

    def reflected(value: int, width: int) -> int:
        return int(f"{value:0{width}b}"[::-1], 2)

    value = initial
    for byte in data:
        value ^= (reflected(byte, 8) if data_in else byte) << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial if value >> (bits - 1) else value << 1) & ((1 << bits) - 1)
    return (reflected(value, bits) if result_out else value) ^ final


def crc16(data: bytes) -> int:
    """Return CRC-16/ARC."""
    return crc(data, 16, 0x8005, 0, 0, data_in=True, result_out=True)
