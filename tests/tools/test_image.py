# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Docker image, built and run. Takes minutes and a network, so it runs only if a variable names the base image."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Iterator

import pytest

from sfc_testbed.testbed.system.containers import missing_engine
from tests.tree import ROOT

BASE = os.environ.get("SFC_TESTBED_IMAGE_TEST_BASE")
"""Base image to build on: Debian or Ubuntu, such as debian:12."""
OPTIONS = os.environ.get("SFC_TESTBED_IMAGE_TEST_OPTIONS", "--privileged").split()
"""Options of `docker run`, to be changed for an engine that cannot grant all privileges."""

pytestmark = [
    pytest.mark.root,
    pytest.mark.long,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(BASE is None, reason="SFC_TESTBED_IMAGE_TEST_BASE is not set to a base image"),
    pytest.mark.skipif(missing_engine() is not None, reason=f"no Docker: {missing_engine()}"),
]


def _docker(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Build the image, yield its name, and remove it. Use the host's network for engines without a bridge."""
    name = f"sfc-testbed-test-{uuid.uuid4().hex[:12]}"
    built = _docker("build", "--network", "host", "--build-arg", f"BASE={BASE}", "--tag", name, ".")
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    yield name
    _docker("image", "rm", "--force", name)


def test_live_run_completes_in_a_container_without_a_network(image: str) -> None:
    words = ["./runner.py", "run", "incast", "--scheme", "sfc", "--scale", "ci", "--json"]
    done = _docker("run", "--rm", *OPTIONS, "--network", "none", image, *words)
    assert done.stdout, done.stderr
    result = json.loads(done.stdout)
    assert (result["clock"], result["switch"]) == ("real", "soft")
    assert (result["flows"]["completed"], result["unexplained_loss"]) == (8, 0), result["verdict_reasons"]
    assert result["bts"]["sent"] > 0


def test_default_command_of_the_image_is_the_demo(image: str) -> None:
    [about] = json.loads(_docker("image", "inspect", image).stdout)
    assert about["Config"]["Cmd"] == ["make", "demo"]
    listed = _docker("run", "--rm", "--network", "none", image, "make", "--dry-run", "demo")
    assert "runner.py compare bystanders" in listed.stdout, listed.stderr
    assert "sudo" not in listed.stdout and "pip" not in listed.stdout  # the set-up is complete
