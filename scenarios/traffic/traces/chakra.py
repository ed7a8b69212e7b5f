# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reader of Chakra execution traces: a file NAME.RANK.et for each rank, with a graph of nodes.

Nodes are read as ASTRA-sim reads them: a node starts when those in `data_deps` and `ctrl_deps` have ended, a rank has a
processor for CPU operations and one for GPU operations, and a computation without a duration takes 1 ns. In traces of
PyTorch, a collective's call on the CPU is a node of its own, which is a computation here, before that of its kernel.
Such traces have control dependencies on nodes of threads, which they leave out, and of nodes on themselves: both are
ignored, with a note.
Nodes do not name the root of a broadcast: it is the first rank of the group.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfc_testbed.request.bounded_file import FileRefused, read_bounded_bytes
from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.traces.chakra_format import (
    COLLECTIVE,
    COLLECTIVE_TYPES,
    COMPUTATION,
    INVALID,
    LOAD,
    METADATA,
    RECEIVE,
    SEND,
    STORE,
    TYPES,
    RecordError,
    attributes_of,
    nodes_of,
)
from sfc_testbed.scenarios.traffic.traces.collectives import Part, add_collective
from sfc_testbed.scenarios.traffic.traces.operations import MOST_RANKS, Operation, Trace, TraceError

MAX_FILE_BYTES = 500_000_000
"""The most bytes of all files of a trace."""
_NS = 1_000
_COLLECTIVES = {
    "ALL_REDUCE": "all-reduce",
    "ALL_GATHER": "all-gather",
    "REDUCE_SCATTER": "reduce-scatter",
    "ALL_TO_ALL": "all-to-all",
    "BROADCAST": "broadcast",
}
_DEFAULT_GROUPS = ("", "0")
"""Names of the group of all ranks, unless the trace defines it."""


def rank_files(path: Path) -> list[Path] | None:
    """Return the files of all ranks of a trace, from its name without `.RANK.et` or one of its files.

    None: there are none. ScenarioError if the file of a rank is missing.
    """
    name = re.sub(r"\.[0-9]{1,6}\.et$", "", path.name)
    pattern = re.compile(re.escape(name) + r"\.(0|[1-9][0-9]{0,5})\.et")
    try:
        found = {int(match[1]) for file in path.parent.iterdir() if (match := pattern.fullmatch(file.name))}
    except (OSError, ValueError):
        return None
    if not found:
        return None
    missing = next(rank for rank in range(len(found) + 1) if rank not in found)
    if missing <= max(found):
        raise ScenarioError(
            f"{name}.{missing}.et is missing: each of the ranks 0 to {max(found)} needs its file, "
            f"and {len(found)} are there"
        )
    if len(found) > MOST_RANKS:
        raise ScenarioError(f"{len(found)} files, but a trace has at most {MOST_RANKS} ranks")
    return [path.with_name(f"{name}.{rank}.et") for rank in range(len(found))]


def parse_chakra(files: Sequence[Path]) -> Trace:
    """Read the files of all ranks. ScenarioError names the file and node of what cannot be represented."""
    trace = Trace(len(files))
    collectives: dict[tuple[tuple[int, ...], int], tuple[str, int, str]] = {}
    left_bytes = MAX_FILE_BYTES
    for rank, file in enumerate(files):
        try:
            content = read_bounded_bytes(file, left_bytes)
            left_bytes -= len(content)
            _Rank(trace, rank, file.name, collectives).read(list(nodes_of(content)))
        except (FileNotFoundError, FileRefused, RecordError) as error:
            reason = "is missing" if isinstance(error, FileNotFoundError) else str(error)
            raise ScenarioError(f"{file.name} {reason}") from error
    return trace


class _Rank:
    """The reader of one rank's nodes."""

    def __init__(
        self, trace: Trace, rank: int, file: str, collectives: dict[tuple[tuple[int, ...], int], tuple[str, int, str]]
    ) -> None:
        self._trace = trace
        self._rank = rank
        self._file = file
        self._collectives = collectives
        """The collectives of all ranks so far, by group and number: type, bytes, and the place of the first part."""
        self._groups: dict[str, tuple[int, ...]] = {}
        self._counts: Counter[tuple[int, ...]] = Counter()
        """The number of collectives of each group so far."""
        self._ends: dict[int, int] = {}
        """The operation that ends each node."""

    def read(self, nodes: Sequence[Any]) -> None:
        """Add the operations of all nodes. A node may depend on a later one."""
        begins: dict[int, int] = {}
        for node in nodes:
            if node.id in begins:
                raise TraceError(self._place(node), "the id is already that of another node")
            begin = begins[node.id] = self._trace.add(Operation("compute", self._rank, self._place(node)))
            self._ends[node.id] = self._add(node, begin)
        ignored: Counter[str] = Counter()
        for node in nodes:
            before = self._trace.operations[begins[node.id]].after_end
            missing = next((number for number in node.data_deps if number not in self._ends), None)
            if missing is not None:
                raise TraceError(self._place(node), f"depends on node {missing}, which the file does not have")
            for number in (*node.data_deps, *node.ctrl_deps):
                if number == node.id:
                    ignored["of nodes on themselves"] += 1
                elif number not in self._ends:
                    ignored["on control nodes that it lacks"] += 1
                else:
                    before.append(self._ends[number])
        for kind, count in ignored.items():
            self._trace.notes.append(f"{self._file}: {count} dependencies {kind} are ignored")

    def _place(self, node: Any) -> str:
        return f"{self._file}: node {node.id}"

    def _add(self, node: Any, begin: int) -> int:
        """Add the operations of a node after its begin, and return the one that ends it."""
        attributes = attributes_of(node)
        if node.type == METADATA:
            self._read_groups(node)
            return begin
        if node.type == INVALID:
            return begin
        is_call = node.type == COLLECTIVE and attributes.get("is_cpu_op") and "comm_type" not in attributes
        if node.type == COMPUTATION or is_call:
            return self._computation(node, attributes, begin)
        if node.type in (SEND, RECEIVE):
            return self._message(node, attributes, begin)
        if node.type == COLLECTIVE:
            return self._collective(node, attributes, begin)
        if node.type in (LOAD, STORE):
            raise TraceError(self._place(node), f"{TYPES[node.type]}: remote memory is not represented")
        raise TraceError(self._place(node), f"unknown type {node.type}")

    def _computation(self, node: Any, attributes: Mapping[str, Any], begin: int) -> int:
        if not node.duration_micros and _whole(attributes.get("num_ops")):
            raise TraceError(
                self._place(node), "has num_ops, but no duration_micros; a roofline model is not represented"
            )
        return self._trace.add(
            Operation(
                "compute",
                self._rank,
                self._place(node),
                duration_ns=node.duration_micros * _NS or 1,
                processor="cpu" if attributes.get("is_cpu_op") else "gpu",
                after_end=[begin],
            )
        )

    def _message(self, node: Any, attributes: Mapping[str, Any], begin: int) -> int:
        own, other = ("comm_src", "comm_dst") if node.type == SEND else ("comm_dst", "comm_src")
        peer = _whole(attributes.get(other))
        if peer is None or not 0 <= peer < self._trace.ranks or peer == self._rank:
            raise TraceError(
                self._place(node),
                f"{TYPES[node.type]}: {other} must be another rank of 0 to {self._trace.ranks - 1}, which have files, "
                f"not {peer}",
            )
        if _whole(attributes.get(own, self._rank)) != self._rank:
            raise TraceError(self._place(node), f"{own} is {attributes[own]}, but the file is of rank {self._rank}")
        return self._trace.add(
            Operation(
                "send" if node.type == SEND else "receive",
                self._rank,
                self._place(node),
                peer=peer,
                size_bytes=self._size(node, attributes),
                match=_whole(attributes.get("comm_tag", 0)),
                after_end=[begin],
            )
        )

    def _size(self, node: Any, attributes: Mapping[str, Any]) -> int:
        size_bytes = _whole(attributes.get("comm_size"))
        if size_bytes is None or size_bytes < 0:
            raise TraceError(self._place(node), f"{TYPES[node.type]}: comm_size must be a number of bytes")
        return size_bytes

    def _collective(self, node: Any, attributes: Mapping[str, Any], begin: int) -> int:
        number = _whole(attributes.get("comm_type", 0))
        kind = COLLECTIVE_TYPES[number] if number is not None and 0 <= number < len(COLLECTIVE_TYPES) else None
        if kind not in _COLLECTIVES:
            raise TraceError(
                self._place(node),
                f"comm_type {kind or number} is not represented; {', '.join(_COLLECTIVES)} are",
            )
        if not all(attributes.get("involved_dim", ())):
            raise TraceError(
                self._place(node), "involved_dim: collectives over some dimensions of a network; use a process group"
            )
        name = _COLLECTIVES[kind]
        group = self._group(node, attributes)
        size_bytes = self._size(node, attributes)
        identity = (group, self._counts[group])
        self._counts[group] += 1
        first = self._collectives.setdefault(identity, (name, size_bytes, self._place(node)))
        if first[:2] != (name, size_bytes):
            raise TraceError(
                self._place(node),
                f"collective {identity[1] + 1} of its group is {name} of {size_bytes} B, but {first[0]} of "
                f"{first[1]} B in {first[2]}",
            )
        if name == "all-gather":
            size_bytes *= len(group)  # the size of a trace is what each rank has before
        part = Part(group, group.index(self._rank), size_bytes, identity, self._place(node), name)
        return add_collective(self._trace, name, part, [begin])

    def _group(self, node: Any, attributes: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the ranks of a collective."""
        name = str(attributes.get("pg_name", ""))
        if name in self._groups:
            group = self._groups[name]
            if self._rank not in group:
                raise TraceError(self._place(node), f"process group {shown(name)} does not have rank {self._rank}")
            return group
        if name in _DEFAULT_GROUPS:
            return tuple(range(self._trace.ranks))
        raise TraceError(self._place(node), f"process group {shown(name)} is not defined by a metadata node before it")

    def _read_groups(self, node: Any) -> None:
        """Read process groups as PyTorch's traces define them: JSON, in a list with one text."""
        text = node.inputs.values
        if not text:
            return
        try:
            groups = json.loads(text[2:-2])
            for group in groups:
                ranks = tuple(group["ranks"]) or tuple(range(self._trace.ranks))
                if not all(type(rank) is int and 0 <= rank < self._trace.ranks for rank in ranks):
                    raise ValueError("a rank without a file")
                if len(set(ranks)) < len(ranks):
                    raise ValueError("a rank that is named twice")
                self._groups[str(group["pg_name"])] = ranks
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise TraceError(
                self._place(node), f"not a list of process groups with pg_name and ranks: {shown(text)} ({error})"
            ) from error


def _whole(value: Any) -> int | None:
    """Return an attribute's whole number; None for other values."""
    return value if type(value) is int else None
