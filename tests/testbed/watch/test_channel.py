# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The connection from the runner to the server of the page."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfc_testbed.testbed.watch import channel
from sfc_testbed.testbed.watch.channel import Receiver, Sender


@pytest.fixture
def ends() -> Iterator[tuple[Sender, Receiver]]:
    own, other = socket.socketpair()
    with own, other:
        yield Sender(own), Receiver(other)


def test_messages_arrive_in_order(ends: tuple[Sender, Receiver]) -> None:
    sender, receiver = ends
    for number in range(3):
        sender.send({"number": number})
    assert receiver.messages() == [{"number": number} for number in range(3)]
    sender.finish(1)
    assert receiver.messages() == []
    assert receiver.is_closed


def test_files_arrive_with_their_messages_and_outlive_the_folder(ends: tuple[Sender, Receiver], tmp_path: Path) -> None:
    sender, receiver = ends
    for name in ("tor1", "tor2"):
        (tmp_path / name).write_text(name)
        sender.send({"switches": [name]}, [os.open(tmp_path / name, os.O_RDONLY)])
        (tmp_path / name).unlink()
    messages: list[dict[str, object]] = []
    while len(messages) < 2:
        messages += receiver.messages()
    assert messages == [{"switches": ["tor1"]}, {"switches": ["tor2"]}]
    for name, descriptor in zip(("tor1", "tor2"), receiver.files(2), strict=True):
        assert os.pread(descriptor, 10, 0).decode() == name
        os.close(descriptor)


def test_the_runner_never_waits_for_a_server_that_does_not_read(
    ends: tuple[Sender, Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "MOST_UNSENT_BYTES", 2_000_000)
    sender, receiver = ends
    for number in range(100):
        sender.send({"number": number, "text": "x" * 100_000}, is_optional=True)
    assert sender.lost > 50
    sender.send({"end": True})
    received: list[dict[str, object]] = []
    while not received or "end" not in received[-1]:
        received += receiver.messages()
        sender.flush()
    assert [message.get("number") for message in received[:-1]] == [*range(100 - sender.lost)]


def test_a_server_that_has_ended_is_ignored() -> None:
    own, other = socket.socketpair()
    with own:
        sender = Sender(own)
        other.close()
        for _ in range(10):
            sender.send({"text": "x" * 100_000})
        sender.finish(1)
