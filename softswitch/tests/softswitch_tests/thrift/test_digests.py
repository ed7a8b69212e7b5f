# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of digests over Thrift and a notifications socket: a sample is sent only once until it is acknowledged."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from softswitch.thrift.digest_learning import Learning
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import LearnCode
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.thrift.clients import PATIENCE_S, PortClient
from softswitch_tests.thrift.conftest import ThriftSwitch
from softswitch_tests.thrift.running import Served, served, start
from softswitch_tests.thrift.test_calls import code_of

DIGEST = bytes([3]) + bytes(127)
"""A frame for which the program sends a digest with the ingress port."""
LISTENER = b"\0SP\0\0\x21\0\0"
PUBLISHER = b"\0SP\0\0\x20\0\0"


@contextmanager
def _listening(path: Path) -> Iterator[Callable[[], tuple[tuple[Any, ...], bytes]]]:
    """Connect a listener; yield a function that returns the next message as (header, samples)."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(path))
        connection.sendall(LISTENER)
        stream = connection.makefile("rb")
        assert stream.read(8) == PUBLISHER

        def next_message() -> tuple[tuple[Any, ...], bytes]:
            kind, length = struct.unpack(">BQ", stream.read(9))
            assert kind == 1
            message = stream.read(length)
            return struct.unpack("<4sQiiQI", message[:32]), message[32:]

        yield next_message
        stream.close()


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Served]:
    """Yield a switch whose digests go to a socket in the test's folder."""
    address = ("--notifications", f"ipc://{tmp_path / 'digests'}", "--device-id", "6")
    with served("stateful", tmp_path, *address) as both:
        yield both


def test_sample_is_sent_again_after_acknowledgement(learner: Served, tmp_path: Path) -> None:
    client = PortClient(learner.port)
    assert client("bm_mgmt_get_info").notifications == f"ipc://{tmp_path / 'digests'}"
    with _listening(tmp_path / "digests") as next_message:
        learner.switch.send(1, DIGEST)
        (topic, device, context, digest, number, count), first = next_message()
        assert (topic, device, context, number, count) == (b"LEA|", 6, 0, 0, 1)
        learner.switch.send(1, DIGEST)
        learner.switch.send(2, DIGEST)
        header, second = next_message()
        assert header[4:] == (1, 1)
        assert second != first
        client("bm_learning_ack_buffer", 0, digest, 0)
        learner.switch.send(1, DIGEST)
        assert next_message() == ((topic, 6, 0, digest, 2, 1), first)
        client("bm_reset_state")
        learner.switch.send(2, DIGEST)
        assert next_message() == ((topic, 6, 0, digest, 0, 1), second)
    client.close()


def test_notifications_socket_in_use_is_left_alone(learner: Served, tmp_path: Path) -> None:
    where = f"ipc://{tmp_path / 'digests'}"
    program = PROGRAMS / "stateful.json"
    with start(
        "--control", tmp_path / "control", "--program", program, "--port", "0", "--notifications", where
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline().startswith("ready ")
        other.terminate()
        errors = other.communicate(timeout=PATIENCE_S)[1]
    assert errors == f"softswitch.thrift: no notifications at {where}: another process listens there\n"
    assert (tmp_path / "digests").is_socket()
    learner.server.terminate()
    assert learner.server.wait(PATIENCE_S) == 0
    assert not (tmp_path / "digests").exists()


def test_samples_are_batched_until_full_or_timeout() -> None:
    """A message is sent when it is full or when its first sample has waited for the timeout."""
    learning = Learning([1], 0)
    samples = learning.lists[1]
    samples.most_samples, samples.timeout_s = 2, 5.0
    for sample in (b"a", b"a", b"b", b"c"):
        samples.learn(sample, 10.0)
    [full] = learning.messages(10.0)
    assert full[32:] == b"ab"
    assert learning.messages(14.9) == []
    [late] = learning.messages(15.0)
    assert (late[20:28], late[32:]) == (struct.pack("<Q", 1), b"c")
    samples.acknowledge(0, [1, 1, 7])
    samples.acknowledge(9)
    for sample in (b"a", b"b", b"c", b"d"):
        samples.learn(sample, 20.0)
    assert [message[32:] for message in learning.messages(20.0)] == [b"bd"]


def test_invalid_settings_are_refused(make_switch: Callable[[str], ThriftSwitch]) -> None:
    call = make_switch("stateful").call
    assert code_of(call, "bm_learning_ack_buffer", 0, 99, 0) == LearnCode.INVALID_LIST_ID
    assert code_of(call, "bm_learning_ack", 0, 99, 0, [1]) == LearnCode.INVALID_LIST_ID
    [digest] = Program.read(PROGRAMS / "stateful.json").digests
    call("bm_learning_set_timeout", 0, digest, 0)
    call("bm_learning_set_buffer_size", 0, digest, 4)
    assert code_of(call, "bm_learning_set_timeout", 0, digest, -1) == LearnCode.ERROR
    assert code_of(call, "bm_learning_set_buffer_size", 0, digest, -1) == LearnCode.ERROR
