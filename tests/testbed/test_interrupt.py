# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ctrl-C and SIGTERM: what they are where, and that a second one does no harm."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.interrupt import interruptible, prompting, raise_again, raising

ROOT = Path(__file__).resolve().parents[2]
DROPPED = """
import signal, time
from testbed.interrupt import raising

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

with raising():
    try:
        each = Finalized()
        del each
        time.sleep(60)
    except KeyboardInterrupt:
        print("heard")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_is_asked_and_never_thrown_out(number: signal.Signals) -> None:
    """Once: requested. Twice: urgent. More often: no difference. It is the run that decides where to stop."""
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


def test_what_cleans_up_is_not_interrupted_again() -> None:
    """Only the first raises, until somebody who goes on asks for another."""
    with raising():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        raise_again()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


def test_an_interrupt_that_python_drops_is_raised_again() -> None:
    """In a finalizer an exception is printed and forgotten; here it is neither."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED], cwd=ROOT, capture_output=True, text=True, check=False, timeout=50
    )
    assert (done.stdout, done.stderr) == ("heard\n", "")


def test_the_prompt_keeps_its_own_meaning() -> None:
    """Ctrl-C there is for the prompt, each time; SIGTERM leaves it, past whoever catches KeyboardInterrupt."""
    with prompting():
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
    heard = 0
    with pytest.raises(KeyboardInterrupt), prompting():
        while heard < 3:
            try:
                heard += 1
                signal.raise_signal(signal.SIGTERM)
            except KeyboardInterrupt:
                continue
    assert heard == 1


def test_handlers_are_put_back() -> None:
    """Whatever happened in between."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    for context in (interruptible, raising, prompting):
        with pytest.raises(ValueError, match="any"), context():
            raise ValueError("any")
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_forked_probe_is_never_a_second_command() -> None:
    """Ctrl-C in the child that tries a namespace ends that child, whatever handler it has inherited."""
    script = (
        "import os, signal\n"
        "from testbed.system import namespace\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "namespace.leave_namespace = lambda: signal.raise_signal(signal.SIGINT)\n"
        "print(namespace.can_make_namespaces() is not None)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_second_signal_is_not_told_of_again() -> None:
    """One that comes between the line and the end of a command that has nothing to clean up."""
    code = """
import os, signal
from testbed.interrupt import end_at_once
write, said = os.write, []
def write_and_be_signalled(place, text):
    said.append(write(place, text))
    if len(said) < 3:
        signal.raise_signal(signal.SIGINT)
os.write = write_and_be_signalled
end_at_once()
signal.raise_signal(signal.SIGINT)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "runner.py: interrupted; nothing was started\n")
