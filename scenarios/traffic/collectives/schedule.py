# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The messages of one iteration of a collective, and the base class of the algorithms that generate them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sfc_testbed.scenarios.model.scenario import ScenarioError

if TYPE_CHECKING:
    import numpy as np

MOST_MESSAGES = 10_000_000
"""The most messages of a run, and the most pairs of a message and a message that it waits for."""


@dataclass(frozen=True)
class Call:
    """The arguments of a collective."""

    ranks: int
    size_bytes: int
    chunks: int
    skew: float
    random: np.random.Generator


class Schedule:
    """The messages of one iteration, as columns. A message's number is its position, from 0."""

    def __init__(self) -> None:
        """Create a schedule without messages."""
        self.src, self.dst, self.step, self.queue_pair = array("i"), array("i"), array("i"), array("i")
        self.size_bytes = array("q")
        self.after = array("i")
        """The messages that each message waits for, one message after the other."""
        self.is_processed = array("b")
        """Whether the rank needs time to process each entry of `after`."""
        self.after_ends = array("q")
        """The end of each message's part of `after`."""

    def __len__(self) -> int:
        return len(self.src)

    def send(
        self,
        src: int,
        dst: int,
        size_bytes: int,
        *,
        step: int,
        after: Iterable[int] = (),
        processed: Iterable[int] = (),
        queue_pair: int = 1,
    ) -> int:
        """Add a message from rank `src` to rank `dst` and return its number.

        It waits for the messages `after` and `processed`, which `src` sends or receives. After the latter ones the rank
        needs the workload's `step_us`. Messages of one queue pair must be added in the order in which they are ready.
        """
        self.src.append(src)
        self.dst.append(dst)
        self.size_bytes.append(size_bytes)
        self.step.append(step)
        self.queue_pair.append(queue_pair)
        for numbers, is_processed in ((after, 0), (processed, 1)):
            begin = len(self.after)
            self.after.extend(numbers)
            self.is_processed.extend([is_processed] * (len(self.after) - begin))
        self.after_ends.append(len(self.after))
        if len(self.src) > MOST_MESSAGES or len(self.after) > MOST_MESSAGES:
            raise too_many_messages()
        return len(self.src) - 1


class CollectiveAlgorithm(ABC):
    """An algorithm of a collective. A subclass adds the messages of one iteration to a schedule."""

    has_chunks = True
    """Whether the setting `chunks` may be above 1."""

    @abstractmethod
    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Add the messages. ScenarioError, one line, for arguments that the algorithm does not support."""


def parts(size_bytes: int, count: int) -> list[int]:
    """Return the sizes of `count` parts that are as equal as possible. ScenarioError if there are too few bytes."""
    if size_bytes < count:
        raise ScenarioError(
            f"bytes {size_bytes} is too small for {count} parts, which ranks and chunks need: use at least {count}"
        )
    bounds = [size_bytes * number // count for number in range(count + 1)]
    return [high - low for low, high in pairwise(bounds)]


def too_many_messages() -> ScenarioError:
    """Return the error about a workload with too many messages."""
    return ScenarioError(
        f"ranks, chunks, iterations and jobs: a run has at most {MOST_MESSAGES:,} messages, and as many pairs of a "
        "message and one that it waits for; use smaller values, or barrier=dissemination instead of none"
    )
