# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The file of a calibration of a machine, stored for the user who measured it.

The file is in the user's state folder, also if sudo ran the command, and is written with the user's rights only. Its
name identifies the machine (`testbed.speed.machine`). A damaged file is ignored with a one-line notice.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from sfc_testbed.place import PACKAGE, command_as_root
from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.checks import refusal
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.speed.costs import Costs, ProcessCost, Wakeups, built_in
from sfc_testbed.testbed.speed.machine import Machine, this_machine
from sfc_testbed.testbed.system.caller import caller
from sfc_testbed.testbed.system.code import code_digest
from sfc_testbed.testbed.system.limits import cores

SCHEMA: Literal["sfc-testbed/calibration/3"] = "sfc-testbed/calibration/3"
MOST_BUSY_CORES = 0.25
"""Cores that other processes may use during a calibration that stays valid."""
_BUSY_COUNTS_FOR = timedelta(minutes=10)
"""The validity of a quick calibration of a busy machine."""
AGAIN = f"{command_as_root()} doctor --calibrate measures exactly"
MAX_FILE_BYTES = 100_000
_COSTLY = ("hosts", "softswitch", "switch-bmv2", "wire")
"""Folders whose code runs for every packet."""


class Calibration(Costs):
    """The contents of the file: the costs, the time of the measurement, and the machine and code that were measured."""

    schema_name: Literal["sfc-testbed/calibration/3"] = Field(default=SCHEMA, alias="schema")
    measured: datetime = Field(strict=False)
    is_quick: bool
    """Whether it is a quick calibration (`testbed.speed.measurement`), made by a live run for its own target."""
    cpu_model: str
    cores: Annotated[int, Field(ge=1, le=100_000)]
    quota_cores: Annotated[float, Field(gt=0)] | None
    kernel: str
    code: str
    """The digest of the code that runs for every packet."""
    load_before: Annotated[float, Field(ge=0)]
    """Cores that other processes kept busy just before the calibration."""
    switches: Annotated[Mapping[str, ProcessCost], Field(min_length=1)]
    wakeups: Annotated[Mapping[str, Wakeups], Field(min_length=1)]

    @property
    def machine(self) -> Machine:
        """The measured machine."""
        return Machine(self.cpu_model, self.cores, self.quota_cores, self.kernel)

    @property
    def is_expired(self) -> bool:
        """Whether the next command with live runs should measure again; the runs of a command that takes long do not.

        This holds for quick calibrations of other code, and for old ones that were measured while others were busy.
        """
        age = datetime.now(tz=timezone.utc) - self.measured
        was_busy = self.load_before > MOST_BUSY_CORES and age > _BUSY_COUNTS_FOR
        return self.is_quick and (was_busy or not self.is_of_this_code)

    @property
    def is_of_this_code(self) -> bool:
        """Whether the code of hosts and switches has not changed since the calibration."""
        return self.code == costly_code()

    @property
    def origin(self) -> str:
        return f"{self.measured:%Y-%m-%d}{', quick' if self.is_quick else ''}"


@dataclass(frozen=True)
class StoredCalibration:
    """The stored calibration of this machine, if there is one."""

    calibration: Calibration | None
    """The usable calibration; None if no file is stored, or if the file cannot be used."""
    problem: str | None = None
    """The reason why a stored file is not used, as one line."""

    @property
    def costs(self) -> Costs:
        """The measured costs, or else the built-in ones."""
        return self.calibration or built_in(cores())


def stored_calibration() -> StoredCalibration:
    """Return the stored calibration of this machine."""
    path = calibration_path()
    try:
        text = read_bounded_text(path, MAX_FILE_BYTES)
    except FileNotFoundError:
        return StoredCalibration(None)
    except FileRefused as error:
        return StoredCalibration(None, f"{path} {error}")
    try:
        calibration = Calibration.model_validate_json(text)
    except (ValidationError, RecursionError) as error:
        words = refusal(error) if isinstance(error, ValidationError) else "nested too deeply"
        return StoredCalibration(None, f"{path} is not a calibration of this release ({words})")
    if calibration.machine != this_machine():
        other = f"{calibration.cpu_model}, {calibration.cores} cores"
        return StoredCalibration(None, f"{path} was measured on another machine ({other})")
    return StoredCalibration(calibration)


def store(calibration: Calibration) -> Path:
    """Write the file with its owner's rights and return its path. Raises OSError if that fails."""
    path = calibration_path()
    with _as_caller():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, calibration.model_dump_json(by_alias=True, indent=2) + "\n")
    return path


def calibration_path() -> Path:
    """Return `$XDG_STATE_HOME/sfc-testbed/calibration-KEY.json`, where KEY identifies the machine.

    Without the variable, the folder is `~/.local/state` of the user who called sudo.
    """
    base = os.environ.get("XDG_STATE_HOME")
    folder = Path(base) if base else _home() / ".local" / "state"
    return folder / "sfc-testbed" / f"calibration-{this_machine().key}.json"


def costly_code() -> str:
    """Return a digest of the code that runs for every packet."""
    return code_digest(PACKAGE, _COSTLY)


def _home() -> Path:
    sudo_caller = caller()
    if sudo_caller is not None:
        try:
            return Path(pwd.getpwuid(sudo_caller[0]).pw_dir)
        except KeyError:
            pass
    return Path(os.environ.get("HOME") or "/")


@contextmanager
def _as_caller() -> Iterator[None]:
    """Act with the rights of the user who called sudo, so that a link of the user leads to no file of others."""
    sudo_caller = caller()
    if sudo_caller is None:
        yield
        return
    user, group = sudo_caller
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
