# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that programs accept the commands of pages: the real programs parse the arguments, and are then stopped."""

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

from bench.catalogue import BENCHMARKS
from cli.app import VERBS, main
from cli.planning import EXCHANGES
from request.spec import RunSpec
from softswitch.bmv2_command import read_options
from softswitch.p4c import LANGUAGE
from softswitch.p4runtime import command as grpc_command
from testbed.plan.plan import plan_run
from tests.docs.commands import RUNNER, bare
from tests.tree import ROOT

Complaint = str | None
_FILE_IN_TREE = re.compile(r"[\w.-]+(/[\w.-]+)+\.\w+")
_GENERATED = ("runs", "mine")
_BY_ARGPARSE: Mapping[str, str] = {
    "documents.fidelity": "documents.fidelity",
    "documents.controls": "documents.controls",
    "documents.simulators": "documents.simulators",
    "bench": "bench.__main__",
    "bench.document": "bench.document",
    "bench.queues": "bench.queues.__main__",
    "bench.queues.document": "bench.queues.document",
    "reproduction.document": "reproduction.document.command",
    "softswitch.thrift": "softswitch.thrift.__main__",
    "telemetry.document": "telemetry.document",
    "tools.packet_tests": "tools.packet_tests",
}
"""Modules that parse their arguments with argparse, and the modules with their `main`."""
_SYSTEM_PROGRAMS = (
    *("apt-get", "chmod", "cp", "dask", "debootstrap", "dockerd", "export", "mkdir", "mnexec", "openssl", "sed"),
    *("tac", "tar", "/usr/bin/python3", "switch/bin/pip", "shell/bin/pip", "shell/bin/python"),
)
_POSITIONAL: Mapping[str, int] = {"softswitch": 1, "softswitch.stf": 2}
"""Modules with positional arguments, and their minimum number."""


class _Understood(Exception):
    """The arguments were accepted."""


def complaint_about(words: Sequence[str]) -> Complaint:
    """Return what is wrong with a command, or None."""
    program, *rest = bare(words)
    for word in rest:
        for name in re.split("[:=,]", word):
            if _FILE_IN_TREE.fullmatch(name) and _is_ours(name) and not (ROOT / name).exists():
                return f"{name} does not exist"
    if program not in _PROGRAMS:
        return f"unknown program {program}"
    return _PROGRAMS[program](rest)


def _is_ours(name: str) -> bool:
    top = name.partition("/")[0]
    return top not in _GENERATED and (ROOT / top).is_dir()


def typed(words: Sequence[str]) -> tuple[int, str]:
    """Run runner.py in this process, and return its exit code and its output."""
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        status = main(words)
    return status, output.getvalue()


def _runner(words: Sequence[str]) -> Complaint:
    if len(words) == 1:
        return None if words[0] in VERBS else f"unknown verb {words[0]}"
    with _starting_nothing():
        status, output = typed(words)
    return None if status == 0 else output.strip()


@contextmanager
def _starting_nothing() -> Iterator[None]:
    """Let the verbs check their arguments, and stop them before they start anything."""
    stops: dict[str, Callable[..., object]] = {
        "cli.capabilities.require": _stop,
        "clean.clean": _stop,
        "doctor.calibrate": _stop,
        "report._report_comparison": _stop,
        "report._report_run": _stop,
        "run.ranks_of": _known_exchange,
        "validate._with_peer": _stop,
        **{f"{verb}.checked": _all_planned for verb in ("run", "compare")},
        **{f"{verb}.checked": _first_planned for verb in ("reproduce", "sweep", "validate")},
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, replacement in stops.items():
            patch.setattr(f"cli.verbs.{name}", replacement)
        patch.setattr("cli.verbs.doctor.CAPABILITIES", ())
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
    """Plan only the first run: the others differ by the experiment, sweep or scenario, not by the page."""
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
    return f"tools/provision.sh has no argument {unknown[0]}" if unknown else None


def _python(words: Sequence[str]) -> Complaint:
    """Check a call of a module. Scripts come from the page, whose own test creates them."""
    if words[0] != "-m":
        return None
    module, *rest = words[1:]
    if not _is_module(module):
        return f"unknown module {module}"
    if not rest:
        return None
    if module in _BY_ARGPARSE:
        unknown = [word for word in rest if module == "bench" and word not in BENCHMARKS and word[:2] != "--"]
        complaint = _read_by_argparse(import_module(_BY_ARGPARSE[module]).main, rest)
        return complaint or (f"unknown benchmark {unknown[0]}" if unknown else None)
    if module not in _POSITIONAL:
        return f"{module} is in no table of this test"
    if len(rest) < _POSITIONAL[module]:
        return f"{module} needs {_POSITIONAL[module]} arguments"
    missing = [word for word in rest if word.endswith((".json", ".stf")) and not Path(word).exists()]
    return f"{missing[0]} does not exist" if missing else None


def _is_module(name: str) -> bool:
    paths = [folder / name.replace(".", "/") for folder in (ROOT, ROOT / "softswitch" / "src")]
    return any(path.with_suffix(".py").exists() or (path / "__main__.py").exists() for path in paths)


def _read_by_argparse(program: Callable[[list[str]], object], words: Sequence[str]) -> Complaint:
    """Return the message of the program's first argument parser, or None if it accepts the words; then stop."""
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(*arguments: Any, **options: Any) -> NoReturn:
        parse(*arguments, **options)
        raise _Understood

    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(output):
        patch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
        try:
            program(list(words))
        except _Understood:
            return None
        except SystemExit:
            pass
    return output.getvalue().strip()


def _p4c(words: Sequence[str]) -> Complaint:
    return None if tuple(words[: len(LANGUAGE)]) == LANGUAGE else f"our P4 is compiled with {' '.join(LANGUAGE)}"


def _mpirun(words: Sequence[str]) -> Complaint:
    return complaint_about(words[2:]) if words[0] == "-n" and words[1].isdigit() else "not -n NUMBER"


def _docker(words: Sequence[str]) -> Complaint:
    if words[0] == "build":
        return None if (ROOT / "Dockerfile").exists() and words[-1] == "." else "the Dockerfile does not exist"
    if words[0] == "run":
        inner = words[words.index("sfc-testbed") + 1 :]
        return complaint_about(inner) if inner else None
    return None if words[0] in ("exec", "import", "pull") else f"unknown command docker {words[0]}"


def _vagrant(words: Sequence[str]) -> Complaint:
    names = re.findall(r'^  "([\w-]+)" =>', (ROOT / "Vagrantfile").read_text(encoding="utf-8"), re.MULTILINE)
    if words[0] not in ("provision", "reload", "rsync", "ssh", "status", "up"):
        return f"unknown command vagrant {words[0]}"
    if words[0] == "ssh" and words[1:2] == ["-c"]:
        change_folder, _, inner = words[2].partition(" && ")
        expected = "cd sfc-testbed"
        return complaint_about(shlex.split(inner)) if change_folder == expected else f"expected {expected} first"
    unknown = [word for word in words[1:] if word not in names]
    return f"unknown virtual machine {unknown[0]}" if unknown else None


def _wireshark(words: Sequence[str]) -> Complaint:
    """Return a complaint about a field that our script does not declare, and that Wireshark therefore does not know."""
    script = (ROOT / "tools" / "wireshark" / "sfc_testbed.lua").read_text(encoding="utf-8")
    unknown = [word for word in words if word.startswith("sfc_") and f'"{word}"' not in script]
    return f"the script declares no {unknown[0]}" if unknown else None


def _named(command: str) -> list[str]:
    """Return the paths under which pages name a command of softswitch: in the tree, and in an environment."""
    return [f"softswitch/{command}", f"switch/bin/{command}"]


_PROGRAMS: Mapping[str, Callable[[Sequence[str]], Complaint]] = {
    **dict.fromkeys(RUNNER, _runner),
    **dict.fromkeys((".venv/bin/python", "python", "python3", "switch/bin/python"), _python),
    **dict.fromkeys(("tshark", "wireshark"), _wireshark),
    "docker": _docker,
    "make": _make,
    "mpirun": _mpirun,
    "p4c-bm2-ss": _p4c,
    **dict.fromkeys(_named("simple_switch"), lambda words: _read_by_argparse(read_options, words)),
    **dict.fromkeys(_named("simple_switch_grpc"), lambda words: _read_by_argparse(grpc_command.read_options, words)),
    **dict.fromkeys(_named("softswitch-stf"), lambda words: None if len(words) == 2 else "it needs two files"),
    "tools/provision.sh": _provision,
    "vagrant": _vagrant,
    **dict.fromkeys(_SYSTEM_PROGRAMS, lambda _: None),
}
