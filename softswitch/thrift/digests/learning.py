# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What digests of a program become: numbered messages with samples in them, each sample once until it is acknowledged.

As BMv2's learning, whose messages have the same bytes. It reads no clock and opens no socket.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

_HEADER = struct.Struct("<4sQiiQI")
"""Topic, device, context, list, number of the message in its list, samples."""
_TOPIC = b"LEA|"
_CONTEXT = 0
_MOST_UNACKNOWLEDGED = 65_536
"""Of a list; with so many nobody seems to acknowledge, and more are passed over."""


class Learning:
    """The lists of a switch's digests, by their numbers in the program. Times are seconds on the caller's clock."""

    def __init__(self, numbers: Iterable[int], device_id: int) -> None:
        self._device_id = device_id
        self._numbers = tuple(numbers)
        self.lists: Mapping[int, LearningList] = {}
        self.reset()

    def reset(self) -> None:
        """As after the start, but for sizes and timeouts, which stay."""
        known = self.lists
        self.lists = {number: LearningList(number, self._device_id) for number in self._numbers}
        for number, before in known.items():
            self.lists[number].most_samples = before.most_samples
            self.lists[number].timeout_s = before.timeout_s

    def messages(self, now_s: float) -> list[bytes]:
        """Those that are to be sent now."""
        return [message for each in self.lists.values() for message in each.messages(now_s)]


class LearningList:
    """Samples of one digest."""

    def __init__(self, number: int, device_id: int) -> None:
        self.most_samples = 1
        """In a message."""
        self.timeout_s = 1.0
        """How long a sample waits for others; 0: until there are enough."""
        self._number = number
        self._device_id = device_id
        self._waiting: list[bytes] = []
        self._waits_since_s = 0.0
        self._messages: list[bytes] = []
        self._count = 0
        self._sent: dict[int, dict[int, bytes]] = {}
        """By message and place in it: what is not acknowledged."""
        self._known: set[bytes] = set()
        """What waits or is not acknowledged."""

    def learn(self, sample: bytes, now_s: float) -> None:
        """One that is known is passed over."""
        if sample in self._known or len(self._known) == _MOST_UNACKNOWLEDGED:
            return
        if not self._waiting:
            self._waits_since_s = now_s
        self._known.add(sample)
        self._waiting.append(sample)

    def messages(self, now_s: float) -> list[bytes]:
        """Those that are full, or whose first sample has waited long enough."""
        while self._waiting and (len(self._waiting) >= self.most_samples or self._is_overdue(now_s)):
            self._close()
        ready, self._messages = self._messages, []
        return ready

    def acknowledge(self, message: int, places: Iterable[int] | None = None) -> None:
        """Samples of a message, or all; what is not there was acknowledged before."""
        sent = self._sent.get(message, {})
        for place in list(sent) if places is None else places:
            if place in sent:
                self._known.discard(sent.pop(place))
        if not sent:
            self._sent.pop(message, None)

    def _is_overdue(self, now_s: float) -> bool:
        return self.timeout_s > 0 and now_s >= self._waits_since_s + self.timeout_s

    def _close(self) -> None:
        size = max(1, self.most_samples)
        samples, self._waiting = self._waiting[:size], self._waiting[size:]
        header = _HEADER.pack(_TOPIC, self._device_id, _CONTEXT, self._number, self._count, len(samples))
        self._messages.append(header + b"".join(samples))
        self._sent[self._count] = dict(enumerate(samples))
        self._count += 1
