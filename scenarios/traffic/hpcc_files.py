# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Readers and writers of the HPCC simulator's files (docs/sources.md#message-sizes).

A flow file has the number of flows on its first line, then a line `src dst pg dport bytes start_s` for each flow.
The ConWeave simulator's files have no `dport`. Lines after the last flow are not read. Hosts are numbered from 0 and
times begin at 2 s. `dport` is 200 for incast and 100 for other flows. An FCT line is
`sip dip sport dport bytes start_ns fct_ns ideal_fct_ns`, with addresses in hexadecimal. The source ports of each pair
of hosts count from 10000, in 16 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import IPv4Address
from typing import NamedTuple

from sfc_testbed.request.shown import shortened, shown
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.traffic.numbers import Row, decimal, is_number, rows_of, whole

INCAST_PORT = 200
OTHER_PORT = 100
PRIORITY_GROUP = 3
START_S = 2
_NS = 1_000_000_000
_FIRST_SOURCE_PORT = 10_000
_PORTS = 1 << 16
_MOST_START_S = 3600
"""The latest start: the length of the longest run. Later times are probably not in seconds."""
_MOST_DIGITS = 12
_COLUMNS = {6: "`src dst pg dport bytes start_s`", 5: "`src dst pg bytes start_s`"}
"""The columns of a flow by their number: of the HPCC simulator, and of the ConWeave simulator, which has no port."""
_OLD_COLUMNS = 6


@dataclass(frozen=True)
class LoadedFlows:
    """The flows of a file, with their line numbers, and sentences about how the file was read."""

    numbered: Iterator[tuple[int, FlowRequest]]
    notes: tuple[str, ...]


class _Start(NamedTuple):
    """A flow with the time that the file states."""

    src: str
    dst: str
    size_bytes: int
    start_s: Decimal
    tag: str


def parse_hpcc_flows(lines: Sequence[str]) -> LoadedFlows:
    """Parse a flow file. ValueError names an invalid line, or a wrong count."""
    rows, notes = _announced(list(rows_of(lines)))
    starts = [_start(row, len(rows[0].words)) for row in rows]
    origin_s, more_notes = _origin_s([(start.start_s, row) for start, row in zip(starts, rows, strict=True)])
    return LoadedFlows(
        ((row.line, _request(start, origin_s)) for row, start in zip(rows, starts, strict=True)),
        (*notes, *more_notes),
    )


def is_hpcc_file(lines: Iterable[str]) -> bool:
    """Whether the first row is a number of flows, or a flow of numbers only."""
    first = next(rows_of(lines), None)
    if first is None:
        return False
    return _is_count(first.text) or (len(first.words) in _COLUMNS and all(map(is_number, first.words)))


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _announced(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Return the rows of flows: as many as the first row says, as the simulator reads them."""
    first = rows[0]
    if len(first.words) > 1:
        return rows, [f"line {first.line} is a flow, not the number of flows, so every row is read as a flow"]
    text, flows = first.text.lstrip("0") or "0", rows[1:]
    announced = whole(text) if len(text) <= _MOST_DIGITS else 10**_MOST_DIGITS
    if announced > len(flows) or (flows and announced < 1):
        raise ValueError(
            f"line {first.line} announces {shortened(first.text)} flows, but the file has {len(flows)}; "
            "correct the number, or add the missing lines"
        )
    spare = len(flows) - announced
    lines = "line is" if spare == 1 else "lines are"
    notes = [f"line {first.line} announces {announced} flows; {spare} more {lines} ignored"] if spare else []
    return flows[:announced], notes


def _start(row: Row, columns: int) -> _Start:
    """Return the flow of a row. ValueError names the line and the columns that it should have."""
    try:
        if len(row.words) != columns or columns not in _COLUMNS:
            raise ValueError(f"not {columns} columns")
        src, dst, _, *port, size, start = row.words
        start_s = decimal(start)
        if start_s < 0 or not all(0 <= whole(word) < _PORTS for word in port):
            raise ValueError("not a time and a port")
        tag = "incast" if port and whole(port[0]) == INCAST_PORT else "background"
        return _Start(f"h{whole(src) + 1}", f"h{whole(dst) + 1}", whole(size), start_s, tag)
    except ValueError as error:
        raise ValueError(
            f"line {row.line} is not {_COLUMNS.get(columns, _COLUMNS[6])}: {shown(row.text)}{_advice(row)}"
        ) from error


def _advice(row: Row) -> str:
    """Return the end of a message about a row of numbers. Older simulators write a size in packets and a stop time."""
    if len(row.words) not in _COLUMNS or not all(map(is_number, row.words)):
        return ""
    advice = "; all but start_s are whole numbers"
    if len(row.words) == _OLD_COLUMNS and (decimal(row.words[3]) >= _PORTS or "." in row.words[4]):
        advice += "; if these are `src dst pg packets start_s stop_s`, write bytes, and leave out the stop time"
    return advice


def _origin_s(starts_s: Sequence[tuple[Decimal, Row]]) -> tuple[Decimal, list[str]]:
    """Return the time in the file at which the run begins: 2 s, or the first start if it is not within a second of it.

    The simulator's traffic generator begins at 2 s, and its examples begin at other times.
    """
    first_s, row = min(starts_s, default=(Decimal(START_S), None))
    if row is not None and first_s > _MOST_START_S:
        text = f"start_s: must be at most {_MOST_START_S} s, not {shortened(row.words[-1])}; write the time in seconds"
        raise ValueError(f"line {row.line}: {text}")
    is_usual = START_S <= first_s < START_S + 1
    origin_s = Decimal(START_S) if is_usual else first_s
    notes = [f"{origin_s.normalize():f} s in the file is the start of the run"] if origin_s else []
    return origin_s, notes


def _request(start: _Start, origin_s: Decimal) -> FlowRequest:
    start_ns = int(((start.start_s - origin_s) * _NS).to_integral_value())
    return FlowRequest(start.src, start.dst, start.size_bytes, start_ns, start.tag)


def format_hpcc_flows(flows: Sequence[FlowRequest]) -> str:
    """Format flows as a flow file. Hosts must be named h1, h2, ...."""
    lines = [str(len(flows))]
    for flow in sorted(flows, key=lambda flow: flow.start_ns):
        port = INCAST_PORT if flow.tag == "incast" else OTHER_PORT
        start = Decimal(flow.start_ns) / _NS + START_S
        lines.append(f"{_number(flow.src)} {_number(flow.dst)} {PRIORITY_GROUP} {port} {flow.size_bytes} {start:.9f}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class FinishedFlow:
    """The columns of a flows trace row that an FCT table needs."""

    src: str
    dst: str
    tag: str
    number: int
    """Position among the flows of the same pair of hosts, from 0 in order of start."""
    size_bytes: int
    start_us: float
    fct_us: float
    ideal_fct_us: float


def format_hpcc_fct(flows: Iterable[FinishedFlow], addresses: Mapping[str, IPv4Address]) -> str:
    """Format completed flows as an FCT table, in order of completion as the simulator writes it."""
    lines = []
    ordered = sorted(flows, key=lambda flow: flow.start_us + flow.fct_us)
    for flow in ordered:
        port = INCAST_PORT if flow.tag == "incast" else OTHER_PORT
        source_port = (_FIRST_SOURCE_PORT + flow.number) % _PORTS
        ends = f"{int(addresses[flow.src]):08x} {int(addresses[flow.dst]):08x} {source_port} {port}"
        start_ns = round(flow.start_us * 1000) + START_S * _NS
        lines.append(
            f"{ends} {flow.size_bytes} {start_ns} {round(flow.fct_us * 1000)} {round(flow.ideal_fct_us * 1000)}"
        )
    return "".join(f"{line}\n" for line in lines)


def _number(host: str) -> int:
    return int(host.removeprefix("h")) - 1
