# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Mininet's command line with our verbs in it: every error is one line, and every verb and argument can be completed.

Verbs of ours take the place of Mininet's of the same name. A command for a host (`h1 ping h2`) is Mininet's, but its
exit status is kept, so that a script of prompt lines can fail.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from typing import IO, Any

from mininet.cli import CLI
from mininet.log import lg, output, setLogLevel

from testbed.errors import RunError, UsageError
from testbed.live.prompt.table import VERBS, known_words
from testbed.live.prompt.terminal import Terminal
from testbed.live.prompt.verb import Known, Verb
from testbed.live.prompt.words import VerbError
from testbed.live.session.control import SwitchEnded
from testbed.live.session.session import LiveSession

_STATUS = "_sfc_status"
_IGNORE = "-"


class Shell(CLI):  # type: ignore[misc]
    """The prompt on a session. `failed` tells of the line that was executed last."""

    def __init__(self, session: LiveSession, terminal: Terminal, stdin: IO[str]) -> None:
        """Ready for lines; `run` reads them from a person."""
        self.session = session
        self.terminal = terminal
        self.failed = False
        self.known: Known = known_words(session)
        setLogLevel("output")  # what commands print goes through Mininet's log
        lg.handlers[0].stream = sys.stdout
        super().__init__(session.network.emulation.net, stdin=stdin, script=os.devnull)
        self.inputFile = None

    def onecmd(self, line: str) -> bool:
        """One line; whatever goes wrong with it is said in one line."""
        self.failed = False
        try:
            return bool(super().onecmd(self.precmd(line)))
        except SwitchEnded as error:
            self.fail(f"{error}; `switch {error.switch} start` starts it again")
        except (ValueError, UsageError, RunError) as error:
            self.fail(str(error))
        except OSError as error:
            self.fail(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
        except Exception as error:  # an evaluated line, or a verb of Mininet's on something that it does not expect
            first = next(iter(str(error).splitlines()), "")
            self.fail(f"{type(error).__name__}: {first}")
        return False

    def fail(self, reason: str) -> None:
        """Says why a line did not do what it was to do."""
        self.failed = True
        self.terminal.say(reason)

    # Mininet's own verbs, where something of them must be else here

    def default(self, line: str) -> None:
        """A command for a node; its exit status counts."""
        name, arguments, _ = self.parseline(line)
        if name not in self.mn:
            raise VerbError(f"*** Unknown command: {line}")
        if not arguments:
            raise VerbError(f"*** Enter a command for node: {name} <cmd>")
        node = self.mn[name]
        words = [self._address(word) for word in arguments.split(" ")]
        command = " ".join(words).rstrip()
        has_status = not command.endswith(("&", ";", "\\"))
        node.sendCmd(f"{command}; {_STATUS}=$?" if has_status else command)
        self.waitForNode(node)
        status = node.cmd(f"echo ${_STATUS}").strip() if has_status else "0"
        self.failed = status != "0"

    def do_source(self, line: str) -> None:
        """source FILE: reads commands from a file"""
        if len(line.split()) != 1:
            raise VerbError("usage: source FILE")
        failed = False
        with open(line.strip(), encoding="utf-8") as file:  # noqa: PTH123
            for each in file:
                self.onecmd(each)
                failed = failed or self.failed
        self.failed = failed

    def do_sh(self, line: str) -> None:
        """sh [CMD]: runs a command of the machine's shell"""
        self.failed = subprocess.run(["sh", "-c", 'eval "$1"', "sh", line], check=False).returncode != 0

    def do_py(self, line: str) -> None:
        """py EXPRESSION: evaluates Python; node names, `net` (Mininet) and `session` (ours) may be used"""
        result = eval(line, {}, self.getLocals())
        if result is not None:
            output(f"{result}\n" if isinstance(result, str) else f"{result!r}\n")

    def do_px(self, line: str) -> None:
        """px STATEMENT: executes Python; names as in `py`"""
        before = sys.stdout
        exec(line, self.getLocals())
        before.flush()

    def getLocals(self) -> dict[str, Any]:
        """What `py` and `px` know."""
        self.locals.update(self.mn)
        self.locals["session"] = self.session
        found: dict[str, Any] = self.locals
        return found

    def do_wait(self, line: str) -> None:
        """Replaced by ours."""
        raise NotImplementedError

    def do_time(self, line: str) -> None:
        """time COMMAND: how long any line of the prompt takes (wall)"""
        super().do_time(line)

    def waitForNode(self, node: Any) -> None:
        """Until the node's command is done. Where nobody sits, it gets no input rather than the next lines."""
        if self.terminal.has_keys:
            super().waitForNode(node)
            return
        while node.waiting:
            output(node.monitor())

    # completion

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        """Verbs and nodes."""
        return [*super().completenames(text, *ignored), *(name for name in self.mn if name.startswith(text))]

    def completedefault(self, *ignored: Any) -> list[str]:
        """Nodes, in a command for a node."""
        return [name for name in self.mn if name.startswith(ignored[0])]

    def _address(self, word: str) -> str:
        return self.mn[word].IP() or word if word in self.mn else word


def _method(name: str, verb: Verb) -> Callable[[Shell, str], None]:
    """A verb as `cmd` calls it, its docstring being the prompt's help."""

    def method(shell: Shell, line: str) -> None:
        words = line.split()
        verb.check(name, words)
        text = verb.act(shell.session, shell.terminal, words)
        if text:
            shell.terminal.say(text)

    method.__doc__ = f"{verb.usage(name)}: {verb.summary}"
    return method


def _completion(verb: Verb) -> Callable[[Shell, str, str, int, int], list[str]]:
    def complete(shell: Shell, text: str, line: str, begin: int, end: int) -> list[str]:
        before = line[:begin].split()[1:]
        return [each for each in verb.candidates(before, shell.known) if each.startswith(text)]

    return complete


for _name, _verb in VERBS.items():
    setattr(Shell, f"do_{_name}", _method(_name, _verb))
    setattr(Shell, f"complete_{_name}", _completion(_verb))


def run_lines(shell: Shell, lines: io.TextIOBase | IO[str]) -> bool:
    """Executes lines as at the prompt until one fails; whether none did. A line after `-` may fail, as in make."""
    for number, raw in enumerate(lines, start=1):
        line = shell.precmd(raw.strip())
        if not line.strip():
            continue
        output(f"{shell.prompt}{line}\n")
        may_fail = line.startswith(_IGNORE)
        is_over = shell.onecmd(line.removeprefix(_IGNORE).strip())
        if shell.failed and not may_fail:
            output(f"line {number} failed\n")
            return False
        if is_over:
            return True
    return True
