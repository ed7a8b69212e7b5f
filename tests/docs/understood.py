# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Whether programs understand what a page says: the real ones read the words, and stop where they would begin."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer

from analysis.results.spec import RunSpec
from bench.catalogue import BENCHMARKS
from command.app import VERBS, main
from command.planning import EXCHANGES
from softswitch.bmv2_command import read_options
from softswitch.p4c import LANGUAGE
from testbed.plan.plan import plan_run
from tests.docs.commands import RUNNER, bare
from tests.tree import ROOT

Complaint = str | None
_IN_TREE = re.compile(r"[\w.-]+(/[\w.-]+)+\.\w+")
_MADE_BY_RUNNING = ("runs", "mine")
_BY_ARGPARSE: Mapping[str, str] = {
    "analysis.report.fidelity": "analysis.report.fidelity",
    "bench": "bench.__main__",
    "bench.document": "bench.document",
    "reproduction.document": "reproduction.document",
    "softswitch.thrift": "softswitch.thrift.__main__",
    "telemetry.document": "telemetry.document",
}
"""Modules, and where their `main` is."""
_OF_THE_MACHINE = ("chmod", "cp", "dask", "debootstrap", "dockerd", "export", "mkdir", "openssl", "sed", "tar")
_BY_PLACE: Mapping[str, int] = {"softswitch": 1, "softswitch.stf": 2}
"""Modules that read their words by their places, and how many they want at least."""


class _Understood(Exception):
    """The words were read."""


def complaint_about(words: Sequence[str]) -> Complaint:
    """What is wrong with a command, told by what it names. None: nothing."""
    program, *rest = bare(words)
    for word in rest:
        for name in re.split("[:=,]", word):
            if _IN_TREE.fullmatch(name) and _is_ours(name) and not (ROOT / name).exists():
                return f"there is no {name}"
    if program not in _PROGRAMS:
        return f"nobody knows what {program} is"
    return _PROGRAMS[program](rest)


def _is_ours(name: str) -> bool:
    top = name.partition("/")[0]
    return top not in _MADE_BY_RUNNING and (ROOT / top).is_dir()


def typed(words: Sequence[str]) -> tuple[int, str]:
    """Words for runner.py in this process: its exit code, and all that it said."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        status = main(words)
    return status, said.getvalue()


def _runner(words: Sequence[str]) -> Complaint:
    if len(words) == 1:
        return None if words[0] in VERBS else f"there is no verb {words[0]}"
    with _starting_nothing():
        status, said = typed(words)
    return None if status == 0 else said.strip()


@contextmanager
def _starting_nothing() -> Iterator[None]:
    """The verbs check what they were told, as far as they do before they begin."""
    stops: dict[str, Callable[..., object]] = {
        "cli.capabilities.require": _stop,
        "clean.clean": _stop,
        "doctor.calibrate": _stop,
        "report._report_comparison": _stop,
        "report._report_run": _stop,
        "run.ranks_of": _known_exchange,
        **{f"{verb}.checked": _all_planned for verb in ("run", "compare")},
        **{f"{verb}.checked": _first_planned for verb in ("reproduce", "sweep", "validate")},
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, instead in stops.items():
            patch.setattr(f"command.verbs.{name}", instead)
        patch.setattr("command.verbs.doctor.CAPABILITIES", ())
        yield


def _stop(*_: object, **__: object) -> NoReturn:
    raise typer.Exit


def _known_exchange(exchange: str, _: int) -> None:
    if exchange not in EXCHANGES:
        raise typer.BadParameter(exchange)


def _all_planned(requests: Sequence[RunSpec], *_: object, **__: object) -> NoReturn:
    for request in requests:
        plan_run(request)
    raise typer.Exit


def _first_planned(requests: Sequence[RunSpec], *_: object, **__: object) -> NoReturn:
    """The others differ from it in what the experiment, the sweep or the scenario says, not the page."""
    _all_planned(requests[:1])


def _make(words: Sequence[str]) -> Complaint:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in (word.partition("=")[0] for word in words if "=" in word):
        if f"$({name})" not in rules:
            return f"make uses no {name}"
    done = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip()


def _provision(words: Sequence[str]) -> Complaint:
    script = (ROOT / "tools" / "provision.sh").read_text(encoding="utf-8")
    unknown = [word for word in words if not re.search(rf"^ +{re.escape(word)}\) ", script, re.MULTILINE)]
    return f"tools/provision.sh knows no {unknown[0]}" if unknown else None


def _python(words: Sequence[str]) -> Complaint:
    """A module of ours; a script is the page's own, which a test of the page makes."""
    if words[0] != "-m":
        return None
    module, *rest = words[1:]
    if not _is_module(module):
        return f"there is no module {module}"
    if not rest:
        return None
    if module in _BY_ARGPARSE:
        unknown = [word for word in rest if module == "bench" and word not in BENCHMARKS and word[:2] != "--"]
        complaint = _read_by_argparse(import_module(_BY_ARGPARSE[module]).main, rest)
        return complaint or (f"there is no benchmark {unknown[0]}" if unknown else None)
    if module not in _BY_PLACE:
        return f"nobody knows the module {module}"
    if len(rest) < _BY_PLACE[module]:
        return f"{module} wants {_BY_PLACE[module]} words"
    missing = [word for word in rest if word.endswith((".json", ".stf")) and not Path(word).exists()]
    return f"there is no {missing[0]}" if missing else None


def _is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__main__.py").exists()


def _read_by_argparse(program: Callable[[list[str]], object], words: Sequence[str]) -> Complaint:
    """Whatever parser the program asks first; it gets no further."""
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(*arguments: Any, **options: Any) -> NoReturn:
        parse(*arguments, **options)
        raise _Understood

    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(said):
        patch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
        try:
            program(list(words))
        except _Understood:
            return None
        except SystemExit:
            pass
    return said.getvalue().strip()


def _simple_switch(words: Sequence[str]) -> Complaint:
    return _read_by_argparse(read_options, words)


def _p4c(words: Sequence[str]) -> Complaint:
    return None if tuple(words[: len(LANGUAGE)]) == LANGUAGE else f"P4 of ours is compiled with {' '.join(LANGUAGE)}"


def _mpirun(words: Sequence[str]) -> Complaint:
    return complaint_about(words[2:]) if words[0] == "-n" and words[1].isdigit() else "not -n NUMBER"


def _docker(words: Sequence[str]) -> Complaint:
    if words[0] == "build":
        return None if (ROOT / "Dockerfile").exists() and words[-1] == "." else "there is no Dockerfile"
    if words[0] == "run":
        return _inside(words[words.index("sfc-testbed") + 1 :])
    return None if words[0] in ("exec", "import", "pull") else f"nobody knows docker {words[0]}"


def _inside(words: Sequence[str]) -> Complaint:
    return complaint_about(words) if words else None


def _vagrant(words: Sequence[str]) -> Complaint:
    names = re.findall(r'^  "([\w-]+)" =>', (ROOT / "Vagrantfile").read_text(encoding="utf-8"), re.MULTILINE)
    if words[0] not in ("provision", "reload", "rsync", "ssh", "status", "up"):
        return f"nobody knows vagrant {words[0]}"
    if words[0] == "ssh" and words[1:2] == ["-c"]:
        there, _, inner = words[2].partition(" && ")
        return f"nobody knows {there}" if there != "cd sfc-testbed" else complaint_about(shlex.split(inner))
    unknown = [word for word in words[1:] if word not in names]
    return f"there is no machine {unknown[0]}" if unknown else None


def _wireshark(words: Sequence[str]) -> Complaint:
    """Fields that our script does not declare are unknown to Wireshark."""
    script = (ROOT / "tools" / "wireshark" / "sfc_testbed.lua").read_text(encoding="utf-8")
    unknown = [word for word in words if word.startswith("sfc_") and f'"{word}"' not in script]
    return f"the script declares no {unknown[0]}" if unknown else None


def _is_the_machine_s(_: Sequence[str]) -> Complaint:
    """A program that is no affair of ours; the files of the tree that it is given are there."""


_PROGRAMS: Mapping[str, Callable[[Sequence[str]], Complaint]] = {
    **dict.fromkeys(RUNNER, _runner),
    **dict.fromkeys((".venv/bin/python", "python", "python3"), _python),
    **dict.fromkeys(("tshark", "wireshark"), _wireshark),
    "docker": _docker,
    "make": _make,
    "mpirun": _mpirun,
    "p4c-bm2-ss": _p4c,
    "softswitch/simple_switch": _simple_switch,
    "tools/provision.sh": _provision,
    "vagrant": _vagrant,
    **dict.fromkeys(_OF_THE_MACHINE, _is_the_machine_s),
}
