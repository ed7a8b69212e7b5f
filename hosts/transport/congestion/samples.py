# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measurements from acknowledgements: round-trip times, byte counts and echoed telemetry."""

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl
from sfc_testbed.hosts.transport.congestion.telemetry import TelemetryLayout, telemetry_of
from sfc_testbed.wire.int_header import path_of

_FIRST_PLACES: Final = 16
"""Initial size of the ring; a power of two, as all later sizes are."""
_UNKNOWN: Final = -1


class _Departures:
    """The departure times of packets in flight by index, in a ring of native integers. Indices are consecutive."""

    __slots__ = ("_end", "_first", "_times_ns")

    def __init__(self) -> None:
        self._times_ns = vec[i64]([_UNKNOWN] * _FIRST_PLACES)
        self._first: i64 = 0
        self._end: i64 = 0

    def add(self, index: i64, now_ns: i64) -> None:
        """Store the departure time of the next packet."""
        if index != self._end:
            self._first = index
        places: i64 = len(self._times_ns)
        if index - self._first == places:
            times_ns = [self._times_ns[packet & (places - 1)] for packet in range(self._first, index)]
            self._times_ns = vec[i64]([_UNKNOWN] * (2 * places))
            for turn in range(places):
                self._times_ns[(self._first + turn) & (2 * places - 1)] = times_ns[turn]
            places *= 2
        self._times_ns[index & (places - 1)] = now_ns
        self._end = index + 1

    def take(self, index: i64) -> i64:
        """Remove and return the departure time of a packet; -1 if it is unknown or was removed before."""
        departure_ns = self.peek(index)
        if departure_ns != _UNKNOWN:
            self._times_ns[index & (i64(len(self._times_ns)) - 1)] = _UNKNOWN
        return departure_ns

    def peek(self, index: i64) -> i64:
        """Return the departure time of a packet; -1 if it is unknown or was removed."""
        if not self._first <= index < self._end:
            return _UNKNOWN
        return self._times_ns[index & (i64(len(self._times_ns)) - 1)]

    def replace(self, index: i64, now_ns: i64) -> None:
        """Store a later departure time of a packet in flight."""
        if self._first <= index < self._end:
            self._times_ns[index & (i64(len(self._times_ns)) - 1)] = now_ns

    def latest_before(self, index: i64) -> i64:
        """Return the latest departure time of the packets before `index`; -1 if none is known."""
        latest_ns: i64 = _UNKNOWN
        for packet in range(self._first, index if index < self._end else self._end):
            departure_ns = self._times_ns[packet & (i64(len(self._times_ns)) - 1)]
            latest_ns = departure_ns if departure_ns > latest_ns else latest_ns
        return latest_ns

    def forget_before(self, index: i64) -> None:
        """Remove the departure times of packets before `index`."""
        if index > self._first:
            self._first = index if index < self._end else self._end


def samples_for(congestion: CongestionControl) -> "AckSamples":
    """Return the samples of a queue pair with this congestion control."""
    path = congestion.path
    return AckSamples(path.telemetry, path.shortest_rtt_ns if congestion.times_resent else -1)


class AckSamples:
    """The samples of one queue pair, computed from the departure times of its packets in flight."""

    __slots__ = ("_acked_bytes", "_departures", "_layout", "_sent_bytes", "_shortest_rtt_ns")

    def __init__(self, layout: TelemetryLayout, shortest_rtt_ns: int = -1) -> None:
        """With a `shortest_rtt_ns` of at least 0, resent packets have samples, except below this round trip."""
        self._layout = layout
        self._shortest_rtt_ns: i64 = shortest_rtt_ns
        self._departures = _Departures()
        self._sent_bytes = self._acked_bytes = 0

    def sent(self, index: int, size_bytes: int, now_ns: int) -> None:
        """Record the first departure of a packet."""
        self._sent_bytes += size_bytes
        self._departures.add(index, now_ns)

    def sent_again(self, index: int, now_ns: int) -> None:
        """Record that a packet was resent. By Karn's rule its RTT cannot be measured.

        With a shortest round trip, its departure is this one. An acknowledgement that arrives sooner afterwards is for
        the first transmission. The latest departure of all newly acknowledged packets counts, because later packets may
        have waited for this one.
        """
        if self._shortest_rtt_ns < 0:
            self._departures.take(index)
        else:
            self._departures.replace(index, now_ns)

    def elapsed_ns(self, index: int, now_ns: int) -> int | None:
        """Return the time since the departure of a packet in flight; None if it was resent or answered."""
        departure_ns = self._departures.peek(index)
        return None if departure_ns == _UNKNOWN else now_ns - departure_ns

    def take(
        self,
        cumulative: int,
        selective: int,
        acked_bytes: int,
        in_flight_bytes: int,
        marked: bool,
        shim: bytes,
        now_ns: int,
        switches: int = 0,
        increments: int = 0,
    ) -> AckSample:
        """Return the sample of an acknowledgement of all packets before `cumulative`, and of `selective` if not -1."""
        departure_ns = self._departures.take(selective if selective >= 0 else cumulative - 1)
        if self._shortest_rtt_ns >= 0:
            if selective < 0:
                departure_ns = max(departure_ns, self._departures.latest_before(cumulative))
            if departure_ns != _UNKNOWN and now_ns - departure_ns < self._shortest_rtt_ns:
                departure_ns = _UNKNOWN
        self._departures.forget_before(cumulative)
        self._acked_bytes += acked_bytes
        delay_ns, hops = telemetry_of(shim, self._layout) if len(shim) else (None, ())
        return AckSample(
            acked_bytes=acked_bytes,
            in_flight_bytes=in_flight_bytes,
            rtt_ns=None if departure_ns == _UNKNOWN else now_ns - departure_ns,
            ecn_marked=marked,
            one_way_delay_ns=delay_ns,
            hops=hops,
            cumulative_bytes=self._acked_bytes,
            sent_bytes=self._sent_bytes,
            switches=switches,
            increments=increments,
            path=path_of(shim) if len(hops) else 0,
        )
