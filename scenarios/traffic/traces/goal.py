# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reader of GOAL schedules (Group Operation Assembly Language) in the text form of LogGOPSim and ATLAHS.

    num_ranks 2
    rank 0 {
    l1: calc 5000 cpu 0
    l2: send 100b to 1 tag 7 cpu 0 nic 0
    l2 requires l1
    }
    rank 1 {
    l1: recv 100b from 0 tag 7
    }

`requires` waits for the end of an operation, `irequires` for its start. A computation's number is its time in ns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.traffic.traces.operations import MOST_RANKS, Operation, Trace, TraceError

_NUMBER = r"[0-9]{1,19}"
_LABEL = r"[A-Za-z][A-Za-z0-9_]*"
_HEADER = re.compile(rf"num_ranks[ \t]*({_NUMBER})")
_RANK = re.compile(rf"rank[ \t]*({_NUMBER})[ \t]*\{{")
_STATEMENT = re.compile(
    rf"(?:(?P<label>{_LABEL})[ \t]*:[ \t]*)?(?:"
    rf"(?P<kind>send|recv)[ \t]*(?P<size>{_NUMBER})[ \t]*b[ \t]*(?P<way>to|from)[ \t]*(?P<peer>-1|{_NUMBER})"
    rf"(?:[ \t]*tag[ \t]*(?P<tag>-1|{_NUMBER}))?(?:[ \t]*cpu[ \t]*(?P<cpu>{_NUMBER}))?"
    rf"(?:[ \t]*nic[ \t]*(?P<nic>{_NUMBER}))?"
    rf"|calc[ \t]*(?P<time>{_NUMBER})(?:[ \t]*cpu[ \t]*(?P<processor>{_NUMBER}))?)"
)
_DEPENDENCY = re.compile(rf"({_LABEL})[ \t]+(requires|irequires)[ \t]+({_LABEL})")
_FORM = (
    "`LABEL: send BYTESb to RANK tag TAG`, `LABEL: recv BYTESb from RANK tag TAG`, `LABEL: calc NS`, "
    "`LABEL requires LABEL`, `LABEL irequires LABEL`, `rank RANK {` or `}`"
)


def parse_goal(lines: Iterable[str], *, shares_nics: bool = False) -> Trace:
    """Parse a schedule. TraceError names the line of what is invalid or cannot be represented.

    With `shares_nics`, all NICs of a rank are its host's only one; otherwise a NIC other than 0 is refused.
    """
    statements = _statements(lines)
    number, text = next(statements, (1, ""))
    first = f"line {number}"
    header = _HEADER.fullmatch(text)
    if header is None or not 1 <= int(header[1]) <= MOST_RANKS:
        raise TraceError(first, f"not `num_ranks N`, with 1 to {MOST_RANKS} ranks: {shown(text)}")
    trace = Trace(int(header[1]))
    begins: dict[int, int] = {}
    for number, text in statements:
        opening = _RANK.fullmatch(text)
        if opening is None:
            raise TraceError(f"line {number}", f"not `rank RANK {{`: {shown(text)}")
        rank = int(opening[1])
        if rank in begins or rank >= trace.ranks:
            reason = f"already in line {begins[rank]}" if rank in begins else f"num_ranks is {trace.ranks}"
            raise TraceError(f"line {number}", f"rank {rank}: {reason}")
        begins[rank] = number
        _Schedule(trace, rank, shares_nics).read(statements, number)
    missing = next((rank for rank in range(trace.ranks) if rank not in begins), None)
    if missing is not None:
        raise TraceError(first, f"num_ranks is {trace.ranks}, but the file has no block of rank {missing}; add it")
    return trace


class _Schedule:
    """The reader of one rank's block."""

    def __init__(self, trace: Trace, rank: int, shares_nics: bool) -> None:
        self._trace = trace
        self._rank = rank
        self._shares_nics = shares_nics
        self._labels: dict[str, int] = {}
        self._dependencies: list[tuple[str, re.Match[str]]] = []

    def read(self, statements: Iterator[tuple[int, str]], opening: int) -> None:
        """Read the statements up to the closing bracket."""
        for number, text in statements:
            place = f"line {number}"
            if text == "}":
                self._resolve()
                return
            statement = _STATEMENT.fullmatch(text)
            if statement is not None:
                self._add(place, statement)
                continue
            dependency = _DEPENDENCY.fullmatch(text)
            if dependency is None:
                raise TraceError(place, f"not {_FORM}: {shown(text)}")
            self._dependencies.append((place, dependency))
        raise TraceError(f"line {opening}", f"the block of rank {self._rank} has no closing `}}`")

    def _add(self, place: str, statement: re.Match[str]) -> None:
        label, kind = statement["label"], statement["kind"]
        if kind is None:
            operation = Operation(
                "compute",
                self._rank,
                place,
                duration_ns=int(statement["time"]),
                processor=int(statement["processor"] or 0),
            )
        else:
            operation = self._communication(place, statement)
        position = self._trace.add(operation)
        if label is not None and self._labels.setdefault(label, position) != position:
            other = self._trace.operations[self._labels[label]].place
            raise TraceError(place, f"the label {shown(label)} is already in {other}")

    def _communication(self, place: str, statement: re.Match[str]) -> Operation:
        kind, peer, tag = statement["kind"], int(statement["peer"]), int(statement["tag"] or 0)
        if (statement["way"] == "to") != (kind == "send"):
            raise TraceError(place, f"not {_FORM}: {shown(statement[0])}")
        if peer == -1 or tag == -1:
            what = "any source" if peer == -1 else "any tag"
            raise TraceError(place, f"{kind} with {what} (-1): which message it matches depends on timing; name it")
        if peer >= self._trace.ranks:
            ranks = self._trace.ranks
            raise TraceError(place, f"rank {peer}: ranks are 0 to {ranks - 1}, because num_ranks is {ranks}")
        if peer == self._rank:
            raise TraceError(place, f"rank {self._rank} sends to itself; use calc for a copy")
        if int(statement["nic"] or 0) and not self._shares_nics:
            raise TraceError(
                place,
                f"nic {statement['nic']}: a host has one NIC; to send through it for all NICs of a rank, use scenario "
                "trace with --set shared_nic=true",
            )
        return Operation(
            "send" if kind == "send" else "receive",
            self._rank,
            place,
            peer=peer,
            size_bytes=int(statement["size"]),
            match=tag,
        )

    def _resolve(self) -> None:
        """Replace the labels of dependencies by positions."""
        for place, dependency in self._dependencies:
            for label in (dependency[1], dependency[3]):
                if label not in self._labels:
                    raise TraceError(place, f"rank {self._rank} has no operation {shown(label)}")
            operation = self._trace.operations[self._labels[dependency[1]]]
            before = operation.after_end if dependency[2] == "requires" else operation.after_start
            before.append(self._labels[dependency[3]])


def _statements(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the statements with the numbers of their lines. Brackets and comments need no lines of their own."""
    is_comment = False
    for number, line in enumerate(lines, start=1):
        text, is_comment = _without_comments(line, is_comment)
        text = text.strip()
        if not text:
            continue
        for part in _parts(text):
            if part.strip():
                yield number, part.strip()


def _without_comments(line: str, is_comment: bool) -> tuple[str, bool]:
    """Return a line without comments, and whether the next line begins inside a comment."""
    if not is_comment and "/" not in line:
        return line, False
    kept = []
    while line:
        if is_comment:
            _, end, line = line.partition("*/")
            is_comment = not end
            continue
        short, block = line.find("//"), line.find("/*")
        if block >= 0 and (short < 0 or block < short):
            kept.append(line[:block])
            line, is_comment = line[block + 2 :], True
        else:
            kept.append(line if short < 0 else line[:short])
            break
    return " ".join(kept), is_comment


def _parts(text: str) -> Sequence[str]:
    """Divide a line after an opening and around a closing bracket."""
    if "{" not in text and "}" not in text:
        return (text,)
    return re.split(r"(?<=\{)|(?=\})|(?<=\})", text)
