# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Headless Chromium, driven over its DevTools protocol through a pipe (`--remote-debugging-pipe`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from select import select
from typing import Any

import numpy as np
from matplotlib.image import imread
from numpy.typing import NDArray

SECONDS = 60
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

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._unread = b""
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def open(self, page: Path, width: int, height: int, *, dark: bool = False) -> list[str]:
        """Open a page in a window of this size, wait until its plots are drawn, and return errors and warnings."""
        self.events.clear()
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()
        self.evaluate("window.sfcPlots?.ready")
        problems = {"Runtime.exceptionThrown": "exceptionDetails", "Log.entryAdded": "entry"}
        found = [event["params"] for event in self.events if event["method"] in problems]
        found += [
            event["params"]
            for event in self.events
            if event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning")
        ]
        return [json.dumps(params) for params in found]

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript; of a promise, its result."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self) -> NDArray[np.float64]:
        """Return the window as rows x columns x RGB from 0 to 1."""
        png = b64decode(self.send("Page.captureScreenshot")["data"])
        return imread(BytesIO(png), format="png")[:, :, :3].astype(np.float64)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        command |= {"sessionId": self._session} if self._session else {}
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while (message := self._read()).get("id") != self._number:
            pass
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            assert select([self._answers], [], [], SECONDS)[0], "the browser does not answer"
            part = os.read(self._answers, 1 << 20)
            assert part, "the browser has ended"
            self._unread += part
        text, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message


@contextmanager
def opened_browser(home: Path) -> Iterator[Browser]:
    """Run a browser for the duration of the context. It has no network, and its files are in `home`."""
    read_commands, commands = os.pipe()
    answers, write_answers = os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
    options += ["--proxy-server=127.0.0.1:9", f"--user-data-dir={home / 'profile'}", "--remote-debugging-pipe"]
    # The browser reads commands from file descriptor 3 and answers on 4.
    script = f'exec "$@" 3<&{read_commands} 4>&{write_answers}'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", CHROMIUM, *options],
        pass_fds=(read_commands, write_answers),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(home)},
    )
    os.close(read_commands)
    os.close(write_answers)
    try:
        yield Browser(commands, answers)
    finally:
        os.close(commands)
        os.close(answers)
        process.terminate()
        process.wait(timeout=SECONDS)
