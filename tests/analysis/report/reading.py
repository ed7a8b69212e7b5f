# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the plots of a page from its data."""

from __future__ import annotations

import json
import re
from typing import Any

from sfc_testbed.analysis.report.plot_data import DATA


def plots_of(page: str) -> list[dict[str, Any]]:
    return [json.loads(data) for data in re.findall(f"{DATA}(.*?)</script>", page)]


def legend_of(plot: dict[str, Any]) -> list[str]:
    items = [item for panel in plot["panels"] for item in panel["items"] if item.get("in_legend")]
    return list(dict.fromkeys(item["label"] for item in items))


def without_scripts(page: str) -> str:
    """Return a page without the scripts at its end."""
    return page.partition("<script>")[0]
