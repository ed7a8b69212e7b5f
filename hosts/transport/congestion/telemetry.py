# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Telemetry of switches as a sender reads it from an acknowledgement, in both layouts of the INT header."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from librt.strings import read_i64_be
from mypy_extensions import i64, mypyc_attr

from sfc_testbed.wire import int_slots
from sfc_testbed.wire.constants import (
    INT_FLAG_COMPACT,
    INT_FLAG_STAMP,
    INT_RECORD_BYTES,
    INT_SHIM_BYTES,
    INT_SLOT_BYTES,
)
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import COUNTER_MODULUS
from sfc_testbed.wire.int_slots import (
    MOST_RATES,
    QUEUE_BITS,
    QUEUE_UNIT_BYTES,
    RATE_SHIFT,
    SENT_BITS,
    SENT_SHIFT,
    SENT_UNIT_BYTES,
    TIME_BITS,
    TIME_SHIFT,
)
from sfc_testbed.wire.units import NS_PER_S, NS_PER_US
from sfc_testbed.wire.words import word_at

STAMP_MODULUS_NS: Final = COUNTER_MODULUS * NS_PER_US
SENT_MODULUS_BYTES: Final = COUNTER_MODULUS
"""Values at which times and byte counts of records wrap."""

_MOST_PATHS: Final = 1 << 10
"""Highest number of paths of a flow whose telemetry is kept, besides the selected path."""
_FLAGS_AT: Final = 1
_STAMP_AT: Final = 4
_SENT_AT: Final = 8
_QUEUE_AT: Final = 12
"""Offsets in the shim and in a record of `wire.int_header`."""
_TIME_MASK: Final = (1 << TIME_BITS) - 1
_SENT_MASK: Final = (1 << SENT_BITS) - 1
_QUEUE_MASK: Final = (1 << QUEUE_BITS) - 1


@mypyc_attr(free_list_len=1, acyclic=True)
class HopTelemetry:
    """The state of one switch hop, which is stamped into a data packet and echoed by the receiver (INT; HPCC §3)."""

    __slots__ = ("queue_bytes", "rate_bps", "sent_bytes", "stamp_ns")

    def __init__(self, rate_bps: int, stamp_ns: int, sent_bytes: int, queue_bytes: int) -> None:
        self.rate_bps = rate_bps
        """Rate of the output port (wall); 0 if the switch did not name it."""
        self.stamp_ns = stamp_ns
        """Time of the switch's clock when the packet left (wall, in steps of 1 us or more); wraps at the layout's
        `stamp_modulus_ns`."""
        self.sent_bytes = sent_bytes
        """Bytes that the port had sent before this packet; wraps at the layout's `sent_modulus_bytes`."""
        self.queue_bytes = queue_bytes
        """Bytes that remained in the port's queues."""


@dataclass(frozen=True, slots=True)
class TelemetryLayout:
    """The layout of a run's INT headers, in wall units; the defaults are those of a header that grows at each hop."""

    names_path: bool = False
    """Whether packets request the name of their path."""
    is_compact: bool = False
    """Whether hops fill slots of a header of constant length (`wire.int_slots`)."""
    rates_bps: tuple[int, ...] = ()
    """The rates that the codes 1, 2, ... in slots stand for."""
    time_shift: int = 0
    """The unit of time in slots is 2^time_shift us."""
    stamp_modulus_ns: int = STAMP_MODULUS_NS
    """Value at which times wrap."""
    sent_modulus_bytes: int = SENT_MODULUS_BYTES
    """Value at which byte counts wrap."""
    longest_gap_ns: int = STAMP_MODULUS_NS // 2
    """Time between two records of a hop from which their difference is ambiguous."""

    def elapsed_ns(self, new: HopTelemetry, stored: HopTelemetry, base_rtt_ns: int) -> int:
        """Return the time from the stored record of a hop to a new one.

        The result is 0 if the new record is not newer, and -1 if the stored one is wrong or too old to be compared.
        """
        elapsed_ns = (new.stamp_ns - stored.stamp_ns) % self.stamp_modulus_ns
        if elapsed_ns < self.longest_gap_ns:
            return elapsed_ns
        return -1 if elapsed_ns < self.stamp_modulus_ns - base_rtt_ns else 0


class PathTelemetry:
    """The latest telemetry of each path of a flow, for a control that compares two packets.

    HPCC's paper has a name of the path in the header, and a sender that discards its telemetry when the name changes.
    Here the sender keeps the telemetry of every path, because with packet spraying the name changes all the time. If
    packets do not name their path, all of them seem to take one path.
    """

    __slots__ = ("_latest_ns", "_others", "_path", "hops")

    def __init__(self) -> None:
        self.hops: tuple[HopTelemetry, ...] = ()
        """The latest telemetry of the selected path; empty if there is none."""
        self._path = 0
        self._others: dict[int, tuple[HopTelemetry, ...]] = {}
        self._latest_ns = 0

    @property
    def is_known(self) -> bool:
        """Whether any path has telemetry."""
        return len(self.hops) > 0 or len(self._others) > 0

    def select(self, path: int) -> None:
        """Select the path of the packet that an acknowledgement is for."""
        if path == self._path:
            return
        others = self._others
        if len(self.hops):
            others[self._path] = self.hops
        if len(others) > _MOST_PATHS:
            del others[next(iter(others))]
        self._path, self.hops = path, others.pop(path, ())

    def span_ns(self, elapsed_ns: int, now_ns: int) -> int:
        """Return the time that a measurement of the selected path over `elapsed_ns` counts for, at most `elapsed_ns`.

        A flow with one path is measured all the time. With several paths, the time since the flow's latest measurement
        counts, so that the mean of a round trip contains all paths.
        """
        latest_ns, self._latest_ns = self._latest_ns, now_ns
        return min(elapsed_ns, now_ns - latest_ns) if len(self._others) else elapsed_ns


GROWING: Final = TelemetryLayout()
"""The default layout."""


def compact_layout(model_rates_bps: Iterable[int], dilation: Dilation) -> TelemetryLayout:
    """Return the compact layout of a network with these link rates.

    A difference is ambiguous from half the period of the times, or once the fastest link can wrap its byte count.
    """
    rates_bps = tuple(dilation.wall_bps(rate_bps) for rate_bps in sorted(model_rates_bps))
    shift = int_slots.time_shift(dilation)
    stamp_modulus_ns = (NS_PER_US << TIME_BITS) << shift
    sent_modulus_bytes = SENT_UNIT_BYTES << SENT_BITS
    unambiguous_bytes = sent_modulus_bytes - SENT_UNIT_BYTES  # rounding may add up to one unit to a difference
    fastest_bps = max(rates_bps, default=1)
    return TelemetryLayout(
        is_compact=True,
        rates_bps=rates_bps,
        time_shift=shift,
        stamp_modulus_ns=stamp_modulus_ns,
        sent_modulus_bytes=sent_modulus_bytes,
        longest_gap_ns=min(stamp_modulus_ns // 2, unambiguous_bytes * 8 * NS_PER_S // fastest_bps),
    )


def telemetry_of(shim: bytes, layout: TelemetryLayout) -> tuple[int | None, tuple[HopTelemetry, ...]]:
    """Return the one-way delay (ns; None without a time stamp) and the hops in path order from an echoed shim."""
    delay_ns: int | None = None
    end: i64 = len(shim)
    flags: i64 = shim[_FLAGS_AT]
    if flags & INT_FLAG_STAMP:
        end -= INT_RECORD_BYTES
        delay_ns = word_at(shim, end + _SENT_AT) * NS_PER_US
    if flags & INT_FLAG_COMPACT:
        return delay_ns, _filled_slots(shim, layout)
    hops: list[HopTelemetry] = []
    at = end - INT_RECORD_BYTES
    while at >= INT_SHIM_BYTES:
        rate_bps: int = word_at(shim, at) * 1000
        stamp_ns: int = word_at(shim, at + _STAMP_AT) * NS_PER_US
        hops.append(HopTelemetry(rate_bps, stamp_ns, word_at(shim, at + _SENT_AT), word_at(shim, at + _QUEUE_AT)))
        at -= INT_RECORD_BYTES
    return delay_ns, tuple(hops)


def _filled_slots(shim: bytes, layout: TelemetryLayout) -> tuple[HopTelemetry, ...]:
    """Return the hops of the compact layout in path order; a rate is 0 if its code has no meaning."""
    rates_bps, shift = layout.rates_bps, layout.time_shift
    hops: list[HopTelemetry] = []
    number: i64 = shim[0]
    while number:
        number -= 1
        slot = read_i64_be(shim, INT_SHIM_BYTES + number * INT_SLOT_BYTES)
        code: int = slot >> RATE_SHIFT & MOST_RATES
        time: int = slot >> TIME_SHIFT & _TIME_MASK
        sent: int = slot >> SENT_SHIFT & _SENT_MASK
        queue: int = slot & _QUEUE_MASK
        rate_bps = rates_bps[code - 1] if 0 < code <= len(rates_bps) else 0
        hops.append(
            HopTelemetry(rate_bps, (time << shift) * NS_PER_US, sent * SENT_UNIT_BYTES, queue * QUEUE_UNIT_BYTES)
        )
    return tuple(hops)
