# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files of users for `sweep`, `--flows` and `--set sizes=FILE`, and the settings of `--set`.

All run through the command; `tests.fuzz.commanded` describes where it is stopped.
"""

import json
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.scenarios.traffic.sizes import load_sizes
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.shapes import SHAPES
from tests.fuzz.budget import inputs
from tests.fuzz.commanded import type_words
from tests.fuzz.hostile import damaged, damaged_bytes, numbers, texts, values, written_values
from tests.scenarios.traces.chakra_files import COLLECTIVE, COMPUTATION, METADATA, RECEIVE, SEND, content_of, node

SWEEP = "name: small\nscenario: incast\nschemes: [irn]\nsettings: {message_bytes: 2000}\naxes: {degree: [2, 3]}\n"
FLOWS = "# measured_window_us=0.0,50.0\nsrc,dst,size_bytes,start_ns,tag\nh1,h2,1000,0,a\nh3,h2,2000,500,b\n"
_WAITING_FLOWS = (
    "src,dst,size_bytes,start_ns,tag,queue_pair,after,delay_ns\n"
    "h1,h2,1000,0,a,1,,0\nh1,h2,3000,9,a,1,1,0\nh2,h3,2000,0,b,0,1 2,500\nh3,h1,10,0,b,0,3,0\n"
)
_HPCC_FLOWS = "2\n0 1 3 100 1000 0.0\n2 1 3 100 2000 0.001\n"
_GOAL = (
    "num_ranks 3\nrank 0 {\nc: calc 700 cpu 1\ns: send 2000b to 1 tag 4\ns requires c\n"
    "t: send 9b to 2\nt irequires s\n}\n"
    "rank 1 {\nr: recv 2000b from 0 tag 4 cpu 0 nic 0\nu: send 1b to 2\nu requires r\n}\n"
    "/* last */ rank 2 {\nrecv 9b from 0\nrecv 1b from 1 // any\n}\n"
)
_SIMAI = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 4 checkpoints: 0 "
    "checkpoint_initiates: 0\n2\na -1 50 ALLREDUCE 8000 9 ALLTOALL_EP 900 1 NONE 0 100\n"
    "b -1 5 NONE 0 9 ALLGATHER 900 1 REDUCESCATTER 80 100\n"
)
_SIZES = "# ours\nsize_bytes,cumulative_percent,steps\n0,0,1\n1000,50,4\n2000,100,1\n"
_CONWEAVE_FLOWS = "2\n0 1 3 1000 2.0\n2 1 3 2000 2.001\n\nsrc dst\n"
_HPCC_SIZES = "0 0\n1000 50\n30000 100\n"
_OTHER_SIZES = ("1500.5\n3 0.1\n4 0.5\n30000 1\n", "size,x,cdf\n0,1,0\n30000,1,1\n")
_RUN = ("run", "incast", "--clock", "virtual")
_SWEEP_KEYS = (
    "name", "scenario", "schemes", "seeds", "axes", "settings", "scale", "clock", "switch", "dilation", "duration_ms",
)  # fmt: skip


@cache
def _keys() -> tuple[str, ...]:
    workloads = sorted({name for scenario in SCENARIOS.values() for name in scenario.workload.model_fields})
    shapes = sorted({name for shape in SHAPES.values() for name in shape.model_fields})
    return (
        *workloads,
        *(f"topology.{name}" for name in shapes),
        *(f"switch.{name}" for name in SwitchSettings.model_fields),
        *(f"transport.{field.name}" for field in fields(TransportSettings)),
    )


@cache
def settings_words() -> SearchStrategy[str]:
    """Return a strategy for words after `--set`: usually existing names, with values of various types."""
    key = st.one_of(*[st.sampled_from(_keys())] * 9, texts())
    fitting = st.sampled_from(
        ("1", "2", "8", "1000", "true", "false", "null", '"sfc"', "0.5", "[1]", "{}", "hadoop", "h3")
    )
    whole = st.tuples(key, st.one_of(fitting, fitting, numbers(), written_values())).map("=".join)
    return st.one_of(whole, whole, whole, damaged(whole))


@pytest.mark.long
@given(
    scenario=st.sampled_from(("incast", "incast", "datacentre", *SCENARIOS)),
    settings=st.lists(settings_words(), min_size=1, max_size=4),
)
@example(scenario="long-rtt", settings=["incast_bytes=1"])
@inputs(150)
def test_any_settings_are_obeyed_or_refused(scenario: str, settings: list[str]) -> None:
    words = [word for setting in settings for word in ("--set", setting)]
    type_words(["run", scenario, "--clock", "virtual", *words], lambda _: None)


def _sweeps() -> SearchStrategy[str]:
    valid: dict[str, Any] = yaml.safe_load(SWEEP)
    small = st.one_of(st.integers(0, 3), values())
    axes = st.dictionaries(
        st.one_of(st.sampled_from(_keys()), texts(10)), st.one_of(st.lists(small, max_size=3), values()), max_size=2
    )
    parts = {key: st.one_of(values(), st.lists(texts(10), max_size=2)) for key in _SWEEP_KEYS}
    changed = st.fixed_dictionaries({}, optional={**parts, "axes": axes, "settings": axes})
    texts_of = changed.map(lambda change: yaml.safe_dump({**valid, **change}, allow_unicode=True))
    unlike = st.one_of(values().map(lambda value: yaml.safe_dump(value)), texts(200))
    return st.one_of(texts_of, damaged(texts_of), damaged(st.just(SWEEP)), unlike)


def _flow_rows() -> SearchStrategy[str]:
    host = st.one_of(st.sampled_from(("h1", "h2", "h3", "h16", "h17", "h0")), texts(5))
    number = st.one_of(st.integers(-1, 10**6).map(str), numbers())
    row = st.tuples(host, host, number, number, st.one_of(st.just("a"), texts())).map(",".join)
    return st.lists(row, max_size=4).map(lambda rows: "\n".join([FLOWS.splitlines()[1], *rows]) + "\n")


def _rows_of_numbers(width: int, first: str, between: str) -> SearchStrategy[str]:
    row = st.lists(st.one_of(st.integers(0, 100).map(str), numbers()), min_size=width, max_size=width).map(between.join)
    return st.lists(row, max_size=5).map(lambda rows: "\n".join([first, *rows] if first else rows) + "\n")


def _flow_lists() -> SearchStrategy[str]:
    return st.one_of(
        _flow_rows(),
        damaged(_flow_rows()),
        damaged(st.sampled_from((FLOWS, _WAITING_FLOWS, _HPCC_FLOWS, _CONWEAVE_FLOWS, _GOAL, _SIMAI))),
        _rows_of_numbers(6, "2", " "),
        texts(200),
    )


def _distributions() -> SearchStrategy[str]:
    return st.one_of(
        damaged(st.sampled_from((_SIZES, _HPCC_SIZES, *_OTHER_SIZES))),
        _rows_of_numbers(3, _SIZES.splitlines()[1], ","),
        _rows_of_numbers(2, "", " "),
        texts(200),
    )


def _goal_schedules() -> SearchStrategy[str]:
    label = st.sampled_from(("a", "b", "c", "d"))
    number = st.one_of(st.integers(0, 3).map(str), st.integers(0, 3).map(str), numbers())
    operation = st.one_of(
        st.tuples(st.just("calc"), number).map(" ".join),
        st.tuples(number, number, number).map(lambda drawn: "send {}b to {} tag {}".format(*drawn)),
        st.tuples(number, number, number).map(lambda drawn: "recv {}b from {} tag {}".format(*drawn)),
    )
    line = st.one_of(
        operation,
        st.tuples(label, operation).map(": ".join),
        st.tuples(label, st.sampled_from(("requires", "irequires")), label).map(" ".join),
    )
    blocks = st.lists(st.lists(line, max_size=4).map("\n".join), min_size=1, max_size=3)
    return blocks.map(
        lambda texts: "\n".join(
            [f"num_ranks {len(texts)}", *(f"rank {rank} {{\n{text}\n}}" for rank, text in enumerate(texts))]
        )
    )


def _traces() -> SearchStrategy[str]:
    return st.one_of(
        _goal_schedules(), damaged(_goal_schedules()), damaged(st.sampled_from((_GOAL, _SIMAI))), texts(200)
    )


_HPCC_NETWORK = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 25Gbps 0.001ms 0\n2 3 1Gbps 5ns 0.1\n"
_HTSIM_NETWORK = (
    "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nRadix_Down 2\nRadix_Up 1\nOversubscribed 2\nTier 1\nRadix_Down 2\n"
)
_JSON_NETWORKS: tuple[dict[str, Any], ...] = (
    {"hosts": ["h1", "h2"], "switches": ["s1"], "links": [["h1", "s1-p1", "1us", 10], ["h2", "s1-p2"]]},
    {"topology": {"hosts": {"a": {}, "b": {}}, "switches": {"s": {}}, "links": [["a", "s", {"bw": 5}], ["b", "s"]]}},
    {
        "nodes": [{"id": 1}, {"id": 2}, {"id": "x"}],
        "links": [{"source": 1, "target": "x"}, {"source": 2, "target": "x"}],
    },
)


def _networks() -> SearchStrategy[str]:
    written = st.sampled_from([json.dumps(content, indent=1) for content in _JSON_NETWORKS])
    parts = st.sampled_from(("hosts", "switches", "links", "nodes", "edges", "topology", "multigraph", "directed"))
    changed = st.tuples(st.sampled_from(_JSON_NETWORKS), parts, values())
    return st.one_of(
        damaged(st.sampled_from((_HPCC_NETWORK, _HTSIM_NETWORK))),
        damaged(written),
        changed.map(lambda change: json.dumps({**change[0], change[1]: change[2]})),
        _rows_of_numbers(5, "4 1 3\n3", " "),
        texts(200),
    )


_TEXTS = {
    "sweep": _sweeps(),
    "flows": _flow_lists(),
    "sizes": _distributions(),
    "trace": _traces(),
    "network": _networks(),
}
_WORDS = {
    "sweep": ("sweep", "file"),
    "flows": (*_RUN, "--flows", "file"),
    "trace": ("run", "trace", "--clock", "virtual", "--set", "file=file"),
    "network": (*_RUN, "--topology", "./file", "--set", "degree=1", "--set", "placement=spread"),
    "sizes": ("run", "datacentre", "--clock", "virtual", "--set", "sizes=file", "--set", "arrivals_us=20"),
}


@pytest.mark.parametrize("kind", _WORDS)
@given(data=st.data())
@inputs(80)
def test_any_file_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    text = data.draw(_TEXTS[kind])
    load_sizes.cache_clear()  # it caches by name, which is the same for every file
    # Lone surrogates from U+DC80 on are bytes that are not UTF-8; all others stay surrogates.
    is_bytes = not any("\ud800" <= char < "\udc80" or "\udd00" <= char <= "\udfff" for char in text)
    content = text.encode("utf-8", "surrogateescape" if is_bytes else "surrogatepass")
    type_words(_WORDS[kind], lambda folder: (folder / "file").write_bytes(content))


_GROUPS = """['[{"pg_name": "1", "ranks": [0, 1]}]']"""


@cache
def _chakra() -> tuple[bytes, bytes]:
    """Return the files of two ranks."""
    both = [
        node(0, METADATA, values=_GROUPS),
        node(1, COMPUTATION, us=3, is_cpu_op=False),
        node(2, COLLECTIVE, 1, comm_type=0, comm_size=900, pg_name="1"),
    ]
    return (
        content_of([*both, node(3, SEND, 2, comm_dst=1, comm_size=70, comm_tag=5)]),
        content_of([*both, node(3, RECEIVE, 1, comm_src=0, comm_size=70, comm_tag=5)]),
    )


@given(data=st.data())
@inputs(80)
def test_any_chakra_trace_is_read_or_refused(data: st.DataObject) -> None:
    contents = [data.draw(damaged_bytes(content)) for content in _chakra()]

    def write(folder: Path) -> None:
        for rank, content in enumerate(contents):
            (folder / f"file.{rank}.et").write_bytes(content)

    type_words(("run", "trace", "--clock", "virtual", "--set", "file=file"), write)
