# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on the switch as a whole: its program, ports, clock and state. Methods bear the names of the calls."""

from __future__ import annotations

import time
from typing import Any, NoReturn

import psutil

from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import CalculationCode, Commands, Refused, ask

_UNDECLARED = 0
"""The code of a method that declares no exception."""


class Management:
    """What belongs to no table."""

    def __init__(self, control: Commands, program: Program, device_id: int, thrift_port: int) -> None:
        self._control = control
        self._program = program
        self._device_id = device_id
        self._thrift_port = thrift_port

    def bm_get_config(self) -> str:
        return self._program.text

    def bm_get_config_md5(self) -> bytes:
        return self._program.md5

    def bm_mgmt_get_info(self) -> Any:
        return interface().SwitchInfo(self._device_id, self._thrift_port)

    def bm_dev_mgr_show_ports(self) -> list[Any]:
        """Ports with an interface; up as the kernel says, or always where a port is none of the kernel's."""
        names, *rows = (line.split() for line in ask(self._control, ["show_ports"], _UNDECLARED).splitlines())
        states = psutil.net_if_stats()
        ports = []
        for number, device, *settings in rows:
            is_up = states[device].isup if device in states else True
            ports.append(interface().Port(int(number), device, is_up, dict(zip(names[2:], settings, strict=True))))
        return ports

    def bm_get_id_from_name(self, context: int, resource: int, name: str) -> int:
        return self._program.identifier(resource, name)

    def bm_reset_state(self) -> None:
        ask(self._control, ["reset_state"], _UNDECLARED)

    def bm_set_crc16_custom_parameters(self, context: int, calculation: str, parameters: Any) -> None:
        self._refuse_parameters(calculation, "crc16_custom")

    def bm_set_crc32_custom_parameters(self, context: int, calculation: str, parameters: Any) -> None:
        self._refuse_parameters(calculation, "crc32_custom")

    def bm_set_toeplitz_hash_key(self, context: int, calculation: str, key: bytes) -> None:
        self._refuse_parameters(calculation, "toeplitz")

    def get_time_elapsed_us(self) -> int:
        return int(ask(self._control, ["get_time_elapsed"], _UNDECLARED))

    def get_time_since_epoch_us(self) -> int:
        """The wall clock, which is BMv2's too."""
        return time.time_ns() // 1000

    def _refuse_parameters(self, calculation: str, algorithm: str) -> NoReturn:
        """By what is wrong first: parameters of a hash are compiled in."""
        known = self._program.calculations.get(calculation)
        if known is None:
            raise Refused(CalculationCode.INVALID_NAME, f"no calculation {calculation!r}")
        if known.algorithm != algorithm:
            raise Refused(CalculationCode.WRONG_TYPE, f"{calculation} is {known.algorithm}, not {algorithm}")
        raise Refused(CalculationCode.INVALID_PARAMETERS, f"the parameters of {calculation} are compiled in")
