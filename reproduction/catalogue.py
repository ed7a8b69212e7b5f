# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The list of all experiments."""

from __future__ import annotations

from collections.abc import Mapping

from reproduction.experiments import (
    fairness,
    hadoop_50,
    hadoop_50_light,
    hadoop_80,
    incast_degree,
    long_rtt,
    ndp,
    parameters,
    resources,
    rivals,
    rpc_30,
    signaling,
    synchronization,
    testbed_hol,
    testbed_incast,
    theory,
    websearch_50,
)
from reproduction.model.experiment import Experiment

_MODULES = (
    signaling,
    incast_degree,
    testbed_incast,
    testbed_hol,
    hadoop_50,
    rpc_30,
    hadoop_80,
    hadoop_50_light,
    parameters,
    long_rtt,
    synchronization,
    websearch_50,
    resources,
    fairness,
    ndp,
    theory,
    rivals,
)

EXPERIMENTS: Mapping[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
"""The experiments by name, in the paper's order."""
