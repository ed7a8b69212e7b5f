# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A list of flows that is stored as columns.

A run may have millions of flows. A flow takes 40 bytes in a table and about 400 as an object. Rows become objects only
while they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from sfc_testbed.scenarios.model.flow import Flow, FlowRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.signedinteger[Any]]

_COLUMNS = ("src", "dst", "tag", "size_bytes", "start_ns", "queue_pair", "source_qpn", "destination_qpn")
JOB_COLUMNS = ("job", "iteration", "step", "rank")
"""The columns of `FlowTable.jobs`."""
_WIDE = ("size_bytes", "start_ns")
"""Columns of 64-bit integers; the other ones have 32 bits."""
_NO_JOB = (0, 0, 0, 0)
Wait = tuple[tuple[int, ...], int | tuple[int, ...]]
"""The fields `after` and `delay_ns` of a flow."""
_NO_WAIT: Wait = ((), 0)
_CHUNK_ROWS = 4_096
"""Rows that are objects at a time while a table is read."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FlowTable(Sequence[Flow]):
    """Flows as columns. A flow's number is its position, from 1. Queue pair numbers are 0 before `number_flows`."""

    hosts: tuple[str, ...]
    """The names of hosts; `src` and `dst` are indices in it."""
    tags: tuple[str, ...]
    """The names of traffic classes; `tag` is an index in it."""
    src: Column
    dst: Column
    tag: Column
    size_bytes: Column
    start_ns: Column
    queue_pair: Column
    source_qpn: Column
    destination_qpn: Column
    jobs: Column
    """The columns job, iteration, step and rank side by side; no columns in a table without jobs."""
    waits: Mapping[int, Wait]
    """The fields `after` and `delay_ns` of flows that wait for others, by position from 0."""

    @property
    def has_jobs(self) -> bool:
        """Whether any flow belongs to a job."""
        return bool(self.jobs.shape[1])

    @property
    def job(self) -> Column:
        """The number of each flow's job, from 1; 0: none."""
        return self._of_jobs(0)

    @property
    def iteration(self) -> Column:
        """The iteration of each flow's job, from 1."""
        return self._of_jobs(1)

    @property
    def step(self) -> Column:
        """The step of each flow in its iteration, from 1."""
        return self._of_jobs(2)

    @property
    def rank(self) -> Column:
        """The rank of each flow's source in its job, from 0."""
        return self._of_jobs(3)

    def _of_jobs(self, number: int) -> Column:
        import numpy as np

        return self.jobs[:, number] if self.has_jobs else np.broadcast_to(np.int32(0), len(self))

    def __len__(self) -> int:
        return len(self.src)

    def __iter__(self) -> Iterator[Flow]:
        return self.rows(range(len(self)))

    @overload
    def __getitem__(self, place: int) -> Flow: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Flow]: ...

    def __getitem__(self, place: int | slice) -> Flow | Sequence[Flow]:
        places = range(len(self))[place]
        return next(self.rows([places])) if isinstance(places, int) else list(self.rows(places))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Flow.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]  # as a list

    def rows(self, places: Sequence[int] | Column) -> Iterator[Flow]:
        """Yield the flows at these positions, from 0."""
        import numpy as np

        hosts, tags, waits = self.hosts, self.tags, self.waits
        columns = [getattr(self, name) for name in _COLUMNS]
        for begin in range(0, len(places), _CHUNK_ROWS):
            chunk = np.asarray(places[begin : begin + _CHUNK_ROWS])
            values = (column[chunk].tolist() for column in columns)
            of_jobs = self.jobs[chunk].tolist() if self.has_jobs else repeat(_NO_JOB, len(chunk))
            for place, src, dst, tag, size_bytes, start_ns, pair, source_qpn, destination_qpn, of_job in zip(
                chunk.tolist(), *values, of_jobs, strict=True
            ):
                job, iteration, step, rank = of_job
                after, delay_ns = waits.get(place, _NO_WAIT)
                yield Flow(
                    hosts[src],
                    hosts[dst],
                    size_bytes,
                    start_ns,
                    tags[tag],
                    place + 1,
                    source_qpn,
                    destination_qpn,
                    queue_pair=pair,
                    after=after,
                    delay_ns=delay_ns,
                    job=job,
                    iteration=iteration,
                    step=step,
                    rank=rank,
                )

    def part(self, begin: int, end: int) -> FlowTable:
        """Return the flows from position `begin` to before `end`, which get other numbers."""
        chosen: Any = {name: getattr(self, name)[begin:end] for name in (*_COLUMNS, "jobs")}
        waits = {place - begin: wait for place, wait in self.waits.items() if begin <= place < end}
        return replace(self, **chosen, waits=waits)

    def with_names(self, hosts: tuple[str, ...], tags: tuple[str, ...] | None = None) -> FlowTable:
        """Return the same flows with other numbers of the hosts and, unless None, of the tags."""
        tags = self.tags if tags is None else tags
        if (hosts, tags) == (self.hosts, self.tags):
            return self
        import numpy as np

        host = np.array([hosts.index(name) for name in self.hosts], dtype=np.int32)
        tag = np.array([tags.index(name) for name in self.tags], dtype=np.int32)
        return replace(self, hosts=hosts, tags=tags, src=host[self.src], dst=host[self.dst], tag=tag[self.tag])

    def values(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of these columns flow by flow, with names of hosts and tags; faster than `rows`."""
        import numpy as np

        labels = {"src": self.hosts, "dst": self.hosts, "tag": self.tags}
        texts = {name: np.array(labels[name], dtype=object) for name in names if name in labels}
        columns = [(getattr(self, name), texts.get(name)) for name in names]
        for begin in range(0, len(self), _CHUNK_ROWS):
            chunks = ((column[begin : begin + _CHUNK_ROWS], text) for column, text in columns)
            yield from zip(*((chunk if text is None else text[chunk]).tolist() for chunk, text in chunks), strict=True)

    def independent(self, places: Sequence[int] | Column) -> FlowTable:
        """Return the flows at these positions. The flows must not wait for others."""
        chosen: Any = {name: getattr(self, name)[places] for name in (*_COLUMNS, "jobs")}
        return replace(self, **chosen, waits={})


def flow_table(requests: Iterable[FlowRequest]) -> FlowTable:
    if isinstance(requests, FlowTable):
        return requests
    hosts: dict[str, int] = {}
    tags: dict[str, int] = {}
    waits = {}
    jobs = {}
    rows = []
    for place, request in enumerate(requests):
        src, dst = (hosts.setdefault(name, len(hosts)) for name in (request.src, request.dst))
        tag = tags.setdefault(request.tag, len(tags))
        rows.append((src, dst, tag, request.size_bytes, request.start_ns, request.queue_pair))
        if request.after:
            waits[place] = request.after, request.delay_ns
        if request.job:
            jobs[place] = request.job, request.iteration, request.step, request.rank
    columns = zip(*rows, strict=True) if rows else ((),) * 6
    of_jobs = [jobs.get(place, _NO_JOB) for place in range(len(rows))] if jobs else None
    return table_of(tuple(hosts), tuple(tags), *columns, waits=waits, jobs=of_jobs)


def table_of(
    hosts: Sequence[str],
    tags: Sequence[str],
    *columns: Sequence[int] | Column,
    waits: Mapping[int, Wait] = MappingProxyType({}),
    jobs: Sequence[Sequence[int]] | Column | None = None,
) -> FlowTable:
    """Return a table of the columns src, dst, tag, size_bytes, start_ns and, unless all are 0, queue_pair.

    `jobs` has job, iteration, step and rank of each flow, if any flow belongs to a job.
    """
    import numpy as np

    arrays = {
        name: np.asarray(column, dtype=np.int64 if name in _WIDE else np.int32)
        for name, column in zip(_COLUMNS, columns, strict=False)
    }
    zeros = np.zeros(len(arrays["src"]), dtype=np.int32)
    values = {name: arrays.get(name, zeros) for name in _COLUMNS}
    values["jobs"] = np.empty((len(zeros), 0), dtype=np.int32) if jobs is None else np.asarray(jobs, dtype=np.int32)
    return FlowTable(hosts=tuple(hosts), tags=tuple(tags), **values, waits=dict(waits))


def joined(tables: Sequence[FlowTable]) -> FlowTable:
    """Return the flows of all tables. The flows must not wait for others."""
    import numpy as np

    hosts = tuple(dict.fromkeys(name for table in tables for name in table.hosts))
    tags = tuple(dict.fromkeys(name for table in tables for name in table.tags))
    parts = [table.with_names(hosts, tags) for table in tables]
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS]
    has_jobs = any(part.has_jobs for part in parts)
    widened = [np.stack([getattr(part, name) for name in JOB_COLUMNS], axis=1) for part in parts] if has_jobs else []
    jobs = np.concatenate(widened) if has_jobs else None
    return table_of(hosts, tags, *columns, jobs=jobs)
