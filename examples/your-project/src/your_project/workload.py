# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A workload: run it as scenario `training`. Each message names the messages that it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

import sfc_testbed as sfc

if TYPE_CHECKING:
    import numpy as np


@sfc.scenario("training", scale=sfc.Scale("two-rows", duration_ms=5))
class Training(sfc.Workload):
    """Steps of a training job: workers compute, send gradients to a server, and wait for its parameters."""

    workers: int = Field(6, ge=1, le=1_000, description="Hosts that compute; the last host is the server.")
    steps: int = Field(2, ge=1, le=100, description="Steps, one after the other.")
    model_bytes: int = Field(200_000, ge=1, le=10**9, description="Bytes of gradients and of parameters.")
    compute_us: float = Field(40.0, ge=0, le=10**6, description="Longest time that a worker computes.")

    def flows(self, topology: sfc.Topology, random: np.random.Generator) -> list[sfc.FlowRequest]:
        """Return the messages of all steps."""
        *others, server = [host.name for host in topology.hosts]
        workers = others[: self.workers]
        flows: list[sfc.FlowRequest] = []
        parameters: dict[str, tuple[int, ...]] = dict.fromkeys(workers, ())
        for _ in range(self.steps):
            for name in workers:
                compute_ns = round(random.uniform(0, 1000 * self.compute_us))
                flows.append(self._message(name, server, "gradients", parameters[name], compute_ns))
            gradients = tuple(range(len(flows) - len(workers) + 1, len(flows) + 1))  # positions count from 1
            for name in workers:
                flows.append(self._message(server, name, "parameters", gradients, 0))
                parameters[name] = (len(flows),)
        return flows

    def _message(self, src: str, dst: str, tag: str, after: tuple[int, ...], delay_ns: int) -> sfc.FlowRequest:
        start_ns = 0 if after else delay_ns
        return sfc.FlowRequest(
            src, dst, self.model_bytes, start_ns, tag, after=after, delay_ns=delay_ns if after else 0
        )
