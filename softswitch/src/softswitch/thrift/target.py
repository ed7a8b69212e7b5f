# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on the whole switch, its program, ports, clock, state and digests. Methods have the names of the calls."""

from __future__ import annotations

import time
from typing import Any

import psutil

from softswitch.control import Commands
from softswitch.operations import digests
from softswitch.thrift.digest_learning import Learning, LearningList
from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import UNDECLARED, CalculationCode, LearnCode, Refused, ask, refusing
from softswitch.thrift.values import as_bytes

_MS_PER_S = 1000


class Digests:
    """The digests of a switch."""

    def __init__(self, control: Commands, program: Program, device_id: int) -> None:
        self._control = control
        self._fields = {name: (number, widths) for number, (name, widths) in program.digests.items()}
        self._learning = Learning(program.digests, device_id)

    def messages(self, now_s: float, *, takes: bool) -> list[bytes]:
        """Return the messages that are due. The switch is polled for new digests only if `takes` is set."""
        if takes and self._fields:
            with refusing(UNDECLARED):
                taken = digests.take(self._control)
            for name, values in taken:
                number, widths = self._fields[name]
                parts = (as_bytes(value, bits) for value, bits in zip(values, widths, strict=True))
                self._learning.lists[number].learn(b"".join(parts), now_s)
        return self._learning.messages(now_s)

    def reset(self) -> None:
        """Reset the learning state together with the switch's state."""
        self._learning.reset()

    def bm_learning_ack(self, context: int, digest: int, buffer: int, samples: list[int]) -> None:
        self._list(digest).acknowledge(buffer, samples)

    def bm_learning_ack_buffer(self, context: int, digest: int, buffer: int) -> None:
        self._list(digest).acknowledge(buffer)

    def bm_learning_set_timeout(self, context: int, digest: int, timeout_ms: int) -> None:
        self._list(digest).timeout_s = _not_negative("a timeout", timeout_ms) / _MS_PER_S

    def bm_learning_set_buffer_size(self, context: int, digest: int, samples: int) -> None:
        self._list(digest).most_samples = _not_negative("a number of samples", samples)

    def _list(self, number: int) -> LearningList:
        if number not in self._learning.lists:
            raise Refused(LearnCode.INVALID_LIST_ID, f"no digest {number}")
        return self._learning.lists[number]


class Management:
    """The calls that belong to no table."""

    def __init__(
        self,
        control: Commands,
        program: Program,
        digests: Digests,
        device_id: int,
        thrift_port: int,
        notifications: str | None,
    ) -> None:
        self._control = control
        self._program = program
        self._digests = digests
        self._device_id = device_id
        self._thrift_port = thrift_port
        self._notifications = notifications

    def bm_get_config(self) -> str:
        return self._program.text

    def bm_get_config_md5(self) -> bytes:
        return self._program.md5

    def bm_mgmt_get_info(self) -> Any:
        return interface().SwitchInfo(self._device_id, self._thrift_port, self._notifications)

    def bm_dev_mgr_show_ports(self) -> list[Any]:
        """Return the ports with a device. Network interfaces have the kernel's link state; other devices are up."""
        names, *rows = (line.split() for line in ask(self._control, ["show_ports"], UNDECLARED).splitlines())
        states = psutil.net_if_stats()
        ports = []
        for number, device, *settings in rows:
            is_up = states[device].isup if device in states else True
            ports.append(interface().Port(int(number), device, is_up, dict(zip(names[2:], settings, strict=True))))
        return ports

    def bm_get_id_from_name(self, context: int, resource: int, name: str) -> int:
        return self._program.identifier(resource, name)

    def bm_reset_state(self) -> None:
        ask(self._control, ["reset_state"], UNDECLARED)
        self._digests.reset()

    def bm_set_crc16_custom_parameters(self, context: int, calculation: str, parameters: Any) -> None:
        self._set_parameters(calculation, 16, parameters)

    def bm_set_crc32_custom_parameters(self, context: int, calculation: str, parameters: Any) -> None:
        self._set_parameters(calculation, 32, parameters)

    def bm_set_toeplitz_hash_key(self, context: int, calculation: str, key: bytes) -> None:
        """Refuse the call: no supported program has this hash, so the calculation is unknown or of another type."""
        self._check_calculation(calculation, "toeplitz")

    def get_time_elapsed_us(self) -> int:
        return int(ask(self._control, ["get_time_elapsed"], UNDECLARED))

    def get_time_since_epoch_us(self) -> int:
        """Return the wall-clock time, as BMv2 does."""
        return time.time_ns() // 1000

    def _set_parameters(self, calculation: str, bits: int, parameters: Any) -> None:
        """Set CRC parameters, which arrive as signed numbers."""
        self._check_calculation(calculation, f"crc{bits}_custom")
        numbers = (parameters.polynomial, parameters.initial_value, parameters.final_xor)
        truths = (parameters.reflects_data, parameters.reflects_result)
        if None in (*numbers, *truths):
            raise Refused(CalculationCode.INVALID_PARAMETERS, f"a parameter of {calculation} is missing")
        words = [*(f"{number % (1 << bits):#x}" for number in numbers), *(str(truth).lower() for truth in truths)]
        ask(self._control, [f"set_crc{bits}_parameters", calculation, *words], CalculationCode.INVALID_PARAMETERS)

    def _check_calculation(self, calculation: str, algorithm: str) -> None:
        known = self._program.calculations.get(calculation)
        if known is None:
            raise Refused(CalculationCode.INVALID_NAME, f"no calculation {calculation!r}")
        if known.algorithm != algorithm:
            raise Refused(CalculationCode.WRONG_TYPE, f"{calculation} is {known.algorithm}, not {algorithm}")


def _not_negative(what: str, number: int) -> int:
    if number < 0:
        raise Refused(LearnCode.ERROR, f"{what} of {number}")
    return number
