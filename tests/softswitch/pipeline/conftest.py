# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixture with a new pipeline of the program that a test module names in PROGRAM."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.softswitch.pipeline.harness import Pipeline


@pytest.fixture
def pipeline(request: pytest.FixtureRequest) -> Iterator[Pipeline]:
    instance = Pipeline(request.module.PROGRAM)
    yield instance
    instance.close()
