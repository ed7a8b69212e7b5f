# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Topology files of the HPCC and ConWeave simulators.

The first three numbers are nodes, switches and links. The numbers of the switches follow, counted from 0, and then
`src dst rate delay error_rate` for each link, such as `0 320 100Gbps 1000ns 0`. Words are separated by any white space,
and the simulator does not read what follows the last link (docs/sources.md#network-files).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfc_testbed.request.shown import shown
from sfc_testbed.topologies.files.description import (
    DescribedLink,
    Description,
    NetworkFileError,
    bounded_delay,
    bounded_rate,
)
from sfc_testbed.topologies.model import MAX_HOSTS, MAX_SWITCHES

_MOST_NODES = MAX_HOSTS + MAX_SWITCHES
_MOST_LINKS = 10_000_000
_MOST_DIGITS = 8


def is_hpcc(text: str) -> bool:
    """Whether a text begins with three numbers in a line."""
    words = text.lstrip().partition("\n")[0].split()
    return len(words) == 3 and all(map(_is_count, words))


def read_hpcc(text: str) -> Description:
    """Return the network of a topology file. NetworkFileError names an invalid line."""
    words = _Words(list(_numbered_words(text)))
    nodes = words.number("the number of nodes", _MOST_NODES)
    switch_count = words.number("the number of switches", nodes)
    link_count = words.number("the number of links", _MOST_LINKS)
    switches = {words.number("the number of a switch", nodes - 1) for _ in range(switch_count)}
    if len(switches) < switch_count:
        raise NetworkFileError("a switch is listed twice", words.line)
    names = [f"s{node}" if node in switches else f"h{node + 1}" for node in range(nodes)]
    links: list[DescribedLink] = []
    lines: list[int] = []
    lossy = 0
    for _ in range(link_count):
        a, b = (words.number("the number of a node", nodes - 1) for _ in range(2))
        lines.append(words.line)
        rate_bps = bounded_rate(words.next("a rate"), words.line)
        delay_ns = bounded_delay(words.next("a delay"), words.line)
        lossy += _is_lossy(words.next("an error rate"), words.line)
        links.append(DescribedLink(names[a], names[b], rate_bps, delay_ns))
    notes = [f"error rates of {lossy} links are not used; use --fault loss:A-B,rate=SHARE"] if lossy else []
    return Description(
        [name for node, name in enumerate(names) if node not in switches],
        [name for node, name in enumerate(names) if node in switches],
        links,
        lines.__getitem__,
        notes=notes,
    )


def _is_lossy(text: str, line: int) -> bool:
    try:
        share = float(text)
    except ValueError as error:
        raise NetworkFileError(f"an error rate is a number, not {shown(text)}", line) from error
    if not 0 <= share <= 1:
        raise NetworkFileError(f"an error rate is from 0 to 1, not {shown(text)}", line)
    return share > 0


def _numbered_words(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        for word in line.split():
            yield number, word


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


@dataclass
class _Words:
    """The words of a file with their lines, read one after the other."""

    words: Sequence[tuple[int, str]]
    _place: int = 0

    @property
    def line(self) -> int:
        """The line of the last word."""
        return self.words[self._place - 1][0]

    def next(self, what: str) -> str:
        if self._place == len(self.words):
            raise NetworkFileError(f"the file ends where {what} should follow", self.line)
        self._place += 1
        return self.words[self._place - 1][1]

    def number(self, what: str, most: int) -> int:
        text = self.next(what)
        if not _is_count(text) or int(text) > most:
            raise NetworkFileError(f"{what} is a whole number up to {most}, not {shown(text)}", self.line)
        return int(text)
