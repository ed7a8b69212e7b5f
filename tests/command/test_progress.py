# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the progress of a run, which is output on a terminal only."""

from __future__ import annotations

import io

from rich.console import Console

from command.progress import LiveProgress


def _progress_output(*, is_terminal: bool, is_interrupted: bool) -> str:
    """Return everything that is written about a run whose queues drain during three reports."""
    written = io.StringIO()
    with LiveProgress("incast sfc", Console(file=written, force_terminal=is_terminal, width=120)) as progress:
        progress.hosts_up(8, 8)
        progress.flows_done(3, 5)
        for left_bytes in (3_000_000, 1_000_000, 0):
            progress.hottest_buffer("tor1", left_bytes)
            progress.ending(is_interrupted)
    return written.getvalue()


def test_the_progress_of_an_ending_run_shows_its_queued_bytes() -> None:
    output = _progress_output(is_terminal=True, is_interrupted=False)
    assert "3/5" in output
    assert "done, ending tor1 holds 0.00 MB" in output
    assert "Ctrl-C" not in output


def test_after_ctrl_c_the_effect_of_a_second_one_is_printed_once() -> None:
    assert _progress_output(is_terminal=True, is_interrupted=True).count("press Ctrl-C again to discard them") == 1


def test_without_a_terminal_nothing_is_written() -> None:
    assert _progress_output(is_terminal=False, is_interrupted=True) == ""
