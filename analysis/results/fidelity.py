# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The verdict: may this run be trusted? A pure function of what was measured while it ran.

The rules, worst first. *Invalid*: frames lost (or gained) that no counter explains, a drop by the kernel outside the
modelled queues, a corrupted message, no frame sent at all, or the P99 lateness of hosts or switches above 50 % of the
dilated base RTT. *Degraded*: that lateness above 10 %, no lateness measured under the real clock, link spacing off by
more than a packet time at P99, or an interrupted run. Otherwise *faithful*. The virtual clock is never late. Flows that
did not finish are noted and change nothing: some scenarios mean to end that way. (docs/sources.md#fidelity)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np

Clock = Literal["real", "virtual"]
Level = Literal["faithful", "degraded", "invalid"]

DEGRADED_ABOVE = 0.10
"""Share of the base RTT that P99 lateness may reach in a faithful run."""
INVALID_ABOVE = 0.50
"""Share of the base RTT beyond which lateness makes a run invalid."""
SPACING_LIMIT_PACKET_TIMES = 1.0
"""P99 error between back-to-back departures, in packet times, that a faithful run may show."""


@dataclass(frozen=True)
class Lateness:
    """How late timers and packets were served, in wall ns."""

    p50_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True)
class LinkSpacing:
    """|t2 - t1 - 8 bytes / rate| between departures of a backlogged port, in packet times."""

    p99_packet_times: float


@dataclass(frozen=True)
class Measurements:
    """What the verdict is made from. None means not measured."""

    clock: Clock
    dilation: int
    base_rtt_us: float
    """Base RTT in model µs."""
    packets_sent: int
    unexplained_loss: int
    kernel_drops: int
    flows_total: int
    flows_completed: int
    corrupted: int
    interrupted: bool
    host_lateness: Lateness | None = None
    switch_lateness: Lateness | None = None
    link_spacing: LinkSpacing | None = None


@dataclass(frozen=True)
class Verdict:
    """The level, and short sentences that say why, worst first."""

    level: Level
    reasons: tuple[str, ...]


class _Weight(Enum):
    """What a finding does to the verdict, worst first.

    `EVIDENCE` says why a run can be trusted ("no packet is missing") and is left out as soon as one finding says that
    it cannot. A `NOTE` is worth knowing whatever the verdict is, and is always printed.
    """

    INVALID = 0
    DEGRADED = 1
    EVIDENCE = 2
    NOTE = 3


_Finding = tuple[_Weight, str]


def judge(measured: Measurements) -> Verdict:
    """The verdict on a run. Raises ValueError if the base RTT or the dilation factor is not positive."""
    if measured.base_rtt_us <= 0 or measured.dilation < 1:
        raise ValueError(f"base RTT {measured.base_rtt_us} us and dilation {measured.dilation} must be positive")
    findings = [
        *_packet_findings(measured),
        *_timing_findings(measured),
        *_flow_findings(measured),
    ]
    weights = {weight for weight, _ in findings}
    level: Level = "faithful"
    if _Weight.INVALID in weights:
        level = "invalid"
    elif _Weight.DEGRADED in weights:
        level = "degraded"
    shown = set(_Weight) if level == "faithful" else set(_Weight) - {_Weight.EVIDENCE}
    ordered = sorted((found for found in findings if found[0] in shown), key=lambda found: found[0].value)
    return Verdict(level, tuple(sentence for _, sentence in ordered))


def _packet_findings(measured: Measurements) -> Iterable[_Finding]:
    if measured.packets_sent == 0:
        yield _Weight.INVALID, "No packet was sent, so nothing was measured."
    loss = measured.unexplained_loss
    if loss > 0:
        yield _Weight.INVALID, f"{_count(loss, 'packet')} lost that no drop counter explains."
    elif loss < 0:
        yield _Weight.INVALID, f"{_count(-loss, 'packet')} received or dropped more than were sent."
    elif measured.packets_sent:
        yield _Weight.EVIDENCE, f"Every one of {_count(measured.packets_sent, 'packet')} sent is accounted for."
    if measured.kernel_drops > 0:
        yield (
            _Weight.INVALID,
            f"The kernel dropped {_count(measured.kernel_drops, 'packet')} outside the modelled queues.",
        )


def _timing_findings(measured: Measurements) -> Iterable[_Finding]:
    if measured.clock == "virtual":
        yield _Weight.EVIDENCE, "The virtual clock is never late."
        return
    yield _lateness_finding("Host", measured.host_lateness, measured)
    yield _lateness_finding("Switch", measured.switch_lateness, measured)
    if measured.link_spacing is not None:
        error = measured.link_spacing.p99_packet_times
        wrong = error > SPACING_LIMIT_PACKET_TIMES
        weight = _Weight.DEGRADED if wrong else _Weight.EVIDENCE
        yield weight, f"Back-to-back departures are off by {error:.2g} packet times at P99."


def _lateness_finding(who: str, lateness: Lateness | None, measured: Measurements) -> _Finding:
    if lateness is None:
        return _Weight.DEGRADED, f"{who} lateness was not measured."
    share = lateness_share(lateness.p99_ns, measured.base_rtt_us, measured.dilation)
    sentence = (
        f"{who} lateness P99 is {lateness.p99_ns / 1e6:.3g} ms of wall time, {100 * share:.3g} % "
        f"of the dilated base RTT ({measured.base_rtt_us * measured.dilation / 1e3:.3g} ms)"
    )
    if share > INVALID_ABOVE:
        return _Weight.INVALID, f"{sentence}; the limit is {100 * INVALID_ABOVE:.0f} %."
    if share > DEGRADED_ABOVE:
        return _Weight.DEGRADED, f"{sentence}; a faithful run stays within {100 * DEGRADED_ABOVE:.0f} %."
    return _Weight.EVIDENCE, f"{sentence}."


def _flow_findings(measured: Measurements) -> Iterable[_Finding]:
    if measured.corrupted > 0:
        yield _Weight.INVALID, f"{_count(measured.corrupted, 'message')} arrived corrupted."
    if measured.interrupted:
        yield _Weight.DEGRADED, "The run was interrupted; figures cover what was measured until then."
    unfinished = measured.flows_total - measured.flows_completed
    if unfinished > 0:
        yield _Weight.NOTE, f"{unfinished} of {_count(measured.flows_total, 'flow')} did not finish."


def lateness_share(wall_ns: float, base_rtt_us: float, dilation: int) -> float:
    """A wall duration as a share of the dilated base RTT."""
    return wall_ns / (base_rtt_us * 1000 * dilation)


def lateness_from_samples(samples_ns: Sequence[int]) -> Lateness | None:
    """Lateness from single measurements in wall ns; None if there are none."""
    if not samples_ns:
        return None
    p50, p99 = np.percentile(np.asarray(samples_ns, dtype=np.float64), [50, 99])
    return Lateness(float(p50), float(p99), float(max(samples_ns)))


def lateness_from_histogram(upper_edges_ns: Sequence[int], counts: Sequence[int]) -> Lateness | None:
    """Lateness from a histogram: each figure is the upper edge of the bucket that it falls in, so never too small.

    Several histograms over the same edges are joined by adding their counts. None if all counts are zero. Raises
    ValueError if edges and counts differ in number.
    """
    if len(upper_edges_ns) != len(counts):
        raise ValueError(f"{len(upper_edges_ns)} bucket edges but {len(counts)} counts")
    reached = np.cumsum(np.asarray(counts, dtype=np.int64))
    if reached.size == 0 or reached[-1] == 0:
        return None
    ranks = [np.ceil(share * reached[-1]) for share in (0.50, 0.99, 1.0)]
    p50, p99, top = (float(upper_edges_ns[int(np.searchsorted(reached, rank))]) for rank in ranks)
    return Lateness(p50, p99, top)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
