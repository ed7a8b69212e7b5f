# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Double binary trees: each of two trees carries half of the buffer, and a rank that forwards in one tree is a leaf of
the other (Sanders, Speck and Träff 2009, docs/sources.md#collectives)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sfc_testbed.scenarios.traffic.collectives.schedule import Call, CollectiveAlgorithm, Schedule, parts


class _Tree:
    """A tree of ranks."""

    def __init__(self, parents: Mapping[int, int], root: int) -> None:
        """`parents` has the parent of each rank except the root."""
        self.root = root
        self.parents = parents
        self.children: dict[int, list[int]] = defaultdict(list)
        for rank in sorted(parents):
            self.children[parents[rank]].append(rank)
        self.downward = [root]
        """All ranks, each after its parent."""
        for rank in self.downward:
            self.downward += self.children[rank]
        self.height: dict[int, int] = {}
        for rank in reversed(self.downward):
            self.height[rank] = 1 + max((self.height[child] for child in self.children[rank]), default=-1)


def two_trees(ranks: Sequence[int]) -> tuple[_Tree, _Tree]:
    """Return two binary trees of these ranks. The leaves of the first one are the ranks in odd places.

    The second tree is the mirror image of the first one if the number of ranks is even, and shifted by one rank if it
    is odd, so that no rank has children in both trees.
    """
    count = len(ranks)
    mirrored = list(reversed(ranks)) if count % 2 == 0 else [*ranks[1:], ranks[0]]
    first, second = (
        _Tree({order[place]: order[_parent(place, count)] for place in range(1, count)}, order[0])
        for order in (list(ranks), mirrored)
    )
    return first, second


def _parent(place: int, count: int) -> int:
    """Return the parent of a place above 0 in a binary tree over the numbers below `count`, whose root is 0.

    A place with the lowest bit b is a child of the place in which 2 b is set instead, or of the place without the bit
    if that number is too large.
    """
    lowest = place & -place
    parent = (place - lowest) | (lowest << 1)
    return parent if parent < count else place - lowest


def _halves(call: Call) -> Iterator[tuple[int, list[int]]]:
    """Yield the queue pair and the sizes of the chunks of each tree."""
    sizes = parts(call.size_bytes, 2 * call.chunks)
    yield 1, sizes[: call.chunks]
    yield 2, sizes[call.chunks :]


def _send_down(
    schedule: Schedule, tree: _Tree, queue_pair: int, sizes: Sequence[int], first_step: int, ready: Sequence[list[int]]
) -> None:
    """Send each chunk from the root to all ranks. `ready` has the messages that the root waits for, by chunk."""
    arrived: dict[int, Sequence[list[int]]] = {tree.root: ready}
    steps = {tree.root: first_step}
    for rank in tree.downward:
        for child in tree.children[rank]:
            steps[child] = steps[rank] + 1
            arrived[child] = [
                [schedule.send(rank, child, size, step=steps[rank], after=after, queue_pair=queue_pair)]
                for size, after in zip(sizes, arrived[rank], strict=True)
            ]


class TreeAllReduce(CollectiveAlgorithm):
    """Each tree adds up its half of the buffer on the way to its root, and the root sends the sum to all ranks."""

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Send each chunk up the tree, once it has arrived from all children, and down again."""
        trees = two_trees(range(call.ranks))
        for tree, (queue_pair, sizes) in zip(trees, _halves(call), strict=True):
            from_below: dict[int, list[list[int]]] = {rank: [[] for _ in sizes] for rank in tree.downward}
            for rank in reversed(tree.downward[1:]):
                for chunk, size_bytes in enumerate(sizes):
                    number = schedule.send(
                        rank,
                        tree.parents[rank],
                        size_bytes,
                        step=tree.height[rank] + 1,
                        processed=from_below[rank][chunk],
                        queue_pair=queue_pair,
                    )
                    from_below[tree.parents[rank]][chunk].append(number)
            _send_down(schedule, tree, queue_pair, sizes, tree.height[tree.root] + 1, from_below[tree.root])


class TreeBroadcast(CollectiveAlgorithm):
    """Rank 0 sends each half of the buffer to the root of a tree of the other ranks."""

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Send each chunk to the root, and down the tree."""
        trees = two_trees(range(1, call.ranks))
        for tree, (queue_pair, sizes) in zip(trees, _halves(call), strict=True):
            ready = [[schedule.send(0, tree.root, size, step=1, queue_pair=queue_pair)] for size in sizes]
            _send_down(schedule, tree, queue_pair, sizes, 2, ready)
