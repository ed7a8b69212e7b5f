# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The verdict: each rule at its boundary, and what the reasons say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.results.fidelity import (
    Lateness,
    LinkSpacing,
    Measurements,
    judge,
    lateness_from_histogram,
    lateness_from_samples,
    lateness_share,
)

# Base RTT 10 us at dilation 10 000: 100 ms of wall time.
PUNCTUAL = Lateness(1e5, 1e6, 5e6)
GOOD = Measurements(
    clock="real",
    dilation=10_000,
    base_rtt_us=10.0,
    packets_sent=1000,
    unexplained_loss=0,
    kernel_drops=0,
    flows_total=10,
    flows_completed=10,
    corrupted=0,
    interrupted=False,
    host_lateness=PUNCTUAL,
    switch_lateness=PUNCTUAL,
)


def test_a_good_run_is_faithful_and_says_why() -> None:
    """The evidence comes with its numbers."""
    verdict = judge(GOOD)
    assert verdict.level == "faithful"
    assert verdict.reasons == (
        "Every one of 1,000 packets sent is accounted for.",
        "Host lateness P99 is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
        "Switch lateness P99 is 1 ms of wall time, 1 % of the dilated base RTT (100 ms).",
    )


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({"unexplained_loss": 1}, "invalid", "1 packet lost that no drop counter explains."),
        ({"unexplained_loss": -2}, "invalid", "2 packets received or dropped more than were sent."),
        ({"kernel_drops": 3}, "invalid", "The kernel dropped 3 packets outside the modelled queues."),
        ({"corrupted": 1}, "invalid", "1 message arrived corrupted."),
        ({"packets_sent": 0}, "invalid", "No packet was sent, so nothing was measured."),
        ({"host_lateness": None}, "degraded", "Host lateness was not measured."),
        ({"switch_lateness": None}, "degraded", "Switch lateness was not measured."),
        ({"interrupted": True}, "degraded", "The run was interrupted; figures cover what was measured until then."),
        (
            {"link_spacing": LinkSpacing(1.5)},
            "degraded",
            "Back-to-back departures are off by 1.5 packet times at P99.",
        ),
    ],
)
def test_each_rule_alone_decides(change: dict[str, object], level: str, reason: str) -> None:
    """One thing wrong gives its level and its sentence, and evidence for the run falls silent."""
    verdict = judge(replace(GOOD, **change))  # type: ignore[arg-type]
    assert (verdict.level, verdict.reasons) == (level, (reason,))


@pytest.mark.parametrize("who", ["host_lateness", "switch_lateness"])
@pytest.mark.parametrize(
    ("p99_ns", "level"),
    [(10e6, "faithful"), (10.01e6, "degraded"), (50e6, "degraded"), (50.01e6, "invalid")],
)
def test_lateness_is_judged_against_the_dilated_base_rtt(who: str, p99_ns: float, level: str) -> None:
    """10 % and 50 % of 100 ms, hosts and switches alike."""
    assert judge(replace(GOOD, **{who: Lateness(0, p99_ns, p99_ns)})).level == level  # type: ignore[arg-type]


def test_good_link_spacing_is_evidence() -> None:
    """One packet time is allowed."""
    verdict = judge(replace(GOOD, link_spacing=LinkSpacing(1.0)))
    assert verdict.level == "faithful"
    assert "Back-to-back departures are off by 1 packet times at P99." in verdict.reasons


def test_the_virtual_clock_needs_no_lateness() -> None:
    """Nothing is measured and nothing is missing."""
    verdict = judge(replace(GOOD, clock="virtual", host_lateness=None, switch_lateness=None))
    assert verdict.level == "faithful"
    assert "The virtual clock is never late." in verdict.reasons


def test_unfinished_flows_are_noted_and_change_nothing() -> None:
    """Endless flows are the point of some scenarios."""
    verdict = judge(replace(GOOD, flows_completed=4))
    assert verdict.level == "faithful"
    assert verdict.reasons[-1] == "6 of 10 flows did not finish."


def test_the_worst_reason_comes_first() -> None:
    """A note never hides a loss."""
    verdict = judge(replace(GOOD, flows_completed=4, interrupted=True, unexplained_loss=5))
    assert verdict.level == "invalid"
    assert [reason.split()[0] for reason in verdict.reasons] == ["5", "The", "6"]


@pytest.mark.parametrize("change", [{"base_rtt_us": 0.0}, {"dilation": 0}])
def test_a_network_without_a_round_trip_is_refused(change: dict[str, object]) -> None:
    """Shares of nothing are meaningless."""
    with pytest.raises(ValueError, match="must be positive"):
        judge(replace(GOOD, **change))  # type: ignore[arg-type]


ORDER = ["faithful", "degraded", "invalid"]


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.booleans(), st.integers(-3, 3))
def test_a_later_run_is_never_judged_better(early: float, more: float, interrupted: bool, loss: int) -> None:
    """Verdicts are monotonic in lateness, whatever else is wrong; every verdict has a reason."""
    base = replace(GOOD, interrupted=interrupted, unexplained_loss=loss)
    first = judge(replace(base, host_lateness=Lateness(0, early, early)))
    second = judge(replace(base, host_lateness=Lateness(0, early + more, early + more)))
    assert ORDER.index(first.level) <= ORDER.index(second.level)
    assert first.reasons
    assert second.reasons


def test_lateness_from_samples_by_hand() -> None:
    """1..100: P50 50.5, P99 99.01; nothing gives nothing."""
    lateness = lateness_from_samples(list(range(1, 101)))
    assert lateness is not None
    assert (lateness.p50_ns, lateness.max_ns) == (50.5, 100.0)
    assert lateness.p99_ns == pytest.approx(99.01)
    assert lateness_from_samples([]) is None


def test_lateness_from_a_histogram_takes_upper_edges() -> None:
    """98 packets under 1 us, one under 2, one under 4: P99 is the second bucket's edge."""
    assert lateness_from_histogram([1000, 2000, 4000, 8000], [98, 1, 1, 0]) == Lateness(1000.0, 2000.0, 4000.0)
    assert lateness_from_histogram([1000], [0]) is None
    assert lateness_from_histogram([], []) is None
    with pytest.raises(ValueError, match="1 bucket edges but 2 counts"):
        lateness_from_histogram([1], [1, 2])


@given(st.lists(st.integers(0, 1023), min_size=1, max_size=200))
def test_a_histogram_never_flatters(samples: list[int]) -> None:
    """Figures from buckets are at least those of the nearest-rank samples."""
    edges = [2**power for power in range(11)]
    counts = [0] * len(edges)
    for sample in samples:
        counts[next(index for index, edge in enumerate(edges) if sample <= edge)] += 1
    bucketed = lateness_from_histogram(edges, counts)
    assert bucketed is not None
    ordered = sorted(samples)
    assert bucketed.p50_ns >= ordered[-(-len(samples) // 2) - 1]
    assert bucketed.p99_ns >= ordered[-(-99 * len(samples) // 100) - 1]
    assert bucketed.max_ns >= ordered[-1]


def test_lateness_share_by_hand() -> None:
    """1 ms of 10 us x 10 000."""
    assert lateness_share(1e6, 10.0, 10_000) == pytest.approx(0.01)
