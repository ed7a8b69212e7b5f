# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The verdict: each rule at its boundary, and what the reasons say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.results.counters import Lateness, RunCounters, RunIdentity, Spacing
from analysis.results.fidelity import Verdict, judge
from analysis.results.limits import (
    DEGRADED_ABOVE,
    ERROR_PER_LATENESS,
    FAITHFUL_ERROR,
    INVALID_ABOVE,
    TRUSTED_ERROR,
)
from analysis.results.result import BtsCounts, FlowCounts, PacketCounts, PfcCounts
from analysis.validation.metrics import METRIC
from wire.dilation import next_step

# Base RTT 10 us at dilation 10 000: 100 ms of wall time.
PUNCTUAL = Lateness(1e5, 1e6, 5e6)
EVEN = Spacing(count=500, p50_ns=1e5, p99_ns=1e6, max_ns=5e6, ideal_ns=8.5e5)
IDENTITY = RunIdentity("incast", "sfc", "ci", "soft", "real", dilation=10_000, seed=1, base_rtt_us=10.0)
COUNTERS = RunCounters(
    packets=PacketCounts(sent=1000, received=1000, switch_generated=0, switch_absorbed=0, in_flight=0),
    drops={},
    kernel_drops=0,
    bts=BtsCounts(sent=0, suppressed=0, cache_hits=0, max_suppression_entries=0, max_cache_entries=0),
    pfc=PfcCounts(sent=0),
    host_lateness=PUNCTUAL,
    switch_lateness=PUNCTUAL,
    host_spacing=EVEN,
    switch_spacing=EVEN,
)
FLOWS = FlowCounts(total=10, completed=10, corrupted=0, timeouts=0, packets_resent=0)


def judged(**changes: Any) -> Verdict:
    """The verdict on a good run but for these changes; each goes where a field of that name is."""

    def taken(*names: str) -> dict[str, Any]:
        return {name: changes.pop(name) for name in names if name in changes}

    packets = taken("sent", "received")
    flows = taken("completed", "corrupted")
    identity = taken("clock", "dilation", "base_rtt_us", "switch")
    counters = replace(COUNTERS, packets=COUNTERS.packets.model_copy(update=packets), **changes)
    return judge(replace(IDENTITY, **identity), counters, FLOWS.model_copy(update=flows))


def test_a_good_run_is_faithful_and_says_why() -> None:
    """The evidence comes with its numbers."""
    verdict = judged()
    assert verdict.level == "faithful"
    assert verdict.reasons == (
        "Every one of 1,000 packets sent is accounted for.",
        "Host lateness P99 is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
        "Switch lateness P99 is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
        "Spacing of host frames is off (P99) by 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
        "Spacing of switch frames is off (P99) by 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
    )


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({"received": 999}, "invalid", "1 packet lost that no drop counter explains."),
        ({"received": 1002}, "invalid", "2 packets received or dropped more than were sent."),
        ({"kernel_drops": 3}, "invalid", "The kernel dropped 3 packets outside the modelled queues."),
        ({"corrupted": 1}, "invalid", "1 message arrived corrupted."),
        ({"sent": 0, "received": 0}, "invalid", "No packet was sent, so nothing was measured."),
        ({"host_lateness": None}, "degraded", "Host lateness was not measured."),
        ({"switch_lateness": None}, "degraded", "Switch lateness was not measured."),
        ({"interrupted": True}, "degraded", "The run was interrupted; figures cover what was measured until then."),
    ],
)
def test_each_rule_alone_decides(change: dict[str, object], level: str, reason: str) -> None:
    """One thing wrong gives its level and its sentence, and evidence for the run falls silent."""
    verdict = judged(**change)
    assert (verdict.level, verdict.reasons) == (level, (reason,))


RTT_WALL_NS = 100e6


@pytest.mark.parametrize("who", ["host_lateness", "switch_lateness", "host_spacing", "switch_spacing"])
@pytest.mark.parametrize(
    ("share", "level"),
    [
        (0.999 * DEGRADED_ABOVE, "faithful"),
        (1.001 * DEGRADED_ABOVE, "degraded"),
        (0.999 * INVALID_ABOVE, "degraded"),
        (1.001 * INVALID_ABOVE, "invalid"),
    ],
)
def test_lateness_and_spacing_are_judged_against_the_dilated_base_rtt(who: str, share: float, level: str) -> None:
    verdict = judged(**{who: replace(getattr(COUNTERS, who), p99_ns=share * RTT_WALL_NS)})
    assert verdict.level == level
    part, _, figure = who.partition("_")
    reason = f"Spacing of {part} frames is off" if figure == "spacing" else f"{part.title()} lateness P99 is"
    assert any(text.startswith(reason) for text in verdict.reasons)


@pytest.mark.parametrize("who", ["host_lateness", "switch_lateness", "host_spacing", "switch_spacing"])
def test_a_late_run_says_which_dilation_would_do(who: str) -> None:
    """Lateness as a share falls with its square; rounded up to a step, whatever was late."""
    late_by = 3.2
    measured = replace(getattr(COUNTERS, who), p99_ns=late_by * DEGRADED_ABOVE * RTT_WALL_NS)
    verdict = judged(**{who: measured})
    assert verdict.faithful_dilation == 20_000 >= 10_000 * math.sqrt(late_by)
    assert verdict.reasons[-1] == "Use --dilation 20000 or larger, or let `run --retry` choose the dilation."


def test_a_backlog_is_not_taken_for_lateness_that_stays() -> None:
    """Ten base RTTs behind or a thousand: the machine did not keep up, and the next D is the same."""
    behind = [judged(host_lateness=Lateness(0, times * RTT_WALL_NS, 0)).faithful_dilation for times in (1, 10, 1_000)]
    assert behind == [next_step(10_000 / math.sqrt(DEGRADED_ABOVE))] * 3


def test_a_run_that_was_not_late_advises_nothing() -> None:
    assert judged().faithful_dilation is None
    assert judged(received=999).faithful_dilation is None
    assert judged(clock="virtual", host_lateness=Lateness(0, 1e9, 1e9)).faithful_dilation is None


@pytest.mark.parametrize(
    ("switch", "who", "why"),
    [
        ("soft", "host", "no frame followed another without a gap"),
        ("soft", "switch", "no frame followed another without a gap"),
        ("bmv2", "switch", "BMv2 sends them by itself"),
    ],
)
def test_spacing_that_nobody_measured_is_noted(switch: str, who: str, why: str) -> None:
    verdict = judged(switch=switch, **{f"{who}_spacing": None})
    assert verdict.level == "faithful"
    assert verdict.reasons[-1] == f"Spacing of {who} frames was not measured: {why}."


def test_the_limits_let_through_the_errors_they_were_made_for() -> None:
    """The tolerance of a validated peak at the first limit, what was chosen at the second."""
    let_through = [ERROR_PER_LATENESS * limit for limit in (DEGRADED_ABOVE, INVALID_ABOVE)]
    assert let_through == pytest.approx([FAITHFUL_ERROR, TRUSTED_ERROR])
    assert METRIC["peak_buffer_bytes"].tolerance.share == FAITHFUL_ERROR < TRUSTED_ERROR


def test_the_virtual_clock_needs_no_lateness() -> None:
    verdict = judged(clock="virtual", host_lateness=None, switch_lateness=None)
    assert verdict.level == "faithful"
    assert "The virtual clock is never late." in verdict.reasons


@pytest.mark.parametrize("received", [900, 1000, 1100])
def test_a_balance_that_cannot_be_drawn_up_decides_nothing(received: int) -> None:
    """A network that goes on is neither invalid for packets on their way nor praised for having lost none."""
    verdict = judged(received=received, unbalanced="7 messages are under way.")
    assert verdict.level == "faithful"
    assert "7 messages are under way." in verdict.reasons
    assert not [reason for reason in verdict.reasons if "accounted for" in reason or "drop counter" in reason]


def test_unfinished_flows_are_noted_and_change_nothing() -> None:
    """Endless flows are the point of some scenarios."""
    verdict = judged(completed=4)
    assert verdict.level == "faithful"
    assert verdict.reasons[-1] == "6 of 10 flows did not finish."


@pytest.mark.parametrize(
    ("event", "level", "reason"),
    [
        ("messages_undelivered", "invalid", "3 messages were acknowledged to the end but not received."),
        (
            "acknowledgements_refused",
            "degraded",
            "3 acknowledgements refused: they acknowledge packets that were never sent.",
        ),
        ("messages_failed", "faithful", "3 messages given up: too many timeouts in a row without an answer."),
    ],
)
def test_what_honest_hosts_do_not_do_is_judged(event: str, level: str, reason: str) -> None:
    """A lie that was believed, one that was not, and silence."""
    verdict = judged(host_events={event: 3})
    assert verdict.level == level
    assert reason in verdict.reasons


def test_the_worst_reason_comes_first() -> None:
    """A note never hides a loss."""
    verdict = judged(completed=4, interrupted=True, received=995)
    assert verdict.level == "invalid"
    assert [reason.split()[0] for reason in verdict.reasons] == ["5", "The", "6"]


@pytest.mark.parametrize("change", [{"base_rtt_us": 0.0}, {"dilation": 0}])
def test_a_network_without_a_round_trip_is_refused(change: dict[str, object]) -> None:
    """Shares of nothing are meaningless."""
    with pytest.raises(ValueError, match="must be positive"):
        judged(**change)


ORDER = ["faithful", "degraded", "invalid"]


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.booleans(), st.integers(-3, 3))
def test_a_later_run_is_never_judged_better(early: float, more: float, interrupted: bool, loss: int) -> None:
    """Verdicts are monotonic in lateness, whatever else is wrong; every verdict has a reason."""
    other: dict[str, Any] = {"interrupted": interrupted, "received": 1000 - loss}
    first = judged(**other, host_lateness=Lateness(0, early, early))
    second = judged(**other, host_lateness=Lateness(0, early + more, early + more))
    assert ORDER.index(first.level) <= ORDER.index(second.level)
    assert first.reasons
    assert second.reasons
