# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of mirroring sessions whose copies are cut to a length."""

import pytest

from softswitch.control import CommandError
from softswitch.engine import SwitchEngine
from softswitch.operations.mirror_sessions import MirrorSession, MirrorSessions

PROGRAM = "again"
INGRESS_CLONE, EGRESS_CLONE = b"\x01\0\0\0", b"\x08\0\0\0"
"""Headers of the program that request a clone for session 5 in ingress, for session 6 in egress."""
PAYLOAD = bytes(range(100, 120))


@pytest.fixture
def sessions(switch: SwitchEngine) -> MirrorSessions:
    return MirrorSessions(switch)


def frames_of(switch: SwitchEngine, header: bytes) -> dict[int, bytes]:
    """Return the frames that leave, by port."""
    return {port: frame for port, _, frame in switch.step(2, header + PAYLOAD, 0)}


def copies(switch: SwitchEngine, header: bytes) -> dict[int, bytes]:
    """Return the frames that leave, by port, without the frame's header."""
    return {port: frame[4:] for port, frame in frames_of(switch, header).items()}


def test_copies_are_cut_to_the_length_of_the_session(switch: SwitchEngine, sessions: MirrorSessions) -> None:
    """The packet itself stays whole. A length above the packet's cuts nothing."""
    sessions.set(5, MirrorSession(port=9, most_bytes=10))
    sessions.set(6, MirrorSession(port=8, most_bytes=7))
    assert copies(switch, INGRESS_CLONE) == {1: PAYLOAD, 9: PAYLOAD[:6]}
    assert copies(switch, EGRESS_CLONE) == {8: PAYLOAD[:3]}
    for whole in (MirrorSession(port=9, most_bytes=24), MirrorSession(port=9)):
        sessions.set(5, whole)
        assert copies(switch, INGRESS_CLONE) == {1: PAYLOAD, 9: PAYLOAD}


def test_a_length_below_the_headers_cuts_them_too(switch: SwitchEngine, sessions: MirrorSessions) -> None:
    sessions.set(5, MirrorSession(port=9, most_bytes=3))
    assert frames_of(switch, INGRESS_CLONE)[9] == b"\x01\0\x07"


def test_copies_to_a_group_are_cut(switch: SwitchEngine, sessions: MirrorSessions) -> None:
    switch.commands(("mc_mgrp_create 3", "mc_node_create 7 3 4", "mc_node_associate 3 0"))
    sessions.set(5, MirrorSession(group=3, most_bytes=5))
    assert copies(switch, INGRESS_CLONE) == {1: PAYLOAD, 3: PAYLOAD[:1], 4: PAYLOAD[:1]}
    sessions.set(5, MirrorSession(group=3, most_bytes=2))
    frames = frames_of(switch, INGRESS_CLONE)
    assert (frames[3], frames[4]) == (b"\x01\0", b"\x01\0")


@pytest.mark.parametrize(
    "session", [MirrorSession(port=9), MirrorSession(group=3, most_bytes=64), MirrorSession(9, 3, 100)]
)
def test_session_is_read_back(session: MirrorSession, sessions: MirrorSessions) -> None:
    sessions.set(5, session)
    assert sessions.get(5) == session
    sessions.delete(5)
    with pytest.raises(CommandError, match="session '5' does not exist"):
        sessions.get(5)


def test_session_without_destination_is_refused(sessions: MirrorSessions) -> None:
    with pytest.raises(CommandError, match="leads to a port, to a group or to both"):
        sessions.set(5, MirrorSession())
