# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Digest lists: the digests of the program, collected and sent to the primary client until it acknowledges them.

The module reads no clock: times are seconds on the caller's clock.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from grpc import StatusCode

from softswitch.control import Commands
from softswitch.operations import digests
from softswitch.p4runtime import messages
from softswitch.p4runtime.byte_strings import encoded
from softswitch.p4runtime.info import DigestInfo, Info, find
from softswitch.p4runtime.portions import MOST_PORTION_BYTES
from softswitch.p4runtime.status import invalid, not_found, refuse, refusing

Values: TypeAlias = tuple[int, ...]

_NS_PER_S = 1_000_000_000
_MOST_WAITING = 65_536
"""The maximum number of digests of an id that wait or are not acknowledged, above which new digests are dropped."""
MOST_DIGEST_BYTES = 64 << 20
"""The maximum memory of the digests of all ids that wait or are not acknowledged."""
_BYTES_OF_A_DIGEST, _BYTES_OF_A_FIELD = 200, 60
"""The memory that a digest and a field take besides their values."""
_BYTES_OF_A_TAG = 10
"""The size that a digest and a field take in a message besides their values."""


@dataclass
class _Collection:
    """The digests of one digest_id that were not sent or not acknowledged."""

    info: DigestInfo
    entry: Any
    """The client's message."""
    waiting: dict[Values, None] = field(default_factory=dict)
    waits_since_s: float = 0.0
    sent: dict[int, tuple[float, tuple[Values, ...]]] = field(default_factory=dict)
    """The lists that are not acknowledged: when they were sent, and their digests."""
    unacknowledged: set[Values] = field(default_factory=set)

    @property
    def config(self) -> Any:
        return self.entry.config

    @property
    def count(self) -> int:
        """The number of digests that are kept."""
        return len(self.waiting) + len(self.unacknowledged)

    @cached_property
    def bytes_each(self) -> int:
        """The memory of a digest that is kept."""
        return _BYTES_OF_A_DIGEST + sum(_BYTES_OF_A_FIELD + bits // 8 for bits in self.info.widths)

    @property
    def most_in_list(self) -> int:
        """The number of digests of which a list fits into a message."""
        n_bytes = _BYTES_OF_A_TAG + sum(_BYTES_OF_A_TAG + bits // 8 for bits in self.info.widths)
        return max(1, min(self.config.max_list_size or _MOST_WAITING, MOST_PORTION_BYTES // n_bytes))

    def learn(self, values: Values, now_s: float) -> bool:
        """Keep a digest and return whether it is new."""
        if values in self.waiting or values in self.unacknowledged or self.count >= _MOST_WAITING:
            return False
        if not self.waiting:
            self.waits_since_s = now_s
        self.waiting[values] = None
        return True

    def forget(self, number: int) -> None:
        """Forget a list that was acknowledged or has become too old."""
        _, values = self.sent.pop(number, (0.0, ()))
        self.unacknowledged.difference_update(values)

    def next_list(self, now_s: float) -> tuple[Values, ...]:
        """Return the digests of the next list that is due; empty if none is due."""
        most = self.most_in_list
        is_overdue = (now_s - self.waits_since_s) * _NS_PER_S >= self.config.max_timeout_ns
        if not self.waiting or (len(self.waiting) < most and not is_overdue):
            return ()
        values = tuple(itertools.islice(self.waiting, most))
        for item in values:
            del self.waiting[item]
        self.waits_since_s = now_s
        return values


class Digests:
    """The digests of a switch."""

    def __init__(self, control: Commands, info: Info) -> None:
        self.control = control
        self._info = info
        self._collections: dict[int, _Collection] = {}
        self._numbers = itertools.count(1)

    @property
    def is_enabled(self) -> bool:
        return bool(self._collections)

    def write(self, kind: int, message: Any) -> None:
        number = message.digest_id
        info = self._digest(number)
        if kind == messages.v1.Update.INSERT:
            if number in self._collections:
                refuse(StatusCode.ALREADY_EXISTS, f"digest {info.name} is enabled already")
            self._check(message.config)
            if not self._collections:
                with refusing():
                    digests.take(self.control)  # digests from before the first request are not sent
            self._collections[number] = _Collection(info, _stored(message))
            return
        if number not in self._collections:
            raise not_found(f"digest {info.name} is not enabled")
        if kind == messages.v1.Update.MODIFY:
            self._check(message.config)
            self._collections[number].entry = _stored(message)
        else:
            del self._collections[number]

    def read(self, message: Any) -> Iterator[Any]:
        if message.digest_id:
            self._digest(message.digest_id)
        for number, collection in self._collections.items():
            if message.digest_id in (0, number):
                yield collection.entry

    def acknowledge(self, message: Any) -> None:
        self._digest(message.digest_id)
        if message.digest_id in self._collections:
            self._collections[message.digest_id].forget(message.list_id)

    def forget_sent(self) -> None:
        """Forget what was sent, for a new primary client."""
        for collection in self._collections.values():
            for number in list(collection.sent):
                collection.forget(number)

    def lists(self, now_s: float, clock_ns: Callable[[], int] = time.time_ns) -> Iterator[Any]:
        """Take new digests from the switch and yield the lists that are due."""
        self._collect(now_s)
        for number, collection in self._collections.items():
            while values := collection.next_list(now_s):
                list_id = next(self._numbers)
                if collection.config.ack_timeout_ns:
                    collection.sent[list_id] = now_s, values
                    collection.unacknowledged.update(values)
                answer = messages.v1.DigestList(digest_id=number, list_id=list_id, timestamp=clock_ns())
                answer.data.extend(self._data(collection.info, item) for item in values)
                yield answer

    def _collect(self, now_s: float) -> None:
        by_name = {collection.info.name: collection for collection in self._collections.values()}
        for collection in by_name.values():
            for list_id, (sent_s, _) in list(collection.sent.items()):
                if (now_s - sent_s) * _NS_PER_S >= collection.config.ack_timeout_ns:
                    collection.forget(list_id)
        with refusing():
            taken = digests.take(self.control)
        room_bytes = MOST_DIGEST_BYTES - sum(item.count * item.bytes_each for item in by_name.values())
        for name, values in taken:
            if name in by_name and room_bytes > 0 and by_name[name].learn(values, now_s):
                room_bytes -= by_name[name].bytes_each

    def _data(self, info: DigestInfo, values: Values) -> Any:
        """Return a digest in the form of its type in the P4Info: a bit string, a struct or a tuple."""
        kind = info.p4info.type_spec.WhichOneof("type_spec")
        members = [messages.v1.P4Data(bitstring=encoded(value)) for value in values]
        if kind == "bitstring":
            return members[0]
        data = messages.v1.P4Data()
        getattr(data, "tuple" if kind == "tuple" else "struct").members.extend(members)
        return data

    def _digest(self, number: int) -> DigestInfo:
        return find(self._info.digests, number, "digest")

    @staticmethod
    def _check(config: Any) -> None:
        if min(config.max_timeout_ns, config.max_list_size, config.ack_timeout_ns) < 0:
            raise invalid("a timeout or size of a digest list is below 0")


def _stored(message: Any) -> Any:
    """Return a copy of a client's message to read back, without fields that nothing knows."""
    copy = messages.v1.DigestEntry(digest_id=message.digest_id)
    if message.HasField("config"):
        given = message.config
        copy.config.SetInParent()
        copy.config.max_timeout_ns = given.max_timeout_ns
        copy.config.max_list_size = given.max_list_size
        copy.config.ack_timeout_ns = given.ack_timeout_ns
    return copy
