# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the verdict: each rule at its limit, and the texts of the reasons."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.results.counters import Lateness, RunCounters, Spacing
from sfc_testbed.analysis.results.fidelity import Verdict, judge
from sfc_testbed.analysis.results.limits import (
    DEGRADED_ABOVE,
    ERROR_PER_LATENESS,
    FAITHFUL_ERROR,
    INVALID_ABOVE,
    TRUSTED_ERROR,
)
from sfc_testbed.analysis.results.result import BtsCounts, FlowCounts, PacketCounts, PfcCounts
from sfc_testbed.analysis.validation.metrics import METRIC
from sfc_testbed.wire.dilation import next_step
from tests.analysis.conftest import CONFIG as RUN_CONFIG

# Base RTT 10 us at dilation 10 000: 100 ms of wall time.
PUNCTUAL = Lateness(1e5, 1e6, 5e6)
EVEN = Spacing(count=500, p50_ns=1e5, p99_ns=1e6, max_ns=5e6, ideal_ns=8.5e5)
CONFIG = replace(RUN_CONFIG, scenario="incast", seed=1)
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
    """Return the verdict on a faithful run with these changes to fields of its packets, flows, config or counters."""

    def pop(*names: str) -> dict[str, Any]:
        return {name: changes.pop(name) for name in names if name in changes}

    packets = pop("sent", "received")
    flows = pop("completed", "corrupted")
    base_rtt_us = changes.pop("base_rtt_us", 10.0)
    physics = CONFIG.physics.model_copy(update={"base_rtt_ns": round(1000 * base_rtt_us)})
    config = replace(CONFIG, physics=physics, **pop("clock", "dilation", "switch"))
    counters = replace(COUNTERS, packets=COUNTERS.packets.model_copy(update=packets), **changes)
    return judge(config, counters, FLOWS.model_copy(update=flows))


def test_a_faithful_run_has_reasons_with_numbers() -> None:
    verdict = judged()
    assert verdict.level == "faithful"
    assert verdict.reasons == (
        "Every one of 1,000 packets sent is accounted for.",
        "Host lateness P99 is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
        "Switch lateness P99 is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
        "P99 error in the spacing of host frames is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
        "P99 error in the spacing of switch frames is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
    )


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({"received": 999}, "invalid", "1 packet lost that no drop counter explains."),
        ({"received": 1002}, "invalid", "2 packets more received or dropped than sent."),
        ({"kernel_drops": 3}, "invalid", "The kernel dropped 3 packets outside the modelled queues."),
        ({"corrupted": 1}, "invalid", "1 message arrived corrupted."),
        ({"sent": 0, "received": 0}, "invalid", "No packet was sent, so nothing was measured."),
        ({"host_lateness": None}, "degraded", "Host lateness was not measured."),
        ({"switch_lateness": None}, "degraded", "Switch lateness was not measured."),
        ({"interrupted": True}, "degraded", "The run was interrupted; figures cover what was measured until then."),
    ],
)
def test_each_rule_alone_decides(change: dict[str, object], level: str, reason: str) -> None:
    """A single problem sets the verdict and the only reason. Evidence for the run is left out."""
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
    reason = (
        f"P99 error in the spacing of {part} frames is" if figure == "spacing" else f"{part.title()} lateness P99 is"
    )
    assert any(text.startswith(reason) for text in verdict.reasons)


@pytest.mark.parametrize("who", ["host_lateness", "switch_lateness", "host_spacing", "switch_spacing"])
def test_a_late_run_advises_a_sufficient_dilation(who: str) -> None:
    """Lateness as a share of the base RTT falls with the square of the dilation, which is rounded up to a step."""
    late_by = 3.2
    measured = replace(getattr(COUNTERS, who), p99_ns=late_by * DEGRADED_ABOVE * RTT_WALL_NS)
    verdict = judged(**{who: measured})
    assert verdict.faithful_dilation == 20_000 >= 10_000 * math.sqrt(late_by)
    assert verdict.reasons[-1] == "Use --dilation 20000 or larger, or let `run --retry` choose the dilation."


def test_a_backlog_does_not_increase_the_advised_dilation() -> None:
    behind = [judged(host_lateness=Lateness(0, times * RTT_WALL_NS, 0)).faithful_dilation for times in (1, 10, 1_000)]
    assert behind == [next_step(10_000 / math.sqrt(DEGRADED_ABOVE))] * 3


def test_a_run_that_was_not_late_advises_no_dilation() -> None:
    assert judged().faithful_dilation is None
    assert judged(received=999).faithful_dilation is None
    assert judged(clock="virtual", host_lateness=Lateness(0, 1e9, 1e9)).faithful_dilation is None


@pytest.mark.parametrize(
    ("switch", "who", "reason"),
    [
        ("soft", "host", "there were no back-to-back frames"),
        ("soft", "switch", "there were no back-to-back frames"),
        ("bmv2", "switch", "not available with BMv2"),
    ],
)
def test_spacing_that_was_not_measured_is_noted(switch: str, who: str, reason: str) -> None:
    verdict = judged(switch=switch, **{f"{who}_spacing": None})
    assert verdict.level == "faithful"
    assert verdict.reasons[-1] == f"Spacing of {who} frames was not measured: {reason}."


def test_the_limits_permit_the_chosen_errors() -> None:
    """The first limit permits the tolerance of the peak buffer in validations."""
    permitted = [ERROR_PER_LATENESS * limit for limit in (DEGRADED_ABOVE, INVALID_ABOVE)]
    assert permitted == pytest.approx([FAITHFUL_ERROR, TRUSTED_ERROR])
    assert METRIC["peak_buffer_bytes"].tolerance.share == FAITHFUL_ERROR < TRUSTED_ERROR


def test_the_virtual_clock_needs_no_lateness() -> None:
    verdict = judged(clock="virtual", host_lateness=None, switch_lateness=None)
    assert verdict.level == "faithful"
    assert "The virtual clock is never late." in verdict.reasons


@pytest.mark.parametrize("received", [900, 1000, 1100])
def test_an_incomplete_packet_balance_does_not_affect_the_verdict(received: int) -> None:
    """Counters of a network that is still running show neither losses nor their absence."""
    verdict = judged(received=received, unbalanced="7 messages are under way.")
    assert verdict.level == "faithful"
    assert "7 messages are under way." in verdict.reasons
    assert not [reason for reason in verdict.reasons if "accounted for" in reason or "drop counter" in reason]


def test_unfinished_flows_are_no_reason_to_distrust_a_run() -> None:
    assert judged(completed=4) == judged(completed=10)


@pytest.mark.parametrize(
    ("event", "level", "reason"),
    [
        ("messages_undelivered", "invalid", "3 messages were acknowledged to the end but not received."),
        (
            "acknowledgements_refused",
            "degraded",
            "3 acknowledgements refused: they acknowledge packets that were never sent.",
        ),
        ("messages_failed", "faithful", "3 messages given up: too many consecutive timeouts without an answer."),
    ],
)
def test_events_of_misbehaving_hosts_are_judged(event: str, level: str, reason: str) -> None:
    """The hosts sent an accepted false acknowledgement, a refused one, and none at all."""
    verdict = judged(host_events={event: 3})
    assert verdict.level == level
    assert reason in verdict.reasons


def test_the_worst_reason_comes_first() -> None:
    verdict = judged(completed=4, interrupted=True, received=995)
    assert verdict.level == "invalid"
    assert [reason.split()[0] for reason in verdict.reasons] == ["5", "The"]


@pytest.mark.parametrize("change", [{"base_rtt_us": 0.0}, {"dilation": 0}])
def test_a_base_rtt_or_dilation_of_zero_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        judged(**change)


ORDER = ["faithful", "degraded", "invalid"]


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.booleans(), st.integers(-3, 3))
def test_a_later_run_is_never_judged_better(early: float, more: float, interrupted: bool, loss: int) -> None:
    """Verdicts are monotonic in lateness, also with other problems. Every verdict has a reason."""
    other: dict[str, Any] = {"interrupted": interrupted, "received": 1000 - loss}
    first = judged(**other, host_lateness=Lateness(0, early, early))
    second = judged(**other, host_lateness=Lateness(0, early + more, early + more))
    assert ORDER.index(first.level) <= ORDER.index(second.level)
    assert first.reasons
    assert second.reasons
