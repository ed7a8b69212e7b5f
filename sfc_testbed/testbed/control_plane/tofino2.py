# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Table entries of the Tofino 2 program, switch-tofino2/, made from the entries of the program for v1model.

Both programs get the same settings. The chip counts depths in cells, has a code for a port's rate where v1model has a
factor, and periods of a power of two (docs/targets/tofino2.md). The entries are at a dilation of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from math import ceil, log
from typing import Any

from sfc_testbed.testbed.control_plane.entries import Command, MirrorSession, TableEntry, Value
from sfc_testbed.wire.constants import BTS_MIRROR_SESSION, CLASS_COUNT, PFC_MAX_QUANTA, PFC_QUANTUM_BITS

CELL_BYTES = 176
TICK_NS = 256
RATE_CODES: Mapping[int, int] = {25: 1, 50: 2, 100: 3, 200: 4, 400: 5}
"""Rate of a port in Gb/s -> its code in the program."""
PERIODS_US = (2, 4, 8, 16)
RECIRCULATION_PORT = 6
"""The recirculation port of the first pipe."""
PORTS_OF_PIPE, PIPES, QUEUES_OF_PORT = 8, 4, 128
"""Front-panel ports of 400 Gb/s of a pipe, pipes, and the traffic manager's queues of a port."""
SLOTS = 64
LENGTH_BITS = 8
"""The estimator adds 1 / 2^8 of cells."""
COPY_BYTES = 96
"""Length to which the mirror session truncates a copy: the mirror's header, and headers to the end of TCP or BTH."""
_Q24 = 1 << 24
_BIT_US = 8_000_000


class UnsupportedEntry(ValueError):
    """A setting that the Tofino 2 program does not have; one line."""


@dataclass(frozen=True)
class Row:
    """An entry in the form of BF Runtime; without keys the default entry. A network is a key with a prefix length.

    Tables of the chip itself begin with `$`. A low-pass filter has no action.
    """

    table: str
    action: str
    key: Mapping[str, Value] = field(default_factory=dict)
    data: Mapping[str, Value] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the entry as bfrt_python's add_from_json reads it."""
        is_of_chip = self.table.startswith("$")
        names_itself = is_of_chip or self.action in ("", "NoAction")
        action = self.action if names_itself else f"{self.table.rpartition('.')[0]}.{self.action}"
        key = {
            name: [str(value.network_address), value.prefixlen] if isinstance(value, IPv4Network) else _plain(value)
            for name, value in self.key.items()
        }
        data = {name: _plain(value) for name, value in self.data.items()}
        name = self.table if is_of_chip else f"pipe.{self.table}"
        return {"table_name": name, "action": action or None, "key": key, "data": data}


def tofino2_entries(commands: Iterable[Command]) -> list[Row]:
    """Return the entries for the commands of a switch. UnsupportedEntry for a mechanism that only v1model has."""
    every = list(commands)
    rows = [Row("SfcIngress.validity.ingress_role", "recirculation", {"port": RECIRCULATION_PORT})]
    groups = [entry for entry in every if isinstance(entry, TableEntry) and entry.action == "ecmp"]
    sizes = {entry.parameters[0]: entry.parameters[1] for entry in groups}
    for command in every:
        if isinstance(command, MirrorSession):
            rows += _session(command)
        elif isinstance(command, TableEntry) and command.table in _CONVERTED:
            rows += _CONVERTED[command.table](command, sizes)
        elif not isinstance(command, TableEntry) or command.table not in _ELSEWHERE:
            command_name = " ".join(str(command).split()[:2])
            reason = "it has SFC and ECMP, but no ECN, INT, PFC, BFC or other load balancing"
            raise UnsupportedEntry(f"switch-tofino2 has nothing for `{command_name}`: {reason}")
    rates = {row.data["of_port"] for row in rows if row.table == "SfcEgress.sfc_p.sfc_p"}
    return [*rows, *(row for gbps, code in RATE_CODES.items() if code in rates for row in _quanta(gbps, code))]


def _place(port: Value) -> tuple[int, int]:
    """Return the pipe of a switch's port and its place there, both from 0. UnsupportedEntry if there is none."""
    pipe, place = divmod(_number(port) - 1, PORTS_OF_PIPE)
    if pipe >= PIPES:
        raise UnsupportedEntry(f"a Tofino 2 has {PORTS_OF_PIPE * PIPES} ports; this network has a switch with more")
    return pipe, place


def device_port(port: Value) -> int:
    """Return the chip's number of a switch's port: each pipe has eight of eight lanes, behind its own eight."""
    pipe, place = _place(port)
    return pipe << 7 | 8 * (place + 1)


def _plain(value: Value) -> int | str:
    return value if isinstance(value, int) else str(value)


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _cells(value: Value) -> int:
    """Return a threshold in cells; a depth of whole cells is above it exactly if it is above it in bytes."""
    return _number(value) // CELL_BYTES


def _rate_code(gbps: float) -> int:
    code = next((code for known, code in RATE_CODES.items() if abs(gbps - known) < known / 100), None)
    if code is None:
        rates = ", ".join(map(str, RATE_CODES))
        raise UnsupportedEntry(f"switch-tofino2 has no code for a port of about {gbps:.3g} Gb/s; it has {rates}")
    return code


def _rate_of_byte_time(byte_us_q24: Value) -> int:
    return _rate_code(_BIT_US * _Q24 / _number(byte_us_q24) / 1e9)


def _session(session: MirrorSession) -> Iterator[Row]:
    if session.number != BTS_MIRROR_SESSION:
        return  # pause frames need no copy here
    data: dict[str, Value] = {"$direction": "INGRESS", "$session_enable": 1, "$ucast_egress_port": RECIRCULATION_PORT}
    data |= {"$ucast_egress_port_valid": 1, "$max_pkt_len": COPY_BYTES}
    yield Row("$mirror.cfg", "$normal", {"$sid": session.number}, data)
    yield Row("SfcIngress.bts.bts_session", "want_bts", {}, {"session": session.number})


def _identity(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    data = {"switch_id": entry.parameters[0], "ecmp_salt": _number(entry.parameters[1]) | 1}
    yield Row("SfcIngress.validity.identity", "set_switch", {}, data)


def _role(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    key: dict[str, Value] = {"port": device_port(entry.keys[0])}
    yield Row("SfcIngress.validity.ingress_role", "server_facing", key)
    yield Row("SfcIngress.validity.server_address", "NoAction", {**key, "address": entry.parameters[0]})


def _class(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    data = {"traffic_class": entry.parameters[0], "queue": entry.parameters[0]}
    yield Row("SfcIngress.forwarding.dscp_to_class", "set_class", {"dscp": entry.keys[0]}, data)


def _route(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    data = _hop(entry) if entry.action == "next_hop" else {"group": entry.parameters[0]}
    yield Row("SfcIngress.forwarding.ipv4_lpm", entry.action, {"dst_addr": entry.keys[0]}, data)


def _member(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    """Yield the slots of a member. A group's members take turns."""
    group, member = entry.keys
    for slot in range(_number(member), SLOTS, _number(sizes[group])):
        yield Row("SfcIngress.forwarding.ecmp_members", "next_hop", {"group": group, "slot": slot}, _hop(entry))


def _hop(entry: TableEntry) -> dict[str, Value]:
    port, source, destination = entry.parameters
    return {"port": device_port(port), "src_addr": source, "dst_addr": destination}


def _trigger(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    if entry.action != "ingress_bts":
        raise UnsupportedEntry(f"switch-tofino2 has no {entry.action}; it triggers a BTS at ingress")
    data = dict(zip(("q_th_cells", "q_tg_cells"), map(_cells, entry.parameters), strict=True))
    yield Row("SfcIngress.bts.bts_trigger", "ingress_bts", {"class": entry.keys[0]}, data)


def _port(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    """Yield the rate of a port, and the numbers that its pipe's traffic manager has for its queues."""
    if entry.action != "port_speed":
        raise UnsupportedEntry("switch-tofino2 has no pause by shifts; use switch.pause_method=exact")
    number, (byte_us, is_server) = device_port(entry.keys[0]), entry.parameters
    pipe, place = _place(entry.keys[0])
    first_queue = pipe << 11 | QUEUES_OF_PORT * place
    data: dict[str, Value] = {"of_port": _rate_of_byte_time(byte_us), "server_facing": is_server}
    yield Row("SfcEgress.signal_builder.bts_builder.congested_port", "port_speed", {"port": number}, data)
    for of_class in range(CLASS_COUNT):
        key = {"port": number, "class": of_class}
        yield Row("SfcIngress.queue_read.queue_number", "set_queue", key, {"number": first_queue + of_class})


def _suppression(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    if entry.action != "by_clock":
        raise UnsupportedEntry(f"switch-tofino2 has no suppression {entry.action}; its periods follow the clock")
    periods_q32, tick_bits, _ = map(_number, entry.parameters)
    period_us = (1 << 32 + tick_bits) / periods_q32
    nearest = min(PERIODS_US, key=lambda known: abs(known - period_us))
    if not nearest / 2 <= period_us <= nearest * 2:
        known = ", ".join(map(str, PERIODS_US))
        raise UnsupportedEntry(f"switch-tofino2 has suppression periods of {known} us; this run has {period_us:.3g} us")
    yield Row("SfcIngress.suppression_key.suppression", f"by_clock_{nearest}us")


def _cache(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    yield Row("SfcIngress.bts.pause_cache", entry.action)


def _watched(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    index, halvings_q24, tau_rate, byte_us, q_th, q_tg = entry.parameters
    tau_ns = round(1000 * _Q24 / (_number(halvings_q24) * log(2)))
    low_pass: dict[str, Value] = {"$LPF_SPEC_TYPE": "RATE", "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR": LENGTH_BITS}
    low_pass |= dict.fromkeys(("$LPF_SPEC_GAIN_TIME_CONSTANT_NS", "$LPF_SPEC_DECAY_TIME_CONSTANT_NS"), tau_ns)
    yield Row("SfcIngress.bts.find_cause.estimator.filtered", "", {"$LPF_INDEX": index}, low_pass)
    data = {
        "index": index,
        "q_th_and_rate": _cells(_number(q_th) + _number(tau_rate)),
        "q_tg_and_rate": _cells(_number(q_tg) + _number(tau_rate)),
        "of_link": _rate_of_byte_time(byte_us),
    }
    yield Row("SfcIngress.watched.watched_destination", "watch", {"dst_addr": entry.keys[0]}, data)


def _sfc_p(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    if entry.action != "pause_server":
        raise UnsupportedEntry("switch-tofino2 has no quanta by shifts; use switch.sfc_p_quanta=exact")
    per_us_q24, _, mac = entry.parameters
    gbps = _number(per_us_q24) / _Q24 * PFC_QUANTUM_BITS / 1000
    data = {"of_port": _rate_code(gbps), "port_address": mac}
    yield Row("SfcEgress.sfc_p.sfc_p", "pause_server", {"port": device_port(entry.keys[0])}, data)


def _flow_class(entry: TableEntry, sizes: Mapping[Value, Value]) -> Iterator[Row]:
    classes = 1 << _number(entry.parameters[0])
    yield Row("SfcEgress.sfc_p.flow_class", "pause_classes", {"dscp": entry.keys[0]}, {"classes": classes})


def _quanta(gbps: int, code: int) -> Iterator[Row]:
    """Yield the quanta of all pauses that a frame can hold, rounded up. A longer pause gets the default, the most."""
    pause_us = 0
    while (quanta := ceil(pause_us * gbps * 1000 / PFC_QUANTUM_BITS)) < PFC_MAX_QUANTA:
        key = {"rate": code, "pause_us": pause_us}
        yield Row("SfcEgress.sfc_p.pause_quanta", "set_quanta", key, {"of_pause": quanta})
        pause_us += 1


_Converted = Callable[[TableEntry, Mapping[Value, Value]], Iterable[Row]]
_CONVERTED: Mapping[str, _Converted] = {
    "identity": _identity,
    "ingress_role": _role,
    "dscp_to_class": _class,
    "ipv4_lpm": _route,
    "ecmp_members": _member,
    "bts_trigger": _trigger,
    "congested_port": _port,
    "suppression": _suppression,
    "pause_cache": _cache,
    "watched_destination": _watched,
    "sfc_p": _sfc_p,
    "flow_class": _flow_class,
}
_ELSEWHERE = frozenset({"buffer_size", "class_threshold", "pause_source", "time_stamp"})
"""Tables without a counterpart: the traffic manager has the buffer, and the others are fixed in the program."""
