# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the page that plays runs: one self-contained file, which needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from os_helpers.visible import visible
from sfc_testbed.analysis.report.html_pages import TEMPLATES, WATCH_FILE, render
from sfc_testbed.telemetry.atomic_file import replace_text


def write_watch_page(folder: Path, contents: Sequence[Mapping[str, Any]], heading: str) -> Path:
    """Write watch.html into a folder and return its path. `contents`: the scene and chunks of each run."""
    replace_text(folder / WATCH_FILE, watch_page(contents, heading))
    return folder / WATCH_FILE


def live_page() -> str:
    """Return the page that gets the scenes and chunks of active runs from the server from which it comes."""
    return watch_page([], "Live", is_live=True)


def watch_page(contents: Sequence[Mapping[str, Any]], heading: str, *, is_live: bool = False) -> str:
    """Return the page with the scene and chunks of each run."""
    return render(
        "watch.html.j2",
        heading=heading,
        contents=[Markup(_json_text(content)) for content in contents],
        scripts=[_script(name) for name in ("watch_run.js", "watch.js", *(["watch_live.js"] if is_live else []))],
        is_live=is_live,
    )


def _script(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _json_text(content: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element around it."""
    return json.dumps(_visible(content), separators=(",", ":"), allow_nan=False).replace("<", r"\u003c")


def _visible(value: Any) -> Any:
    """Return the value with escapes in place of control characters in its texts."""
    if isinstance(value, str):
        return value if len(value) > 10_000 else visible(value)
    if isinstance(value, Mapping):
        return {name: _visible(part) for name, part in value.items()}
    return [_visible(part) for part in value] if isinstance(value, list) else value
