# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The content of runs, for comparisons of runs."""

from __future__ import annotations

import hashlib
from pathlib import Path

import sfc_testbed as sfc

SMALL = {"degree": 2, "message_bytes": 20_000}


def digest(run: sfc.Run) -> str:
    """Return a digest of all traces of a run."""
    content = b"".join((run.folder / f"{name}.parquet").read_bytes() for name in run.traces)
    return hashlib.sha256(content).hexdigest()


def digest_of_seed(seed: int, out: str) -> str:
    """Run a small incast and return the digest of its traces. Processes that are spawned import this function."""
    return digest(sfc.run("incast", seed=seed, settings=SMALL, out=Path(out), quiet=True))
