# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of impairment specifications: links, directions, times, shares, and refused texts."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from sfc_testbed.scenarios.faults.fault import FaultError
from sfc_testbed.scenarios.faults.impairments import IMPAIRMENTS, Impairment, Jitter, Reordering
from sfc_testbed.scenarios.faults.spec import parse_fault, parse_faults
from sfc_testbed.topologies.shapes import shape

CLOS = shape("clos", {"hosts_per_tor": 2}).build()


def impairment(text: str) -> Impairment:
    """Parse a specification that must be an impairment."""
    fault = parse_fault(text)
    assert isinstance(fault, Impairment)
    return fault


def _directions(text: str) -> set[tuple[str, str]]:
    return {(sender.node, receiver.node) for sender, receiver in impairment(text).directions(CLOS)}


@pytest.mark.parametrize(
    ("share", "rate_ppb", "formatted"),
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
def test_a_share_is_a_percentage_or_a_fraction(share: str, rate_ppb: int, formatted: str) -> None:
    """A rate is always formatted in percent."""
    fault = impairment(f"loss:all,rate={share}")
    assert fault.rate_ppb == rate_ppb
    assert str(fault) == f"loss:all,rate={formatted},from=0us"
    assert parse_fault(str(fault)) == fault


def test_a_place_is_a_link_a_node_or_all() -> None:
    assert _directions("loss:tor1-spine1,rate=1%") == {("tor1", "spine1"), ("spine1", "tor1")}
    assert _directions("loss:spine1,rate=1%") == {
        (a, b) for tor in ("tor1", "tor2") for a, b in (("spine1", tor), (tor, "spine1"))
    }
    assert len(_directions("loss:all,rate=1%")) == 2 * len(CLOS.links)


def test_towards_selects_the_direction() -> None:
    assert _directions("loss:tor1-spine1,rate=1%,towards=tor1") == {("spine1", "tor1")}
    assert _directions("loss:all,rate=1%,towards=spine1") == {("tor1", "spine1"), ("tor2", "spine1")}
    assert _directions("loss:h1,rate=1%,towards=tor1") == {("h1", "tor1")}


@pytest.mark.parametrize(
    ("second", "is_refused"),
    [
        ("loss:tor1,rate=2%,from=5us", True),
        ("loss:all,rate=2%,until=10us,towards=spine1", True),
        ("loss:tor1-spine1,rate=2%,from=20us", False),
        ("corrupt:tor1-spine1,rate=2%", False),
        ("bts-loss:tor1-spine1,rate=2%", False),
        ("loss:tor1-spine2,rate=2%", False),
    ],
)
def test_impairments_of_one_kind_must_not_overlap_on_a_link(second: str, is_refused: bool) -> None:
    words = "the link from tor1 to spine1 has a loss at that time already"
    with pytest.raises(FaultError, match=words) if is_refused else nullcontext():
        parse_faults(["loss:tor1-spine1,rate=1%,until=20us", second], CLOS)


def test_default_seeds_derive_from_the_run_seed() -> None:
    """Each fault gets its own seed, independent of other faults; an explicit seed stays."""
    seeds = [
        impairment(text).seeded(seed) for seed in (1, 2) for text in ("loss:all,rate=1%", "loss:tor1-spine1,rate=1%")
    ]
    assert len(set(map(str, seeds))) == 4
    assert str(impairment("loss:all,rate=1%").seeded(1)) == str(seeds[0])
    assert str(impairment("loss:all,rate=1%,seed=3").seeded(1)) == "loss:all,rate=1%,from=0us,seed=3"


@pytest.mark.parametrize("kind", IMPAIRMENTS)
def test_only_jitter_and_reordering_hold_frames_back(kind: type[Impairment]) -> None:
    """A run waits that long at its end for frames that are still held back."""
    parameters: dict[type[Impairment], str] = {Jitter: ",max=3us", Reordering: ",by=3us"}
    extra = parameters.get(kind, "")
    assert impairment(f"{kind.kind}:all,rate=1%{extra}").hold_ns == (3_000 if extra else 0)


def test_the_span_of_an_impairment_has_label_and_times() -> None:
    [span] = parse_fault("bts-loss:tor2,rate=0.5,from=20us,until=80us").spans()
    assert (span.label, span.begin_ns, span.end_ns) == ("tor2 bts-loss 50%", 20_000, 80_000)
