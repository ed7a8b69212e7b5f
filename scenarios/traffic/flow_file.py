# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flow list files: the flows that a workload generated, stored with a run so that any scheme can replay them.

The testbed's format is CSV with a header. A comment line may hold `measured_window_us`. Flow files of the HPCC and
ConWeave simulators can be read too. Times are model ns from the start of the run.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.quantities import has_unit, in_unit, unit_of
from sfc_testbed.request.shown import shortened, shown
from sfc_testbed.request.spec import AFTER_COLUMN, FLOW_FILE, QUEUE_PAIR_COLUMN
from sfc_testbed.scenarios.model.flow import (
    MAX_QUEUE_PAIRS,
    MAX_SIZE_BYTES,
    MAX_TAG_CHARACTERS,
    FlowRequest,
    joined_delay_ns,
)
from sfc_testbed.scenarios.model.flow_table import JOB_COLUMNS, flow_table
from sfc_testbed.scenarios.model.scenario import ScenarioError, check_host
from sfc_testbed.scenarios.model.waiting import WaitingError, any_waits, in_order_of_start
from sfc_testbed.scenarios.traffic.hpcc_files import LoadedFlows, is_hpcc_file, parse_hpcc_flows
from sfc_testbed.scenarios.traffic.numbers import is_number, whole
from sfc_testbed.scenarios.traffic.traces.files import goal_trace, is_goal, is_simai, read_chakra, simai_trace
from sfc_testbed.scenarios.traffic.traces.messages import messages_of
from sfc_testbed.scenarios.traffic.traces.operations import Trace
from sfc_testbed.topologies.model import Topology

FILE_NAME = FLOW_FILE
COLUMNS = ("src", "dst", "size_bytes", "start_ns", "tag")
DELAY_COLUMN = "delay_ns"
OPTIONAL_COLUMNS = (QUEUE_PAIR_COLUMN, AFTER_COLUMN, DELAY_COLUMN, *JOB_COLUMNS)
"""Optional last columns, in this order; a column is present if any flow uses it. They hold the persistent queue pair,
the messages that the flow waits for (flow numbers from 1 in list order, separated by spaces), the delay after these
messages have ended, or a delay for each of them, separated by spaces, and the flow's job, iteration, step and rank."""
_WINDOW = "# measured_window_us="

MAX_FILE_BYTES = 500_000_000
MAX_START_NS = 3_600_000_000_000
"""The latest start: the length of the longest run."""
_LATE_START_NS = 1_000_000_000
"""The start of the first flow from which the times of a list probably do not count from the start of a run."""
_MOST_NUMBER = (1 << 31) - 1
_LONGEST_LINE = 20_000
_WHOLE = re.compile(r"-?[0-9]{1,30}")
_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True)
class FlowList:
    """Flows in file order, and the interval of the run that is measured."""

    requests: Sequence[FlowRequest]
    measured_window_us: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    """Sentences about how a file was read, where its format leaves a choice."""


@dataclass(frozen=True)
class Loader:
    """A reader of another format of flow lists."""

    recognizes: Callable[[Sequence[str]], bool]
    """Returns whether the lines of a file have this format."""
    parse: Callable[[Sequence[str]], LoadedFlows]
    """Parses the lines. ValueError names an invalid line."""


def _loaded(trace: Trace) -> LoadedFlows:
    """Return the flows of a trace: rank 0 is h1, rank 1 is h2 and so on."""
    requests, notes = messages_of(trace, [f"h{rank + 1}" for rank in range(trace.ranks)])
    return LoadedFlows(((0, request) for request in requests), tuple(notes))


LOADERS: Mapping[str, Loader] = {
    "HPCC and ConWeave simulators": Loader(is_hpcc_file, parse_hpcc_flows),
    "GOAL schedules": Loader(is_goal, lambda lines: _loaded(goal_trace(lines))),
    "SimAI workloads": Loader(is_simai, lambda lines: _loaded(simai_trace(lines))),
}


def format_flows(flows: Sequence[FlowRequest], measured_window_us: tuple[float, float] | None) -> str:
    """Format flows as the testbed's CSV text."""
    out = io.StringIO()
    write_flows(out, flows, measured_window_us)
    return out.getvalue()


def write_flows(out: TextIO, flows: Sequence[FlowRequest], measured_window_us: tuple[float, float] | None) -> None:
    """Write flows as the testbed's CSV text."""
    table = flow_table(flows)
    if measured_window_us is not None:
        out.write(f"{_WINDOW}{measured_window_us[0]!r},{measured_window_us[1]!r}\n")
    writer = csv.writer(out, lineterminator="\n")
    is_used = {
        QUEUE_PAIR_COLUMN: bool(table.queue_pair.any()),
        AFTER_COLUMN: bool(table.waits),
        DELAY_COLUMN: any(delay_ns for _, delay_ns in table.waits.values()),
        **dict.fromkeys(JOB_COLUMNS, table.has_jobs),
    }
    columns = (*COLUMNS, *(name for name in OPTIONAL_COLUMNS if is_used[name]))
    writer.writerow(columns)
    writer.writerows(map(_join_tuples, map(attrgetter(*columns), table)) if table.waits else table.values(columns))


def _join_tuples(row: tuple[object, ...]) -> list[object]:
    return [" ".join(map(str, value)) if isinstance(value, tuple) else value for value in row]


def read_flows(path: Path, topology: Topology) -> FlowList:
    """Read a flow list in the testbed's format or in one of `LOADERS`.

    Raises ScenarioError, one line, if it is invalid or does not fit the network. A Chakra trace has several files.
    """
    of_chakra = _read_chakra(path, topology)
    if of_chakra is not None:
        return of_chakra
    try:
        lines = read_bounded_text(path, MAX_FILE_BYTES).splitlines()
    except FileNotFoundError as error:
        raise ScenarioError(f"{path}: cannot be read as a flow list: no such file") from error
    except FileRefused as error:
        raise ScenarioError(f"{path}: cannot be read as a flow list: it {error}") from error
    try:
        loader = next((loader for loader in LOADERS.values() if loader.recognizes(lines)), None)
        if loader is not None:
            window, loaded = None, loader.parse(lines)
            requests, notes = tuple(_checked(loaded.numbered, topology)), loaded.notes
        else:
            window, requests = _measured_window_us(lines), tuple(_checked(_parse(lines), topology))
            notes = _late_start(requests)
        if any_waits(requests):
            in_order_of_start(flow_table(requests))
    except WaitingError as error:
        raise ScenarioError(f"{path}: line {_line_of(error.place, lines)}: {error}") from error
    except (ValueError, csv.Error) as error:
        raise ScenarioError(f"{path}: {error}") from error
    if not requests:
        raise ScenarioError(f"{path}: the file has no flows")
    return FlowList(requests, window, _notes(path, notes))


def _read_chakra(path: Path, topology: Topology) -> FlowList | None:
    """Read the files of a Chakra trace; None if the path names none."""
    try:
        trace = read_chakra(path)
        if trace is None:
            return None
        loaded = _loaded(trace)
        return FlowList(tuple(_checked(loaded.numbered, topology)), None, _notes(path, loaded.notes))
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from error


def _notes(path: Path, notes: Sequence[str]) -> tuple[str, ...]:
    return (f"{path}: {'; '.join(notes)}.",) if notes else ()


def _late_start(requests: Sequence[FlowRequest]) -> tuple[str, ...]:
    """Return a note if the times of a list seem to begin elsewhere, such as at the 2 s of the HPCC simulator."""
    first_ns = min((flow.start_ns for flow in requests), default=0)
    if first_ns < _LATE_START_NS:
        return ()
    return (
        f"nothing is sent before {first_ns / 1e9:g} s; subtract {first_ns} ns from start_ns if the run should not wait",
    )


def _line_of(place: int, lines: Sequence[str]) -> int:
    """Return the number of the line of a flow, by its position from 0."""
    rows = [number for number, line in enumerate(lines, start=1) if _is_row(line)]
    return rows[place + 1]


def _is_row(line: str) -> bool:
    """Whether a line is neither a comment nor empty. A spreadsheet's empty row has delimiters only."""
    return bool(line.strip(" \t,;")) and not line.startswith("#")


def _checked(numbered: Iterable[tuple[int, FlowRequest]], topology: Topology) -> Iterator[FlowRequest]:
    """Yield the flows of numbered lines, or of line 0 if no line has all of a flow.

    Raises ScenarioError that names the line of a flow that is impossible here.
    """
    for number, flow in numbered:
        try:
            check_flow(flow, topology)
        except ScenarioError as error:
            raise ScenarioError(f"line {number}: {error}" if number else str(error)) from error
        yield flow


def _parse(lines: Sequence[str]) -> Iterator[tuple[int, FlowRequest]]:
    """Yield the flows of a CSV text with their line numbers. Raises ValueError that names an invalid line."""
    number = 0

    def rows_of_table() -> Iterator[str]:
        nonlocal number
        for number, line in enumerate(lines, start=1):
            if len(line) > _LONGEST_LINE:
                raise ValueError(f"line {number} has more than {_LONGEST_LINE} characters")
            if _is_row(line):
                yield line

    lines_of_table = rows_of_table()
    header = next(lines_of_table, "")
    delimiter = next((delimiter for delimiter in _DELIMITERS if delimiter in header), ",")
    columns = tuple(name.strip() for name in header.rstrip(f"{delimiter} ").split(delimiter))
    extra = columns[len(COLUMNS) :]
    if columns[: len(COLUMNS)] != COLUMNS or extra != tuple(name for name in OPTIONAL_COLUMNS if name in extra):
        optional = ", ".join(OPTIONAL_COLUMNS)
        raise ValueError(
            f"the first row must be {','.join(COLUMNS)}, optionally followed by {optional}; "
            "or the number of flows, as in files of the HPCC simulator"
        )
    rows = csv.reader(lines_of_table, delimiter=delimiter, skipinitialspace=True)
    for row in rows:
        try:
            yield number, _request(row, columns)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error


def _request(row: Sequence[str], columns: Sequence[str]) -> FlowRequest:
    if len(row) < len(columns) or any(text.strip() for text in row[len(columns) :]):
        raise ValueError(f"not a row of {len(columns)} values: {shortened(','.join(row))}")
    size_bytes, start_ns = _whole("size_bytes", row[2]), _whole("start_ns", row[3])
    more = zip(columns[len(COLUMNS) :], row[len(COLUMNS) :], strict=False)
    return FlowRequest(
        row[0].rstrip(),
        row[1].rstrip(),
        size_bytes,
        start_ns,
        row[4],
        **{name: _MORE[name](name, text) for name, text in more},
    )


def _measured_window_us(lines: Sequence[str]) -> tuple[float, float] | None:
    """Return the window that a comment states, or None."""
    window = None
    for number, line in enumerate(lines, start=1):
        if line.startswith(_WINDOW):
            if window is not None:
                raise ValueError(f"line {number}: measured_window_us is given twice")
            try:
                window = _window_us(line.removeprefix(_WINDOW))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
    return window


def _window_us(text: str) -> tuple[float, float]:
    try:
        begin_us, end_us = (float(bound) for bound in text.split(","))
    except ValueError as error:
        raise ValueError(f"measured_window_us: not two numbers of us: {shown(text)}") from error
    if not (isfinite(begin_us) and isfinite(end_us) and 0 <= begin_us < end_us):
        raise ValueError(f"measured_window_us: must begin at 0 us or later and end after that, not {shown(text)}")
    return begin_us, end_us


def _whole(name: str, text: str) -> int:
    """Parse a whole number of ASCII digits, a stricter syntax than that of int(), or a quantity with a unit."""
    text = text.rstrip()
    if _WHOLE.fullmatch(text):
        return int(text)
    if is_number(text):
        try:
            return whole(text)
        except ValueError as error:
            raise ValueError(f"{name}: must be a whole number, not {shown(text)}") from error
    unit = unit_of(name)
    value: int | float | None = None
    if unit is not None and has_unit(text):
        try:
            value = in_unit(text, unit)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    if not isinstance(value, int):
        raise ValueError(f"{name}: must be a whole number, not {shown(text)}")
    return value


def _wholes(name: str, text: str) -> tuple[int, ...]:
    return tuple(_whole(name, word) for word in text.split())


def _delay_ns(name: str, text: str) -> int | tuple[int, ...]:
    words = text.split()
    return _whole(name, text) if len(words) < 2 else joined_delay_ns([_whole(name, word) for word in words])


_MORE: Mapping[str, Callable[[str, str], Any]] = {
    QUEUE_PAIR_COLUMN: _whole,
    AFTER_COLUMN: _wholes,
    DELAY_COLUMN: _delay_ns,
    **dict.fromkeys(JOB_COLUMNS, _whole),
}


def _delays_of(flow: FlowRequest) -> tuple[int, ...]:
    return flow.delay_ns if isinstance(flow.delay_ns, tuple) else (flow.delay_ns,)


def check_flow(flow: FlowRequest, topology: Topology) -> None:
    """Raise ScenarioError, one line, for a flow that is impossible in this network."""
    for name in (flow.src, flow.dst):
        check_host(name, topology)
    if topology.planes > 1 and topology.plane[flow.src] != topology.plane[flow.dst]:
        raise ScenarioError(f"{flow.src} and {flow.dst} are in different planes, which have no link between them")
    for name, value, least, most, unit in (
        ("size_bytes", flow.size_bytes, 1, MAX_SIZE_BYTES, " B"),
        ("start_ns", flow.start_ns, 0, MAX_START_NS, " ns"),
        (QUEUE_PAIR_COLUMN, flow.queue_pair, 0, MAX_QUEUE_PAIRS, ""),
        *((DELAY_COLUMN, delay_ns, 0, MAX_START_NS, " ns") for delay_ns in _delays_of(flow)),
        *((name, getattr(flow, name), 0, _MOST_NUMBER, "") for name in JOB_COLUMNS),
    ):
        if type(value) is not int:
            raise ScenarioError(f"{name}: must be a whole number, not {shown(value)}")
        if not least <= value <= most:
            bound = f"at least {least}" if value < least else f"at most {most}"
            hint = f"; for a flow that lasts as long as the run, write {most}" if name == "size_bytes" else ""
            raise ScenarioError(f"{name}: must be {bound}{unit}, not {value}{hint}")
    if not flow.job and (flow.iteration or flow.step or flow.rank):
        raise ScenarioError("job: must be at least 1 for a flow with an iteration, step or rank")
    if flow.delay_ns and not flow.after:
        raise ScenarioError(f"delay_ns: {flow.delay_ns} ns needs a flow to wait for, but {AFTER_COLUMN} is empty")
    if not 1 <= len(flow.tag) <= MAX_TAG_CHARACTERS or not flow.tag.isprintable():
        raise ScenarioError(f"tag: must be 1 to {MAX_TAG_CHARACTERS} printable characters, not {shown(flow.tag)}")
    if flow.src == flow.dst:
        raise ScenarioError(f"not a flow: {flow.src} to {flow.dst}, {flow.size_bytes} B at {flow.start_ns} ns")
