# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The verdict on whether the figures of a run can be trusted, computed from its counters and lateness.

A run is *invalid* in any of these cases:

- a switch, an agent, a link or a program beside the flows ended, failed or stopped responding;
- frames were lost (or gained) that no counter explains;
- the kernel dropped a frame outside the modelled queues;
- a message was corrupted, or was acknowledged but not received;
- a flow or a set of dependent messages was faster than possible, with the virtual clock;
- no frame was sent;
- the P99 lateness of hosts or switches exceeds `INVALID_ABOVE` of the dilated base RTT;
- the P99 error of the spacing of their frames exceeds the same limit (the ideal spacing is frame bytes / link rate).

A run is *degraded* in any of these cases:

- lateness or spacing exceeds `DEGRADED_ABOVE` (both limits are in `analysis.results.limits`);
- lateness was not measured with the real clock;
- acknowledgements were refused because they cannot be true;
- a flow or a set of dependent messages was faster than possible by more than a faithful run's lateness, with the real
  clock;
- the run was interrupted;
- an output is incomplete that does not affect the figures, such as a capture whose tcpdump lost packets.

All other runs are *faithful*. A run with the virtual clock is never late. Unfinished flows are a result of a run
(`RunResult.unfinished_work`) and no reason to distrust it. Spacing that was not measured is noted: BMv2 reports
lateness only. (docs/sources.md#fidelity)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from sfc_testbed.analysis.formatting import amount
from sfc_testbed.analysis.results.counters import Lateness, RunCounters, Spacing
from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE, INVALID_ABOVE
from sfc_testbed.analysis.results.result import FlowCounts, Level
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.wire.dilation import next_step


@dataclass(frozen=True)
class Verdict:
    """The level of trust, and the reasons in short sentences, worst first."""

    level: Level
    reasons: tuple[str, ...]
    faithful_dilation: int | None = None
    """The dilation at which a late run would have been on time; None if the run was not late."""


class _Weight(Enum):
    """The effect of a finding on the verdict, worst first.

    `EVIDENCE` is a reason to trust the run, such as that no packet is missing. It is shown for faithful runs only. A
    `NOTE` does not affect the verdict and is always shown.
    """

    INVALID = 0
    DEGRADED = 1
    EVIDENCE = 2
    NOTE = 3


_Finding = tuple[_Weight, str]


def judge(config: RunConfig, counters: RunCounters, flows: FlowCounts, impossible: Sequence[str] = ()) -> Verdict:
    """Return the verdict on a run. `impossible` are sentences about times shorter than the ideal (`clock_margin_us`).

    Raises ValueError if the base RTT or the dilation factor is not positive.
    """
    if config.base_rtt_us <= 0 or config.dilation < 1:
        raise ValueError(f"base RTT {config.base_rtt_us} us and dilation {config.dilation} must be positive")
    findings = [
        *((_Weight.INVALID, sentence) for sentence in counters.broken),
        *((_Weight.DEGRADED, sentence) for sentence in counters.lacking),
        *_packet_findings(counters),
        *_timing_findings(config, counters),
        *_flow_findings(flows, counters),
        *((_Weight.INVALID if config.clock == "virtual" else _Weight.DEGRADED, sentence) for sentence in impossible),
    ]
    weights = {weight for weight, _ in findings}
    level: Level = "faithful"
    if _Weight.INVALID in weights:
        level = "invalid"
    elif _Weight.DEGRADED in weights:
        level = "degraded"
    shown = set(_Weight) if level == "faithful" else set(_Weight) - {_Weight.EVIDENCE}
    ordered = sorted((finding for finding in findings if finding[0] in shown), key=lambda finding: finding[0].value)
    return Verdict(level, tuple(sentence for _, sentence in ordered), faithful_dilation(config, counters))


def _packet_findings(counters: RunCounters) -> Iterable[_Finding]:
    if counters.packets.sent == 0 and not counters.broken:  # a broken part may be the one that counts packets
        yield _Weight.INVALID, "No packet was sent, so nothing was measured."
    loss = counters.unexplained_loss
    if counters.unbalanced:
        yield _Weight.NOTE, counters.unbalanced
    elif loss > 0:
        yield _Weight.INVALID, f"{amount(loss, 'packet')} lost that no drop counter explains."
    elif loss < 0:
        yield _Weight.INVALID, f"{amount(-loss, 'packet')} more received or dropped than sent."
    elif counters.packets.sent:
        yield _Weight.EVIDENCE, f"Every one of {amount(counters.packets.sent, 'packet')} sent is accounted for."
    if counters.kernel_drops > 0:
        yield (
            _Weight.INVALID,
            f"The kernel dropped {amount(counters.kernel_drops, 'packet')} outside the modelled queues.",
        )


def _timing_findings(config: RunConfig, counters: RunCounters) -> Iterable[_Finding]:
    if config.clock == "virtual":
        yield _Weight.EVIDENCE, "The virtual clock is never late."
        return
    yield _lateness_finding("Host", counters.host_lateness, config)
    yield _lateness_finding("Switch", counters.switch_lateness, config)
    yield _spacing_finding("host", counters.host_spacing, config)
    yield _spacing_finding("switch", counters.switch_spacing, config)
    factor = faithful_dilation(config, counters)
    if factor is not None:
        yield _Weight.NOTE, f"Use --dilation {factor} or larger, or let `run --retry` choose the dilation."


def _lateness_finding(who: str, lateness: Lateness | None, config: RunConfig) -> _Finding:
    if lateness is None:
        return _Weight.DEGRADED, f"{who} lateness was not measured."
    return _limited(f"{who} lateness P99 is", lateness.p99_ns, config)


def _spacing_finding(who: str, spacing: Spacing | None, config: RunConfig) -> _Finding:
    if spacing is None:
        is_bmv2 = who == "switch" and config.switch == "bmv2"
        reason = "not available with BMv2" if is_bmv2 else "there were no back-to-back frames"
        return _Weight.NOTE, f"Spacing of {who} frames was not measured: {reason}."
    return _limited(f"P99 error in the spacing of {who} frames is", spacing.p99_ns, config)


def _limited(what: str, p99_ns: float, config: RunConfig) -> _Finding:
    """Return a finding for a duration, compared with both limits."""
    share = lateness_share(p99_ns, config.base_rtt_us, config.dilation)
    sentence = (
        f"{what} {p99_ns / 1e6:.3g} ms of wall time, {100 * share:.3g} % "
        f"of the dilated base RTT ({config.base_rtt_us * config.dilation / 1e3:.3g} ms)"
    )
    if share > INVALID_ABOVE:
        return _Weight.INVALID, f"{sentence}; the limit is {100 * INVALID_ABOVE:.3g} %."
    if share > DEGRADED_ABOVE:
        return _Weight.DEGRADED, f"{sentence}; a faithful run stays within {100 * DEGRADED_ABOVE:.3g} %."
    return _Weight.EVIDENCE, f"{sentence}."


def faithful_dilation(config: RunConfig, counters: RunCounters) -> int | None:
    """Return the estimated dilation at which the run would be faithful, rounded up; None if the run was not late.

    Lateness as a share of the base RTT falls with the square of the dilation or faster. The base RTT takes more wall
    time, and a lower load makes the parts less late in wall time. An incast, for example, was late by 66 %, 19 % and
    5 % at dilations 3000, 7000 and 10,000 (docs/fidelity.md#error-against-lateness). Lateness beyond one base RTT is a
    backlog, which disappears when the machine keeps up. It says little about the necessary dilation, so it is ignored.
    """
    if config.clock == "virtual":
        return None
    measured = (counters.host_lateness, counters.switch_lateness, counters.host_spacing, counters.switch_spacing)
    worst = max(
        (lateness_share(part.p99_ns, config.base_rtt_us, config.dilation) for part in measured if part is not None),
        default=0.0,
    )
    if worst <= DEGRADED_ABOVE:
        return None
    return next_step(config.dilation * math.sqrt(min(worst, 1.0) / DEGRADED_ABOVE))


def _flow_findings(flows: FlowCounts, counters: RunCounters) -> Iterable[_Finding]:
    if flows.corrupted > 0:
        yield _Weight.INVALID, f"{amount(flows.corrupted, 'message')} arrived corrupted."
    events = counters.host_events
    if undelivered := events.get("messages_undelivered", 0):
        verb = "was" if undelivered == 1 else "were"
        yield _Weight.INVALID, f"{amount(undelivered, 'message')} {verb} acknowledged to the end but not received."
    if refused := events.get("acknowledgements_refused", 0):
        yield (
            _Weight.DEGRADED,
            f"{amount(refused, 'acknowledgement')} refused: they acknowledge packets that were never sent.",
        )
    if failed := events.get("messages_failed", 0):
        yield _Weight.NOTE, f"{amount(failed, 'message')} given up: too many consecutive timeouts without an answer."
    if counters.interrupted:
        yield _Weight.DEGRADED, "The run was interrupted; figures cover what was measured until then."


def clock_margin_us(config: RunConfig) -> float:
    """Return by how much a measured time may be below the ideal, in model us: by the lateness of a faithful run.

    With the virtual clock the margin is 20 ns of wall time, because every transmission is rounded to 1 ns.
    """
    return 20 / (1000 * config.dilation) if config.clock == "virtual" else DEGRADED_ABOVE * config.base_rtt_us


def lateness_share(wall_ns: float, base_rtt_us: float, dilation: int) -> float:
    """Return a wall duration as a share of the dilated base RTT."""
    return wall_ns / (base_rtt_us * 1000 * dilation)
