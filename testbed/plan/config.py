# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""config.json: all that is needed to repeat a run, every number that it used resolved."""

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
    """What followed from the network, or from a number in its place that was set."""

    model_config = ConfigDict(frozen=True)

    base_rtt_ns: int = Field(description="Of the longest pair of hosts: T, and the verdict's yardstick.")
    bottleneck_bps: int = Field(description="The slowest link of the pair with the largest BDP.")
    bdp_bytes: int = Field(description="The largest of any pair.")
    nic_rates_bps: dict[int, int] = Field(description="How many hosts have a NIC of which rate.")
    window_bytes: int | None = Field(description="What a new flow of the fastest NIC may have in flight; null: all.")
    bdp_of_nics: dict[int, int] = Field(default_factory=dict, description="By rate, where hosts have mixed rates.")
    window_of_nics: dict[int, int | None] = Field(default_factory=dict, description="The same of the window.")


class FaultConfig(BaseModel):
    """A fault that the run was given, every number of it told."""

    model_config = ConfigDict(frozen=True)

    spec: str = Field(description="As it is typed after --fault.")
    label: str = Field(description="What a plot says where it holds.")
    begin_us: float
    end_us: float | None = Field(description="null: until the end of the run.")


class DilationConfig(BaseModel):
    """Why a live run has the dilation that it has."""

    model_config = ConfigDict(frozen=True)

    peak_load: float = Field(description="Predicted share of all cores in the busiest base RTT.")
    late_share: float = Field(description="Predicted P99 lateness as a share of the base RTT.")
    cores: float = Field(description="Processor time that the run's processes can get together, in cores.")
    calibrated: str | None = Field(description="The day on which this machine was measured; null: it was not.")
    enough: int | None = Field(default=None, description="Where the one asked for will not do: one that would.")


class ProgramConfig(BaseModel):
    """The P4 program of the run's switches."""

    model_config = ConfigDict(frozen=True)

    name: str | None = Field(description="By which its runs are told apart; null: the testbed's own.")
    path: str
    sha256: str = Field(description="Of the compiled program.")


class RunConfig(BaseModel):
    """The file. Model units."""

    model_config = ConfigDict(frozen=True)

    schema_name: str = Field(default=CONFIG_SCHEMA, serialization_alias="schema")
    scenario: str
    scheme: str
    scale: str
    switch: str
    program: ProgramConfig | None = Field(default=None, description="null: an older release did not tell.")
    clock: ClockName
    dilation: int
    dilation_given: bool = Field(default=False, description="By whoever asked for the run, not chosen for it.")
    retry_of: str | None = Field(default=None, description="Folder of the late run that this one tries again.")
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
    hosts: str | None = Field(default=None, description="docker:IMAGE: they were containers; null: Mininet's own.")
    flow_file: str | None = Field(
        default=None, description="The list of flows that was replayed; null: the workload made them."
    )
    faults: tuple[FaultConfig, ...] = ()
    measured_window_us: tuple[float, float] | None = None
    ideal_completion_us: dict[str, float] = Field(
        default_factory=dict, description="By tag, of messages that wait for one another: of all of them, undisturbed."
    )
    command: str
    versions: dict[str, str]

    @property
    def is_dilation_automatic(self) -> bool:
        """Whether the dilation was chosen for this run and this machine."""
        return not self.dilation_given and self.retry_of is None

    @property
    def variant(self) -> str:
        """What the run is called among others of its scenario."""
        return variant_of(self.scheme, self.program_name)

    @property
    def program_name(self) -> str | None:
        """None: the testbed's own."""
        return None if self.program is None else self.program.name


def fault_configs(faults: Iterable[Fault]) -> tuple[FaultConfig, ...]:
    """A row for each time that a fault holds."""
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
    """Of what was given, else of the testbed's own program as it lies in the tree."""
    if program is not None:
        return ProgramConfig(name=program.name, path=program.path, sha256=program.sha256)
    own = hashlib.sha256((ROOT / OWN_PROGRAM).read_bytes()).hexdigest()
    return ProgramConfig(name=None, path=str(OWN_PROGRAM), sha256=own)


def versions() -> dict[str, str]:
    """What ran: our version, Python, and the packages whose results depend on their version."""
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for package in ("sfc-testbed", "numpy", "polars"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
