# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Links that are slow for a time: commands for the ports and the table entries with their rates, and rates of NICs.

A switch knows the rate of its own ports, so pauses, telemetry, Bolt and CONGA follow. Routes, thresholds and
headroom stay as they were configured. A NIC knows the rate of its link (`Nic.plan_rates`). Runs without faults do not
import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sfc_testbed.hosts.agent_config import HostRate
from sfc_testbed.scenarios.faults.fault import Fault
from sfc_testbed.scenarios.faults.links import SlowLink
from sfc_testbed.testbed.control_plane.commands import Configured
from sfc_testbed.testbed.control_plane.entries import ChangedEntry, Command, TableEntry
from sfc_testbed.testbed.control_plane.features import bolt_entry, pause_time_entry, telemetry_entry
from sfc_testbed.testbed.control_plane.fixed_point import FixedPointError
from sfc_testbed.testbed.control_plane.load_balancing import conga_link
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import Link, Port, Topology
from sfc_testbed.wire.dilation import Dilation


def slow_link_lines(
    topology: Topology, faults: Iterable[Fault], dilation: Dilation, configured: Configured
) -> Iterator[tuple[int, str, str]]:
    """Yield time, switch and command of each change of a rate at a switch.

    Raise FixedPointError if the data plane cannot hold the ratios of a rate.
    """
    for time_ns, link, rate_bps in _changes(topology, faults):
        for end in (link.a, link.b):
            if end.node in topology.switch:
                for line in _lines(topology, end, rate_bps, dilation, configured):
                    yield time_ns, end.node, line


def check_rate_codes(link_rates_bps: Sequence[int], faults: Sequence[Fault], topology: Topology) -> None:
    """Raise UsageError for a slow link whose rate has no code in compact telemetry, if the NICs use that layout."""
    if not link_rates_bps:
        return
    for fault in (fault for fault in faults if isinstance(fault, SlowLink)):
        for link in fault.links(topology):
            if fault.rate_bps(link) not in link_rates_bps:
                raise UsageError(
                    f"--fault {fault}: compact telemetry has no code for a link of {fault.rate_bps(link)} bit/s; "
                    "use --set transport.int_layout=growing"
                )


def check_slow_links(topology: Topology, faults: Sequence[Fault], dilation: Dilation, configured: Configured) -> None:
    """Raise UsageError for a slow link that the data plane cannot represent at this dilation."""
    for fault in faults:
        try:
            list(slow_link_lines(topology, [fault], dilation, configured))
        except FixedPointError as error:
            raise UsageError(
                f"--fault {fault}: {error} at dilation {dilation.factor}; use a smaller --dilation or a larger rate"
            ) from error


def nic_rates(topology: Topology, faults: Iterable[Fault]) -> dict[str, tuple[HostRate, ...]]:
    """Return the changes of the rate of each host whose link is slow for a time."""
    rates: dict[str, tuple[HostRate, ...]] = {}
    for time_ns, link, rate_bps in _changes(topology, faults):
        for host in {link.a.node, link.b.node} & topology.host.keys():
            rates[host] = (*rates.get(host, ()), HostRate(at_ns=time_ns, rate_bps=rate_bps))
    return rates


def _changes(topology: Topology, faults: Iterable[Fault]) -> Iterator[tuple[int, Link, int]]:
    """Yield time, link and new rate in order of time. Where faults overlap, the lowest rate counts."""
    slow = [(link, fault) for fault in faults if isinstance(fault, SlowLink) for link in fault.links(topology)]
    now = {link: link.rate_bps for link, _ in slow}
    for time_ns in sorted({edge for _, fault in slow for edge in (fault.from_ns, fault.until_ns) if edge is not None}):
        for link, rate_bps in _rates_at(time_ns, slow).items():
            if rate_bps != now[link]:
                now[link] = rate_bps
                yield time_ns, link, rate_bps


def _rates_at(time_ns: int, slow: Sequence[tuple[Link, SlowLink]]) -> dict[Link, int]:
    rates = {link: link.rate_bps for link, _ in slow}
    for link, fault in slow:
        if fault.from_ns <= time_ns and (fault.until_ns is None or time_ns < fault.until_ns):
            rates[link] = min(rates[link], fault.rate_bps(link))
    return rates


def _lines(topology: Topology, end: Port, rate_bps: int, dilation: Dilation, configured: Configured) -> Iterator[str]:
    yield f"port_rate {end.number} {dilation.wall_bps(rate_bps)}"
    settings, commands = configured.settings, configured.commands[end.node]
    port = next(port for port in topology.ports[end.node] if port.number == end.number)
    makers: Mapping[str, Callable[[], TableEntry]] = {
        "congested_port": lambda: pause_time_entry(settings, port, rate_bps, dilation),
        "int_port": lambda: telemetry_entry(topology, port.number, rate_bps, dilation),
        "bolt": lambda: bolt_entry(settings, port.number, rate_bps, dilation),
        "conga_link": lambda: conga_link(settings, port.number, rate_bps, dilation),
    }
    for table, make in makers.items():
        handle = _handle(commands, table, end.number)
        if handle is not None:
            entry = make()
            yield str(ChangedEntry(handle, entry.table, entry.action, entry.parameters))


def _handle(commands: Iterable[Command], table: str, port: int) -> int | None:
    """Return the handle of the entry of a port, which is its position among the entries of its table."""
    keys = [command.keys for command in commands if isinstance(command, TableEntry) and command.table == table]
    return keys.index((port,)) if (port,) in keys else None
