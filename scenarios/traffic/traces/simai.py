# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reader of SimAI's workload text, which AICB generates: one training iteration, the same for every GPU.

The first line names the policy and the sizes of the groups, the second the number of rows. A row has a layer's name, a
column that is not used, and three triples of computing time in ns, collective and bytes: of the forward pass, of the
input gradients and of the weight gradients. The time of an update ends the row.

A GPU works as in SimAI's packet simulator: forward through all rows, each with its collective; then backward through
all rows, first the input gradients with their collective, then the weight gradients, whose collective nothing waits
for but the same row of the next iteration. After each collective passes the time of the update.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sfc_testbed.request.shown import shortened, shown
from sfc_testbed.scenarios.traffic.traces.collectives import Part, add_collective
from sfc_testbed.scenarios.traffic.traces.operations import MOST_RANKS, Operation, Trace, TraceError

_POLICY = "HYBRID_TRANSFORMER_FWD_IN_BCKWD"
_COLUMNS = 12
_NUMBER = re.compile("[0-9]{1,18}")
_ROW = "`name -1 ns collective bytes ns collective bytes ns collective bytes ns`"
_COLLECTIVES = {
    "ALLREDUCE": "all-reduce",
    "ALLGATHER": "all-gather",
    "REDUCESCATTER": "reduce-scatter",
    "ALLTOALL": "all-to-all",
}
_LEAST_FORWARD_BYTES = 4_096
"""The packet simulator increases smaller collectives of the forward pass to this size."""


class _Row(NamedTuple):
    """A line with words separated by blanks or tabs."""

    line: int
    words: list[str]

    @property
    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class _Sizes:
    """The numbers of GPUs in all and in the groups."""

    gpus: int
    tensor: int
    expert: int

    def group(self, name: str, rank: int) -> tuple[int, ...]:
        """Return the group of this name that a rank is in: TP, DP, EP or DP_EP, as SimCCL divides the GPUs."""
        block, place = divmod(rank, self.tensor)
        first = block - block % self.expert
        blocks = {
            "DP": range(self.gpus // self.tensor),
            "EP": range(first, first + self.expert),
            "DP_EP": range(block % self.expert, self.gpus // self.tensor, self.expert),
        }
        if name == "TP":
            return tuple(range(block * self.tensor, (block + 1) * self.tensor))
        return tuple(other * self.tensor + place for other in blocks[name])


@dataclass(frozen=True)
class _Phase:
    """The computation and the collective of a row in one of the three phases."""

    duration_ns: int
    collective: str | None
    group: str
    size_bytes: int


@dataclass(frozen=True)
class _Layer:
    """A row."""

    place: str
    forward: _Phase
    input_gradient: _Phase
    weight_gradient: _Phase
    update_ns: int


def parse_simai(lines: Iterable[str], *, passes: int = 1) -> Trace:
    """Parse a workload of `passes` iterations. TraceError names the line of what cannot be represented."""
    rows = _rows(lines)
    sizes = _sizes(next(rows, _Row(1, [""])))
    layers = list(_layers(rows))
    trace = Trace(sizes.gpus)
    for rank in range(sizes.gpus):
        gpu = _Gpu(trace, sizes, rank)
        for _ in range(passes):
            gpu.add_iteration(layers)
    return trace


def _rows(lines: Iterable[str]) -> Iterator[_Row]:
    """Yield the lines that are neither empty nor comments."""
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if words and not words[0].startswith(("#", "//")):
            yield _Row(number, words)


def _sizes(row: _Row) -> _Sizes:
    """Return the numbers of GPUs of the first line."""
    place = f"line {row.line}"
    if row.words[0] != _POLICY:
        raise TraceError(place, f"policy {row.words[0]} is not represented; only {_POLICY} is")
    words = [word.removesuffix(":") for word in row.words]
    numbers = {}
    for name in ("model_parallel_NPU_group", "ep", "pp", "all_gpus", "checkpoints", "checkpoint_initiates"):
        text = words[words.index(name) + 1] if name in words[:-1] else ("0" if "checkpoint" in name else "")
        if not _NUMBER.fullmatch(text):
            raise TraceError(place, f"{name}: must be a whole number, not {shown(text)}")
        numbers[name] = int(text)
    tensor, expert, stages, gpus, *checkpoints = numbers.values()
    if stages != 1:
        raise TraceError(place, f"pp {stages}: messages between stages of a pipeline are not represented; only pp 1 is")
    if any(checkpoints):
        raise TraceError(place, "checkpoints: recomputation is not represented; only 0 is")
    if not 2 <= gpus <= MOST_RANKS:
        raise TraceError(place, f"all_gpus: must be 2 to {MOST_RANKS}, not {gpus}")
    if min(tensor, expert) < 1 or gpus % (tensor * expert):
        raise TraceError(place, f"all_gpus {gpus} is not a multiple of model_parallel_NPU_group {tensor} x ep {expert}")
    return _Sizes(gpus, tensor, expert)


def _layers(rows: Iterator[_Row]) -> Iterator[_Layer]:
    """Yield the layers: as many as the second line announces."""
    count = next(rows, None)
    if count is None or not _NUMBER.fullmatch(count.text):
        place = f"line {2 if count is None else count.line}"
        raise TraceError(place, f"not the number of rows: {shown(count.text if count is not None else '')}")
    announced = int(count.text)
    number = 0
    for number, row in enumerate(rows, start=1):
        if number > announced:
            raise TraceError(f"line {row.line}", f"line {count.line} announces {announced} rows, but there are more")
        yield _layer(row)
    if number < announced or not number:
        raise TraceError(
            f"line {count.line}", f"announces {shortened(count.text)} rows, but the file has {number}; correct it"
        )


def _layer(row: _Row) -> _Layer:
    place = f"line {row.line}"
    if len(row.words) != _COLUMNS:
        raise TraceError(place, f"not {_ROW}, {_COLUMNS} columns: {shown(row.text)}")
    forward, inputs, weights = (
        _phase(place, row.words[2 + 3 * number : 5 + 3 * number], group)
        for number, group in enumerate(("TP", "TP", "DP"))
    )
    return _Layer(place, forward, inputs, weights, _whole(place, row.words[-1]))


def _phase(place: str, words: Sequence[str], default_group: str) -> _Phase:
    duration_ns, size_bytes = _whole(place, words[0]), _whole(place, words[2])
    kind, _, group = words[1].partition("_")
    if words[1] == "NONE" or not size_bytes:
        return _Phase(duration_ns, None, default_group, 0)
    if kind not in _COLLECTIVES or group not in ("", "EP", "DP_EP"):
        known = ", ".join(_COLLECTIVES)
        raise TraceError(place, f"collective {shown(words[1])}: not NONE, {known}, or one of these with _EP or _DP_EP")
    return _Phase(duration_ns, _COLLECTIVES[kind], group or default_group, size_bytes)


def _whole(place: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise TraceError(place, f"not {_ROW}: {shown(text)} is not a whole number from 0")
    return int(text)


class _Gpu:
    """The operations of one GPU, which are added to the trace in the order of its work."""

    def __init__(self, trace: Trace, sizes: _Sizes, rank: int) -> None:
        self._trace = trace
        self._sizes = sizes
        self._rank = rank
        self._iteration = 0
        self._last: list[int] = []
        """The operations that the next computation waits for."""
        self._updated: dict[str, int] = {}
        """The operation that ends the last update of each row's weights."""

    def add_iteration(self, layers: Sequence[_Layer]) -> None:
        """Add a forward and a backward pass."""
        self._iteration += 1
        for layer in layers:
            if layer.place in self._updated:
                self._last = [*self._last, self._updated[layer.place]]
            self._last = [self._exchanged(layer, layer.forward, "forward", self._computed(layer, layer.forward))]
        for layer in reversed(layers):
            inputs, weights = layer.input_gradient, layer.weight_gradient
            self._last = [self._exchanged(layer, inputs, "input gradient", self._computed(layer, inputs))]
            computed = self._computed(layer, weights)
            self._updated[layer.place] = self._exchanged(layer, weights, "weight gradient", computed)
            self._last = [computed]

    def _computed(self, layer: _Layer, phase: _Phase) -> int:
        return self._trace.add(
            Operation(
                "compute",
                self._rank,
                layer.place,
                duration_ns=phase.duration_ns,
                processor="gpu",
                after_end=self._last,
            )
        )

    def _exchanged(self, layer: _Layer, phase: _Phase, name: str, computed: int) -> int:
        """Add the collective of a phase, and the update after it. Return the operation that ends it."""
        if phase.collective is None:
            return computed
        group = self._sizes.group(phase.group, self._rank)
        part = Part(
            group,
            group.index(self._rank),
            max(phase.size_bytes, _LEAST_FORWARD_BYTES) if name == "forward" else phase.size_bytes,
            (phase.group, name, layer.place, self._iteration),
            layer.place,
            f"{phase.group.lower().replace('_', '-')}-{phase.collective}",
        )
        ended = add_collective(self._trace, phase.collective, part, [computed])
        return self._trace.add(
            Operation("compute", self._rank, layer.place, duration_ns=layer.update_ns, after_end=[ended])
        )
