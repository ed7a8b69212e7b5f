# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of GOAL schedules: what is read, and the lines of what is refused."""

from __future__ import annotations

import pytest

from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.traces.goal import parse_goal
from sfc_testbed.scenarios.traffic.traces.messages import messages_of

HOSTS = [f"h{number}" for number in range(1, 9)]


def _messages(text: str, **more: bool) -> list[tuple[object, ...]]:
    requests, _ = messages_of(parse_goal(text.splitlines()), HOSTS, **more)
    return [(flow.src, flow.dst, flow.size_bytes, flow.start_ns, flow.after, flow.delay_ns) for flow in requests]


def _goal(*ranks: str) -> str:
    blocks = [f"rank {number} {{\n{text}\n}}" for number, text in enumerate(ranks)]
    return "\n".join([f"num_ranks {len(ranks)}", *blocks])


def test_a_computation_delays_the_messages_after_it() -> None:
    text = _goal(
        "l1: calc 5000\nl2: send 100b to 1 tag 7 cpu 1 nic 0\nl2 requires l1\nrecv 9b from 1",
        "l1: recv 100b from 0 tag 7\nl2: calc 300\nl2 requires l1\nl3: send 9b to 0\nl3 requires l2",
    )
    assert _messages(text) == [("h1", "h2", 100, 5_000, (), 0), ("h2", "h1", 9, 300, (1,), 300)]


def test_irequires_waits_for_the_start_of_an_operation() -> None:
    """The second send waits for the start of the first one, which a computation delays, and not for its end."""
    text = _goal(
        "c: calc 70\ns: send 1b to 1 tag 1\ns requires c\nt: send 1b to 1 tag 2\nt irequires s",
        "recv 1b from 0 tag 1\nrecv 1b from 0 tag 2",
    )
    assert _messages(text) == [("h1", "h2", 1, 70, (), 0), ("h1", "h2", 1, 70, (), 0)]


def test_messages_with_the_same_tag_match_in_order() -> None:
    """The order of a rank's dependencies counts before that of its lines."""
    text = _goal(
        "a: send 10b to 1\nb: send 20b to 1\na requires b",
        "first: recv 20b from 0\nsecond: recv 10b from 0\nlast: send 5b to 0\nlast requires second",
    ).replace("a requires b\n}", "a requires b\nrecv 5b from 1\n}")
    assert [flow[2:] for flow in _messages(text)] == [(20, 0, (), 0), (10, 0, (1,), 0), (5, 0, (2,), 0)]


def test_comments_and_brackets_need_no_lines_of_their_own() -> None:
    text = (
        "// a test\n/* of\ncomments */ num_ranks 2 // two\nrank 1 { recv 5b from 0 }\n"
        "rank 0 {send 5b to 1 /* short */ }"
    )
    assert _messages(text) == [("h1", "h2", 5, 0, (), 0)]


def test_each_predecessor_keeps_its_own_delay() -> None:
    """Rank 0 waits 10 ns after one message and 500 ns after the other one."""
    text = _goal(
        "a: recv 1b from 1\nb: recv 1b from 2\nc: calc 500 cpu 0\nc requires b\nd: calc 10 cpu 1\nd requires a\n"
        "s: send 1b to 1\ns requires c\ns requires d",
        "send 1b to 0\nrecv 1b from 0",
        "send 1b to 0",
    )
    assert _messages(text)[-1] == ("h1", "h2", 1, 500, (1, 2), (10, 500))


ALONE = ("s: send 1b to 1", "recv 1b from 0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("num_ranks 0", r"^line 1: not `num_ranks N`, with 1 to 100000 ranks: 'num_ranks 0'$"),
        ("num_ranks 2\nrank 0 {\n}", "^line 1: num_ranks is 2, but the file has no block of rank 1; add it$"),
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}", "^line 4: rank 0: already in line 2$"),
        ("num_ranks 1\nrank 1 {\n}", "^line 2: rank 1: num_ranks is 1$"),
        ("num_ranks 1\nrank 0 {\nl1: calc 5", "^line 2: the block of rank 0 has no closing `}`$"),
        ("num_ranks 1\nsend 5b to 0", "^line 2: not `rank RANK {`: 'send 5b to 0'$"),
        (_goal("l1: calc x", ""), "^line 3: not `LABEL: send BYTESb to RANK tag TAG`, .*: 'l1: calc x'$"),
        (_goal("send 5b from 1", ""), "^line 3: not `LABEL: send"),
        (_goal("l1 requires l2", ""), "^line 3: rank 0 has no operation 'l1'$"),
        (_goal("l1: calc 1\nl1: calc 2", ""), "^line 4: the label 'l1' is already in line 3$"),
        (_goal("recv 5b from -1", ""), r"^line 3: recv with any source \(-1\): which message it matches depends"),
        (_goal("recv 5b from 1 tag -1", ""), r"^line 3: recv with any tag \(-1\)"),
        (_goal("send 5b to 2", ""), "^line 3: rank 2: ranks are 0 to 1, because num_ranks is 2$"),
        (_goal("send 5b to 0", ""), "^line 3: rank 0 sends to itself; use calc for a copy$"),
        (_goal("send 5b to 1 nic 3", ""), "^line 3: nic 3: a host has one NIC; .* --set shared_nic=true$"),
        (_goal("send 5b to 1 tag 4", ""), "^line 3: rank 0 sends to rank 1 with tag 4, but rank 1 has no matching rec"),
        (
            _goal("recv 5b from 1", ""),
            "^line 3: rank 0 receives from rank 1 with tag 0, but rank 1 has no matching send",
        ),
        (_goal("send 5b to 1", "recv 4b from 0"), r"^line 6: the receive of 4 B is shorter .* of 5 B \(line 3\)$"),
        (
            _goal("a: calc 1\nb: calc 1\na requires b\nb requires a", ""),
            "^line 3: .* circle: line 3 .* line 4 .* line 3$",
        ),
        (
            _goal(
                "a: recv 1b from 1\nb: send 1b to 1\nb requires a", "a: recv 1b from 0\nb: send 1b to 0\nb requires a"
            ),
            "^line 3: operations wait for one another in a circle: line 3 waits for line 9 waits for line 8 waits",
        ),
        (
            _goal("calc 7\ncalc 8\nsend 1b to 1", "recv 1b from 0"),
            "^line 4: .* line 3 are on the same processor of rank 0",
        ),
        (_goal("calc 7", ""), "^the trace: no message between two hosts$"),
        (
            _goal("c: calc 9999999999999999999\ns: send 1b to 1\ns requires c", "recv 1b from 0"),
            "^line 3: more than 3600 s",
        ),
        (_goal("send 99999999999b to 1", "recv 99999999999b from 0"), "^line 3: a message has at most 10000000000 B"),
    ],
)
def test_the_line_of_what_is_refused_is_named(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        messages_of(parse_goal(text.splitlines()), HOSTS)


def test_what_has_an_option_is_read_with_it() -> None:
    """Computations of one processor may overlap, and all NICs of a rank may be its host's."""
    assert _messages(_goal("calc 7\ncalc 8\nsend 1b to 1", "recv 1b from 0"), may_overlap=True)
    trace = parse_goal(_goal("send 1b to 1 nic 3", "recv 1b from 0").splitlines(), shares_nics=True)
    assert len(messages_of(trace, HOSTS)[0]) == 1


def test_notes_say_what_is_not_sent_as_it_is() -> None:
    """Messages within a host take no time, but what waits for them waits for what they wait for."""
    text = _goal(
        "s: send 0b to 1\nc: calc 50\nc requires s\nt: send 8b to 1 tag 1\nt requires c\ncalc 9 cpu 2",
        "a: recv 8b from 0\nb: recv 8b from 0 tag 1\nf: send 4b to 2\nf requires a\nf requires b",
        "recv 4b from 1",
    )
    requests, notes = messages_of(parse_goal(text.splitlines()), ["h1", "h1", "h2"])
    assert [(flow.src, flow.dst, flow.start_ns) for flow in requests] == [("h1", "h2", 50)]
    assert notes == [
        "2 messages between ranks on the same host take no time",
        "no message waits for 1 computations, which are left out",
    ]
    _, notes = messages_of(parse_goal(text.splitlines()), HOSTS)
    assert notes[0] == "1 messages of 0 B are sent as 1 B"
