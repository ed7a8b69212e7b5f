# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The distribution's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imread
from numpy.typing import NDArray
from playwright.sync_api import Page, sync_playwright

_MOST_MS = 60_000
"""The most time for one answer, on a machine that is busy."""


def _runs(program: str) -> bool:
    """Return whether a browser starts. Ubuntu's command may only ask to install a snap."""
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name)) is not None and _runs(path)
    ),
    "",
)


class Browser:
    """A browser with one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._problems: list[str] = []
        page.set_default_timeout(_MOST_MS)
        page.on("pageerror", lambda error: self._problems.append(str(error)))
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("requestfailed", lambda request: self._problems.append(f"not loaded: {request.url}"))

    def open(self, page: Path, width: int, height: int, *, dark: bool = False) -> list[str]:
        """Open a page in a window of this size, wait until its plots are drawn, and return errors and warnings."""
        self._problems.clear()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self.page.goto(page.as_uri())
        self.evaluate("window.sfcPlots?.ready")
        return list(self._problems)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript; of a promise, its result."""
        return self.page.evaluate(expression)

    def screenshot(self) -> NDArray[np.float64]:
        """Return the window as rows x columns x RGB from 0 to 1."""
        return imread(BytesIO(self.page.screenshot()), format="png")[:, :, :3].astype(np.float64)

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self._problems.append(text)


@contextmanager
def opened_browser(home: Path) -> Iterator[Browser]:
    """Run a browser for the duration of the context. It has no network, and its files are in `home`."""
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--proxy-server=127.0.0.1:9"]
        context = playwright.chromium.launch_persistent_context(home, executable_path=CHROMIUM, args=options)
        yield Browser(context.pages[0])
        context.close()
