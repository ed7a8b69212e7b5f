# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The messages that a session has sent, and the signals that hosts received. One thread writes, others read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sfc_testbed.hosts.protocol import FlowReceived, FlowSent, Record, Signal
from sfc_testbed.scenarios.model.flow import Flow

_MOST_SIGNALS = 100_000


@dataclass
class Message:
    """A message of the session, in model units; times count from the start of the session's NICs."""

    flow: Flow
    ideal_us: float
    """The completion time in an otherwise idle network."""
    sent: FlowSent | None = None
    received: FlowReceived | None = None
    is_abandoned: bool = False
    """Whether it was unfinished when a scenario's NICs replaced its own."""

    @property
    def is_done(self) -> bool:
        """Whether the sender has all acknowledgments and the receiver all bytes."""
        return self.sent is not None and self.received is not None

    @property
    def fct_us(self) -> float | None:
        """The completion time, from "ready to be pushed" to the last acknowledgment."""
        if self.sent is None or self.sent.finish_us is None:
            return None
        return self.sent.finish_us - self.flow.start_ns / 1000

    @property
    def slowdown(self) -> float | None:
        """The completion time divided by the completion time in an idle network."""
        return None if self.fct_us is None else self.fct_us / self.ideal_us


class Follower(Protocol):
    """An observer of new messages and records. Its methods must be quick."""

    def messages(self, messages: Sequence[Message]) -> None: ...

    def records(self, records: Sequence[Record]) -> None: ...


class Journal:
    """Messages by number, and the latest signals."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._messages: dict[int, Message] = {}
        self._signals: list[Signal] = []
        self._dropped_signals = 0
        self._earlier_messages = self._earlier_signals = 0
        self._failure: str | None = None
        self._follower: Follower | None = None

    def follow(self, follower: Follower) -> None:
        """Tell a follower about all messages and records since the NICs began, and about later ones."""
        with self._changed:
            self._follower = follower
            messages = self.messages_of_these_nics()
            follower.messages(messages)
            ends = [end for message in messages for end in (message.received, message.sent) if end is not None]
            follower.records([*ends, *self._signals[max(0, self._earlier_signals - self._dropped_signals) :]])

    def add(self, messages: Iterable[Message]) -> None:
        """Add messages that are about to be sent."""
        with self._changed:
            added = {message.flow.flow_id: message for message in messages}
            self._messages |= added
            if self._follower is not None:
                self._follower.messages(list(added.values()))

    def take(self, records: Sequence[Record]) -> None:
        """Add records that hosts have sent."""
        with self._changed:
            for record in records:
                self._take(record)
            if self._follower is not None:
                self._follower.records(records)
            self._changed.notify_all()

    def fail(self, reason: str) -> None:
        """Record a failure of the agents, after which no more records come."""
        with self._changed:
            self._failure = self._failure or reason
            self._changed.notify_all()

    def begin_anew(self) -> None:
        """Prepare for new NICs: unfinished messages stay in the journal as abandoned."""
        with self._changed:
            for message in self._messages.values():
                message.is_abandoned = not message.is_done
            self._earlier_messages = len(self._messages)
            self._earlier_signals = self._dropped_signals + len(self._signals)
            self._follower = None
            self._changed.notify_all()

    def unfinished(self) -> list[Message]:
        """Return the messages that can still finish."""
        return [message for message in self.messages() if not message.is_done and not message.is_abandoned]

    def messages(self) -> list[Message]:
        """Return all messages so far, oldest first."""
        with self._changed:
            return list(self._messages.values())

    def messages_of_these_nics(self) -> list[Message]:
        """Return the messages that were started since the NICs began, oldest first."""
        return self.messages()[self._earlier_messages :]

    def signals_since(self, count: int) -> tuple[int, list[Signal]]:
        """Return the number of signals so far, and the signals after the first `count`."""
        with self._changed:
            total = self._dropped_signals + len(self._signals)
            return total, self._signals[max(0, count - self._dropped_signals) :]

    def wait(self, messages: Sequence[Message], seconds: float) -> bool:
        """Wait until all of these messages are done; return whether they are."""

        def is_over() -> bool:
            return self._failure is not None or all(message.is_done for message in messages)

        self.wait_for(is_over, seconds)
        return all(message.is_done for message in messages)

    def wait_for(self, is_over: Callable[[], bool], seconds: float) -> bool:
        """Wait until `is_over` returns true, checked after each new record; return whether it does."""
        with self._changed:
            return self._changed.wait_for(is_over, seconds)

    def _take(self, record: Record) -> None:
        if isinstance(record, Signal):
            self._signals.append(record)
            if len(self._signals) > 2 * _MOST_SIGNALS:
                del self._signals[:_MOST_SIGNALS]
                self._dropped_signals += _MOST_SIGNALS
        elif isinstance(record, (FlowSent, FlowReceived)):
            message = self._messages.get(record.flow_id)
            if message is None:
                return
            if isinstance(record, FlowReceived):
                message.received = record
            elif record.finish_us is not None:
                message.sent = record
