# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The report of a batch of updates or requests in which at least one was refused.

The specification wants a p4.v1.Error for each part of a batch. gRPC sends them as metadata, and a client that receives
more metadata than its limit gets none of them. The errors of a large batch are therefore a list of ranges in the text
of the status, which always fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grpc import StatusCode

from softswitch.p4runtime import messages
from softswitch.p4runtime.status import MOST_TEXT_BYTES, Refusal, number, refuse, status_of

DEFAULT_METADATA_BYTES = 8192
"""The metadata that clients accept unless they raise gRPC's limit."""
MOST_PARTS = 1 << 18
"""The number of parts of a batch, above which it is refused as a whole."""
MOST_RANGES = 128
"""The number of ranges of refused parts above which the rest of a large batch is not attempted."""
SLICE = 256
"""The number of parts that are attempted between two counts of the ranges. It may add half as many ranges."""

_OTHER_BYTES = 3 * MOST_TEXT_BYTES + MOST_TEXT_BYTES + 600
"""The text of the status, where a byte may take three, its copy in the details, and gRPC's own metadata."""
_ERROR_BYTES = 20
"""The size of an error without a text."""
_SPACE = "softswitch"


@dataclass(frozen=True)
class Report:
    """The status of a call; `details` is a google.rpc.Status, or None if it does not fit."""

    code: StatusCode
    text: str
    details: Any | None


class Batch:
    """The parts of a batch, in order, for a client that accepts this much metadata. Raise Refusal if it is too long."""

    def __init__(self, parts: Sequence[Any], kind: str, metadata_bytes: int) -> None:
        if len(parts) > MOST_PARTS:
            refuse(StatusCode.RESOURCE_EXHAUSTED, f"{len(parts)} {kind} in a call; at most {MOST_PARTS}")
        self._parts = parts
        self._kind = kind
        self._budget = metadata_bytes - _OTHER_BYTES
        self.results: list[Refusal | None] = []
        """The refusal of each part that was attempted, or None."""

    def slices(self) -> Iterator[Sequence[Any]]:
        """Yield the parts to attempt; the caller adds their results before it takes the next slice."""
        n_ranges = 0
        for first in range(0, len(self._parts), SLICE):
            if self._has_details or n_ranges <= MOST_RANGES:
                yield self._parts[first : first + SLICE]
                before = [None, *self.results[:-1]] if first == 0 else self.results[first - 1 : -1]
                pairs = zip(before, self.results[first:], strict=True)
                n_ranges += sum(previous is None and refusal is not None for previous, refusal in pairs)

    def report(self) -> Report | None:
        """Return the report on the parts that were attempted, or None if none of them was refused."""
        refusals = [refusal for refusal in self.results if refusal is not None]
        if not refusals:
            return None
        text = f"{len(refusals)} of {len(self._parts)} {self._kind} refused, the first one because: {refusals[0]}"
        if self._has_details:
            text = str(Refusal(StatusCode.UNKNOWN, text))  # shortened
            return Report(StatusCode.UNKNOWN, text, self._details(text))
        text += f"; refused, counted from 0: {', '.join(_words(self.results))}"
        if len(self.results) < len(self._parts):
            text += f"; not attempted: {len(self.results)}-{len(self._parts) - 1}"
        text += f"; the errors of more than {self.most_details} {self._kind} do not fit into an answer"
        return Report(refusals[0].code, text, None)

    @property
    def most_details(self) -> int:
        """The number of parts above which their errors do not fit."""
        return self._budget // _ERROR_BYTES

    @property
    def _has_details(self) -> bool:
        return len(self._parts) <= self.most_details

    def _details(self, text: str) -> Any:
        """Return an error for each part, with texts if they fit."""
        status = status_of(StatusCode.UNKNOWN, text)
        for with_text in (True, False):
            del status.details[:]
            for refusal in self.results:
                error = messages.v1.Error(canonical_code=number(StatusCode.OK if refusal is None else refusal.code))
                if refusal is not None and with_text:
                    error.message, error.space = str(refusal), _SPACE
                # The prefix of the type's URL may be empty.
                prefix = "type.googleapis.com/" if with_text else ""
                status.details.add().Pack(error, type_url_prefix=prefix)
            if status.ByteSize() <= self._budget + MOST_TEXT_BYTES:
                break
        return status


def _ranges(results: Sequence[Refusal | None]) -> Iterator[tuple[int, int]]:
    """Yield the first and last number of each range of refused parts."""
    first = None
    for position, refusal in enumerate([*results, None]):
        if refusal is not None and first is None:
            first = position
        elif refusal is None and first is not None:
            yield first, position - 1
            first = None


def _words(results: Sequence[Refusal | None]) -> Iterator[str]:
    for first, last in _ranges(results):
        yield str(first) if first == last else f"{first}-{last}"
