# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Is my claim still true after every change? Tests for continuous integration.

    .venv/bin/python -m pytest examples/test_claim.py

Runs in virtual time give the same figures on every machine. pytest ends with exit code 1 if a claim does not hold.
"""

from pathlib import Path

import sfc_testbed as sfc

CLAIMS = (
    sfc.Ratio("SFC needs less buffer", "at most 80 %", sfc.PEAK_BUFFER, scheme="sfc", base="irn", at_most=0.8),
    sfc.Bound("nothing is lost", "0", sfc.DROPS, scheme="sfc", at_most=0),
)


def test_sfc_needs_less_buffer(tmp_path: Path) -> None:
    comparison = sfc.compare("incast", ["irn", "sfc"], settings={"degree": 8}, claims=CLAIMS, out=tmp_path)
    assert [claim for claim in comparison.claims if not claim.holds] == []


def test_all_messages_of_an_incast_arrive(tmp_path: Path) -> None:
    run = sfc.run("incast", "sfc", settings={"degree": 8}, out=tmp_path)
    assert run.verdict == "faithful", run.verdict_reasons
    assert run.flows["finish_us"].null_count() == 0
