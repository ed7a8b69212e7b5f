# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Small results that several tests read."""

from __future__ import annotations

import pytest

import sfc_testbed as sfc
from tests.api.reading import SMALL


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> sfc.Run:
    return sfc.run("incast", settings=SMALL, out=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> sfc.Comparison:
    return sfc.compare("incast", "irn,sfc", seeds="1..2", settings=SMALL, out=tmp_path_factory.mktemp("compared"))


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> sfc.Sweep:
    content = {
        "name": "degree",
        "scenario": "incast",
        "schemes": ["irn", "sfc"],
        "seeds": "1..2",
        "settings": {"message_bytes": "20KB"},
        "axes": {"degree": [2, 3]},
    }
    return sfc.sweep(content, out=tmp_path_factory.mktemp("swept"), jobs=2)
