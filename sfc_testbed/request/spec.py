# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The specification of a run: the options that a user typed (`RunSpec`), and config.json (`RunConfig`).

config.json has the same options with all choices made, and all numbers that were derived from them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from sfc_testbed.request.bounded_file import read_bounded_text
from sfc_testbed.request.extension import Extension
from sfc_testbed.request.extensions import loaded
from sfc_testbed.request.network_file import NetworkFile, Packed, with_texts
from sfc_testbed.request.stored_versions import version_in, version_refused

_LAZY = ConfigDict(defer_build=True)
"""Builds the checks of a class at first use, because they take long to build."""

CONFIG_FILE = "config.json"
CONFIG_VERSION = 3
CONFIG_SCHEMA = f"sfc-testbed/config/{CONFIG_VERSION}"
_MAX_BYTES = 64_000_000
_LONGEST_RELEASE = 20
_FOLDERS_ABOVE = 3
"""Number of folders above a file of a run in which config.json may be: the segments of a killed run are deepest."""

ClockName = Literal["real", "virtual"]

FLOW_LIST = "flows"
"""The scenario of a run whose flows all come from a file."""

FLOW_FILE = "flows-input.csv"
"""The flow list of a run."""
QUEUE_PAIR_COLUMN = "queue_pair"
AFTER_COLUMN = "after"
"""Columns of the flow list that not every list has: the queue pair of a flow, and the flows that the flow waits for."""

OPTION = "option"
JOINED_BY = "joined_by"
"""Keys in the metadata of a field: the option of `run` that sets the field, and the text between several values."""


@dataclass(frozen=True, config=_LAZY)
class P4Program:
    """The compiled P4 program of a run's switches."""

    path: str
    sha256: str
    """The SHA-256 of the compiled program, in hexadecimal."""
    name: str | None = None
    """The name by which runs with different programs are distinguished; None for the testbed's own program."""
    word: str | None = None
    """The argument of `--p4` as typed."""
    text: Packed = field(default="", repr=False)
    """The program as BMv2 JSON; empty in stored files."""

    def as_dict(self) -> dict[str, str | None]:
        """Return name, path and SHA-256, for JSON files."""
        return {"name": self.name, "path": self.path, "sha256": self.sha256}


def option(name: str, default: Any = None, *, joined_by: str | None = None) -> Any:
    """Return a field of `RunSpec` that an option of `run` sets, so that the command of a run has the option.

    Several values are several options, or one option with values `joined_by` a text.
    """
    return field(default=default, metadata={OPTION: name, JOINED_BY: joined_by})


def variant_of(scheme: str, load_balancing: str | None, program: str | None) -> str:
    """Return the scheme, the load balancing unless it is the scheme's own, and the P4 program unless it is ours."""
    name = scheme if load_balancing is None else f"{scheme}, {load_balancing}"
    return name if program is None else f"{name} ({program})"


@dataclass(frozen=True, config=_LAZY)
class RunSpec:
    """The options of a run as typed. A missing `dilation` or `duration_ms` is chosen later.

    The scale gives a missing `topology`. The flows come from `flow_file` if there is one, else from the scenario.
    """

    scenario: str
    scheme: str = "sfc"
    switch: str = "auto"
    clock: ClockName = "real"
    dilation: int | None = None
    scale: str = "ci"
    seed: int = 1
    duration_ms: float | None = option("--duration")
    topology: str | None = option("--topology")
    network_file: NetworkFile | None = None
    """The file that `topology`, or the setting `topology.file`, names."""
    settings: Mapping[str, Any] = field(default_factory=dict, metadata={OPTION: "--set"})
    """The values of `--set` by key."""
    load_balancing: str | None = option("--load-balancing")
    """The name of a load balancing; None for the scheme's own."""
    captures: tuple[str, ...] = option("--pcap", (), joined_by=",")
    background: str | None = option("--background")
    hosts: str | None = option("--hosts")
    """`docker:IMAGE` for containers, or None for Mininet's own hosts."""
    flow_file: Path | None = option("--flows")
    faults: tuple[str, ...] = option("--fault", ())
    """Faults as arguments of `--fault`."""
    retry_of: str | None = None
    """The folder of the late run that this run repeats."""
    program: P4Program | None = option("--p4")
    """The program of the switches; None for the testbed's own."""
    uses: tuple[Extension, ...] = field(default_factory=loaded, metadata={OPTION: "--use", JOINED_BY: None})
    """The extensions that the run's names may come from: all that the process has loaded."""

    @property
    def program_name(self) -> str | None:
        """The name of the switches' program; None for the testbed's own."""
        return None if self.program is None else self.program.name

    @property
    def variant(self) -> str:
        """The label that distinguishes the run from runs with another scheme, load balancing or program."""
        return variant_of(self.scheme, self.load_balancing, self.program_name)


class Physics(BaseModel):
    """Properties of the network, or the settings that replaced them."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    base_rtt_ns: int = Field(description="Base RTT of the most distant pair of hosts, to which lateness is compared.")
    bottleneck_bps: int = Field(description="Rate of the slowest link of the pair with the largest BDP.")
    bdp_bytes: int = Field(description="Largest BDP of any pair of hosts.")
    nic_rates_bps: dict[int, int] = Field(description="Number of hosts by the rate of their NIC.")
    window_bytes: int | None = Field(description="First window of a flow of the fastest NIC; null: no limit.")
    bdp_of_nics: dict[int, int] = Field(default_factory=dict, description="BDP by NIC rate, if rates are mixed.")
    window_of_nics: dict[int, int | None] = Field(
        default_factory=dict, description="First window by NIC rate, if rates are mixed."
    )


class FaultSpan(BaseModel):
    """A time span of a fault."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False, defer_build=True)

    spec: str = Field(description="The fault as an argument of --fault.")
    label: str = Field(description="Label in plots for the time of the fault.")
    begin_us: float
    end_us: float | None = Field(description="null: until the end of the run.")


BARRIER_TAG = "barrier"
"""The traffic class of the signals between two iterations of a job. Figures of iterations leave them out."""


class JobPlan(BaseModel):
    """A job that repeats a collective."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False, defer_build=True)

    number: int = Field(description="Number in the flows trace, from 1.")
    collective: str = Field(description="Empty if the flows come from a file.")
    algorithm: str
    ranks: int
    size_bytes: int | None = Field(description="Size that defines the algorithm bandwidth; null: unknown.")
    bus_factor: float | None = Field(description="Bus bandwidth divided by algorithm bandwidth; null: unknown.")
    iterations: int
    ideal_us: float = Field(description="Least possible time of an iteration in an otherwise idle network.")


class DilationChoice(BaseModel):
    """The prediction behind the choice of a live run's dilation."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    peak_load: float = Field(description="Predicted share of all cores in the busiest base RTT.")
    late_share: float = Field(description="Predicted P99 lateness as a share of the base RTT.")
    cores: float = Field(description="Processor time that the run's processes get in total, in cores.")
    calibrated: str | None = Field(description="Day of this machine's calibration; null: not calibrated.")
    enough: int | None = Field(default=None, description="A sufficient dilation, if the requested one is too small.")


@dataclass(frozen=True, kw_only=True, config=_LAZY)
class RunConfig(RunSpec):
    """The contents of config.json: a run's options with all choices made, and the derived numbers, in model units."""

    dilation: int
    duration_ms: float
    topology: str
    program: P4Program
    dilation_given: bool
    """Whether the user typed the dilation."""
    dilation_choice: DilationChoice | None = None
    topology_parameters: dict[str, Any]
    physics: Physics
    workload: dict[str, Any]
    """The parameters of the workload; empty if the flows come from a file."""
    switch_settings: dict[str, Any]
    transport_settings: dict[str, Any]
    program_settings: dict[str, Any] = field(default_factory=dict)
    """The settings of the P4 program of an extension."""
    overridden: tuple[str, ...] = ()
    """The settings that the scheme's name states and that `--set` changed, such as `transport.congestion=hpcc`."""
    thresholds_bytes: dict[str, int]
    """Thresholds in the queue plot, such as {"Q_th": 250000, "Q_tg": 125000}."""
    equal_cost_ports: dict[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """The groups of ports over which each switch spreads packets to the same destination."""
    fault_spans: tuple[FaultSpan, ...] = ()
    measured_window_us: tuple[float, float] | None = None
    """The measured window. Flows that start outside it (warm-up, cool-down) count in totals only."""
    has_fixed_duration: bool = False
    """Whether the scenario shows a fixed time, so that it may end before all flows are done."""
    setting_warnings: tuple[str, ...] = ()
    """Warnings about settings that the transport is not made for, and how files of other programs were read."""
    ideal_completion_us: dict[str, float] = field(default_factory=dict)
    """The ideal completion time of dependent messages in an idle network, by tag."""
    jobs: tuple[JobPlan, ...] = ()
    """The jobs whose messages the flow list has."""
    workers: int = 1
    """The number of processes of a run in virtual time on this machine. The traces do not depend on it."""
    command: str
    """The command line that repeats the run."""
    versions: dict[str, str]

    @property
    def base_rtt_us(self) -> float:
        return self.physics.base_rtt_ns / 1000

    @property
    def is_dilation_automatic(self) -> bool:
        """Whether the dilation is chosen for this run and this machine."""
        return not self.dilation_given and self.retry_of is None

    def to_json(self) -> str:
        """Return the text of config.json, with a newline at the end."""
        return json.dumps(self.as_dict(), indent=2) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Return the content of config.json."""
        entries = _adapter().dump_python(self, mode="json")
        uses = [extension.as_dict() for extension in self.uses]
        return {"schema": CONFIG_SCHEMA, **entries, "program": self.program.as_dict(), "uses": uses}


@cache
def _adapter() -> TypeAdapter[RunConfig]:
    """Return the reader and writer of config.json, which takes long to build."""
    return TypeAdapter(RunConfig)


def config_of(text: str | bytes) -> RunConfig:
    """Return the content of config.json, also if an older release wrote it. Unknown fields are ignored.

    Raise ValueError, or its subclass pydantic.ValidationError, for any other file.
    """
    content = json.loads(text)
    schema = content.pop("schema", None) if isinstance(content, dict) else None
    version = version_in(schema, "config")
    if version is None:
        raise ValueError(f"not a run's configuration: its schema is not {CONFIG_SCHEMA}")
    if not 1 <= version <= CONFIG_VERSION:
        raise ValueError(version_refused("config", version, CONFIG_VERSION, _writer(content)))
    if version == 1:
        _add_options(content)
    elif version == 2:
        content["retry_of"] = (content.pop("retry", None) or {}).get("of")
    content.setdefault("uses", ())  # an older run used no extension, whatever this process has loaded
    return _adapter().validate_python(with_texts(content))


def writer_of(path: Path) -> str | None:
    """Return the release that wrote a file of a run, according to config.json; None if it is unknown."""
    for folder in path.absolute().parents[:_FOLDERS_ABOVE]:
        if (folder / CONFIG_FILE).is_file():
            try:
                return _writer(json.loads(read_bounded_text(folder / CONFIG_FILE, _MAX_BYTES)))
            except (OSError, ValueError, RecursionError):
                return None
    return None


def _writer(content: Any) -> str | None:
    """Return the release in the content of config.json; None if it has none."""
    versions = content.get("versions") if isinstance(content, dict) else None
    release = versions.get("sfc-testbed") if isinstance(versions, dict) else None
    return release[:_LONGEST_RELEASE] if isinstance(release, str) else None


def _add_options(content: dict[str, Any]) -> None:
    """Convert a configuration of the first schema, which had the spans of faults only."""
    spans = content.pop("faults", None) or []
    content["fault_spans"] = spans
    content["faults"] = tuple(span["spec"] for span in spans if isinstance(span, dict) and "spec" in span)
