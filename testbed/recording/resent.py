# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The reasons for which a run's data packets were sent again, from the counters of hosts and the drops of the network.

Hosts count the packets that they sent again after a timeout, and the packets that arrived trimmed. All others were sent
again because a later packet was answered first. The sender cannot tell whether the earlier packet or its answer was
lost or only late. But a lost packet explains one packet sent again, or with go-back-N the packets sent again for one
NAK. What the lost packets of the whole run do not explain was sent again because of reordering.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.result import ResentCounts
from hosts.protocol import HostStatistics
from hosts.transport.counters import NicCounters


def resent_counts(hosts: Sequence[HostStatistics], *, dropped: int, resends_successors: bool) -> ResentCounts:
    """Return the packets that these hosts sent again, by reason.

    `dropped` packets were lost in switches, on links or by the kernel. `resends_successors` is that of `LossRecovery`.
    """
    nics = [host.nic for host in hosts]
    packets = sum(nic.retransmissions for nic in nics)
    timeout = sum(nic.resent_after_timeout for nic in nics)
    trimmed = min(packets - timeout, sum(nic.trimmed_received + nic.returned_received for nic in nics))
    overtaken = packets - timeout - trimmed
    reports = sum(nic.loss_reports for nic in nics)
    for_each = -(-overtaken // reports) if resends_successors and reports else 1
    loss = min(overtaken, for_each * (dropped + sum(map(_lost, nics))))
    return ResentCounts(packets=packets, timeout=timeout, trimmed=trimmed, loss=loss, reordering=overtaken - loss)


def _lost(nic: NicCounters) -> int:
    """Return the packets that a host dropped or found damaged."""
    return nic.corrupted + nic.receiver_overruns + nic.control_overruns
