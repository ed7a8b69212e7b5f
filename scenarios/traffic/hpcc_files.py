# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Readers and writers of the HPCC simulator's files (docs/sources.md#message-sizes).

A flow file has the number of flows on its first line, then a line `src dst pg dport bytes start_s` for each flow.
Hosts are numbered from 0 and times begin at 2 s. `dport` is 200 for incast and 100 for other flows. An FCT line is
`sip dip sport dport bytes start_ns fct_ns ideal_fct_ns`, with addresses in hexadecimal. The source ports of each pair
of hosts count from 10000, in 16 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from ipaddress import IPv4Address

from scenarios.model.flow import FlowRequest
from wire.input.validation import shortened

INCAST_PORT = 200
OTHER_PORT = 100
PRIORITY_GROUP = 3
START_S = 2
_NS = 1_000_000_000
_FIRST_SOURCE_PORT = 10_000
_PORTS = 1 << 16
_MOST_DIGITS = 30


def parse_hpcc_flows(lines: Sequence[str]) -> Iterator[tuple[int, FlowRequest]]:
    """Yield the flows of a flow file with their line numbers. ValueError names an invalid line, or a wrong count."""
    rows = [(number, line.split()) for number, line in enumerate(lines[1:], start=2) if line.strip()]
    announced = lines[0].strip()
    if announced.lstrip("0") != str(len(rows)).lstrip("0"):
        raise ValueError(f"line 1 announces {shortened(announced)} flows, but the file has {len(rows)}")
    for number, row in rows:
        try:
            src, dst, _, port, size, start = row
            start_ns = _start_ns(Decimal(start))
            tag = "incast" if int(port) == INCAST_PORT else "background"
            flow = FlowRequest(f"h{int(src) + 1}", f"h{int(dst) + 1}", int(size), start_ns, tag)
        except (ValueError, InvalidOperation) as error:
            text = shortened(" ".join(row))
            raise ValueError(f"line {number} is not `src dst pg dport bytes start_s`: {text}") from error
        yield number, flow


def _start_ns(start_s: Decimal) -> int:
    if not start_s.is_finite() or start_s.adjusted() > _MOST_DIGITS:
        raise ValueError(f"{start_s} is not a time")
    return int((start_s - START_S) * _NS)


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
