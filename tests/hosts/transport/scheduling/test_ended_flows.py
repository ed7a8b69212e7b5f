# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of messages that wait for other flows; the sending NIC determines by itself when they are ready."""

from sfc_testbed.contract.link import FakeLink
from sfc_testbed.hosts.transport.messages import IncomingMessage, MessageReceived, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission

DELAY_NS = 3_000


def _announce(
    link: FakeLink,
    source: Nic,
    flow: int,
    after: tuple[int, ...] = (),
    ready_ns: int = 0,
    delays_ns: tuple[int, ...] | None = None,
) -> None:
    sink = link.b if source is link.a else link.a
    delays_ns = (DELAY_NS,) * len(after) if delays_ns is None else delays_ns
    source.send_message(
        OutgoingMessage(flow, flow, flow, sink.address.ip, 10_000, ready_ns, after=after, delays_ns=delays_ns)
    )
    sink.expect_message(IncomingMessage(flow, flow, flow, source.address.ip, 10_000))


def _ready_ns(link: FakeLink, name: str) -> dict[int, int]:
    completed = (event.message for event in link.of(Transmission, name))
    return {message.flow_id: message.ready_ns for message in completed}


def test_a_message_starts_a_delay_after_the_flow_that_it_waits_for() -> None:
    link = FakeLink()
    _announce(link, link.b, 2, after=(1,))
    _announce(link, link.a, 1, ready_ns=700)
    link.run()
    [received] = link.of(MessageReceived, "b")
    assert _ready_ns(link, "b") == {2: received.received_ns + DELAY_NS}
    first_ns = min(start_ns for start_ns, _, _ in link.data_sent("b"))
    assert first_ns == received.received_ns + DELAY_NS


def test_a_message_waits_for_the_last_of_several_flows() -> None:
    """Received flows end when they have arrived; sent flows end when they are acknowledged."""
    link = FakeLink()
    _announce(link, link.a, 1, ready_ns=90_000)
    _announce(link, link.b, 2)
    _announce(link, link.b, 3, after=(1, 2))
    _announce(link, link.a, 4, after=(1, 2))
    link.run()
    [acknowledged] = (event.finish_ns for event in link.of(Transmission, "a") if event.message.flow_id == 1)
    [received] = (event.received_ns for event in link.of(MessageReceived, "b") if event.flow_id == 1)
    assert received < acknowledged
    assert _ready_ns(link, "b")[3] == received + DELAY_NS
    assert _ready_ns(link, "a")[4] == acknowledged + DELAY_NS


def test_each_flow_that_a_message_waits_for_has_its_own_delay() -> None:
    """A flow that ends first can still decide when the message is ready."""
    link = FakeLink()
    _announce(link, link.a, 1)
    _announce(link, link.a, 2, ready_ns=50_000)
    _announce(link, link.b, 3, after=(1, 2), delays_ns=(400_000, 1_000))
    _announce(link, link.b, 4, after=(1, 2), delays_ns=(1_000, 400_000))
    link.run()
    ends_ns = {event.flow_id: event.received_ns for event in link.of(MessageReceived, "b")}
    assert ends_ns[1] < ends_ns[2]
    assert _ready_ns(link, "b") == {3: ends_ns[1] + 400_000, 4: ends_ns[2] + 400_000}


def test_no_message_is_ready_before_its_own_time() -> None:
    """The flow ends before the waiting message is known, so its end must have been announced as expected."""
    link = FakeLink()
    link.b.expect_ends([1])
    _announce(link, link.a, 1)
    link.run()
    [received] = link.of(MessageReceived, "b")
    _announce(link, link.b, 2, after=(1,))
    _announce(link, link.b, 3, after=(1,), ready_ns=500_000)
    link.run()
    assert _ready_ns(link, "b") == {2: received.received_ns + DELAY_NS, 3: 500_000}


def test_a_message_that_waits_for_a_failed_flow_never_begins() -> None:
    link = FakeLink(TransportSettings(retry_limit=1), loss=1.0)
    _announce(link, link.a, 1)
    _announce(link, link.a, 2, after=(1,))
    link.run()
    assert [(report.message.flow_id, report.gave_up) for report in link.of(Transmission, "a")] == [(1, True)]
    assert link.a.unfinished_messages() == []
