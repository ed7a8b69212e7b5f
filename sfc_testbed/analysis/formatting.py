# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Formats bytes, durations, ratios, other numbers, and tables. Units are decimal, as in the paper (1 KB = 1000 B)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

NOTHING = "-"
"""The text for a figure that does not exist or has too few samples."""

NOT_MEASURED = "not measured"
"""The text for a count that was not read."""

_MOST_NAMED = 3
_BYTE_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))
_TIME_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))
UNIT_SCALES: Mapping[str, float] = {unit: scale for scale, unit in (*_BYTE_UNITS, *_TIME_UNITS)}
"""The sizes of the units that `format_bytes` and `format_us` use, in bytes and in µs."""


def three_digits(value: float) -> str:
    """Return three significant digits, such as 0.123 or 12.3, and whole numbers from 100 on, such as 1,230.

    Values below 0.001 have an exponent, such as 4.0e-04.
    """
    if value == 0:
        return "0"
    magnitude = abs(value)
    if magnitude >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if magnitude >= 1e-3 else f"{value:.1e}"


def format_bytes(count: float | None) -> str:
    """Return bytes as text, such as 12.3 MB, 125 KB or 70 B."""
    return _in_units(count, _BYTE_UNITS)


def format_us(duration_us: float | None) -> str:
    """Return a duration as text, such as 12.3 µs, 4 ms or 1.5 s."""
    return _in_units(duration_us, _TIME_UNITS)


def _in_units(value: float | None, units: Sequence[tuple[float, str]]) -> str:
    """Return a value in the first unit that is not above it, or else in the last one."""
    if value is None:
        return NOTHING
    scale, unit = next((pair for pair in units if abs(value) >= pair[0]), units[-1])
    return f"{three_digits(value / scale)} {unit}"


def format_number(value: float | None) -> str:
    """Return an integer such as 1,234, and other numbers with three significant digits."""
    if value is None:
        return NOTHING
    return f"{value:,}" if isinstance(value, int) else three_digits(value)


def format_count(count: int | None) -> str:
    """Return a count such as 1,234; None gives the text for a count that was not measured."""
    return NOT_MEASURED if count is None else f"{count:,}"


def format_wall(seconds: float | None, packets_per_s: float | None) -> tuple[str, str]:
    """Return the wall time and the packet rate of a run."""
    if seconds is None or packets_per_s is None:
        return NOT_MEASURED, ""
    return f"{seconds:.1f} s", f"{packets_per_s:,.0f} packets/s"


def format_ratio(value: float | None) -> str:
    """Return a ratio such as 0.31x; None means that the base was zero or missing."""
    return NOTHING if value is None else f"{three_digits(value)}x"


def format_interval(interval: tuple[float, float] | None) -> str:
    """Return a confidence interval behind its figure, such as ` [1.1 to 11.8]`; nothing without an interval."""
    return "" if interval is None else f" [{three_digits(interval[0])} to {three_digits(interval[1])}]"


def format_share(value: float | None) -> str:
    """Return a share as a percentage, such as 3.1 %."""
    return NOTHING if value is None else f"{three_digits(value * 100)} %"


def flatten(tree: object, path: str = "") -> dict[str, str]:
    """Return a JSON tree as dotted names and texts: {"switch": {"q_th": 1}} gives {"switch.q_th": "1"}."""
    if isinstance(tree, Mapping) and tree:
        flat: dict[str, str] = {}
        for key, value in tree.items():
            flat |= flatten(value, f"{path}.{key}" if path else str(key))
        return flat
    if isinstance(tree, list):
        if any(isinstance(value, (Mapping, list)) for value in tree):
            return flatten({str(number): value for number, value in enumerate(tree)}, path)
        return {path: " ".join(str(value) for value in tree)}
    return {path: NOTHING if tree is None else str(tree)}


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table as text, with a newline at the end."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def enumeration(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first names and the number of the others, such as `a, b, c and 2 more` or `a; b; c; and 2 more`."""
    before = ";" if separator == "; " else ""
    more = f"{before} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{separator.join(names[:_MOST_NAMED])}{more}"


def amount(number: int, noun: str) -> str:
    """Return a number and its noun, such as 1 run or 1,234 flows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
