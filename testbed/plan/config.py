# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""config.json: everything that is needed to repeat a run, with all numbers that it used."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from analysis.formatting import variant_of
from scenarios.faults.fault import Fault
from testbed.plan.request import ClockName
from testbed.program.given import GivenProgram
from testbed.program.sources import OWN_PROGRAM, ROOT
from wire.units import NS_PER_US

CONFIG_SCHEMA = "sfc-testbed/config/1"


class PhysicsConfig(BaseModel):
    """Properties of the network, or the settings that replaced them."""

    model_config = ConfigDict(frozen=True)

    base_rtt_ns: int = Field(description="Base RTT of the most distant pair of hosts, to which lateness is compared.")
    bottleneck_bps: int = Field(description="Rate of the slowest link of the pair with the largest BDP.")
    bdp_bytes: int = Field(description="Largest BDP of any pair of hosts.")
    nic_rates_bps: dict[int, int] = Field(description="Number of hosts by the rate of their NIC.")
    window_bytes: int | None = Field(description="First window of a flow of the fastest NIC; null: no limit.")
    bdp_of_nics: dict[int, int] = Field(default_factory=dict, description="BDP by NIC rate, if rates are mixed.")
    window_of_nics: dict[int, int | None] = Field(
        default_factory=dict, description="First window by NIC rate, if rates are mixed."
    )


class FaultConfig(BaseModel):
    """A fault of the run, with all its numbers."""

    model_config = ConfigDict(frozen=True)

    spec: str = Field(description="The fault as an argument of --fault.")
    label: str = Field(description="Label in plots for the time of the fault.")
    begin_us: float
    end_us: float | None = Field(description="null: until the end of the run.")


class DilationConfig(BaseModel):
    """The prediction behind the choice of a live run's dilation."""

    model_config = ConfigDict(frozen=True)

    peak_load: float = Field(description="Predicted share of all cores in the busiest base RTT.")
    late_share: float = Field(description="Predicted P99 lateness as a share of the base RTT.")
    cores: float = Field(description="Processor time that the run's processes get in total, in cores.")
    calibrated: str | None = Field(description="Day of this machine's calibration; null: not calibrated.")
    enough: int | None = Field(default=None, description="A sufficient dilation, if the requested one is too small.")


class ProgramConfig(BaseModel):
    """The P4 program of the run's switches."""

    model_config = ConfigDict(frozen=True)

    name: str | None = Field(description="Name in the labels of runs; null: the testbed's own program.")
    path: str
    sha256: str = Field(description="Digest of the compiled program.")


class RunConfig(BaseModel):
    """The contents of config.json, in model units."""

    model_config = ConfigDict(frozen=True)

    schema_name: str = Field(default=CONFIG_SCHEMA, serialization_alias="schema")
    scenario: str
    scheme: str
    scale: str
    switch: str
    program: ProgramConfig | None = Field(default=None, description="null: written by an older release.")
    clock: ClockName
    dilation: int
    dilation_given: bool = Field(default=False, description="Whether the user typed the dilation.")
    retry_of: str | None = Field(default=None, description="Folder of the late run that this run repeats.")
    dilation_choice: DilationConfig | None = None
    seed: int
    duration_ms: float
    topology: str
    topology_parameters: dict[str, Any]
    physics: PhysicsConfig
    workload: dict[str, Any]
    switch_settings: dict[str, Any]
    transport_settings: dict[str, Any]
    thresholds_bytes: dict[str, int]
    captures: tuple[str, ...] = ()
    background: str | None = None
    hosts: str | None = Field(default=None, description="docker:IMAGE: containers; null: Mininet's own hosts.")
    flow_file: str | None = Field(
        default=None, description="Path of the replayed flow list; null: flows of the workload."
    )
    faults: tuple[FaultConfig, ...] = ()
    measured_window_us: tuple[float, float] | None = None
    ideal_completion_us: dict[str, float] = Field(
        default_factory=dict, description="Ideal completion time by tag, for messages that wait for others."
    )
    command: str
    versions: dict[str, str]

    @property
    def is_dilation_automatic(self) -> bool:
        """Whether the dilation was chosen for this run and this machine."""
        return not self.dilation_given and self.retry_of is None

    @property
    def variant(self) -> str:
        """The label of the run among other runs of its scenario."""
        return variant_of(self.scheme, self.program_name)

    @property
    def program_name(self) -> str | None:
        """The name of the switches' program; None for the testbed's own."""
        return None if self.program is None else self.program.name


def fault_configs(faults: Iterable[Fault]) -> tuple[FaultConfig, ...]:
    """Return a row for each time span of each fault."""
    return tuple(
        FaultConfig(
            spec=str(fault),
            label=span.label,
            begin_us=span.begin_ns / NS_PER_US,
            end_us=None if span.end_ns is None else span.end_ns / NS_PER_US,
        )
        for fault in faults
        for span in fault.spans()
    )


def program_config(program: GivenProgram | None) -> ProgramConfig:
    """Return the configuration of the user's program, or else of the testbed's own program in the source tree."""
    if program is not None:
        return ProgramConfig(name=program.name, path=program.path, sha256=program.sha256)
    digest = hashlib.sha256((ROOT / OWN_PROGRAM).read_bytes()).hexdigest()
    return ProgramConfig(name=None, path=str(OWN_PROGRAM), sha256=digest)


def versions() -> dict[str, str]:
    """Return the versions of this package, Python, the kernel, and packages that affect results."""
    result = {"python": platform.python_version(), "kernel": platform.release()}
    for package in ("sfc-testbed", "numpy", "polars"):
        try:
            result[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            result[package] = "not installed"
    return result
