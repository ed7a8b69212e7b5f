# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What acknowledgements say of the packets that they are about: round trips, bytes, and the telemetry they echo."""

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64

from hosts.transport.congestion.base import AckSample, telemetry_of

_FIRST_PLACES: Final = 16
"""A power of two, as all later sizes are."""
_UNKNOWN: Final = -1


class _Departures:
    """When packets left that are on their way, by their index, which goes up by one; in a ring of native times."""

    __slots__ = ("_end", "_first", "_times_ns")

    def __init__(self) -> None:
        self._times_ns = vec[i64]([_UNKNOWN] * _FIRST_PLACES)
        self._first: i64 = 0
        self._end: i64 = 0

    def add(self, index: i64, now_ns: i64) -> None:
        """The next packet left."""
        if index != self._end:
            self._first = index
        places: i64 = len(self._times_ns)
        if index - self._first == places:
            at = [self._times_ns[each & (places - 1)] for each in range(self._first, index)]
            self._times_ns = vec[i64]([_UNKNOWN] * (2 * places))
            for turn in range(places):
                self._times_ns[(self._first + turn) & (2 * places - 1)] = at[turn]
            places *= 2
        self._times_ns[index & (places - 1)] = now_ns
        self._end = index + 1

    def take(self, index: i64) -> i64:
        """When a packet left, which is forgotten by that; -1 where it is not known, or no longer."""
        if not self._first <= index < self._end:
            return _UNKNOWN
        place = index & (i64(len(self._times_ns)) - 1)
        left_ns = self._times_ns[place]
        self._times_ns[place] = _UNKNOWN
        return left_ns

    def forget_before(self, index: i64) -> None:
        """Packets before that one are there."""
        if index > self._first:
            self._first = index if index < self._end else self._end


class AckSamples:
    """Those of one queue pair, which remembers of each packet on its way when it left."""

    __slots__ = ("_acked_bytes", "_departures", "_sent_bytes")

    def __init__(self) -> None:
        self._departures = _Departures()
        self._sent_bytes = self._acked_bytes = 0

    def sent(self, index: int, size_bytes: int, now_ns: int) -> None:
        """A packet left for the first time."""
        self._sent_bytes += size_bytes
        self._departures.add(index, now_ns)

    def sent_again(self, index: int) -> None:
        """From now on nobody can tell which of the two is acknowledged (Karn's rule)."""
        self._departures.take(index)

    def take(
        self,
        cumulative: int,
        selective: int,
        acked_bytes: int,
        in_flight_bytes: int,
        marked: bool,
        shim: bytes,
        now_ns: int,
    ) -> AckSample:
        """An acknowledgement of packets up to `cumulative` - 1 and of `selective`, unless that is -1."""
        left_ns = self._departures.take(selective if selective >= 0 else cumulative - 1)
        self._departures.forget_before(cumulative)
        self._acked_bytes += acked_bytes
        delay_ns, hops = telemetry_of(shim) if shim else (None, ())
        return AckSample(
            acked_bytes=acked_bytes,
            in_flight_bytes=in_flight_bytes,
            rtt_ns=None if left_ns == _UNKNOWN else now_ns - left_ns,
            ecn_marked=marked,
            one_way_delay_ns=delay_ns,
            hops=hops,
            cumulative_bytes=self._acked_bytes,
            sent_bytes=self._sent_bytes,
        )
