# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packages that are loaded when they are first used."""

from __future__ import annotations

import subprocess
import sys

from tests.tree import ROOT

_SCRIPT = """
import sys
from sfc_testbed.native.late import import_late
import_late("polars")
import_late("polars")  # as a second command in one process does
import polars as pl
assert "polars.dataframe" not in sys.modules
rows = pl.DataFrame({"a": [1]})
import polars
from polars.testing import assert_frame_equal
assert_frame_equal(polars.DataFrame({"a": [1]}), rows)
assert isinstance(rows, polars.DataFrame) and isinstance(rows, pl.DataFrame)
import_late("polars")
import polars
assert polars.DataFrame is pl.DataFrame
try:
    pl.no_such_name
except AttributeError as error:
    print(error)
"""


_HANDLERS = """
import ctypes, signal
from sfc_testbed.native.late import import_late

def handler():
    action = (ctypes.c_void_p * 32)()
    assert ctypes.CDLL(None).sigaction(signal.SIGINT, None, action) == 0
    return action[0]

import_late("polars")
import polars
before = handler()
polars.DataFrame({"a": [1]})
print(handler() == before)
"""

_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from sfc_testbed.native.late import import_late

import_late("polars")
import polars as pl

with ThreadPoolExecutor(8) as pool:
    print(*{frame.height for frame in pool.map(lambda _: pl.DataFrame({"a": [1]}), range(8))})
"""


def test_a_late_package_is_loaded_at_its_first_use() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "module 'polars' has no attribute 'no_such_name'\n"), done.stderr


def test_a_late_package_leaves_the_signal_handler_alone() -> None:
    """Polars would raise KeyboardInterrupt in its calls, and a run would lose its measurements at the first Ctrl-C."""
    done = subprocess.run([sys.executable, "-c", _HANDLERS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_threads_wait_until_a_late_package_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", _THREADS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_a_run_loads_no_data_frames_before_its_first_packet() -> None:
    lines = ("import sys", "from sfc_testbed.cli.app import app_for", "app_for(['run'])")
    script = "\n".join((*lines, "print('polars.dataframe' in sys.modules)"))
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
