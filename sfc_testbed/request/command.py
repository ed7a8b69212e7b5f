# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command line that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields

from sfc_testbed.place import command_name
from sfc_testbed.request.settings import settings_words
from sfc_testbed.request.spec import FLOW_LIST, JOINED_BY, OPTION, P4Program, RunSpec


def repeat_command(spec: RunSpec, dilation: int) -> str:
    """Return the command line that repeats a run with this dilation."""
    scenario = [] if spec.scenario == FLOW_LIST else [spec.scenario]
    words = [command_name(), "run", *scenario, "--scheme", spec.scheme, "--clock", spec.clock]
    if spec.switch != "auto":
        words += ["--switch", spec.switch]
    words += ["--scale", spec.scale, "--seed", str(spec.seed), "--dilation", str(dilation)]
    for entry in fields(spec):
        name, joined_by = entry.metadata.get(OPTION), entry.metadata.get(JOINED_BY)
        values = _values(getattr(spec, entry.name)) if name is not None else ()
        for value in values if joined_by is None or not values else (joined_by.join(values),):
            words += [str(name), value]
    return shlex.join(words)


def _values(value: object) -> tuple[str, ...]:
    """Return the arguments of an option that sets a field to this value."""
    match value:
        case None:
            return ()
        case float():
            return (f"{value:.15g}",)
        case P4Program():
            return (str(value.word),)
        case Mapping():
            return settings_words(value)
        case tuple():
            return tuple(map(str, value))
        case _:
            return (str(value),)
