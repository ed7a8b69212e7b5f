# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The image of the Dockerfile, built and run. Some minutes and a network, so only where somebody names its base."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.system.containers import missing_engine

ROOT = Path(__file__).resolve().parents[2]
BASE = os.environ.get("SFC_TESTBED_IMAGE_TEST_BASE")
"""An image of Debian or Ubuntu, such as debian:12."""
OPTIONS = os.environ.get("SFC_TESTBED_IMAGE_TEST_OPTIONS", "--privileged").split()
"""For an engine that may not give all privileges itself."""

pytestmark = [
    pytest.mark.root,
    pytest.mark.long,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(BASE is None, reason="SFC_TESTBED_IMAGE_TEST_BASE names no image to build on"),
    pytest.mark.skipif(missing_engine() is not None, reason=f"no Docker: {missing_engine()}"),
]


def _docker(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Its name; it goes with the tests. The builder uses the host's network, as an engine without a bridge must."""
    name = f"sfc-testbed-test-{uuid.uuid4().hex[:12]}"
    built = _docker("build", "--network", "host", "--build-arg", f"BASE={BASE}", "--tag", name, ".")
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    yield name
    _docker("image", "rm", "--force", name)


def test_a_live_run_completes_in_a_container(image: str) -> None:
    """On Mininet, with everything that it needs in the image and no network of Docker's."""
    words = ["./runner.py", "run", "incast", "--scheme", "sfc", "--scale", "ci", "--json"]
    done = _docker("run", "--rm", *OPTIONS, "--network", "none", image, *words)
    assert done.stdout, done.stderr
    result = json.loads(done.stdout)
    assert (result["clock"], result["switch"]) == ("real", "soft")
    assert (result["flows"]["completed"], result["unexplained_loss"]) == (8, 0), result["verdict_reasons"]
    assert result["bts"]["sent"] > 0


def test_the_demo_is_what_it_runs(image: str) -> None:
    """Without a command; what a person would type needs no options."""
    [about] = json.loads(_docker("image", "inspect", image).stdout)
    assert about["Config"]["Cmd"] == ["make", "demo"]
    listed = _docker("run", "--rm", "--network", "none", image, "make", "--dry-run", "demo")
    assert "runner.py compare bystanders" in listed.stdout, listed.stderr
    assert "sudo" not in listed.stdout and "pip" not in listed.stdout  # nothing is left to be set up
