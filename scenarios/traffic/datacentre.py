# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data-centre workload: messages of a published size distribution, and Poisson incasts (paper section 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from sfc_testbed.scenarios.model.flow_table import FlowTable, flow_table, joined
from sfc_testbed.scenarios.model.scenario import ScenarioError, Workload, more_hosts
from sfc_testbed.scenarios.traffic.arrivals import IncastEvents, all_to_all, even_times_ns, poisson_times_ns
from sfc_testbed.scenarios.traffic.incast import TAG as INCAST
from sfc_testbed.scenarios.traffic.sizes import load_sizes
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np

MOST_MESSAGES = 10_000_000
"""The most messages of a scenario. The paper's RPC workload at full size has 6.6 million."""

_BRIEF_US = 200.0
"""The measured part of traffic that is only planned, to estimate the work of a longer run."""

Share = Annotated[float, Field(ge=0, le=2)]
Microseconds = Annotated[float, Field(ge=0, le=10_000_000)]


class DataCentre(Workload):
    """Poisson all-to-all messages and incast events for a limited time."""

    sizes: str = Field("hadoop", description="Message sizes: hadoop, rpc, websearch, storage or the path of a file.")
    load: Share = Field(0.5, description="All-to-all load, sent and received, as a fraction of every host's line rate.")
    incast_load: Share = Field(0.08, description="Load of the incasts, as a fraction of every host's line rate.")
    incast_degree: Annotated[int, Field(ge=1, le=100_000)] = Field(128, description="Senders of an incast.")
    incast_bytes: Annotated[int, Field(ge=1, le=10_000_000_000)] = Field(250_000, description="Bytes of each message.")
    incast_window_us: Microseconds = Field(100.0, description="Window in which the senders of an incast start.")
    incast_spacing: Literal["poisson", "even"] = Field(
        "poisson",
        description="Random (Poisson) or even spacing of incasts; a short run may by chance have no random incast.",
    )
    arrivals_us: Annotated[float, Field(gt=0, le=10_000_000)] = Field(
        10_000.0, description="How long messages keep arriving."
    )
    warmup_us: Microseconds = Field(0.0, description="Messages that start earlier are not measured.")
    cooldown_us: Microseconds = Field(
        0.0, description="Messages that start in this last part of the arrivals are not measured."
    )

    @model_validator(mode="after")
    def _sizes_exist(self) -> DataCentre:
        load_sizes(self.sizes)
        if self.warmup_us + self.cooldown_us >= self.arrivals_us:
            raise ValueError("warmup_us plus cooldown_us must be less than arrivals_us")
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        note = load_sizes(self.sizes).note
        return () if note is None else (note,)

    @property
    def tag(self) -> str:
        """The traffic class of the all-to-all messages: the name of their size distribution."""
        return load_sizes(self.sizes).tag

    @property
    def measured_window_us(self) -> tuple[float, float] | None:
        if not self.warmup_us and not self.cooldown_us:
            return None
        return self.warmup_us, self.arrivals_us - self.cooldown_us

    def brief(self) -> tuple[Mapping[str, Any], float]:
        brief_us = self.warmup_us + self.cooldown_us + _BRIEF_US
        return ({"arrivals_us": brief_us}, self.arrivals_us / brief_us) if self.arrivals_us > brief_us else ({}, 1.0)

    def flows(self, topology: Topology, random: np.random.Generator) -> FlowTable:
        # Two streams, so that the all-to-all messages stay the same when the incasts change.
        background, incasts = random.spawn(2)
        hosts = [host.name for host in topology.hosts]
        rates_bps = [topology.host_link[name].rate_bps for name in hosts]
        if len(hosts) < 2:
            raise ScenarioError("all-to-all messages need at least two hosts")
        self._check_count(sum(rates_bps))
        until_ns = self.arrivals_us * 1000
        tables = [flow_table(())]
        if self.load:
            sizes = load_sizes(self.sizes)
            tables.append(all_to_all(hosts, rates_bps, sizes, self.load, until_ns, background, self.tag))
        if self.incast_load:
            if self.incast_degree >= len(hosts):
                raise ScenarioError(
                    f"incast_degree {self.incast_degree} needs more than the {len(hosts)} hosts of this network; "
                    f"{more_hosts(topology, self.incast_degree + 1 - len(hosts))}"
                )
            events = IncastEvents(self.incast_degree, self.incast_bytes, self.incast_window_us * 1000)
            gap_ns = events.mean_gap_ns(self.incast_load, sum(rates_bps))
            if self.incast_spacing == "even":
                begins_ns = even_times_ns(gap_ns, until_ns)
            else:
                begins_ns = poisson_times_ns(gap_ns, until_ns, incasts)
            self._check_senders(events.highest_share(self.incast_load, rates_bps))
            tables.append(flow_table(events.flows(hosts, rates_bps, begins_ns, incasts, INCAST)))
        return joined(tables)

    def _check_senders(self, incast_share: float) -> None:
        """Refuse an incast that would overload slow hosts although the configured loads fit every link."""
        load, highest = self.load + self.incast_load, self.load + incast_share
        if highest > max(1.0, load + 1e-9):
            raise ScenarioError(
                f"an incast of {self.incast_degree} draws slow hosts so often that they would send at {highest:.3g} of "
                f"their rate instead of the configured load of {load:g}; reduce incast_degree or incast_load"
            )

    def _check_count(self, total_rate_bps: int) -> None:
        """Refuse a workload with too many messages before the first message is drawn."""
        arriving_bytes = total_rate_bps * self.arrivals_us / 8e6
        messages = arriving_bytes * (
            self.load / load_sizes(self.sizes).mean_bytes + self.incast_load / self.incast_bytes
        )
        if messages > MOST_MESSAGES:
            raise ScenarioError(
                f"about {messages:.0f} messages in {self.arrivals_us:g} us; a scenario has at most {MOST_MESSAGES}"
            )
