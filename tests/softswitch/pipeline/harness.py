# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Drives a built program through pipeline.h from Python, with a copy of its structs and a minimal one-packet target.

It must not know queues or ports. Tables, actions and fields are identified by their P4 names.
"""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softswitch.build import build_library
from tests.softswitch.programs.steered import SANITIZED

PROGRAMS = Path(__file__).resolve().parents[1] / "programs" / "artifacts"
DROP_PORT = 511
HEADROOM = 256
U16, U32, U64, I32 = c.c_uint16, c.c_uint32, c.c_uint64, c.c_int32


class StandardMetadata(c.Structure):
    """struct sw_standard_metadata."""

    _fields_ = (
        ("ingress_global_timestamp", U64),
        ("egress_global_timestamp", U64),
        ("ingress_port", U32),
        ("egress_spec", U32),
        ("egress_port", U32),
        ("instance_type", U32),
        ("packet_length", U32),
        ("enq_timestamp", U32),
        ("enq_qdepth", U32),
        ("deq_timedelta", U32),
        ("deq_qdepth", U32),
        ("mcast_grp", U32),
        ("egress_rid", U32),
        ("checksum_error", U32),
        ("parser_error", U32),
        ("priority", U32),
        ("qid", U32),
    )


class Requests(c.Structure):
    """struct sw_requests."""

    _fields_ = (
        ("clone", c.c_bool),
        ("resubmit", c.c_bool),
        ("recirculate", c.c_bool),
        ("truncate", c.c_bool),
        ("clone_fields", I32),
        ("resubmit_fields", I32),
        ("recirculate_fields", I32),
        ("clone_session", U32),
        ("truncate_bytes", U32),
        ("branch", c.c_char_p),
        ("dropped_at", c.c_char_p),
        ("dropped_in", c.c_char_p),
    )


class Packet(c.Structure):
    """struct sw_packet."""

    _fields_ = (
        ("next", c.c_void_p),
        ("std", StandardMetadata),
        ("requests", Requests),
        ("head", U32),
        ("len", U32),
        ("capacity", U32),
        ("parsed_bytes", U32),
        ("grown_bytes", I32),
        ("buffer", c.c_void_p),
        ("phv", c.c_void_p),
    )


class FieldInfo(c.Structure):
    """struct sw_field_info."""

    _fields_ = (("name", c.c_char_p), ("bits", U16))


class KeyInfo(c.Structure):
    """struct sw_key_info."""

    _fields_ = (("name", c.c_char_p), ("bits", U16), ("kind", c.c_uint8))


class ActionInfo(c.Structure):
    """struct sw_action_info."""

    _fields_ = (("name", c.c_char_p), ("params", c.POINTER(FieldInfo)), ("n_params", U16))


class TableInfo(c.Structure):
    """struct sw_table_info."""

    _fields_ = (
        ("name", c.c_char_p),
        ("keys", c.POINTER(KeyInfo)),
        ("actions", c.POINTER(U16)),
        ("n_keys", U16),
        ("n_actions", U16),
        ("max_entries", U32),
        ("action_profile", I32),
        ("direct_counter", I32),
        ("direct_meter", I32),
        ("default_action", I32),
        ("default_is_const", c.c_bool),
        ("entries_are_const", c.c_bool),
    )


class ProfileInfo(c.Structure):
    """struct sw_profile_info."""

    _fields_ = (("name", c.c_char_p), ("max_members", U32), ("has_selector", c.c_bool))


class ArrayInfo(c.Structure):
    """struct sw_array_info."""

    _fields_ = (
        ("name", c.c_char_p),
        ("count", U32),
        ("bits", U16),
        ("is_direct", c.c_bool),
        ("counts_bytes", c.c_bool),
        ("meter_rates", c.c_uint8),
    )


class DigestInfo(c.Structure):
    """struct sw_digest_info."""

    _fields_ = (("name", c.c_char_p), ("fields", c.POINTER(FieldInfo)), ("n_fields", U16))


class CrcInfo(c.Structure):
    """struct sw_crc_info."""

    _fields_ = (("name", c.c_char_p), ("bits", U16))


_PASS = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Packet))


class Program(c.Structure):
    """struct sw_program."""

    _fields_ = (
        ("abi", U32),
        ("name", c.c_char_p),
        ("phv_bytes", c.c_size_t),
        ("phv_reset_bytes", c.c_size_t),
        ("actions", c.POINTER(ActionInfo)),
        ("tables", c.POINTER(TableInfo)),
        ("profiles", c.POINTER(ProfileInfo)),
        ("registers", c.POINTER(ArrayInfo)),
        ("counters", c.POINTER(ArrayInfo)),
        ("meters", c.POINTER(ArrayInfo)),
        ("digests", c.POINTER(DigestInfo)),
        ("crcs", c.POINTER(CrcInfo)),
        ("n_actions", U16),
        ("n_tables", U16),
        ("n_profiles", U16),
        ("n_registers", U16),
        ("n_counters", U16),
        ("n_meters", U16),
        ("n_digests", U16),
        ("n_crcs", U16),
        ("init", c.CFUNCTYPE(c.c_int, c.c_void_p)),
        ("ingress", _PASS),
        ("egress", _PASS),
        ("copy_fields", c.CFUNCTYPE(None, I32, c.POINTER(Packet), c.POINTER(Packet))),
        ("parse", _PASS),
        ("copy_headers", c.CFUNCTYPE(None, c.POINTER(Packet), c.POINTER(Packet))),
    )


class CValue(c.Structure):
    """struct sw_value."""

    _fields_ = (("bytes", c.c_char_p), ("n_bytes", U16))


class CMatch(c.Structure):
    """struct sw_match."""

    _fields_ = (("value", CValue), ("mask", CValue), ("prefix_bits", U16))


class MeterRate(c.Structure):
    """struct sw_meter_rate."""

    _fields_ = (("units_per_us", c.c_double), ("burst_units", U32))


def value(number: int, bits: int) -> CValue:
    """Return a number as a struct sw_value."""
    n_bytes = (bits + 7) // 8
    return CValue(number.to_bytes(n_bytes, "big"), n_bytes)


@dataclass
class Frame:
    """A packet and its memory."""

    packet: Packet
    buffer: c.Array[c.c_char]
    phv: c.Array[c.c_char]

    def bytes(self) -> bytes:
        """Return the frame, or between the passes the payload."""
        return self.buffer.raw[self.packet.head : self.packet.head + self.packet.len]


class Pipeline:
    """A pipeline of a program."""

    def __init__(self, json_path: Path | str, *, seed: int = 1) -> None:
        path = Path(json_path) if isinstance(json_path, Path) else PROGRAMS / f"{json_path}.json"
        self.lib = c.CDLL(str(build_library(path, sanitize=SANITIZED)))
        self.program = Program.in_dll(self.lib, "sw_program")
        self.lib.sw_pipeline_create.restype = c.c_void_p
        self.lib.sw_pipeline_create.argtypes = (c.POINTER(Program), U64)
        self.lib.sw_table_count.restype = c.c_int64
        self.handle = c.c_void_p(self.lib.sw_pipeline_create(c.byref(self.program), seed))
        assert self.handle.value

    def close(self) -> None:
        """Free the pipeline."""
        self.lib.sw_pipeline_destroy(self.handle)

    # ---- packets ----

    def frame(self, data: bytes, port: int = 0, **std: int) -> Frame:
        """Return a packet in the state in which the target passes it to ingress."""
        capacity = HEADROOM + len(data) + 512
        buffer = c.create_string_buffer(capacity)
        c.memmove(c.byref(buffer, HEADROOM), data, len(data))
        phv = c.create_string_buffer(self.program.phv_bytes + 16)
        packet = Packet(head=HEADROOM, len=len(data), capacity=capacity, buffer=c.addressof(buffer))
        packet.phv = (c.addressof(phv) + 15) & ~15
        packet.std.ingress_port = port
        packet.std.packet_length = len(data)
        for name, number in std.items():
            setattr(packet.std, name, number)
        packet.requests.clone_fields = packet.requests.resubmit_fields = packet.requests.recirculate_fields = -1
        return Frame(packet, buffer, phv)

    def ingress(self, frame: Frame) -> None:
        """Run parser, checksum verification and ingress."""
        self.program.ingress(self.handle, c.byref(frame.packet))

    def egress(self, frame: Frame, port: int | None = None) -> None:
        """Run egress, checksum update and deparser."""
        frame.packet.std.egress_port = frame.packet.std.egress_spec if port is None else port
        frame.packet.std.egress_spec = 0
        frame.packet.std.packet_length += frame.packet.grown_bytes
        frame.packet.grown_bytes = 0
        self.program.egress(self.handle, c.byref(frame.packet))

    def send(self, data: bytes, port: int = 0, **std: int) -> tuple[int, bytes] | None:
        """Run both passes; return (egress port, frame), or None if the packet is dropped."""
        frame = self.frame(data, port, **std)
        self.ingress(frame)
        if frame.packet.std.egress_spec == DROP_PORT:
            return None
        self.egress(frame)
        if frame.packet.std.egress_spec == DROP_PORT:
            return None
        out = frame.bytes()
        if frame.packet.requests.truncate:
            out = out[: frame.packet.requests.truncate_bytes]
        return frame.packet.std.egress_port, out

    # ---- names ----

    def _find(self, infos: c._Pointer[Any], count: int, name: str) -> int:
        for number in range(count):
            full_name = infos[number].name.decode()
            if full_name == name or full_name.endswith(f".{name}"):
                return number
        raise KeyError(name)

    def table(self, name: str) -> int:
        """Return a table's id."""
        return self._find(self.program.tables, self.program.n_tables, name)

    def action(self, table: int, name: str) -> int:
        """Return the id of a table's action."""
        info = self.program.tables[table]
        for number in range(info.n_actions):
            full_name = self.program.actions[info.actions[number]].name.decode()
            if full_name == name or full_name.endswith(f".{name}"):
                return int(info.actions[number])
        raise KeyError(name)

    def profile(self, name: str) -> int:
        """Return an action profile's id."""
        return self._find(self.program.profiles, self.program.n_profiles, name)

    def register(self, name: str) -> int:
        """Return a register's id."""
        return self._find(self.program.registers, self.program.n_registers, name)

    def counter(self, name: str) -> int:
        """Return a counter's id."""
        return self._find(self.program.counters, self.program.n_counters, name)

    def meter(self, name: str) -> int:
        """Return a meter's id."""
        return self._find(self.program.meters, self.program.n_meters, name)

    # ---- control ----

    def args(self, action: int, numbers: list[int]) -> c.Array[CValue]:
        """Return action arguments as structs."""
        info = self.program.actions[action]
        assert len(numbers) == info.n_params
        return (CValue * max(len(numbers), 1))(*(value(n, info.params[i].bits) for i, n in enumerate(numbers)))

    def matches(self, table: int, keys: list[object]) -> c.Array[CMatch]:
        """Return keys as structs: each key is a number (exact), or (number, prefix length, mask or range end)."""
        info = self.program.tables[table]
        result = (CMatch * max(len(keys), 1))()
        for number, key in enumerate(keys):
            bits, kind = info.keys[number].bits, info.keys[number].kind
            first, extra = key if isinstance(key, tuple) else (key, (1 << bits) - 1)
            assert isinstance(first, int) and isinstance(extra, int)
            result[number].value = value(first, bits)
            if kind == 1:
                result[number].prefix_bits = extra
            else:
                result[number].mask = value(extra, bits)
        return result

    def add(self, table: str, keys: list[object], action: str, args: list[int], priority: int = 0) -> int:
        """Add an entry; return its handle or a negative errno."""
        number = self.table(table)
        chosen = self.action(number, action)
        handle = U32()
        error = self.lib.sw_table_add(
            self.handle, number, self.matches(number, keys), chosen, self.args(chosen, args), priority, c.byref(handle)
        )
        return error or handle.value

    def set_default(self, table: str, action: str, args: list[int]) -> int:
        """Set a default action; return 0 or a negative errno."""
        number = self.table(table)
        chosen = self.action(number, action)
        return int(self.lib.sw_table_set_default(self.handle, number, chosen, self.args(chosen, args)))

    def read_register(self, name: str, index: int) -> int:
        """Read a register cell."""
        number = self.register(name)
        n_bytes = (self.program.registers[number].bits + 7) // 8
        data = c.create_string_buffer(n_bytes)
        assert self.lib.sw_register_read(self.handle, number, index, data, n_bytes) == 0
        return int.from_bytes(data.raw, "big")

    def write_register(self, name: str, index: int, number: int) -> int:
        """Write a register cell; return 0 or a negative errno."""
        register = self.register(name)
        new = value(number, self.program.registers[register].bits)
        return int(self.lib.sw_register_write(self.handle, register, index, new))

    def read_counter(self, name: str, index: int) -> tuple[int, int]:
        """Return (packets, bytes) of a counter cell."""
        packets, n_bytes = U64(), U64()
        number = self.counter(name)
        assert self.lib.sw_counter_read(self.handle, number, index, c.byref(packets), c.byref(n_bytes)) == 0
        return packets.value, n_bytes.value

    def set_time(self, now_us: int) -> None:
        """Set the clock of meters."""
        self.lib.sw_pipeline_set_time(self.handle, U64(now_us))

    def digests(self) -> list[tuple[int, bytes]]:
        """Drain the digests; return (id, packed fields) for each."""
        drained: list[tuple[int, bytes]] = []
        emit = c.CFUNCTYPE(None, c.c_void_p, U16, c.POINTER(c.c_uint8), U32)(
            lambda _ctx, digest, data, n: drained.append((digest, bytes(data[:n])))
        )
        self.lib.sw_digest_drain(self.handle, emit, None)
        return drained
