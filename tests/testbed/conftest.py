# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The check that a live run leaves nothing on the machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.testbed import running


@pytest.fixture
def leaves_nothing() -> Iterator[None]:
    before = running.remains()
    yield
    assert running.left_since(before) == {}
