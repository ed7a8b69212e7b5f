# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that options and settings in inline code exist."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import fields
from functools import cache
from typing import Any

import pytest
import typer

from cli.app import VERBS, app_for
from hosts.transport.settings import TransportSettings
from scenarios.catalogue import SCENARIOS
from softswitch.bmv2_command import REFUSED_OF_TARGET, read_options
from softswitch.p4runtime import command as grpc_command
from testbed.control_plane.settings import SwitchSettings
from tests.docs.understood import Complaint
from topologies.shapes import SHAPES

_SETTINGS: Mapping[str, set[str]] = {
    "": {field for scenario in SCENARIOS.values() for field in scenario.workload.model_fields},
    "switch": set(SwitchSettings.model_fields),
    "topology": {field for shape in SHAPES.values() for field in shape.model_fields},
    "transport": {field.name for field in fields(TransportSettings)},
}
_MULTIPLES = {"bdp": "bytes", "packets": "bytes", "rtt": "ns"}
_PLACEHOLDER = re.compile(r"[A-Z]+")


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


def complaint_about_options(words: Sequence[str], others: Mapping[str, str]) -> Complaint:
    """Return a complaint about an unknown option of a verb or another program; `others` has the programs' options."""
    known = _options_of_verbs()
    verb = words[0] if words[0] in VERBS else None
    of_runner = known[verb] if verb else set().union(*known.values())
    for name in (word.partition("=")[0].rstrip("*") for word in words):
        if len(name) < 3 or not name.startswith("--") or name in of_runner:
            continue
        if verb or not (name in others or name in _help_of_the_switch()):
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
