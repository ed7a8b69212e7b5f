# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A pipeline of the program that a test module names in PROGRAM, fresh for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.softswitch.pipeline.harness import Pipeline


@pytest.fixture
def pipeline(request: pytest.FixtureRequest) -> Iterator[Pipeline]:
    made = Pipeline(request.module.PROGRAM)
    yield made
    made.close()
