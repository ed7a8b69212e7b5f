# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of fault specifications: parsing, formatting, and one-line errors for invalid texts."""

from __future__ import annotations

import pytest

from sfc_testbed.scenarios.faults.fault import FaultError
from sfc_testbed.scenarios.faults.links import LinkDown
from sfc_testbed.scenarios.faults.spec import parse_fault, parse_faults
from sfc_testbed.topologies.shapes import shape

CLOS = shape("clos", {"uplinks": 2}).build()


def test_link_fault_has_its_times_and_the_default_detection_time() -> None:
    fault = parse_fault("link:tor1-spine1,down=200us,up=1.5ms")
    assert isinstance(fault, LinkDown)
    assert (fault.down_ns, fault.up_ns, fault.detect_ns) == (200_000, 1_500_000, 50_000)


@pytest.mark.parametrize(
    "text",
    [
        "link:tor1-spine1,down=200us,up=500us,detect=50us",
        "link:tor1-spine1#2,down=0us,detect=0us",
        "link:h1-tor1,down=1ms,up=2s,detect=30ns",
        "link:tor1-spine1,rate=25%,from=0us",
        "link:tor1-spine1#2,rate=0.5%,from=1us,until=2us",
        "links:5%,down=0us,detect=50us",
        "links:5%,down=0us,up=1us,detect=50us,seed=7",
        "links:50%,rate=10%,from=0us,seed=1",
        "restart:tor1,at=200us,down=50us",
        "restart:spine1,at=0us,down=0us,detect=10us",
        "stall:spine2,at=200us,for=1500ns,ring=1024",
        "stall:h1,at=1ms,for=30us,ring=0",
        "loss:tor1-spine1,rate=1%,from=0us",
        "bts-loss:all,rate=10%,from=20us,until=100us,seed=7",
        "corrupt:tor1,rate=0.1%,from=0us,towards=tor1,seed=2147483647",
        "duplicate:h1-tor1#1,rate=50%,from=0us",
        "reorder:all,rate=1%,from=0us,by=1us",
        "jitter:all,rate=100%,from=0us,max=300ns",
    ],
)
def test_a_fault_formats_to_its_specification(text: str) -> None:
    """A run can then be repeated from the text that it stored."""
    assert str(parse_fault(text)) == text
    assert parse_fault(str(parse_fault(text))) == parse_fault(text)


def test_a_fault_names_all_parallel_links_or_one_of_them() -> None:
    all_links, second = (parse_fault(f"link:{place},down=1us") for place in ("spine2-tor1", "tor1-spine2#2"))
    assert isinstance(all_links, LinkDown) and isinstance(second, LinkDown)
    assert len(all_links.links(CLOS)) == 2
    assert second.links(CLOS) == all_links.links(CLOS)[1:]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flood:tor1,at=1us", "unknown fault 'flood'; choose from link"),
        ("link", "a fault is written link:A-B"),
        ("link:,down=1us", "a fault is written link:A-B"),
        ("link:tor1,down=1us", "a link is written A-B or A-B#NUMBER, not 'tor1'"),
        ("link:tor1-tor9,down=1us", "no node 'tor9' in this network"),
        ("link:tor1-tor2,down=1us", "tor1 and tor2 are not linked"),
        ("link:tor1-spine1#3,down=1us", "there are 2 links between tor1 and spine1"),
        ("link:tor1-spine1#0,down=1us", "there are 2 links between tor1 and spine1"),
        ("link:tor1-spine1", "down is missing; it is written link:A-B,down=TIME"),
        ("link:tor1-spine1,down=200", "down: must be a time such as 20us or 1.5ms, not '200'"),
        ("link:tor1-spine1,down=-1us", "down: must be a time"),
        ("link:tor1-spine1,down=2h", "down: must be a time"),
        ("link:tor1-spine1,down=99999s", "down: must be at most an hour"),
        ("link:tor1-spine1,down=2us,down=3us", "down is given twice"),
        ("link:tor1-spine1,down", "'down' is not NAME=VALUE"),
        ("link:tor1-spine1,down=2us,rate=1", "rate: there is no such setting"),
        ("link:tor1-spine1,down=2us,up=2us", "up must come after down"),
        ("link:tor1-spine1,rate=100%", "rate must be below 100%"),
        ("link:tor1-spine1,rate=25", "rate: must be above 0 and at most 100%, not 25"),
        ("link:tor1-spine1,rate=25%,from=2us,until=1us", "until must come after from"),
        ("links:5%,down=1us", "of 8 links between switches, this is not one"),
        ("links:all,down=1us", "must be a share such as 1% or 0.01, not 'all'"),
        ("links:100%,down=1us", "8 of 8 links, but only 6 can go down without disconnecting hosts"),
        ("links:25%", "down is missing; it is written links:SHARE,down=TIME"),
        ("restart:h1,at=1us", "only switches restart, and h1 is a host"),
        ("restart:tor9,at=1us", "no switch 'tor9' in this network"),
        ("restart:tor1", "at is missing; it is written restart:SWITCH,at=TIME"),
        ("restart:tor1,at=1us,for=2us", "for: there is no such setting"),
        ("restart:tor1,at=1us,detect=soon", "detect: must be a time"),
        ("stall:h99,at=1us,for=2us", "no node 'h99' in this network"),
        ("stall:h1,at=1us", "for is missing; it is written stall:NODE,at=TIME,for=DURATION"),
        ("stall:h1,for=1us", "at is missing"),
        ("stall:h1,at=1us,for=0us", "for: must be"),
        ("stall:h1,at=1us,for=1us,ring=few", "ring: must be a whole number"),
        ("stall:h1,at=1us,for=1us,ring=-1", "ring: must be a whole number"),
        ("stall:h1,at=1us,for=1us,ring=1234567", "ring: must be a whole number of at most 6 digits"),
        ("loss:all", "rate is missing; it is written loss:A-B|NODE|all,rate=FRACTION"),
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
        ("jitter:all,max=0us", "max: must be longer than 0"),
        ("reorder:all,rate=1%,by=0us", "by: must be longer than 0"),
        ("delay:all,max=1us", "unknown fault 'delay'; choose from link, "),
    ],
)
def test_wrong_faults_are_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(FaultError) as caught:
        parse_faults([text], CLOS)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "texts",
    [
        ["link:tor1-spine1,down=1us", "link:tor1-spine1,down=1us"],
        ["link:tor1-spine1,down=1us", "link:spine1-tor1,down=2us"],
        ["stall:h1,at=5us,for=5us", "stall:h1,at=1us,for=5us"],
        ["restart:tor1,at=1us", "restart:tor1,at=2us"],
    ],
)
def test_a_fault_that_would_end_another_is_refused(texts: list[str]) -> None:
    with pytest.raises(FaultError, match="two such faults overlap in time; leave one of them out"):
        parse_faults(texts, CLOS)


def test_a_place_may_have_a_fault_after_another() -> None:
    assert len(parse_faults(["stall:h1,at=1us,for=5us", "stall:h1,at=6us,for=5us"], CLOS)) == 2
