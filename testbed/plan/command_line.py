# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command line that repeats a run."""

from __future__ import annotations

import shlex

from analysis.results.spec import RunSpec
from scenarios.listed import LISTED
from testbed.plan.settings import settings_words


def repeat_command(spec: RunSpec, dilation: int) -> str:
    """Return the command line that repeats a run with this dilation."""
    scenario = [] if spec.scenario == LISTED.name else [spec.scenario]
    words = ["./runner.py", "run", *scenario, "--scheme", spec.scheme, "--clock", spec.clock]
    if spec.switch != "auto":
        words += ["--switch", spec.switch]
    words += ["--scale", spec.scale, "--seed", str(spec.seed), "--dilation", str(dilation)]
    options = {
        "--duration": None if spec.duration_ms is None else f"{spec.duration_ms:g}",
        "--topology": spec.topology,
        "--set": settings_words(spec.settings),
        "--flows": None if spec.flow_file is None else str(spec.flow_file),
        "--fault": spec.faults,
        "--pcap": ",".join(spec.captures) or None,
        "--background": spec.background,
        "--hosts": spec.hosts,
        "--p4": None if spec.program is None else spec.program.word,
    }
    for option, value in options.items():
        for word in (value,) if isinstance(value, str) else value or ():
            words += [option, word]
    return shlex.join(words)
