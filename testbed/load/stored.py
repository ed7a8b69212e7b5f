# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""calibration.json: what a machine was found to carry, kept for the person who measured it.

It lies in their state folder, also where sudo ran the command, and is written with their rights alone. It counts on the
machine and for the code that it was measured with; anything else in its place is passed over, with one line that says
so.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from telemetry.atomic_file import replace_text
from testbed.load.costs import Costs, MessageCost, ProcessCost, Wakeups, built_in
from testbed.system.caller import caller
from testbed.system.code import ROOT, code_digest
from testbed.system.limits import cores
from wire.input.bounded_file import FileRefused, read_bounded_text
from wire.input.validation import STRICT, refusal

SCHEMA: Literal["sfc-testbed/calibration/2"] = "sfc-testbed/calibration/2"
FILE_NAME = "calibration.json"
AGAIN = "sudo ./runner.py doctor --calibrate measures anew"
MAX_FILE_BYTES = 100_000
_COSTLY = ("hosts", "softswitch", "switch-bmv2", "wire")
"""Folders whose code runs for every packet."""

_WallNs = Annotated[float, Field(ge=0, le=1e9)]
_Factor = Annotated[float, Field(gt=0, le=100)]
_CoreShare = Annotated[float, Field(ge=0, le=100)]


class ProcessFinding(BaseModel):
    """The fields of `ProcessCost`."""

    model_config = STRICT

    frame_ns: Annotated[float, Field(gt=0, le=1e9)]
    lone_frame_ns: Annotated[float, Field(gt=0, le=1e9)]
    fixed_share: _CoreShare
    spread: Annotated[float, Field(ge=0)] = 0.0
    """Between the lowest and the highest of the repetitions, as a share of the median."""


class MessageFinding(BaseModel):
    """The fields of `MessageCost`."""

    model_config = STRICT

    agent_ns: _WallNs
    runner_ns: _WallNs


class WakeupFinding(BaseModel):
    """The fields of `Wakeups`."""

    model_config = STRICT

    p50_ns: _WallNs
    p99_ns: _WallNs
    max_ns: Annotated[float, Field(ge=0, le=1e12)]


class Calibration(BaseModel):
    """The file."""

    model_config = STRICT

    schema_name: Literal["sfc-testbed/calibration/2"] = Field(default=SCHEMA, alias="schema")
    measured: datetime = Field(strict=False)
    cpu_model: str
    cores: Annotated[int, Field(ge=1, le=100_000)]
    code: str
    load_before: Annotated[float, Field(ge=0)]
    """Cores that others kept busy just before."""
    agent: ProcessFinding
    message: MessageFinding
    switches: Annotated[Mapping[str, ProcessFinding], Field(min_length=1)]
    telemetry_agent: _Factor
    telemetry_switch: _Factor
    runner_share: _CoreShare
    wakeups: Annotated[Mapping[str, WakeupFinding], Field(min_length=1)]

    @property
    def costs(self) -> Costs:
        """For predictions."""
        found = {name: _cost(finding) for name, finding in self.switches.items()}
        return Costs(
            cores=self.cores,
            agent=_cost(self.agent),
            message=MessageCost(**self.message.model_dump()),
            switches=found,
            telemetry_agent=self.telemetry_agent,
            telemetry_switch=self.telemetry_switch,
            runner_share=self.runner_share,
            wakeups={name: Wakeups(**found.model_dump()) for name, found in self.wakeups.items()},
            measured=f"{self.measured:%Y-%m-%d}",
        )

    def why_not_here(self) -> str | None:
        """Why it says nothing of this machine and this code, as the end of a sentence; None: it does."""
        if self.cpu_model != cpu_model():
            return f"is of another processor ({self.cpu_model})"
        if self.cores != cores():
            return f"is of {self.cores} cores, and there are {cores()}"
        if self.code != costly_code():
            return "is of other code of hosts and switches"
        return None


@dataclass(frozen=True)
class Known:
    """What is known of this machine."""

    path: Path
    calibration: Calibration | None
    """None: nothing is stored, or not what could be used."""
    problem: str | None = None
    """Why what is stored is not used, in one line."""

    @property
    def costs(self) -> Costs:
        """What to reckon with."""
        return built_in(cores()) if self.calibration is None else self.calibration.costs


def known() -> Known:
    """What is stored, if it is of this machine and this code."""
    path = calibration_path()
    try:
        text = read_bounded_text(path, MAX_FILE_BYTES)
    except FileNotFoundError:
        return Known(path, None)
    except FileRefused as error:
        return Known(path, None, f"{path} {error}")
    try:
        found = Calibration.model_validate_json(text)
    except (ValidationError, RecursionError) as error:
        words = refusal(error) if isinstance(error, ValidationError) else "nested too deeply"
        return Known(path, None, f"{path} is no calibration of this release ({words})")
    reason = found.why_not_here()
    return Known(path, found) if reason is None else Known(path, None, f"{path} {reason}")


def store(found: Calibration) -> Path:
    """Writes the file as its owner would. OSError if that cannot be."""
    path = calibration_path()
    with _as_caller():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, found.model_dump_json(by_alias=True, indent=2) + "\n")
    return path


def calibration_path() -> Path:
    """`$XDG_STATE_HOME/sfc-testbed/calibration.json`, by default below `~/.local/state` of who called sudo."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else _home() / ".local" / "state") / "sfc-testbed" / FILE_NAME


def cpu_model() -> str:
    """As /proc/cpuinfo names it; empty where it has no name."""
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return ""


def costly_code() -> str:
    """A digest of the code that runs for every packet."""
    return code_digest(ROOT, _COSTLY)


def _cost(found: ProcessFinding) -> ProcessCost:
    return ProcessCost(found.frame_ns, found.lone_frame_ns, found.fixed_share)


def _home() -> Path:
    of_sudo = caller()
    if of_sudo is not None:
        try:
            return Path(pwd.getpwuid(of_sudo[0]).pw_dir)
        except KeyError:
            pass
    return Path(os.environ.get("HOME") or "/")


@contextmanager
def _as_caller() -> Iterator[None]:
    """With the rights of who called sudo, so that nothing of theirs (a link, say) leads to what is not theirs."""
    of_sudo = caller()
    if of_sudo is None:
        yield
        return
    user, group = of_sudo
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(group)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
