# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Damaged run folders for `report` and `export`. Each process makes a small run once, and damages copies of it.

Plots are drawn in one of ten cases only, because that takes a second.
"""

import atexit
import contextlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sfc_testbed.cli.app import main
from tests.fuzz.budget import inputs
from tests.fuzz.commanded import type_words
from tests.fuzz.hostile import damaged, texts, values

Damage = tuple[str, str, float, Any]
"""A file, a key of _DAMAGES, the place in the file from 0 to 1, and the new value."""

_RUN = ("run", "incast", "--clock", "virtual", "--seed", "1", "--set", "degree=2", "--set", "message_bytes=2000")
_TEXT_FILES = ("result.json", "config.json", "flows-input.csv")
_TRACES = ("flows.parquet", "queues.parquet", "links.parquet", "signals.parquet", "goodput.parquet", "lateness.parquet")
_FILES = (*_TEXT_FILES, *_TRACES, "report.html", "reproduction.json", "validation.json")
_VERBS = (
    ("report", "run"),
    ("report", "run"),
    ("export", "run"),
    ("report", "run", "whole"),
    ("export", "run", "--out", "to"),
    ("export", "run", "--format", "perfetto"),
)


@cache
def _whole_run() -> Path:
    """Return an undamaged run folder without plots."""
    folder = Path(tempfile.mkdtemp(prefix="sfc-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with (
        contextlib.redirect_stdout(io.StringIO()),
        mock.patch("sfc_testbed.testbed.execution.execute.write_run_report"),
    ):
        assert main([*_RUN, "--out", str(folder)]) == 0
    [run] = folder.iterdir()
    return run


def _flip(path: Path, share: float, what: Any) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[int(share * (len(content) - 1))] ^= 1 << what % 8
    path.write_bytes(content)


def _set(path: Path, share: float, what: Any) -> None:
    try:
        content = json.loads(path.read_text())
    except (ValueError, RecursionError):
        return
    places = list(_places(content))
    if places:
        holder, key = places[int(share * (len(places) - 1))]
        holder[key] = what
    path.write_text(json.dumps(content))


def _places(content: Any) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = []
    rows = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in rows:
        places += [(content, key), *_places(value)]
    return places


def _replace(path: Path, make: Callable[[Path], object]) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make(path)


def _truncate(path: Path, share: float, what: Any) -> None:
    os.truncate(path, int(share * path.stat().st_size))


def _write(path: Path, share: float, what: Any) -> None:
    path.write_bytes(str(what).encode("utf-8", "surrogatepass"))


def _nest(path: Path, share: float, what: Any) -> None:
    path.write_text("[" * int(share * 200_000))


def _other(path: Path, share: float, what: Any) -> None:
    shutil.copyfile(_whole_run() / _FILES[int(share * (len(_FILES) - 3))], path)


_DAMAGES: dict[str, Callable[[Path, float, Any], None]] = {
    "truncate": _truncate,
    "flip": _flip,
    "set": _set,
    "write": _write,
    "nest": _nest,
    "other": _other,
    "delete": lambda path, share, what: path.unlink(),
    "folder": lambda path, share, what: _replace(path, Path.mkdir),
    "fifo": lambda path, share, what: _replace(path, os.mkfifo),
    "loop": lambda path, share, what: _replace(path, lambda link: link.symlink_to(link.name)),
    "dangling": lambda path, share, what: _replace(path, lambda link: link.symlink_to("nowhere")),
    "device": lambda path, share, what: _replace(path, lambda link: link.symlink_to("/dev/null")),
    "unreadable": lambda path, share, what: path.chmod(0),
}


def _damages() -> SearchStrategy[list[Damage]]:
    share = st.floats(0, 1)
    in_text = st.tuples(st.sampled_from(_TEXT_FILES), st.sampled_from(("set", "set", "set", "write")), share, values())
    in_trace = st.tuples(
        st.sampled_from(_TRACES), st.sampled_from(("flip", "flip", "truncate", "other")), share, st.integers(0, 7)
    )
    anything = st.tuples(st.sampled_from(_FILES), st.sampled_from(sorted(_DAMAGES.keys() - {"flip"})), share, texts())
    table = damaged(st.just("src,dst,size_bytes,start_ns,tag\nh1,h2,2000,0,incast\n"))
    in_flows = st.tuples(st.just("flows-input.csv"), st.just("write"), share, table)
    return st.lists(st.one_of(in_text, in_text, in_trace, in_trace, anything, in_flows), min_size=1, max_size=3)


def _prepare(folder: Path, damages: list[Damage]) -> None:
    for name in ("run", "whole"):
        shutil.copytree(_whole_run(), folder / name)
    for name, damage, share, what in damages:
        path = folder / "run" / name
        if not path.is_symlink() and not path.exists():
            path.write_text("{}")
        if path.is_file() and not path.is_symlink():
            _DAMAGES[damage](path, share, what)


@pytest.mark.long
@given(words=st.sampled_from(_VERBS), damages=_damages(), has_plots=st.sampled_from((False,) * 9 + (True,)))
@example(words=("report", "run"), damages=[("config.json", "fifo", 0.5, "")], has_plots=False)
@example(words=("report", "run"), damages=[("reproduction.json", "fifo", 0.5, "")], has_plots=False)
@example(words=("report", "run"), damages=[("result.json", "fifo", 0.5, "")], has_plots=False)
@example(words=("export", "run"), damages=[("flows-input.csv", "fifo", 0.5, "")], has_plots=False)
@example(words=("report", "run"), damages=[("config.json", "set", 0.71875, None)], has_plots=False)
@example(words=("report", "run"), damages=[("config.json", "set", 0.25, None)], has_plots=False)
@inputs(40)
def test_any_run_folder_is_read_or_refused(words: tuple[str, ...], damages: list[Damage], has_plots: bool) -> None:
    with contextlib.ExitStack() as stack:
        if not has_plots:
            stack.enter_context(
                mock.patch("sfc_testbed.analysis.report.html_pages.placed_plots", lambda *words, **options: [])
            )
        type_words(words, lambda folder: _prepare(folder, damages))
