# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures of a page, for a notebook or a paper."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.testbed.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plots(Mapping[str, "Figure"]):
    """Figures of matplotlib by name. A notebook shows all of them."""

    def __init__(self, figures: Mapping[str, Figure]) -> None:
        self._figures = dict(figures)

    def __getitem__(self, name: str) -> Figure:
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __repr__(self) -> str:
        return f"Plots({', '.join(self._figures) or 'none'})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        pictures = ((name, b64encode(figure._repr_png_()).decode()) for name, figure in self._figures.items())  # type: ignore[attr-defined]
        return "\n".join(
            f'<img alt="{name}" style="max-width:100%" src="data:image/png;base64,{png}">' for name, png in pictures
        )


def chosen(figures: Mapping[str, Figure], name: str | None) -> Plots | Figure:
    """Return all figures, or the named one. UsageError for an unknown name."""
    if name is None:
        return Plots(figures)
    if name not in figures:
        known = ", ".join(figures) or "none"
        raise UsageError(f"no plot {shown(name)}; choose from {known}{nearest(name, figures)}")
    return figures[name]
