# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The fields of `NicStatistics` as running counters, in a class that mypyc can compile.

`NicStatistics` documents them. A dataclass that pydantic reads cannot be compiled, and every packet increments about
ten counters.
"""

from dataclasses import fields
from typing import Final

from hosts.transport.counters import NicStatistics, SignalVerdict

_NAMES: Final = tuple([item.name for item in fields(NicStatistics)])


class NicCounters:
    """Running counters of a NIC since its construction."""

    def __init__(self) -> None:
        self.bts_by_verdict: dict[str, int] = {verdict.value: 0 for verdict in SignalVerdict}
        self.frames_sent = 0
        self.bytes_sent = 0
        self.frames_received = 0
        self.bytes_received = 0
        self.data_sent = 0
        self.acks_sent = 0
        self.naks_sent = 0
        self.cnps_sent = 0
        self.pulls_sent = self.pulls_received = 0
        self.data_received = 0
        self.duplicates_received = 0
        self.out_of_order_received = 0
        self.acks_received = 0
        self.naks_received = 0
        self.cnps_received = 0
        self.trimmed_received = self.returned_received = 0
        self.bts_received = 0
        self.pfc_received = 0
        self.pfc_sent = 0
        self.control_overruns = 0
        self.ring_overruns = 0
        self.receiver_overruns = 0
        self.pauses = 0
        self.malformed = 0
        self.corrupted = 0
        self.misdelivered = 0
        self.unknown_queue_pair = 0
        self.other = 0
        self.programs_sent = 0
        self.programs_received = 0
        self.programs_dropped = 0
        self.late_acknowledgements = 0
        self.acknowledgements_refused = 0
        self.retransmissions = self.resent_after_timeout = self.loss_reports = 0
        self.timeouts = self.small_window_packets = 0
        self.messages_completed = 0
        self.messages_failed = 0
        self.messages_received = 0
        self.messages_corrupted = 0

    def snapshot(self) -> NicStatistics:
        """Return the current values."""
        counts = {name: getattr(self, name) for name in _NAMES}
        counts["bts_by_verdict"] = dict(self.bts_by_verdict)
        return NicStatistics(**counts)
