# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What acknowledgements say of the packets that they are about: round trips, bytes, and the telemetry they echo."""

from hosts.transport.congestion.base import AckSample, telemetry_of


class AckSamples:
    """Those of one queue pair, which remembers of each packet on its way when it left."""

    __slots__ = ("_acked_bytes", "_sent_bytes", "_sent_ns")

    def __init__(self) -> None:
        self._sent_ns: dict[int, int] = {}
        self._sent_bytes = self._acked_bytes = 0

    def sent(self, index: int, size_bytes: int, now_ns: int) -> None:
        """A packet left for the first time."""
        self._sent_bytes += size_bytes
        self._sent_ns[index] = now_ns

    def sent_again(self, index: int) -> None:
        """From now on nobody can tell which of the two is acknowledged (Karn's rule)."""
        self._sent_ns.pop(index, None)

    def take(
        self,
        before: int,
        cumulative: int,
        selective: int,
        acked_bytes: int,
        in_flight_bytes: int,
        marked: bool,
        shim: bytes,
        now_ns: int,
    ) -> AckSample:
        """An acknowledgement of packets `before` to `cumulative` - 1 and of `selective`, unless that is -1."""
        sent_ns = self._sent_ns.pop(selective if selective >= 0 else cumulative - 1, None)
        for index in range(before, cumulative):
            self._sent_ns.pop(index, None)
        self._acked_bytes += acked_bytes
        delay_ns, hops = telemetry_of(shim) if shim else (None, ())
        return AckSample(
            acked_bytes=acked_bytes,
            in_flight_bytes=in_flight_bytes,
            rtt_ns=None if sent_ns is None else now_ns - sent_ns,
            ecn_marked=marked,
            one_way_delay_ns=delay_ns,
            hops=hops,
            cumulative_bytes=self._acked_bytes,
            sent_bytes=self._sent_bytes,
        )
