# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Mininet's command line extended by the verbs of this package, with one-line errors and completion.

These verbs replace Mininet's verbs of the same name. Mininet executes commands for a host (`h1 ping h2`), but their
exit status is kept, so that a script of prompt lines can fail.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import IO, Any

from mininet.cli import CLI
from mininet.log import lg, output, setLogLevel

from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.live.session.control import SwitchEnded
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt.table import VERBS, completions
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Completions, Verb
from sfc_testbed.testbed.prompt.words import VerbError

_WITHOUT_WORDS = ("nodes", "net", "dump", "intfs", "ports", "exit", "quit", "EOF")
"""Verbs of Mininet that take no arguments; Mininet ignores any."""
_STATUS = "_sfc_status"
_IGNORE = "-"
_IPERF_CLIENT = re.compile(r"(?P<program>iperf3?) (.* )?-c (?P<server>\S+)")


class Shell(CLI):  # type: ignore[misc]
    """The prompt of a session. `failed` is whether the latest line failed."""

    helpStr = f"{CLI.helpStr}A shell of h1 in another terminal: sudo mnexec -a $(pgrep -nf 'mininet:h1$') bash\n\n"

    def __init__(self, session: LiveSession, terminal: Terminal, stdin: IO[str]) -> None:
        """Prepare the prompt; `run` then reads lines from `stdin`."""
        self.session = session
        self.terminal = terminal
        self.failed = False
        self.completions: Completions = completions(session)
        setLogLevel("output")  # what commands print goes through Mininet's log
        lg.handlers[0].stream = sys.stdout
        super().__init__(session.network.emulation.net, stdin=stdin, script=os.devnull)
        self.inputFile = None

    def onecmd(self, line: str) -> bool:
        """Execute one line and report any error in one line; return whether the prompt should end."""
        self.failed = False
        try:
            line = self.precmd(line)
            verb, words, _ = self.parseline(line)
            if verb in _WITHOUT_WORDS and words:
                raise VerbError(f"usage: {verb}, without {words!r}")
            return bool(super().onecmd(line))
        except SwitchEnded as error:
            self.fail(f"{error}; `switch {error.switch} start` starts it again")
        except (ValueError, UsageError, RunError) as error:
            self.fail(str(error))
        except OSError as error:
            self.fail(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
        except Exception as error:  # from Python code of `py` and `px`, or from one of Mininet's own verbs
            first = next(iter(str(error).splitlines()), "")
            self.fail(f"{type(error).__name__}: {first}")
        return False

    def fail(self, reason: str) -> None:
        """Print why the current line failed."""
        self.failed = True
        self.terminal.say(reason)

    # Overridden verbs of Mininet

    def default(self, line: str) -> None:
        """Execute a command on a node and keep its exit status."""
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
        match = _IPERF_CLIENT.match(arguments)
        if self.failed and match and match["server"] in self.mn:
            server = match["server"]
            start = f"`{server} {match['program']} -s -D` starts one"
            self.terminal.say(f"if {server} has no server yet, {start}; `iperf {name} {server}` brings its own")

    def do_source(self, line: str) -> None:
        """source FILE: reads commands from a file"""
        if len(line.split()) != 1:
            raise VerbError("usage: source FILE")
        failed = False
        with open(line.strip(), encoding="utf-8") as file:  # noqa: PTH123
            for command in file:
                self.onecmd(command)
                failed = failed or self.failed
        self.failed = failed

    def do_sh(self, line: str) -> None:
        """sh [CMD]: runs a command of the machine's shell"""
        self.failed = subprocess.run(["sh", "-c", 'eval "$1"', "sh", line], check=False).returncode != 0

    def do_py(self, line: str) -> None:
        """py EXPRESSION: evaluates Python; node names, `net` (Mininet's network) and `session` may be used"""
        result = eval(line, self.getLocals())  # one name space, which comprehensions see too
        if result is not None:
            output(f"{result}\n" if isinstance(result, str) else f"{result!r}\n")

    def do_px(self, line: str) -> None:
        """px STATEMENT: executes Python; names as in `py`"""
        before = sys.stdout
        exec(line, self.getLocals())
        before.flush()

    def getLocals(self) -> dict[str, Any]:
        """Return the names that `py` and `px` may use."""
        self.locals.update(self.mn)
        self.locals["session"] = self.session
        names: dict[str, Any] = self.locals
        return names

    def do_wait(self, line: str) -> None:
        """Hide Mininet's verb; the verb of this package replaces it."""
        raise NotImplementedError

    def do_time(self, line: str) -> None:
        """time COMMAND: measures the wall time of any line of the prompt"""
        super().do_time(line)

    def waitForNode(self, node: Any) -> None:
        """Wait until the node's command is done. Without a terminal, keep it from reading the script's next lines."""
        if self.terminal.has_keys:
            super().waitForNode(node)
            return
        while node.waiting:
            output(node.monitor())

    # completion

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        """Return the verbs and nodes that begin with a text."""
        return [*super().completenames(text, *ignored), *(name for name in self.mn if name.startswith(text))]

    def completedefault(self, *ignored: Any) -> list[str]:
        """Return the nodes that begin with a text, as arguments of a command for a node."""
        return [name for name in self.mn if name.startswith(ignored[0])]

    def _address(self, word: str) -> str:
        return self.mn[word].IP() or word if word in self.mn else word


def _method(name: str, verb: Verb) -> Callable[[Shell, str], None]:
    """Return a verb as a method for `cmd.Cmd`; its docstring is the prompt's help text."""

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
        return [candidate for candidate in verb.candidates(before, shell.completions) if candidate.startswith(text)]

    return complete


for _name, _verb in VERBS.items():
    setattr(Shell, f"do_{_name}", _method(_name, _verb))
    setattr(Shell, f"complete_{_name}", _completion(_verb))


def run_lines(shell: Shell, lines: io.TextIOBase | IO[str]) -> bool:
    """Execute lines as at the prompt until one fails; return whether none failed. A line after `-` may fail."""
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
