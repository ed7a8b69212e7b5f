# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of verbs. Only the module of the typed verb is imported, so that `list` loads no plotting library.

Exit codes (`cli.output.EXIT_CODES`): 0 done, 1 unexpected error, 2 bad input, 3 not to be trusted,
4 a claim does not hold and --strict was given, 5 work unfinished, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import wraps
from importlib import import_module
from typing import Any

import typer
from typer import TyperException
from typer.core import TyperCommand, TyperOption

from os_helpers.cache import CacheRefused
from os_helpers.visible import visible
from sfc_testbed.cli.output import (
    EXIT_BAD_INPUT,
    EXIT_CODES,
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_INVALID,
    EXIT_UNEXPECTED,
    LONGEST_LINE,
    allow_any_encoding,
    complain,
)
from sfc_testbed.native.late import import_late
from sfc_testbed.place import program
from sfc_testbed.request.processor import check_before_use
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.interrupt import has_raised, raising

VERBS: Mapping[str, str] = {
    "run": "Run a scenario once and write a report.",
    "compare": "Run the same flows under several schemes and compare the results.",
    "reproduce": "Repeat experiments of the paper and check its claims.",
    "validate": "Run the same flows live and in virtual time, and report how far the results differ.",
    "sweep": "Run every combination of the settings in a file; an interrupted sweep resumes.",
    "cli": "Start a live network and open the Mininet prompt.",
    "check": "Check your own classes in FILE.py against the contracts that the testbed's satisfy.",
    "compile": "Compile your own congestion control, flow control or loss recovery, for long runs.",
    "list": "List scenarios, schemes, topologies and their settings.",
    "report": "Write the report of stored runs again, or compare several stored runs.",
    "watch": "Write a page that plays a run, or several runs side by side: network, queues, BTS, pauses.",
    "trace": "Print the history of one flow: sent, queued, BTS, paused, resumed, acknowledged.",
    "export": "Convert a stored run to files of other programs.",
    "doctor": "Check what this machine supports and how to install what is missing.",
    "clean": "Remove processes, namespaces and sockets of runs that were killed; results stay.",
}
"""Name -> help. The verb is the function `verb` of the module `cli.verbs.NAME`."""

_DRAWING = {"compare", "report", "reproduce", "run", "sweep", "validate"}
"""The verbs that draw plots."""

_HELP = "--help"
_LIST = "separated by commas"
"""Words in the help of an option that takes a list."""
_ALONE = ["list"]
"""The words of the command that lists all names. It needs no parser of options, for which Typer loads pydantic."""

_ASKED_BY_SHELLS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Environment variables with the line to complete: bash's, and that of other shells."""

_PLACES = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK", "SLURM_LOCALID")
"""Environment variables in which MPI launchers give a process its rank on its machine; the first one set counts."""


class OnceCommand(TyperCommand):
    """A command that refuses a repeated option if it takes one value: the last value would win silently."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:  # a shell completes the line
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            for option, count in Counter(given).items():
                if count > 1 and isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
                    commas = "; separate its values by commas" if _LIST in (option.help or "") else ""
                    raise UsageError(f"{option.opts[0]}: given {count} times{commas}")
        rest: list[str] = super().parse_args(ctx, args)
        return rest


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the command with the verbs among these words; the other verbs have only their help line."""
    check_before_use()
    for package in ("polars", "psutil"):  # a run needs them after its packets, or not at all
        import_late(package)
    app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, epilog=_exit_codes())
    for name, summary in VERBS.items():
        function = _guarded(import_module(f"sfc_testbed.cli.verbs.{name}").verb) if name in words else _not_typed
        app.command(name, cls=OnceCommand, help=summary)(function)
    if _DRAWING & {*words}:
        import logging

        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # a read-only font cache does not matter
    gc.freeze()  # modules stay until the process ends
    gc.enable()  # `sfc_testbed.command` disables it
    return app


def _not_typed() -> None:
    """Take the place of a verb that was not typed, in the list of verbs. Never called."""


def _exit_codes() -> str:
    """Return the exit codes for the end of `--help`. The leading "\\b" makes Click keep the line breaks."""
    rows = [f"{code:>5}  {meaning}" for code, meaning in EXIT_CODES.items()]
    return "\n".join(["\b", "Exit codes:", *rows])


def _guarded(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb whose interruption by Ctrl-C prints our message instead of Typer's."""

    @wraps(verb)
    def guarded(*arguments: Any, **options: Any) -> None:
        with raising():
            try:
                verb(*arguments, **options)
            except KeyboardInterrupt as error:
                raise Interrupted from error
            except (TyperException, typer.Exit, UsageError, CacheRefused, RunError, Interrupted):
                raise
            except Exception as error:
                if has_raised():
                    raise Interrupted from error
                raise

    return guarded


def main(words: Sequence[str]) -> int:
    """Run the command; every refusal and every unexpected error is one line on stderr."""
    allow_any_encoding()
    try:
        _check_text(words)
        return _run(words)
    except TyperException as error:
        message, status = error.format_message(), EXIT_BAD_INPUT
    except (UsageError, CacheRefused) as error:
        message, status = str(error), EXIT_BAD_INPUT
    except RunError as error:
        message, status = str(error), EXIT_INVALID
    except Interrupted as error:
        message, status = f"interrupted: {error}" if str(error) else "interrupted", EXIT_INTERRUPTED
    except (KeyboardInterrupt, typer.Abort):
        message, status = "interrupted", EXIT_INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # a panic of a library in Rust is no Exception
        from sfc_testbed.cli.failure import unexpected  # loads what hardly any command needs
        from sfc_testbed.testbed.system.limits import out_of_room

        reason = out_of_room(error)
        message = unexpected(error, words) if reason is None else reason
        status = EXIT_UNEXPECTED if reason is None else EXIT_INVALID
    if status == EXIT_BAD_INPUT and _is_reported_by_another(words):
        return EXIT_DONE
    _tell(message)
    return status


def _run(words: Sequence[str]) -> int:
    """Run the verb, or complete a line for a shell; without a word print the help."""
    asked = words or _to_complete()
    if asked == _ALONE:
        return _list()
    return app_for(asked)(list(words), standalone_mode=False) or 0 if asked else _show_help()


def _list() -> int:
    """List all names, also those of the extensions of installed packages."""
    from sfc_testbed.cli.options import load_extensions

    def listed() -> None:
        load_extensions(None)
        import_module("sfc_testbed.cli.verbs.list").verb()

    _guarded(listed)()
    return EXIT_DONE


def _show_help() -> int:
    """Print the help to stderr if no verb was typed, and return the exit code for bad input."""
    with redirect_stdout(sys.stderr):
        app_for(())([_HELP], standalone_mode=False)
    return EXIT_BAD_INPUT


def _to_complete() -> list[str]:
    """Return the words of the line that a shell asks to complete."""
    return next((os.environ[name].split() for name in _ASKED_BY_SHELLS if name in os.environ), [])


def _is_reported_by_another(words: Sequence[str]) -> bool:
    """Whether another of `mpirun`'s processes on this machine prints the message about bad input."""
    place = next((os.environ[name] for name in _PLACES if name in os.environ), "0")
    return place != "0" and any(word.startswith("--exchange") for word in words)


def _check_text(words: Sequence[str]) -> None:
    """Raise UsageError for a word that is not UTF-8: file names may be any bytes, but reports are text."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"not UTF-8 text: {word!r}") from error


def _tell(message: str) -> None:
    """Print an error message as one line of bounded length."""
    line = visible(message)
    cut = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."
    complain(f"{program()}: {cut}", "red")
