# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of election ids that are used already, and of the limits of roles and their names."""

import re
from typing import Any

import pytest
from grpc import StatusCode

from softswitch.p4runtime import arbitration
from softswitch.p4runtime.arbitration import Arbitration, Client
from softswitch.p4runtime.messages import v1
from softswitch.p4runtime.status import Refusal
from softswitch_tests.p4runtime.controller import DEVICE_ID

OK, NOT_FOUND, ALREADY_EXISTS = 0, 5, 6
FINSY = re.compile(r"election id .*\b(?:used|exists)\b", re.IGNORECASE)
"""The expression by which finsy recognises the refusal; it then tries a lower id."""


class Recorder:
    """A live client that keeps what it receives."""

    def __init__(self, clients: Arbitration) -> None:
        self._clients = clients
        self._received: list[Any] = []
        self.client = Client(self._received.append)

    def arbitrate(self, election_id: int | None, role: str = "") -> int:
        """Return the code of the answer. Raise Refusal if the stream ends."""
        message = v1.MasterArbitrationUpdate(device_id=DEVICE_ID)
        if role:
            message.role.name = role
        if election_id is not None:
            message.election_id.high, message.election_id.low = election_id >> 64, election_id & (1 << 64) - 1
        self._clients.update(self.client, message)
        code: int = self._received[-1].arbitration.status.code
        return code

    def leave(self) -> None:
        self._clients.leave(self.client)


@pytest.fixture
def clients() -> Arbitration:
    return Arbitration(DEVICE_ID, lambda: None)


@pytest.mark.parametrize("number", [10, 0, (1 << 128) - 1])
def test_a_used_election_id_is_refused_in_the_words_of_other_servers(clients: Arbitration, number: int) -> None:
    first, second = Recorder(clients), Recorder(clients)
    assert first.arbitrate(number) == OK
    with pytest.raises(Refusal) as refusal:
        second.arbitrate(number)
    assert refusal.value.code is StatusCode.INVALID_ARGUMENT
    assert FINSY.search(str(refusal.value))
    assert str(refusal.value).startswith("Election id already exists")  # BMv2's text
    assert "is already used by another connection with the same role" in str(refusal.value)  # Stratum's text
    assert first.arbitrate(number) == OK


def test_a_live_client_cannot_change_to_a_used_election_id(clients: Arbitration) -> None:
    first, second = Recorder(clients), Recorder(clients)
    assert first.arbitrate(10) == OK
    assert second.arbitrate(9) == ALREADY_EXISTS
    with pytest.raises(Refusal, match=FINSY):
        second.arbitrate(10)


def test_election_ids_that_are_not_used_by_another_client_of_the_role_are_accepted(clients: Arbitration) -> None:
    first, other_role, lower, higher_half = (Recorder(clients) for _ in range(4))
    assert first.arbitrate(10) == OK
    assert first.arbitrate(10) == OK
    assert other_role.arbitrate(10, "another") == OK
    assert lower.arbitrate(9) == ALREADY_EXISTS
    assert higher_half.arbitrate(10 + (1 << 64)) == OK
    assert [Recorder(clients).arbitrate(None) for _ in range(3)] == [ALREADY_EXISTS] * 3


def test_the_election_id_of_a_client_that_left_is_free(clients: Arbitration) -> None:
    first, second, third = Recorder(clients), Recorder(clients), Recorder(clients)
    assert first.arbitrate(10) == OK
    first.leave()
    assert third.arbitrate(9) == NOT_FOUND  # 10 is still the highest
    assert second.arbitrate(10) == OK


def test_the_names_of_roles_are_limited(clients: Arbitration) -> None:
    longest = "r" * arbitration.MOST_ROLE_NAME_BYTES
    assert Recorder(clients).arbitrate(1, longest) == OK
    with pytest.raises(Refusal, match=f"has 1025 bytes; at most {arbitration.MOST_ROLE_NAME_BYTES}") as refusal:
        Recorder(clients).arbitrate(1, longest + "r")
    assert refusal.value.code is StatusCode.INVALID_ARGUMENT
    with pytest.raises(Refusal, match="has 2048 bytes"):
        Recorder(clients).arbitrate(1, "ä" * 1024)


def leave_roles(clients: Arbitration, count: int) -> None:
    """Let a client of each of many roles come and leave."""
    for number in range(count):
        passing = Recorder(clients)
        assert passing.arbitrate(1, f"passing-{number}") == OK
        passing.leave()


def test_the_roles_without_clients_that_are_remembered_are_limited(clients: Arbitration) -> None:
    staying, first = Recorder(clients), Recorder(clients)
    assert staying.arbitrate(5, "staying") == OK
    assert first.arbitrate(5, "first") == OK
    first.leave()
    leave_roles(clients, arbitration.MOST_ROLES - 2)
    assert first.arbitrate(4, "first") == NOT_FOUND  # its highest id is 5
    first.leave()
    leave_roles(clients, arbitration.MOST_ROLES)
    assert first.arbitrate(4, "first") == OK  # forgotten
    assert Recorder(clients).arbitrate(4, "staying") == ALREADY_EXISTS  # a role with clients is not


def test_refused_arbitrations_and_roles_without_election_ids_are_not_remembered(clients: Arbitration) -> None:
    standby = Recorder(clients)
    assert standby.arbitrate(None, "standby") == NOT_FOUND
    standby.leave()
    message = v1.MasterArbitrationUpdate(device_id=DEVICE_ID + 1, role={"name": "other device"})
    with pytest.raises(Refusal):
        clients.update(Client(lambda _: None), message)
    for role in ("standby", "other device"):
        with pytest.raises(Refusal) as refusal:
            clients.check_primary(v1.WriteRequest(role=role))
        assert refusal.value.code is StatusCode.NOT_FOUND
