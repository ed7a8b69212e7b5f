# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for jobs on a Dask cluster that accepts only TLS, configured by Dask's configuration."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.testbed.running import dask_cluster, run

SWEEP = "name: far\nscenario: incast\nschemes: [irn, sfc]\nsettings: {degree: 2, message_bytes: 2000}\n"
OPENSSL = shutil.which("openssl") or ""
pytestmark = pytest.mark.skipif(not OPENSSL, reason="no openssl on the PATH to make certificates")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a folder with the cluster's certificate and one that the cluster does not trust."""
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("ours", "other"):
        words = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
        files = ["-keyout", str(folder / f"{name}-key.pem"), "-out", str(folder / f"{name}.pem")]
        subprocess.run([*words, *files], capture_output=True, check=True)
    return folder


@pytest.fixture(scope="module")
def cluster(certificates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a scheduler and a worker that speak TLS only, and yield the scheduler's address."""
    folder = tmp_path_factory.mktemp("cluster")
    tls = ["--protocol", "tls", "--tls-ca-file", str(certificates / "ours.pem")]
    tls += ["--tls-cert", str(certificates / "ours.pem"), "--tls-key", str(certificates / "ours-key.pem")]
    with dask_cluster(folder, *tls) as address:
        assert address.startswith("tls://127.0.0.1:")
        yield address


def _sweep(address: str, folder: Path, configuration: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "sweep.yaml").write_text(SWEEP)
    words = ["sweep", str(folder / "sweep.yaml"), "--out", str(folder / "out"), "--scheduler", address]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DASK_")}
    return run(*words, env={**inherited, "DASK_CONFIG": str(folder / "dask"), **configuration})


def _variables(certificates: Path, *, trusted: str = "ours", presented: str = "ours") -> dict[str, str]:
    """Return Dask's environment variables for a client that trusts one certificate and presents another."""
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    return {
        f"{tls}CA_FILE": str(certificates / f"{trusted}.pem"),
        f"{tls}CLIENT__CERT": str(certificates / f"{presented}.pem"),
        f"{tls}CLIENT__KEY": str(certificates / f"{presented}-key.pem"),
    }


@pytest.mark.parametrize("is_configured_by_file", [True, False])
def test_jobs_run_over_tls(is_configured_by_file: bool, cluster: str, certificates: Path, tmp_path: Path) -> None:
    """The environment also requires encryption."""
    variables = _variables(certificates) | {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}
    if is_configured_by_file:
        variables = {}
        (tmp_path / "dask").mkdir()
        client = {"cert": str(certificates / "ours.pem"), "key": str(certificates / "ours-key.pem")}
        tls = {"ca-file": str(certificates / "ours.pem"), "client": client}
        (tmp_path / "dask" / "tls.yaml").write_text(json.dumps({"distributed": {"comm": {"tls": tls}}}))
    done = _sweep(cluster, tmp_path, variables)
    assert done.returncode == 0, done.stderr
    assert "2 run now" in done.stdout


@pytest.mark.parametrize(
    ("trusted", "presented", "reason"),
    [
        (None, "", "Dask has no certificate for TLS"),
        ("other", "ours", "TLS failed (TLS certificate does not match"),
        ("ours", "other", "TLS failed ("),
        ("ours", "missing", "TLS failed ([Errno 2] No such file or directory"),
    ],
)
def test_a_failed_tls_handshake_is_reported_in_one_line(
    trusted: str | None, presented: str, reason: str, cluster: str, certificates: Path, tmp_path: Path
) -> None:
    """The line also names the document that explains the configuration."""
    configuration = {} if trusted is None else _variables(certificates, trusted=trusted, presented=presented)
    done = _sweep(cluster, tmp_path, configuration)
    [line] = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith(f"runner.py: --scheduler {cluster}: {reason}")
    assert line.endswith("; docs/security.md says how to configure it")


def test_an_address_without_tls_is_refused_where_encryption_is_required(
    cluster: str, certificates: Path, tmp_path: Path
) -> None:
    """The command refuses before it connects."""
    address = cluster.replace("tls", "tcp")
    required = {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}
    done = _sweep(address, tmp_path, _variables(certificates) | required)
    [line] = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith(f"runner.py: --scheduler {address}: encryption required by Dask configuration")


def test_a_client_without_tls_gets_no_answer(cluster: str, tmp_path: Path) -> None:
    done = _sweep(cluster.replace("tls", "tcp"), tmp_path, {})
    assert done.returncode == 2
    assert done.stderr.endswith("no Dask scheduler answers there\n")
