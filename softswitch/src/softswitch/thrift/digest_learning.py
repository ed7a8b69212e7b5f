# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packs digests into numbered messages with samples. A sample is sent only once until it is acknowledged.

The message format is that of BMv2's learning, byte for byte. The module reads no clock and opens no socket.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

_HEADER = struct.Struct("<4sQiiQI")
"""The message header: topic, device, context, list, number of the message in its list, number of samples."""
_TOPIC = b"LEA|"
_CONTEXT = 0
_MOST_UNACKNOWLEDGED = 65_536
"""The maximum number of unacknowledged samples of a list, above which new samples are ignored."""


class Learning:
    """The lists of a switch's digests, by number in the program. Times are seconds on the caller's clock."""

    def __init__(self, numbers: Iterable[int], device_id: int) -> None:
        self._device_id = device_id
        self._numbers = tuple(numbers)
        self.lists: Mapping[int, LearningList] = {}
        self.reset()

    def reset(self) -> None:
        """Reset all lists to their initial state but keep message sizes and timeouts."""
        known = self.lists
        self.lists = {number: LearningList(number, self._device_id) for number in self._numbers}
        for number, old_list in known.items():
            self.lists[number].most_samples = old_list.most_samples
            self.lists[number].timeout_s = old_list.timeout_s

    def messages(self, now_s: float) -> list[bytes]:
        return [message for samples in self.lists.values() for message in samples.messages(now_s)]


class LearningList:
    """The samples of one digest."""

    def __init__(self, number: int, device_id: int) -> None:
        self.most_samples = 1
        """The maximum number of samples in a message."""
        self.timeout_s = 1.0
        """The time that a sample waits for others to fill a message; 0: without limit."""
        self._number = number
        self._device_id = device_id
        self._waiting: list[bytes] = []
        self._waits_since_s = 0.0
        self._messages: list[bytes] = []
        self._count = 0
        self._sent: dict[int, dict[int, bytes]] = {}
        """The sent samples that are not acknowledged, by message and position in the message."""
        self._known: set[bytes] = set()
        """The samples that wait or are not acknowledged."""

    def learn(self, sample: bytes, now_s: float) -> None:
        """Add a sample, unless it already waits or is not yet acknowledged."""
        if sample in self._known or len(self._known) == _MOST_UNACKNOWLEDGED:
            return
        if not self._waiting:
            self._waits_since_s = now_s
        self._known.add(sample)
        self._waiting.append(sample)

    def messages(self, now_s: float) -> list[bytes]:
        """Return the messages that are full, or whose first sample has waited for the timeout."""
        while self._waiting and (len(self._waiting) >= self.most_samples or self._is_overdue(now_s)):
            self._close()
        ready, self._messages = self._messages, []
        return ready

    def acknowledge(self, message: int, places: Iterable[int] | None = None) -> None:
        """Acknowledge samples of a message, or all of them; samples acknowledged before are ignored."""
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
