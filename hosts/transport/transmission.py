# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One message on its way: which packets are its own, and what it has cost so far. Knows no algorithm and no frame."""

from dataclasses import replace

from hosts.transport.messages import OutgoingMessage, SendingCounts, SendingReport


class Transmission:
    """Packets `first` to `end` - 1 of a queue pair carry this message."""

    __slots__ = ("counts", "crc", "end", "first", "message", "paused_at_start_ns")

    def __init__(self, message: OutgoingMessage, first: int, packets: int, paused_ns: int) -> None:
        """`paused_ns`: how long the queue pair had been paused when the message became ready."""
        self.message = message
        self.first = first
        self.end = first + packets
        self.paused_at_start_ns = paused_ns
        self.crc = 0
        self.counts = SendingCounts()

    def report(self, paused_ns: int) -> SendingReport:
        """Its life so far; `paused_ns` of the queue pair by now."""
        return SendingReport(self.message, replace(self.counts), paused_ns - self.paused_at_start_ns)
