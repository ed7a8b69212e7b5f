# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One message on its way: which packets are its own, and what it has cost so far. Knows no algorithm and no frame."""

from hosts.transport.messages import OutgoingMessage, SendingReport


class Transmission:
    """Packets `first` to `end` - 1 of a queue pair carry this message."""

    __slots__ = (
        "bytes_resent", "crc", "end", "first", "message", "naks", "packets_resent", "packets_sent",
        "paused_at_start_ns", "timeouts",
    )  # fmt: skip

    def __init__(self, message: OutgoingMessage, first: int, packets: int, paused_ns: int) -> None:
        """`paused_ns`: how long the queue pair had been paused when the message became ready."""
        self.message = message
        self.first = first
        self.end = first + packets
        self.paused_at_start_ns = paused_ns
        self.crc = 0
        self.packets_sent = 0
        self.packets_resent = 0
        self.bytes_resent = 0
        self.timeouts = 0
        self.naks = 0

    def report(self, paused_ns: int) -> SendingReport:
        """Its life so far; `paused_ns` of the queue pair by now."""
        message = self.message
        return SendingReport(
            flow_id=message.flow_id,
            tag=message.tag,
            destination_ip=message.destination_ip,
            size_bytes=message.size_bytes,
            start_ns=message.ready_ns,
            packets_sent=self.packets_sent,
            packets_resent=self.packets_resent,
            bytes_resent=self.bytes_resent,
            timeouts=self.timeouts,
            naks=self.naks,
            paused_ns=paused_ns - self.paused_at_start_ns,
        )
