# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of verbs. Only the module of the one that is typed is imported, so that `list` costs no plotting library.

Exit codes are those of `command.output.EXIT_CODES`: 0 done, 1 unexpected, 2 bad input, 3 not to be trusted, 4 a claim
does not hold and --strict was given, 130 interrupted.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import wraps
from importlib import import_module
from typing import Any

import typer
from typer import TyperException

from command.failure import unexpected
from command.output import (
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
from compiled.cache import CacheRefused
from compiled.visible import visible
from testbed.errors import Interrupted, RunError, UsageError
from testbed.interrupt import has_raised, raising
from testbed.system.limits import check_process, hear_processor_time

VERBS: Mapping[str, str] = {
    "run": "Run a scenario once and report on it.",
    "compare": "Run a scenario under several schemes with the same flows and compare.",
    "reproduce": "Run experiments of the paper: what it says, what was measured, whether it holds.",
    "validate": "Run the same flows live and on the virtual clock, and say how far apart the figures are.",
    "sweep": "Run every combination of a file of axes; a sweep that was cut short goes on where it stood.",
    "cli": "Start a network and give Mininet's prompt on it.",
    "list": "Show scenarios, schemes and topologies.",
    "report": "Write the report of a run, an experiment or a validation anew, or that of a comparison of several runs.",
    "trace": "Tell the life of one flow of a run: sent, queued, BTS, paused, resumed, acknowledged.",
    "export": "Write a run for other tools: as the HPCC simulator's files, or as a timeline for Perfetto.",
    "doctor": "Say what this machine can do and what is missing.",
    "clean": "End what dead runs left behind: processes, namespaces, sockets. Results stay.",
}
"""Name -> help. The verb is the function `verb` of the module `command.verbs.NAME`."""

_HELP = "--help"
_WITHOUT_TABLES = ("list", "doctor", "clean", _HELP)
"""These load no library that needs much of the machine."""

_ASKED_BY_SHELLS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Where bash, and where other shells, put the line in which somebody has pressed Tab."""

_PLACES = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK", "SLURM_LOCALID")
"""Where those that start MPI programs tell a process its place on its machine, best first."""


def app_for(words: Sequence[str]) -> typer.Typer:
    """The command with the verbs that are among these words; of the others it knows what they are for."""
    app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, epilog=_exit_codes())
    for name, summary in VERBS.items():
        function = _guarded(import_module(f"command.verbs.{name}").verb) if name in words else _not_typed
        app.command(name, help=summary)(function)
    return app


def _not_typed() -> None:
    """Stands for a verb in the list of all; never called, because to call a verb is to type it."""


def _exit_codes() -> str:
    """As the end of `--help`; the first mark keeps its lines."""
    rows = [f"{code:>5}  {meaning}" for code, meaning in EXIT_CODES.items()]
    return "\n".join(["\b", "Exit codes:", *rows])


def _guarded(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb that Ctrl-C ends in our words and not in Typer's. Code before the verb has started nothing."""

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
        _check_limits(words)
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
        message, status = _failed(error, words)
    if status == EXIT_BAD_INPUT and _is_said_by_another(words):
        return EXIT_DONE
    _tell(message)
    return status


def _run(words: Sequence[str]) -> int:
    """Run the verb, or complete a line for a shell; without a word print the help."""
    asked = words or _to_complete()
    return app_for(asked)(list(words), standalone_mode=False) or 0 if asked else _show_help()


def _show_help() -> int:
    """Print the help where no verb was typed, as Typer does: on stderr, as bad input."""
    with redirect_stdout(sys.stderr):
        app_for(())([_HELP], standalone_mode=False)
    return EXIT_BAD_INPUT


def _to_complete() -> list[str]:
    """The words of a line that a shell asks about; to know a verb's options, its module must be loaded."""
    return next((os.environ[name].split() for name in _ASKED_BY_SHELLS if name in os.environ), [])


def _is_said_by_another(words: Sequence[str]) -> bool:
    """Of `mpirun`'s processes on a machine the first refuses what all are given; MPI may be just what is missing."""
    place = next((os.environ[name] for name in _PLACES if name in os.environ), "0")
    return place != "0" and any(word.startswith("--exchange") for word in words)


def _check_limits(words: Sequence[str]) -> None:
    """Before the libraries load that would abort without a word."""
    hear_processor_time()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it cannot keep its cache of fonts does not matter
    if not any(word in _WITHOUT_TABLES for word in words[:1]):
        check_process()


def _failed(error: BaseException, words: Sequence[str]) -> tuple[str, int]:
    from testbed.system.out_of_room import out_of_room  # slow to load, and wanted only here

    said = out_of_room(error)
    return (said, EXIT_INVALID) if said is not None else (unexpected(error, words), EXIT_UNEXPECTED)


def _check_text(words: Sequence[str]) -> None:
    """Names of files may be any bytes, but reports and configurations are text."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"not UTF-8 text: {word!r}") from error


def _tell(message: str) -> None:
    """Print a refusal as one line of bounded length."""
    line = visible(message)
    cut = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."
    complain(f"runner.py: {cut}", "red")
