# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that the names in commands exist: verbs, options, scenarios, schemes, settings, make targets and modules."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import fields
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import typer

from sfc_testbed.cli.app import VERBS, app_for
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.schemes import resolve_scheme
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.shapes import SHAPES
from softswitch.bmv2_command import REFUSED_OF_TARGET, read_options
from softswitch.p4runtime import command as grpc_command
from tests.docs.commands import PYTHON, RUNNER
from tests.tree import ROOT

PROMPT_FORMS = (("watch", "--web"),)
"""Forms of verbs of the prompt that have the name of another verb of the command."""
Complaint = str | None
_SETTINGS: Mapping[str, set[str]] = {
    "": {field for scenario in SCENARIOS.values() for field in scenario.workload.model_fields},
    "switch": set(SwitchSettings.model_fields),
    "topology": {field for shape in SHAPES.values() for field in shape.model_fields},
    "transport": {field.name for field in fields(TransportSettings)},
}
_MULTIPLES = {"bdp": "bytes", "packets": "bytes", "rtt": "ns"}
_PLACEHOLDER = re.compile(r"[A-Z]+")
_OF_OTHERS = ("--emit-externs", "--generate", "--jobs", "--mca", "--system-site-packages")
"""Options of other programs in inline code."""


@cache
def _options_of_verbs() -> Mapping[str, set[str]]:
    """Return the options of runner.py's verbs by verb, and its own options under the empty name."""
    group: Any = typer.main.get_command(app_for(list(VERBS)))
    return {
        name: {option for parameter in verb.params for option in parameter.opts}
        for name, verb in {"": group, **group.commands}.items()
    }


@cache
def _help_of_the_switch() -> str:
    """Return the output of both switch commands' `--help`, and the options that they refuse after `--`."""
    output = io.StringIO()
    for read in (read_options, grpc_command.read_options):
        with redirect_stdout(output), pytest.raises(SystemExit):
            read(["--help"])
    text = re.sub(r"-\n\s*", "-", output.getvalue())  # argparse breaks lines at hyphens
    return " ".join((text, *REFUSED_OF_TARGET, *grpc_command.REFUSED_OF_TARGET))


def complaint_about_command(words: Sequence[str]) -> Complaint:
    """Return what is wrong with a command of runner.py, make or Python's -m; None for other programs."""
    program, *rest = words
    if program in RUNNER and rest:
        return complaint_about_verb(rest)
    if program == "make":
        rules = (ROOT / "Makefile").read_text(encoding="utf-8")
        unknown = [word for word in rest if "=" not in word and not re.search(rf"^{word}:", rules, re.MULTILINE)]
        return f"no target {unknown[0]}" if unknown else None
    if program in PYTHON and rest[:1] == ["-m"]:
        paths = [folder / rest[1].replace(".", "/") for folder in (ROOT, ROOT / "softswitch" / "src")]
        is_module = any(path.with_suffix(".py").exists() or (path / "__main__.py").exists() for path in paths)
        return None if is_module or rest[1] in ("pytest", "venv") else f"no module {rest[1]}"
    return None


def complaint_about_verb(words: Sequence[str]) -> Complaint:
    """Return what is wrong with a verb and its arguments."""
    verb, *rest = words
    if tuple(words) in PROMPT_FORMS:
        return None
    if verb not in VERBS and not verb.startswith("-"):
        return None if _PLACEHOLDER.match(verb) else f"unknown verb {verb}"
    complaints = [complaint_about_options(words)]
    if verb in ("run", "compare") and rest and "--flows" not in rest:
        is_known = rest[0] in SCENARIOS or not re.fullmatch(r"[a-z][\w-]+", rest[0])
        complaints.append(None if is_known else f"unknown scenario {rest[0]}")
    for option, value in pairwise(rest):
        if option == "--set":
            complaints.append(complaint_about_setting(value))
        if option in ("--scheme", "--schemes"):
            complaints += map(_complaint_about_scheme, value.split(","))
    return next((complaint for complaint in complaints if complaint), None)


def _complaint_about_scheme(name: str) -> Complaint:
    try:
        if not re.search("[A-Z.]", name):
            resolve_scheme(name)
    except UsageError:
        return f"unknown scheme {name}"
    return None


def complaint_about_options(words: Sequence[str]) -> Complaint:
    """Return a complaint about an unknown option of a verb, or, without a verb, of any program."""
    known = _options_of_verbs()
    verb = words[0] if words[0] in VERBS else None
    of_runner = known[verb] if verb else set().union(*known.values())
    for name in (word.partition("=")[0].rstrip("*]") for word in words):
        if len(name) < 3 or not name.startswith("--") or name in of_runner:
            continue
        if verb or not (name in _OF_OTHERS or name in _help_of_the_switch()):
            return f"unknown option {name}" + (f" of {verb}" if verb else "")
    return None


def complaint_about_setting(word: str) -> Complaint:
    """Return a complaint if the setting `PART.NAME[=VALUE]` does not exist. A name in capitals is a placeholder."""
    setting = word.partition("=")[0]
    part, _, name = setting.rpartition(".")
    stem, _, multiple = name.rpartition("_")
    names = {name, f"{stem}_{_MULTIPLES.get(multiple, multiple)}"}
    if _PLACEHOLDER.fullmatch(name) or names & _SETTINGS.get(part, set()):
        return None
    return f"unknown setting {setting}"
