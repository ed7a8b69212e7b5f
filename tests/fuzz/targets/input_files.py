# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files of users for `sweep`, `--flows` and `--set sizes=FILE`, and the settings of `--set`.

All run through the command; `tests.fuzz.targets.commanded` describes where it is stopped.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from hosts.transport.settings import TransportSettings
from scenarios.catalogue import SCENARIOS
from scenarios.traffic.sizes import load_sizes
from tests.fuzz.target import Case, Target
from tests.fuzz.targets.commanded import type_words
from tests.fuzz.targets.hostile import damaged, numbers, texts, values, written_values
from topologies.settings import SwitchSettings
from topologies.shapes import SHAPES

SWEEP = "name: small\nscenario: incast\nschemes: [irn]\nsettings: {message_bytes: 2000}\naxes: {degree: [2, 3]}\n"
FLOWS = "# measured_window_us=0.0,50.0\nsrc,dst,size_bytes,start_ns,tag\nh1,h2,1000,0,a\nh3,h2,2000,500,b\n"
_WAITING_FLOWS = (
    "src,dst,size_bytes,start_ns,tag,queue_pair,after,delay_ns\n"
    "h1,h2,1000,0,a,1,,0\nh1,h2,3000,9,a,1,1,0\nh2,h3,2000,0,b,0,1 2,500\nh3,h1,10,0,b,0,3,0\n"
)
_HPCC_FLOWS = "2\n0 1 3 100 1000 0.0\n2 1 3 100 2000 0.001\n"
_SIZES = "# ours\nsize_bytes,cumulative_percent,steps\n0,0,1\n1000,50,4\n2000,100,1\n"
_HPCC_SIZES = "0 0\n1000 50\n30000 100\n"
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


def _settings() -> SearchStrategy[Case]:
    scenario = st.sampled_from(("incast", "incast", "datacentre", *SCENARIOS))
    words = st.lists(settings_words(), min_size=1, max_size=4)
    return st.tuples(scenario, words).map(
        lambda pair: {
            "words": ["run", pair[0], "--clock", "virtual", *(word for key in pair[1] for word in ("--set", key))]
        }
    )


def _sweeps() -> SearchStrategy[Case]:
    valid: dict[str, Any] = yaml.safe_load(SWEEP)
    small = st.one_of(st.integers(0, 3), values())
    axes = st.dictionaries(
        st.one_of(st.sampled_from(_keys()), texts(10)), st.one_of(st.lists(small, max_size=3), values()), max_size=2
    )
    parts = {key: st.one_of(values(), st.lists(texts(10), max_size=2)) for key in _SWEEP_KEYS}
    changed = st.fixed_dictionaries({}, optional={**parts, "axes": axes, "settings": axes})
    texts_of = changed.map(lambda change: yaml.safe_dump({**valid, **change}, allow_unicode=True))
    unlike = st.one_of(values().map(lambda value: yaml.safe_dump(value)), texts(200))
    written = st.one_of(texts_of, damaged(texts_of), damaged(st.just(SWEEP)), unlike)
    return written.map(lambda text: {"words": ["sweep", "file"], "text": text})


def _flow_rows() -> SearchStrategy[str]:
    host = st.one_of(st.sampled_from(("h1", "h2", "h3", "h16", "h17", "h0")), texts(5))
    number = st.one_of(st.integers(-1, 10**6).map(str), numbers())
    row = st.tuples(host, host, number, number, st.one_of(st.just("a"), texts())).map(",".join)
    return st.lists(row, max_size=4).map(lambda rows: "\n".join([FLOWS.splitlines()[1], *rows]) + "\n")


def _rows_of_numbers(width: int, first: str, between: str) -> SearchStrategy[str]:
    row = st.lists(st.one_of(st.integers(0, 100).map(str), numbers()), min_size=width, max_size=width).map(between.join)
    return st.lists(row, max_size=5).map(lambda rows: "\n".join([first, *rows] if first else rows) + "\n")


def _lists_of_flows() -> SearchStrategy[Case]:
    text = st.one_of(
        _flow_rows(),
        damaged(_flow_rows()),
        damaged(st.sampled_from((FLOWS, _WAITING_FLOWS, _HPCC_FLOWS))),
        _rows_of_numbers(6, "2", " "),
        texts(200),
    )
    return text.map(lambda content: {"words": [*_RUN, "--flows", "file"], "text": content})


def _distributions() -> SearchStrategy[Case]:
    text = st.one_of(
        damaged(st.sampled_from((_SIZES, _HPCC_SIZES))),
        _rows_of_numbers(3, _SIZES.splitlines()[1], ","),
        _rows_of_numbers(2, "", " "),
        texts(200),
    )
    words = ["run", "datacentre", "--clock", "virtual", "--set", "sizes=file", "--set", "arrivals_us=20"]
    return text.map(lambda content: {"words": words, "text": content})


def _prepare(case: Case, folder: Path) -> None:
    if "text" in case:
        (folder / "file").write_bytes(
            case["text"].encode("utf-8", "surrogateescape" if _is_bytes(case) else "surrogatepass")
        )


def _is_bytes(case: Case) -> bool:
    """Return whether all lone surrogates of the text represent bytes that are not UTF-8 (U+DC80 to U+DCFF)."""
    return not any("\ud800" <= char < "\udc80" or "\udd00" <= char <= "\udfff" for char in case["text"])


def _check(case: Case) -> int:
    load_sizes.cache_clear()  # its key is the file name, which is the same for every case
    type_words(case["words"], lambda folder: _prepare(case, folder))
    return 1


SETTINGS = Target("settings", "set of --set words", _check, examples=150, cases=_settings)
SWEEPS = Target("sweep-files", "YAML file", _check, examples=80, cases=_sweeps)
FLOW_LISTS = Target("flow-files", "flow list", _check, examples=80, cases=_lists_of_flows)
SIZES = Target("size-files", "distribution of sizes", _check, examples=80, cases=_distributions)
