# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""result.json: the fields of a run's result, their order and version. Knows no trace and computes no metric.

Two runs with identical traces and counters give identical bytes but for `wall_s` and `packets_per_s`: fields stand in
the order below, keys of mappings are put in natural order by whoever fills them, and floats are rounded to nine
significant digits (`analysis.metrics.figures`). All figures are in model units; a None means that the sample cannot
carry the figure or that it was not measured.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, SerializerFunctionWrapHandler, ValidationError, model_serializer

from analysis.formatting import variant_of
from analysis.metrics.buffers import BufferFigures
from analysis.metrics.completion import CompletionFigures
from analysis.metrics.figures import Figure, Figures, Interval
from analysis.metrics.flows import SizeBinFigures, SlowdownFigures
from analysis.metrics.signals import SignalFigures
from telemetry.atomic_file import replace_text
from telemetry.journal import has_journal
from wire.input.bounded_file import FileRefused, read_bounded_text

Clock = Literal["real", "virtual"]
Level = Literal["faithful", "degraded", "invalid"]

Counted = TypeVar("Counted")

RESULT_SCHEMA: Literal["sfc-testbed.result"] = "sfc-testbed.result"
RESULT_VERSION: Literal[1] = 1
RESULT_FILE = "result.json"
MAX_FILE_BYTES = 64_000_000
"""Of a JSON file of a run; that of 512 hosts has less than one."""


class ResultError(Exception):
    """A result.json is missing, damaged or of a version that this release does not read."""


class FlowCounts(Figures):
    """Messages of the run."""

    total: int
    completed: int
    corrupted: int
    timeouts: int | None
    packets_resent: int | None
    never_started: int = 0
    """Those that still waited for others at the end; in the file where there were any."""

    @model_serializer(mode="wrap")
    def _without_what_all_did(self, handler: SerializerFunctionWrapHandler) -> dict[str, int | None]:
        fields: dict[str, int | None] = handler(self)
        return {name: count for name, count in fields.items() if count or name != "never_started"}


class PacketCounts(Figures):
    """Frames counted by hosts and switches; what is sent, generated and duplicated ends up in the other fields and in
    `drops`."""

    sent: int
    """By hosts."""
    received: int
    """By hosts."""
    switch_generated: int
    """Made by switches: BTS, PFC and other signals."""
    link_duplicated: int = 0
    """Copies that a fault of a link made; in the file where there were any."""
    switch_absorbed: int
    """Consumed by switches as intended: PFC frames, a BTS turned into a pause."""
    in_flight: int
    """In a switch's queue when the run ended."""

    @model_serializer(mode="wrap")
    def _without_copies_that_nobody_made(self, handler: SerializerFunctionWrapHandler) -> dict[str, int]:
        fields: dict[str, int] = handler(self)
        return {name: count for name, count in fields.items() if count or name != "link_duplicated"}


class BtsCounts(Figures):
    """Back-To-Sender packets, over all switches; the two last are the highest of any switch."""

    sent: int
    suppressed: int
    cache_hits: int
    max_suppression_entries: int
    max_cache_entries: int


class PfcCounts(Figures):
    """802.1Qbb pause and resume frames."""

    sent: int


class LatenessFigures(Figures):
    """Lateness in model us, and its P99 as a share of the base RTT."""

    p50_us: Figure
    p99_us: Figure
    max_us: Figure
    p99_of_base_rtt: Figure


class LatenessByPart(Figures):
    """Who was late. None: not measured, or the virtual clock."""

    host: LatenessFigures | None
    switch: LatenessFigures | None


class SpacingFigures(LatenessFigures):
    """How far frames back to back in the model were off bytes over rate, as above, and by a yardstick of their own."""

    pairs: int
    """Of frames that followed one another."""
    ideal_us: Figure
    """What the spacing should have been, in the mean."""
    p99_of_ideal: Figure


class SpacingByPart(Figures):
    """Whose departures. None: not measured, none were back to back, or the virtual clock."""

    host: SpacingFigures | None
    switch: SpacingFigures | None


class RunResult(Figures):
    """Everything in result.json, in file order."""

    schema_name: Literal["sfc-testbed.result"] = Field(default=RESULT_SCHEMA, alias="schema")
    schema_version: Literal[1] = RESULT_VERSION
    scenario: str
    scheme: str
    program: str | None = None
    """By the name that its runs have; None: the testbed's own."""
    scale: str
    switch: str
    clock: Clock
    dilation: int
    seed: int
    base_rtt_us: Figure
    interrupted: bool
    verdict: Level
    verdict_reasons: tuple[str, ...]
    faithful_dilation: int | None = None
    """Of a run that was late: the D at which it would not have been, by what was measured. None: it was not late."""
    retry_of: str | None = None
    """Folder of the late run that this one tried again."""
    flows: FlowCounts
    fct_slowdown: dict[str, SlowdownFigures]
    fct_slowdown_by_size: dict[str, tuple[SizeBinFigures, ...]]
    measured_window_us: Interval | None
    """Flows that start in here count for slowdown and throughput; None: all."""
    buffer_bytes: dict[str, BufferFigures]
    max_buffer_bytes: int | None
    """None: no switch has left a sample."""
    throughput_gbps: Figure
    completion: dict[str, CompletionFigures] = Field(default_factory=dict)
    """By tag, of messages that wait for one another: of all of them together."""
    packets: PacketCounts | None
    """None, here and below: the runner was killed before it had read the counters of hosts and switches."""
    drops: dict[str, int] | None
    unexplained_loss: int | None
    kernel_drops: int | None
    bts: BtsCounts | None
    pfc: PfcCounts | None
    switch_events: dict[str, int] | None = Field(default_factory=dict)
    """What else the P4 program counted, where it happened at all."""
    host_events: dict[str, int] | None = Field(default_factory=dict)
    """Counts of what does not happen at hosts that are honest, answer and have a window of a packet or more."""
    signals: SignalFigures
    lateness: LatenessByPart
    spacing: SpacingByPart = Field(default_factory=lambda: SpacingByPart(host=None, switch=None))
    wall_s: Figure | None
    packets_per_s: Figure | None

    @property
    def variant(self) -> str:
        """What the run is called among others of its scenario."""
        return variant_of(self.scheme, self.program)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what is probably a mistake in the scheme, whatever the verdict is."""
        packets = (self.host_events or {}).get("small_window_packets", 0)
        if not packets:
            return ()
        return (
            f"The congestion control's window_bytes was below one packet when {packets:,} data packets were sent. Such "
            "a flow has one packet in flight at a time and sends one packet per round trip.",
        )

    @property
    def dropped(self) -> int | None:
        """Packets dropped for whatever reason."""
        return None if self.drops is None else sum(self.drops.values())

    def to_json(self) -> str:
        """The text of result.json, newline at its end."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False) + "\n"


def count_of(counts: PacketCounts | BtsCounts | PfcCounts | None, name: str) -> int | None:
    """One of the counts, None where none was read."""
    return None if counts is None else int(getattr(counts, name))


def counted(figure: Counted | None) -> Counted:
    """A figure for which there is no use but a measured one. Raises ResultError where it was not."""
    if figure is None:
        raise ResultError("the runner was killed before this was counted")
    return figure


def write_result(folder: Path, result: RunResult) -> Path:
    """Writes result.json into a run folder in one step and gives its path."""
    path = folder / RESULT_FILE
    replace_text(path, result.to_json())
    return path


def read_result(folder: Path) -> RunResult:
    """The result of a run folder. Raises ResultError, whose message names the file and the reason."""
    path = folder / RESULT_FILE
    try:
        content = json.loads(read_bounded_text(path, MAX_FILE_BYTES))
    except FileNotFoundError as error:
        if has_journal(folder):
            raise ResultError(
                f"{folder}: the run has not ended, or its runner was killed: then `runner.py report` finishes it"
            ) from error
        raise ResultError(f"{path}: no such file; the run did not get as far as a result") from error
    except FileRefused as error:
        raise ResultError(f"{path}: it {error}") from error
    except RecursionError as error:
        raise ResultError(f"{path}: not readable as JSON (nested too deeply)") from error
    except ValueError as error:
        raise ResultError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(content, dict) or content.get("schema") != RESULT_SCHEMA:
        raise ResultError(f"{path}: not a result of this testbed")
    if content.get("schema_version") != RESULT_VERSION:
        raise ResultError(
            f"{path}: result version {content.get('schema_version')}, this release reads version {RESULT_VERSION}"
        )
    try:
        return RunResult.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ResultError(f"{path}: {where}: {first['msg']}") from error
