# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The P4 program of a run's switches, from config.json. Older releases did not record the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.report.page import DataTable

_SHOWN_DIGITS = 12


def program_rows(config: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return path and hash of the program, for a page."""
    path, digest, _ = _program(config)
    return [("P4 program", f"{path}, SHA-256 {digest}")] if path else []


def given_program_rows(config: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return path and hash of the program for the terminal, only if the user supplied the program."""
    path, digest, is_given = _program(config)
    return [("P4 program", f"{path}, SHA-256 {digest[:_SHOWN_DIGITS]}...")] if is_given else []


def program_tables(labels: Sequence[str], configs: Sequence[Mapping[str, object]]) -> list[DataTable]:
    """Return a table of all runs' programs if the user supplied at least one."""
    programs = [_program(config) for config in configs]
    if not any(is_given for *_, is_given in programs):
        return []
    rows = [(label, path, digest) for label, (path, digest, _) in zip(labels, programs, strict=True)]
    return [DataTable("P4 programs of the switches", ("run", "file", "SHA-256 of the compiled program"), rows)]


def _program(config: Mapping[str, object]) -> tuple[str, str, bool]:
    """Return path and hash (empty if unknown), and whether the user supplied the program."""
    program = config.get("program")
    if not isinstance(program, Mapping):
        return "", "", False
    return str(program.get("path", "")), str(program.get("sha256", "")), program.get("name") is not None
