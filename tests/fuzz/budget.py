# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The inputs that a fuzz test tries: always the same ones in the test suite, new ones under `make fuzz`."""

import os

from hypothesis import HealthCheck, Phase, settings

FRESH_VARIABLE = "SFC_TEST_FRESH_INPUTS"
"""The environment variable that selects new inputs."""


def inputs(count: int) -> settings:
    return settings(
        max_examples=count,
        derandomize=FRESH_VARIABLE not in os.environ,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def batches(count: int) -> settings:
    """Return settings for a test of batches, each made from one number, which cannot be made smaller."""
    return settings(inputs(count), phases=(Phase.explicit, Phase.generate))
