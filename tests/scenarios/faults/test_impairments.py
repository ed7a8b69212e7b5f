# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Impairments of links as they are typed: which links and directions, when, how often, and what is refused."""

from __future__ import annotations

import pytest

from scenarios.faults.fault import FaultError
from scenarios.faults.impairments import IMPAIRMENTS, Impairment, Jitter, Reordering
from scenarios.faults.spec import parse_fault, parse_faults
from topologies.shapes import shape

CLOS = shape("clos", {"hosts_per_tor": 2}).build()


def impairment(text: str) -> Impairment:
    """The fault of a text, which is of a link."""
    fault = parse_fault(text)
    assert isinstance(fault, Impairment)
    return fault


def _ways(text: str) -> set[tuple[str, str]]:
    return {(sender.node, receiver.node) for sender, receiver in impairment(text).directions(CLOS)}


@pytest.mark.parametrize(
    ("share", "rate_ppb", "written"),
    [
        ("1%", 10_000_000, "1%"),
        ("0.01", 10_000_000, "1%"),
        ("1", 1_000_000_000, "100%"),
        ("100%", 1_000_000_000, "100%"),
        ("0.000000001", 1, "0.0000001%"),
        ("12.5%", 125_000_000, "12.5%"),
        ("10%", 100_000_000, "10%"),
    ],
)
def test_a_share_is_written_in_percent_or_not(share: str, rate_ppb: int, written: str) -> None:
    """Both mean the same, and it is given back in percent."""
    fault = impairment(f"loss:all,rate={share}")
    assert fault.rate_ppb == rate_ppb
    assert str(fault) == f"loss:all,rate={written},from=0us"
    assert parse_fault(str(fault)) == fault


@pytest.mark.parametrize(
    "text",
    [
        "loss:tor1-spine1,rate=1%,from=0us",
        "bts-loss:all,rate=10%,from=20us,until=100us,seed=7",
        "corrupt:tor1,rate=0.1%,from=0us,towards=tor1,seed=2147483647",
        "duplicate:h1-tor1#1,rate=50%,from=0us",
        "reorder:all,rate=1%,from=0us,by=1us",
        "jitter:all,rate=100%,from=0us,max=300ns",
    ],
)
def test_a_fault_is_given_back_as_it_is_typed(text: str) -> None:
    """So that a run can be repeated from what it stored."""
    assert str(parse_fault(text)) == text
    assert parse_fault(str(parse_fault(text))) == parse_fault(text)


def test_a_place_is_a_link_a_node_or_all() -> None:
    """Both directions of each."""
    assert _ways("loss:tor1-spine1,rate=1%") == {("tor1", "spine1"), ("spine1", "tor1")}
    assert _ways("loss:spine1,rate=1%") == {
        (a, b) for tor in ("tor1", "tor2") for a, b in (("spine1", tor), (tor, "spine1"))
    }
    assert len(_ways("loss:all,rate=1%")) == 2 * len(CLOS.links)


def test_a_direction_is_told_by_where_it_leads() -> None:
    """One of a link, or all that end at a node."""
    assert _ways("loss:tor1-spine1,rate=1%,towards=tor1") == {("spine1", "tor1")}
    assert _ways("loss:all,rate=1%,towards=spine1") == {("tor1", "spine1"), ("tor2", "spine1")}
    assert _ways("loss:h1,rate=1%,towards=tor1") == {("h1", "tor1")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loss:all", "rate is missing; it is written loss:A-B|NODE|all,rate=SHARE"),
        ("loss:all,rate=0", "rate: must be above 0 and at most 100%, not 0"),
        ("loss:all,rate=101%", "rate: must be above 0 and at most 100%, not 101%"),
        ("loss:all,rate=2", "rate: must be above 0 and at most 100%, not 2"),
        ("loss:all,rate=-1%", "rate: must be a share such as 1% or 0.01, not '-1%'"),
        ("loss:all,rate=nan", "rate: must be a share"),
        ("loss:all,rate=1e-3", "rate: must be a share"),
        ("loss:all,rate=1%,from=5us,until=5us", "until must come after from"),
        ("loss:all,rate=1%,seed=9223372036854775808", "seed: must be at most"),
        ("loss:all,rate=1%,seed=x", "seed: must be a whole number, not 'x'"),
        ("loss:all,rate=1%,by=1us", "by: there is no such setting"),
        ("loss:tor9,rate=1%", "no node 'tor9' in this network"),
        ("loss:tor1-tor2,rate=1%", "tor1 and tor2 are not linked"),
        ("loss:tor1-spine1,rate=1%,towards=tor2", "none of its links leads towards 'tor2'"),
        ("jitter:all", "max is missing; it is written jitter:A-B|NODE|all,max=TIME"),
        ("jitter:all,max=0us", "max: must be longer than nothing"),
        ("reorder:all,rate=1%,by=0us", "by: must be longer than nothing"),
        ("delay:all,max=1us", "no fault 'delay'; there are link, "),
    ],
)
def test_wrong_impairments_are_refused_in_one_line(text: str, words: str) -> None:
    """The line says what is wrong and how it is written."""
    with pytest.raises(FaultError) as caught:
        parse_faults([text], CLOS)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("second", ["loss:tor1,rate=2%,from=5us", "loss:all,rate=2%,until=10us,towards=spine1"])
def test_one_kind_holds_once_at_a_time(second: str) -> None:
    """Two rates for one direction of a link are none."""
    first = "loss:tor1-spine1,rate=1%,until=20us"
    with pytest.raises(FaultError, match="the link from tor1 to spine1 has a loss at that time already"):
        parse_faults([first, second], CLOS)


@pytest.mark.parametrize(
    "second",
    [
        "loss:tor1-spine1,rate=2%,from=20us",
        "corrupt:tor1-spine1,rate=2%",
        "bts-loss:tor1-spine1,rate=2%",
        "loss:tor1-spine2,rate=2%",
    ],
)
def test_other_times_kinds_and_links_go_together(second: str) -> None:
    """One after the other on one link, or different things at once."""
    assert len(parse_faults(["loss:tor1-spine1,rate=1%,until=20us", second], CLOS)) == 2


def test_a_seed_follows_from_the_runs() -> None:
    """Of each fault its own, whatever other faults there are; one that was told stays."""
    seeds = [
        impairment(text).seeded(seed) for seed in (1, 2) for text in ("loss:all,rate=1%", "loss:tor1-spine1,rate=1%")
    ]
    assert len(set(map(str, seeds))) == 4
    assert str(impairment("loss:all,rate=1%").seeded(1)) == str(seeds[0])
    assert str(impairment("loss:all,rate=1%,seed=3").seeded(1)) == "loss:all,rate=1%,from=0us,seed=3"


@pytest.mark.parametrize("kind", IMPAIRMENTS)
def test_only_jitter_and_reordering_hold_frames_back(kind: type[Impairment]) -> None:
    """A run waits that long for what is on its way at the end."""
    holding: dict[type[Impairment], str] = {Jitter: ",max=3us", Reordering: ",by=3us"}
    extra = holding.get(kind, "")
    assert impairment(f"{kind.kind}:all,rate=1%{extra}").hold_ns == (3_000 if extra else 0)


def test_a_report_marks_what_held_when() -> None:
    """The label of the plot names place, kind and share."""
    [span] = parse_fault("bts-loss:tor2,rate=0.5,from=20us,until=80us").spans()
    assert (span.label, span.begin_ns, span.end_ns) == ("tor2 bts-loss 50%", 20_000, 80_000)
