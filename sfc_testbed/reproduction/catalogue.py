# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The list of all experiments."""

from __future__ import annotations

from collections.abc import Mapping

from sfc_testbed.reproduction.experiments import (
    ai_fabric,
    fairness,
    hadoop_50_light,
    hadoop_80,
    incast_degree,
    long_rtt,
    ndp,
    parameters,
    resources,
    rivals,
    signaling,
    synchronization,
    tail_latency,
    testbed_hol,
    testbed_incast,
    theory,
)
from sfc_testbed.reproduction.model.experiment import Experiment

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        signaling.EXPERIMENT,
        incast_degree.EXPERIMENT,
        testbed_incast.EXPERIMENT,
        testbed_hol.EXPERIMENT,
        tail_latency.HADOOP_50,
        tail_latency.RPC_30,
        hadoop_80.EXPERIMENT,
        hadoop_50_light.EXPERIMENT,
        parameters.EXPERIMENT,
        long_rtt.EXPERIMENT,
        synchronization.EXPERIMENT,
        tail_latency.WEBSEARCH_50,
        resources.EXPERIMENT,
        fairness.EXPERIMENT,
        ndp.EXPERIMENT,
        theory.EXPERIMENT,
        rivals.EXPERIMENT,
        ai_fabric.EXPERIMENT,
    )
}
"""The experiments by name, in the paper's order."""
