# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Command lines: every verb with its options, and with valid and invalid values.

`tests.fuzz.commanded` describes where the command is stopped.
"""

from functools import cache
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sfc_testbed.cli.app import VERBS, app_for
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.topologies.shapes import SHAPES
from tests.fuzz.budget import inputs
from tests.fuzz.commanded import type_words
from tests.fuzz.hostile import names, numbers, texts
from tests.fuzz.test_input_files import FLOWS, SWEEP, settings_words

_SCHEMES = (*SCHEMES, *(f"sfc+{suffix}" for suffix in RATE_CONTROLS), "sfc,irn", "irn, sfc", "sfc+dcqcn,gbn")
_VALID = {
    "scenario": ("incast", "datacentre", *SCENARIOS),
    "experiment": (*EXPERIMENTS,),
    "file": ("sweep.yaml", "flows.csv", "folder", "dangling", "loop", "nothing"),
    "folders": ("folder", "file", "nothing", "loop"),
    "folder": ("folder", "file", "nothing", "loop"),
    "run_ids": ("1-1", "00000000", "../x"),
    "--scheme": _SCHEMES,
    "--schemes": _SCHEMES,
    "--switch": ("auto", "soft", "bmv2"),
    "--clock": ("virtual", "virtual", "real"),
    "--dilation": ("auto", "1", "1000", "10000000"),
    "--scale": ("ci", "laptop", "paper"),
    "--seed": ("1", "7"),
    "--duration": ("1", "0.5", "1e9", "0"),
    "--topology": (*SHAPES,),
    "--flows": ("flows.csv", "sweep.yaml", "folder", "dangling", "loop", "nothing"),
    "--exec": ("flows.csv", "folder", "dangling", "loop", "nothing", "-"),
    "--out": ("runs", "file", "file/below", "folder", "dangling", "loop", "a b", "[red]"),
    "--pcap": ("h1", "h1,h2", "h1,h1", "h999", "tor1", "tor1:1", "tor1:99", "flow:1", "flow:1,h2", "flow:0"),
    "flow": ("1", "999"),
    "--run": ("folder", "file", "nothing", "loop"),
    "--background": ("iperf3",),
    "--p4": ("built-in", "file", "sweep.yaml", "folder", "dangling", "loop", "nothing"),
    "--claims": ("file", "flows.csv", "folder", "dangling", "loop", "nothing"),
    "--workers": ("1", "2", "auto"),
    "--scheduler": ("tcp://127.0.0.1:1",),
}
"""Plausible values by option or argument, with which the command continues to the next word."""
_PATHS = {"file", "folders", "folder", "--exec", "--out", "--flows", "--run", "--p4", "--claims"}


@cache
def _words_of(verb: str) -> tuple[tuple[str, ...], dict[str, bool], bool]:
    """Return a verb's arguments, its options and whether each takes a value, and whether the last argument repeats."""
    command = typer.main.get_command(app_for([verb])).commands[verb]  # type: ignore[attr-defined]
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = {
        parameter.opts[-1]: not parameter.is_flag
        for parameter in command.params
        if parameter.param_type_name == "option"
    }
    return tuple(argument.name for argument in arguments), options, any(argument.nargs != 1 for argument in arguments)


@cache
def _value(name: str) -> SearchStrategy[str]:
    valid = st.sampled_from(_VALID.get(name, ("1",)))
    if name in _PATHS:
        return st.one_of(valid, valid, names())
    return st.one_of(valid, valid, valid, numbers(), texts())


def _option(name: str, takes_value: bool) -> SearchStrategy[tuple[str, ...]]:
    if name == "--set":
        return settings_words().map(lambda setting: ("--set", setting))
    if not takes_value:
        return st.just((name,))
    apart = _value(name).map(lambda value: (name, value))
    joined = _value(name).map(lambda value: (f"{name}={value}",))
    return st.one_of(apart, apart, joined)


@cache
def _lines(verb: str) -> SearchStrategy[list[str]]:
    arguments, options, repeats = _words_of(verb)
    positions = [_value(name).map(lambda value: (value,)) for name in arguments]
    first = st.tuples(*positions).map(lambda words: sum(words, ()))
    more = st.lists(_value(arguments[-1]), max_size=3).map(tuple) if repeats else st.just(())
    strange = texts().map(lambda text: (text,))
    any_option = st.one_of([_option(name, takes) for name, takes in options.items()] or [strange])
    rest = st.lists(st.one_of(any_option, any_option, any_option, any_option, strange), max_size=5)
    clock = st.just(("--clock", "virtual") if "--clock" in options else ())
    return st.tuples(first, more, clock, rest).map(
        lambda parts: [verb, *parts[0], *parts[1], *parts[2], *(word for option in parts[3] for word in option)]
    )


def _words() -> SearchStrategy[list[str]]:
    strange = st.lists(texts(), max_size=3)
    verbs = st.sampled_from(("run", "run", "run", "compare", "compare", *VERBS))
    return st.one_of(strange, *[verbs.flatmap(_lines)] * 9)


def _prepare(folder: Path) -> None:
    """Create the files in the folder in which the command runs."""
    (folder / "file").write_text("x")
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / "sweep.yaml").write_text(SWEEP)
    (folder / "flows.csv").write_text(FLOWS)


@pytest.mark.long
@given(words=_words())
@inputs(150)
def test_any_command_line_is_obeyed_or_refused(words: list[str]) -> None:
    type_words(words, _prepare)
