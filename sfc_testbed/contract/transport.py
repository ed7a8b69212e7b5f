# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The contract of the hosts' algorithms, alone and in every combination, on an unreliable link."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from typing import Any

from sfc_testbed.contract.broken import require
from sfc_testbed.contract.frames import with_record, with_tos
from sfc_testbed.contract.link import MAC_B, FakeLink, bts, plain, transferred
from sfc_testbed.hosts.transport.algorithms import path_context
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.messages import BtsReceived, MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings, build_parameters, dilate
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.constants import ECN_CONGESTION_EXPERIENCED, INT_FLAG_ECHO, ROCE_SOURCE_PORT_BASE
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import HopRecord, has_telemetry
from sfc_testbed.wire.pfc import pack_frame, quanta_ns
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.units import NS_PER_S, NS_PER_US

WINDOW_BYTES = 20_000
"""The window of the control "window" in these checks."""
_ROUNDING_NS = 20

Combination = tuple[str, ...]
"""The names of a congestion control, a flow control and a loss recovery, and of a load balancing other than "flow"."""


def combinations(
    congestion: Iterable[str] | None = None,
    flow_control: Iterable[str] | None = None,
    loss_recovery: Iterable[str] | None = None,
    load_balancing: Iterable[str] | None = None,
) -> list[Combination]:
    """Return all combinations of these names, by default of all names with the load balancing "flow"."""
    names = [congestion or CONGESTION_CONTROLS, flow_control or FLOW_CONTROLS, loss_recovery or LOSS_RECOVERIES]
    if load_balancing is not None:
        names.append(load_balancing)
    return list(itertools.product(*names))


def congested(number: int, name: str, frame: bytes) -> bytes:
    """Mark every third ECN-capable packet, and add a record of a long queue to packets that request telemetry."""
    if frame[15] & 0x3 and number % 3 == 0:
        frame = with_tos(frame, frame[15] | ECN_CONGESTION_EXPERIENCED)
    if has_telemetry(frame) and not frame[43] & INT_FLAG_ECHO:
        frame = with_record(frame, HopRecord(100_000_000, number, number * 1000, 200_000))
    return frame


CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "clear": {},
    "loss": {"loss": 0.05},
    "heavy loss": {"loss": 0.3},
    "reorder": {"reorder": 0.1},
    "duplicate": {"duplicate": 0.2},
    "pauses": {},
    "congestion": {"change": congested},
    "storm": {"loss": 0.05, "reorder": 0.05, "duplicate": 0.05},
}
"""The faults of the link."""
_PAUSES = ((3, 30), (8, 5), (20, 40), (25, 60))
PAUSES = {"pauses": _PAUSES, "storm": _PAUSES}
"""Pauses for the first flow as (arrival, duration) in us."""


def settings_of(combination: Combination) -> TransportSettings:
    """Return settings with short timeouts, so that heavy loss does not take long."""
    congestion, flow_control, loss_recovery, *load_balancing = combination
    window = {"window_bytes": WINDOW_BYTES} if congestion == "window" else {}
    return TransportSettings(
        congestion=congestion,
        flow_control=flow_control,
        loss_recovery=loss_recovery,
        load_balancing=load_balancing[0] if load_balancing else "flow",
        congestion_parameters=window,
        rto_ns=200_000,
    )


def transfer(settings: TransportSettings, condition: str) -> FakeLink:
    """Send two messages on their own QPs from a to b and two on one QP back, until no event is due."""
    link = FakeLink(settings, seed=7, **CONDITIONS[condition])
    link.transfer(60_000)
    link.transfer(25_001, ready_ns=4_000)
    link.transfer(9_999, backwards=True, qpn=9)
    link.transfer(1, backwards=True, qpn=9)
    for arrival_us, pause_us in PAUSES.get(condition, ()):
        link.inject(arrival_us * 1000, link.a, bts(1, pause_us, destination_port=link.algorithms.data_port))
    link.run()
    return link


def every_message_arrives_once(combination: Combination, condition: str) -> None:
    """All messages arrive whole and end at their senders, and no timer remains."""
    link = transfer(settings_of(combination), condition)
    received = link.of(MessageReceived, "b") + link.of(MessageReceived, "a")
    completed = link.of(Transmission, "a") + link.of(Transmission, "b")
    arrived = sorted(event.flow_id for event in received)
    require(arrived == [1, 2, 3, 4], f"of the messages 1 to 4, {arrived} arrived")
    ended = sorted(event.message.flow_id for event in completed)
    require(ended == [1, 2, 3, 4], f"of the messages 1 to 4, {ended} ended at their senders")
    require(not any(event.figures.corrupted for event in received), "a message arrived corrupted")
    for event in completed:
        _check_report(event)
    require(not link.a.unfinished_messages(), "a message remained after all were acknowledged")
    require(link.a.next_timer_ns() is None, "a timer remained after all messages were acknowledged")


def _check_report(event: Transmission) -> None:
    number, figures = event.message.flow_id, event.figures
    took_ns = event.finish_ns - event.message.ready_ns
    require(took_ns > 0, f"message {number} ended before it was ready")
    require(0 <= figures.paused_us <= took_ns / NS_PER_US, f"message {number} was paused for longer than it took")
    first_time, packets = figures.packets_sent - figures.packets_resent, -(-event.message.size_bytes // 1000)
    require(first_time == packets, f"message {number} has {packets} packets; {first_time} were sent a first time")


def no_packet_starts_during_a_pause(combination: Combination, condition: str) -> None:
    """A newer BTS replaces the pause end, and the flow continues after the pause."""
    link = transfer(settings_of(combination), condition)
    signals = link.of(BtsReceived, "a")
    end_ns = next((event.finish_ns for event in link.of(Transmission, "a") if event.message.flow_id == 1), NEVER)
    signals = [event for event in signals if event.received_ns < end_ns]  # a later one has no flow to pause
    obeyed = [event.obeyed for event in signals]
    require(all(obeyed), f"{obeyed.count(True)} of {len(obeyed)} BTS were obeyed, but obeys_signals is True")
    asked = signals[0]
    require((asked.paused_until_ns or 0) > asked.received_ns, "earliest_send_ns() did not become later with a BTS")
    starts = [start_ns for start_ns, _ in data_starts(link, destination_qpn=101)]
    replaced_ns = [event.received_ns for event in signals[1:]] + [NEVER]
    for event, replacement_ns in zip(signals, replaced_ns, strict=True):
        until_ns = min(event.paused_until_ns or 0, replacement_ns)
        during = [start for start in starts if event.received_ns <= start < until_ns]
        require(not during, f"{len(during)} packets started during a pause")
    second = signals[min(1, len(signals) - 1)]  # it replaces the first pause by a shorter one
    require(max(starts) >= (second.paused_until_ns or 0), "no packet was sent after a pause")


def a_bts_changes_nothing(combination: Combination) -> None:
    """A flow control that ignores BTS records them, but the frames are the same as without."""
    settings = settings_of(combination)
    paused, clear = transfer(settings, "pauses"), transfer(settings, "clear")
    obeyed = [event.obeyed for event in paused.of(BtsReceived, "a")]
    require(obeyed == [False] * len(_PAUSES), "a BTS was obeyed, but obeys_signals is False")
    require(paused.sent == clear.sent, "a BTS changed the frames, but obeys_signals is False")


def answers_echo_the_entropy(combination: Combination) -> None:
    """Every answer has the UDP source port of a data packet that has arrived, and all ports are in the range."""
    link = transfer(settings_of(combination), "storm")
    ports: set[int] = set()
    for _, receiver, delivered in link.delivered:
        header = parse_header(plain(delivered))
        if header is None or header.destination_qpn not in (1, 101):
            continue
        port = header.source_port
        if receiver == "b":
            require(port >= ROCE_SOURCE_PORT_BASE, f"a data packet has UDP source port {port}; entropies have 14 bits")
            ports.add(port)
        else:
            require(port in ports, f"an answer has UDP source port {port}, which no data packet had")
    require(bool(ports), "no data packet arrived")


def class_pauses_are_obeyed(combination: Combination) -> None:
    """A NIC starts no packet during an 802.1Qbb pause if, and only if, its flow control obeys such pauses."""
    pause = (3_000, pack_frame(MAC_B, {3: 65535}))
    link = transferred(60_000, settings_of(combination), arrivals=[pause])
    until_ns = 3_000 + quanta_ns(65535, link.rate_bps)
    is_paused = not [start for start, _ in data_starts(link, destination_qpn=101) if 3_000 <= start < until_ns]
    obeys = FLOW_CONTROLS[combination[1]].obeys_class_pause
    require(
        is_paused == obeys, f"an 802.1Qbb pause was {'' if is_paused else 'not '}obeyed; obeys_class_pause is {obeys}"
    )
    require(len(link.of(MessageReceived, "b")) == 1, "the message did not arrive after an 802.1Qbb pause")


def data_starts(link: FakeLink, destination_qpn: int) -> list[tuple[int, int]]:
    """Return start and PSN of the packets that NIC a sent to a queue pair."""
    rows = []
    for end_ns, source, sent in link.sent:
        frame = plain(sent)
        header = parse_header(frame)
        if source == "a" and header is not None and header.destination_qpn == destination_qpn:
            rows.append((end_ns - len(sent) * 8 * NS_PER_S // link.rate_bps, header.psn_word(frame) & 0xFFFFFF))
    return rows


def _outcomes(link: FakeLink) -> list[object]:
    """Return the events of both NICs in a form that can be compared."""
    return [
        (event.message, event.figures, event.finish_ns, event.gave_up) if isinstance(event, Transmission) else event
        for events in link.events.values()
        for event in events
    ]


def runs_can_be_repeated(combination: Combination) -> None:
    """The same inputs give the same frames."""
    settings = settings_of(combination)
    first, second = transfer(settings, "storm"), transfer(settings, "storm")
    is_same = first.sent == second.sent and _outcomes(first) == _outcomes(second)
    require(is_same, "two runs with the same inputs differ; use no clock and no random numbers of your own")


def dilation_scales_only_time(combination: Combination) -> None:
    """The same packets leave ten times later at ten times the dilation, except for rounding."""
    settings = settings_of(combination)
    fast, slow = FakeLink(settings, dilation=100), FakeLink(settings, dilation=1000)
    for link in (fast, slow):
        link.transfer(60_000)
        link.run()
    sentence = "at another dilation {}; times and rates in code are wall units, those of `path` and of the parameters"
    is_same = [plain(frame) for *_, frame in fast.sent] == [plain(frame) for *_, frame in slow.sent]
    require(is_same, sentence.format("other packets are sent"))
    for (early_ns, *_), (late_ns, *_) in zip(fast.sent, slow.sent, strict=True):
        require(abs(late_ns - early_ns * 10) <= _ROUNDING_NS, sentence.format("packets leave at other times"))


def is_described(algorithm: type[Any]) -> None:
    """The class has a docstring, and its parameters are a frozen dataclass with defaults."""
    require(bool(algorithm.__doc__), "the class has no docstring")
    parameters: Any = algorithm.Parameters
    frozen = is_dataclass(parameters) and getattr(parameters, "__dataclass_params__").frozen  # noqa: B009 (mypy)
    require(frozen, "Parameters is not a frozen dataclass")
    missing = [item.name for item in fields(parameters) if item.default is MISSING and item.default_factory is MISSING]
    require(not missing, f"parameters have no default: {', '.join(missing)}")


def starts_with_a_window_and_a_rate(control_class: type[Any]) -> None:
    """A new congestion control lets packets start."""
    control = _new_control(control_class, Dilation())
    require(control.window_bytes > 0, f"window_bytes is {control.window_bytes} at first")
    require(control.rate_bps > 0, f"rate_bps is {control.rate_bps} at first")
    timer_ns = control.next_timer_ns()
    require(timer_ns is None or timer_ns > 0, f"next_timer_ns() is {timer_ns} at first")
    slower = _new_control(control_class, Dilation(100))
    is_scaled = abs(slower.rate_bps * 100 - control.rate_bps) <= 100
    units = "rates in code are wall units, those of `path` and of the parameters"
    require(is_scaled, f"rate_bps is {control.rate_bps} at first, and {slower.rate_bps} at dilation 100; {units}")
    require(slower.window_bytes == control.window_bytes, "the first window depends on the dilation")


def _new_control(control_class: type[Any], dilation: Dilation) -> Any:
    settings = TransportSettings()
    path = path_context(dilate(settings, dilation))
    parameters = build_parameters(control_class.Parameters, {}, dilation)
    return control_class(control_class.resolve(parameters, path), path)


Check = Callable[[], None]


def checks(combination: Combination) -> dict[str, Check]:
    """Return all checks of a combination by name."""
    named: dict[str, Check] = {}
    for condition in CONDITIONS:
        named[f"messages arrive ({condition})"] = partial(every_message_arrives_once, combination, condition)
    if FLOW_CONTROLS[combination[1]].obeys_signals:
        for condition in PAUSES:
            named[f"pauses are obeyed ({condition})"] = partial(no_packet_starts_during_a_pause, combination, condition)
    else:
        named["BTS are ignored"] = partial(a_bts_changes_nothing, combination)
    if settings_of(combination).load_balancing != "flow":
        named["answers echo the entropy"] = partial(answers_echo_the_entropy, combination)
    named["802.1Qbb pauses"] = partial(class_pauses_are_obeyed, combination)
    named["runs can be repeated"] = partial(runs_can_be_repeated, combination)
    named["dilation scales only time"] = partial(dilation_scales_only_time, combination)
    return named
