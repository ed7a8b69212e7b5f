# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for Ctrl-C and SIGTERM: their effect in each context, and that a second signal does no harm."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from sfc_testbed.testbed.interrupt import interruptible, prompting, raise_again, raising
from tests.tree import ROOT

DROPPED = """
import signal, time
from sfc_testbed.testbed.interrupt import raising

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

with raising():
    try:
        finalized = Finalized()
        del finalized
        time.sleep(60)
    except KeyboardInterrupt:
        print("heard")
"""


def _output(code: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=50)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_during_a_run_set_flags_and_do_not_raise(number: signal.Signals) -> None:
    with interruptible() as interrupt:
        interrupt.stop_if_requested()
        signal.raise_signal(number)
        assert (interrupt.is_requested, interrupt.is_urgent) == (True, False)
        interrupt.stop_if_urgent()
        for _ in range(3):
            signal.raise_signal(number)
        assert (interrupt.is_requested, interrupt.is_urgent) == (True, True)
        with pytest.raises(KeyboardInterrupt):
            interrupt.stop_if_requested()
        with pytest.raises(KeyboardInterrupt):
            interrupt.stop_if_urgent()


def test_while_results_are_written_the_second_signal_raises_once() -> None:
    with interruptible() as interrupt:
        interrupt.raises_if_urgent = True
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert interrupt.is_urgent


def test_only_the_first_signal_raises_until_raise_again_is_called() -> None:
    with raising():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        raise_again()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


def test_an_interrupt_that_python_drops_is_raised_again() -> None:
    """Python prints and drops an exception in a finalizer. A KeyboardInterrupt is raised again and not printed."""
    assert _output(DROPPED) == (0, "heard\n", "")


def test_at_the_prompt_every_ctrl_c_raises_and_sigterm_leaves() -> None:
    with prompting():
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
    attempts = 0
    with pytest.raises(KeyboardInterrupt), prompting():
        while attempts < 3:
            try:
                attempts += 1
                signal.raise_signal(signal.SIGTERM)
            except KeyboardInterrupt:
                continue
    assert attempts == 1


def test_handlers_are_restored_after_an_error() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    for context in (interruptible, raising, prompting):
        with pytest.raises(ValueError, match="any"), context():
            raise ValueError("any")
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_ctrl_c_ends_the_child_that_probes_namespaces() -> None:
    """The child has inherited the handlers of its parent and must not continue as a second command."""
    script = (
        "import os, signal\n"
        "from sfc_testbed.testbed.system import namespace\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "namespace.leave_namespace = lambda: signal.raise_signal(signal.SIGINT)\n"
        "print(namespace.can_make_namespaces() is not None)\n"
    )
    assert _output(script) == (0, "True\n", "")


def test_a_second_signal_does_not_print_the_line_again() -> None:
    """The second signal arrives between the line and the end of a command that has nothing to clean up."""
    code = """
import os, signal
from sfc_testbed.testbed.interrupt import end_at_once
write, writes = os.write, []
def write_and_be_signalled(place, text):
    writes.append(write(place, text))
    if len(writes) < 3:
        signal.raise_signal(signal.SIGINT)
os.write = write_and_be_signalled
end_at_once()
signal.raise_signal(signal.SIGINT)
"""
    assert _output(code) == (130, "", "runner.py: interrupted; nothing was started\n")
