# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a session has sent and been told: messages, and the signals that hosts got. One thread writes, others read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hosts.protocol import FlowReceived, FlowSent, Record, Signal
from scenarios.model.flow import Flow

_MOST_SIGNALS = 100_000


@dataclass
class Message:
    """A message of the session. Model units; times count from the session's start."""

    flow: Flow
    ideal_us: float
    """How long it takes in an otherwise idle network."""
    sent: FlowSent | None = None
    received: FlowReceived | None = None
    is_abandoned: bool = False
    """Unfinished when the NICs that knew of it gave way to a scenario's."""

    @property
    def is_done(self) -> bool:
        """Whether both ends have all of it."""
        return self.sent is not None and self.received is not None

    @property
    def fct_us(self) -> float | None:
        """From "ready to be pushed" to the last acknowledgment."""
        if self.sent is None or self.sent.finish_us is None:
            return None
        return self.sent.finish_us - self.flow.start_ns / 1000

    @property
    def slowdown(self) -> float | None:
        """Its completion time over that in an idle network."""
        return None if self.fct_us is None else self.fct_us / self.ideal_us


class Journal:
    """Messages by number, and the latest signals."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._messages: dict[int, Message] = {}
        self._signals: list[Signal] = []
        self._forgotten = 0
        self._earlier = 0
        self._failure: str | None = None

    def add(self, messages: Iterable[Message]) -> None:
        """Messages that are about to be sent."""
        with self._changed:
            self._messages |= {each.flow.flow_id: each for each in messages}

    def take(self, records: Sequence[Record]) -> None:
        """What hosts told."""
        with self._changed:
            for record in records:
                self._take(record)
            self._changed.notify_all()

    def fail(self, reason: str) -> None:
        """Nothing more will come."""
        with self._changed:
            self._failure = self._failure or reason
            self._changed.notify_all()

    def begin_anew(self) -> None:
        """Let the NICs give way to new ones: unfinished messages stay, as abandoned."""
        with self._changed:
            for each in self._messages.values():
                each.is_abandoned = not each.is_done
            self._earlier = len(self._messages)
            self._changed.notify_all()

    def unfinished(self) -> list[Message]:
        """Messages that may be done yet."""
        return [each for each in self.messages() if not each.is_done and not each.is_abandoned]

    def messages(self) -> list[Message]:
        """All so far, oldest first."""
        with self._changed:
            return list(self._messages.values())

    def messages_of_these_nics(self) -> list[Message]:
        """Return the messages that were started since the NICs began, oldest first."""
        return self.messages()[self._earlier :]

    def signals_since(self, count: int) -> tuple[int, list[Signal]]:
        """Signals after the first `count`, and how many there are by now."""
        with self._changed:
            return self._forgotten + len(self._signals), self._signals[max(0, count - self._forgotten) :]

    def wait(self, messages: Sequence[Message], seconds: float) -> bool:
        """Waits until all of these are done; whether they are."""

        def is_over() -> bool:
            return self._failure is not None or all(each.is_done for each in messages)

        self.wait_for(is_over, seconds)
        return all(each.is_done for each in messages)

    def wait_for(self, is_over: Callable[[], bool], seconds: float) -> bool:
        """Waits until something is so, asked whenever something was told."""
        with self._changed:
            return self._changed.wait_for(is_over, seconds)

    def _take(self, record: Record) -> None:
        if isinstance(record, Signal):
            self._signals.append(record)
            if len(self._signals) > 2 * _MOST_SIGNALS:
                del self._signals[:_MOST_SIGNALS]
                self._forgotten += _MOST_SIGNALS
        elif isinstance(record, (FlowSent, FlowReceived)):
            message = self._messages.get(record.flow_id)
            if message is None:
                return
            if isinstance(record, FlowReceived):
                message.received = record
            elif record.finish_us is not None:
                message.sent = record
