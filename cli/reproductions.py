# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A reproduced experiment on the terminal."""

from __future__ import annotations

from analysis.report.tables import claims_table
from cli.output import console, say
from reproduction.record import StoredReproduction


def print_reproduction(stored: StoredReproduction) -> None:
    """Print each claim of the paper, the measured value, and whether the claim holds."""
    found = stored.reproduction
    rows = [(each.claim, each.paper, each.measured, each.holds) for each in found.claims]
    own = [f"--p4 {found.program.name}"] if found.program else []
    changed = f", with {' '.join([*found.changed, *own])}" if found.departures else ""
    console.print(claims_table(f"{found.experiment} ({found.paper_place}), scale {found.scale}{changed}", rows))
    for note in (*found.notes, *(f"failed: {failure}" for failure in found.failures)):
        console.print(f"! {note}", style="yellow")
    say(f"report: {stored.page}")
    console.print()
