# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixture with two hosts in network namespaces."""

from collections.abc import Iterator

import pytest

from tests.hosts.namespaces import Stations, two_stations


@pytest.fixture(scope="module")
def stations() -> Iterator[Stations]:
    """Yield two hosts on one wire."""
    with two_stations() as pair:
        yield pair
