# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The events of the page and the position of each page in them."""

from __future__ import annotations

from sfc_testbed.testbed.watch.stream import Stream

ALL = 1_000_000


def _kinds(text: bytes) -> list[str]:
    return [line.removeprefix("event: ") for line in text.decode().split("\n") if line.startswith("event: ")]


def _numbers(text: bytes) -> list[int]:
    return [int(line.removeprefix("id: ")) for line in text.decode().split("\n") if line.startswith("id: ")]


def test_a_page_gets_each_event_once_and_in_order() -> None:
    stream = Stream()
    stream.add("scene", "{}")
    stream.add("chunk", '{"until_us":1}')
    number, text = stream.after(0, ALL)
    assert text == b'id: 1\nevent: scene\ndata: {}\n\nid: 2\nevent: chunk\ndata: {"until_us":1}\n\n'
    assert stream.after(number, ALL) == (2, b"")
    stream.add("end", "{}")
    assert _numbers(stream.after(number, ALL)[1]) == [3]


def test_events_are_sent_in_pieces_of_at_least_one() -> None:
    stream = Stream()
    for place in range(5):
        stream.add("chunk", f'"{place:090}"')
    number, text = stream.after(0, 250)
    assert _numbers(text) == [1, 2]
    assert _numbers(stream.after(number, 1)[1]) == [3]


def test_the_oldest_chunks_are_replaced_by_one_gap() -> None:
    stream = Stream(most_bytes=1000)
    stream.add("scene", "{}")
    for place in range(20):
        stream.add("chunk", f'"{place:080}"')
    number, text = stream.after(0, ALL)
    assert number == 21
    assert len(text) < 1200
    kinds, numbers = _kinds(text), _numbers(text)
    assert kinds[:2] == ["scene", "gap"]
    assert set(kinds[2:]) == {"chunk"}
    assert numbers[2:] == [*range(numbers[1] + 1, 22)]


def test_only_a_page_that_missed_chunks_gets_the_gap() -> None:
    stream = Stream(most_bytes=1000)
    for place in range(10):
        stream.add("chunk", f'"{place:080}"')
    read = 10
    for place in range(6):
        stream.add("chunk", f'"{place:080}"')
    assert _numbers(stream.after(read, ALL)[1]) == [*range(11, 17)]
    assert _kinds(stream.after(2, ALL)[1])[0] == "gap"


def test_scenes_and_ends_are_never_deleted() -> None:
    stream = Stream(most_bytes=500)
    for _ in range(3):
        stream.add("scene", "{}")
        for place in range(10):
            stream.add("chunk", f'"{place:080}"')
        stream.add("end", "{}")
    kinds = _kinds(stream.after(0, ALL)[1])
    assert [kind for kind in kinds if kind != "chunk"] == ["scene", "gap", "end"] * 2 + ["scene", "gap", "end"]
