# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How do I add my own workload? This file adds one: a front end asks its workers, and asks again after all answers.

    ./runner.py list questions --use examples/own_workload.py
    ./runner.py compare questions --use examples/own_workload.py --set rounds=2 \
        --schemes irn,sfc --clock virtual

Unlike a list of messages, it fits any network and has settings. Each message names the messages that it waits for.
"""

import numpy as np
from pydantic import Field

import sfc_testbed as sfc


@sfc.scenario("questions", scale=sfc.Scale("clos", {"hosts_per_tor": 8}))
class Questions(sfc.Workload):
    """A front end asks its workers, and asks again when all have answered."""

    workers: int = Field(8, ge=1, le=1_000, description="Hosts that answer; the last host asks.")
    rounds: int = Field(3, ge=1, le=1_000, description="Questions, one after the other.")
    answer_bytes: int = Field(100_000, ge=1, le=10_000_000, description="Bytes of each answer.")

    def flows(self, topology: sfc.Topology, random: np.random.Generator) -> list[sfc.FlowRequest]:
        """Return the messages of all rounds."""
        *others, front = [host.name for host in topology.hosts]
        workers = others[: self.workers]
        flows: list[sfc.FlowRequest] = []
        answers: tuple[int, ...] = ()
        for _ in range(self.rounds):
            first = len(flows) + 1  # positions in the list count from 1
            flows += [sfc.FlowRequest(front, name, 1_000, 0, "question", after=answers) for name in workers]
            for question, name in enumerate(workers, first):
                delay_ns = round(random.uniform(0, 10_000))
                answer = sfc.FlowRequest(
                    name, front, self.answer_bytes, 0, "answer", after=(question,), delay_ns=delay_ns
                )
                flows.append(answer)
            answers = tuple(range(first + len(workers), len(flows) + 1))
        return flows
